//! What the dashboard and commands say, in each of their languages: the texts of `locales/`, by key.
//!
//! The first part of a key names the file that it is in. A text may hold markup, which is ours; what is put into it is not, and is
//! escaped where the text becomes part of a page.

use std::{fmt, sync::LazyLock};

use askama::filters::{Escaper, Html, HtmlSafe};
use engine::{
    access::Role,
    bounds::Bound,
    seams::catalog::{Action, Email, UserLanguage},
};
use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle};
use serde_json::{Map, Value};

type Bundle = FluentBundle<FluentResource>;

/// The files of a language.
macro_rules! files {
    ($language:literal: $($file:literal)*) => {
        &[$(include_str!(concat!("../../locales/", $language, "/", $file, ".ftl"))),*]
    };
    ($language:literal) => {
        files!($language: "frame" "entry" "boxes" "files" "asking" "measuring" "account" "operator" "command" "script")
    };
}

/// Those of each, in the order of [`UserLanguage::ALL`].
const FILES: [&[&str]; 5] = [files!("en"), files!("es"), files!("pt"), files!("fr"), files!("de")];

/// Texts of the page's script, in English.
const SCRIPT: &str = include_str!("../../locales/en/script.ftl");
/// What those may be given. The script puts it in itself, where it says `{name}`.
const GIVEN_BY_SCRIPT: [&str; 7] = ["name", "count", "total", "page", "size", "status", "left"];

static BUNDLES: LazyLock<[Bundle; 5]> = LazyLock::new(|| UserLanguage::ALL.map(bundle));

/// What the script is told in each language, as JSON.
static OF_SCRIPT: LazyLock<[String; 5]> = LazyLock::new(|| UserLanguage::ALL.map(of_script));

fn of_script(language: UserLanguage) -> String {
    let given = GIVEN_BY_SCRIPT.map(|name| (name, Given::Words(format!("{{{name}}}"))));
    let entry = |key: &str| {
        let text = Words(language).written(key, &given, false);
        (key.to_string(), Value::String(text))
    };
    Value::Object(keys(SCRIPT).map(entry).collect::<Map<_, _>>()).to_string()
}

/// What stands between thousands, and before what is less than one.
fn marks(language: UserLanguage) -> (char, char) {
    match language {
        UserLanguage::English => (',', '.'),
        UserLanguage::Spanish | UserLanguage::Portuguese | UserLanguage::German => ('.', ','),
        UserLanguage::French => ('\u{202f}', ','),
    }
}

fn bundle(language: UserLanguage) -> Bundle {
    let locale = language.as_str().parse().expect("a code of ours");
    let mut bundle = Bundle::new_concurrent(vec![locale]);
    // Pages say where text of another direction stands.
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(match marks(language).0 {
        ',' => shown::<_, ','>,
        '.' => shown::<_, '.'>,
        _ => shown::<_, '\u{202f}'>,
    }));
    for file in FILES[language as usize] {
        let resource = FluentResource::try_new((*file).to_string()).expect("a test reads every file");
        bundle.add_resource(resource).expect("a test looks for keys that are there twice");
    }
    bundle
}

/// How numbers look in a text.
fn shown<M, const MARK: char>(value: &FluentValue<'_>, _: &M) -> Option<String> {
    match value {
        FluentValue::Number(number) => Some(apart(number.value as u64, MARK)),
        _ => None,
    }
}

/// A number with its thousands apart.
fn apart(number: u64, mark: char) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(mark);
        }
        text.push(digit);
    }
    text
}

/// One language, and everything that is said in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Words(UserLanguage);

impl Words {
    /// In this language.
    pub(crate) fn of(language: UserLanguage) -> Self {
        Words(language)
    }

    /// In the language that a browser likes best of those that there are; its `Accept-Language` says.
    pub(crate) fn accepted(header: &str) -> Self {
        let mut asked: Vec<(f32, UserLanguage)> = header.split(',').filter_map(asked_for).collect();
        asked.sort_by(|one, other| other.0.total_cmp(&one.0));
        Words(asked.first().map_or(UserLanguage::English, |(_, language)| *language))
    }

    /// In the language of a terminal, as the first of these variables that is set says: `LC_ALL`, `LC_MESSAGES`, `LANG`.
    pub(crate) fn of_terminal(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .filter_map(variable)
            .find(|value| !value.is_empty());
        let code = set.as_deref().and_then(|value| value.split(['_', '.', '@']).next()).unwrap_or_default();
        Words(code.parse().unwrap_or(UserLanguage::English))
    }

    /// Its code.
    pub(crate) fn code(self) -> &'static str {
        self.0.as_str()
    }

    /// A text.
    pub(crate) fn text(self, key: &str) -> Text {
        Text { words: self, key: key.to_string(), given: Vec::new() }
    }

    /// A text without anything in it, for where there is no page around it.
    pub(crate) fn plain(self, key: &str) -> String {
        self.text(key).plain()
    }

    /// "1 file", "2 files": a text that holds one number.
    pub(crate) fn count(self, key: &str, count: u64) -> String {
        self.text(key).with("count", count).plain()
    }

    /// A number with its thousands apart.
    pub(crate) fn number(self, number: u64) -> String {
        apart(number, marks(self.0).0)
    }

    /// A number with this many digits behind the point.
    pub(crate) fn fraction(self, number: f64, digits: usize) -> String {
        format!("{number:.digits$}").replace('.', &marks(self.0).1.to_string())
    }

    /// What a role is called.
    pub(crate) fn role(self, role: &Role) -> String {
        self.plain(match role {
            Role::Viewer => "frame-role-viewer",
            Role::Editor => "frame-role-editor",
            Role::Admin => "frame-role-admin",
            Role::Owner => "frame-role-owner",
        })
    }

    /// What an action of the audit log is called.
    pub(crate) fn action(self, action: Action) -> String {
        self.plain(&key_of("boxes-did", action.as_str()))
    }

    /// What a bound is called.
    pub(crate) fn bound(self, bound: Bound) -> String {
        self.plain(&key_of("operator-bound", bound.as_str()))
    }

    /// The texts of the page's script, as JSON.
    pub(crate) fn of_script(self) -> &'static str {
        &OF_SCRIPT[self.0 as usize]
    }

    fn written(self, key: &str, given: &[(&'static str, Given)], in_page: bool) -> String {
        let bundle = &BUNDLES[self.0 as usize];
        let Some(pattern) = bundle.get_message(key).and_then(|message| message.value()) else {
            return key.to_string();
        };
        let mut arguments = FluentArgs::with_capacity(given.len());
        for (name, value) in given {
            let value: FluentValue<'_> = match value {
                Given::Number(number) => (*number).into(),
                Given::Words(words) if in_page => escaped(words).into(),
                Given::Words(words) => words.as_str().into(),
            };
            arguments.set(*name, value);
        }
        bundle.format_pattern(pattern, Some(&arguments), &mut Vec::new()).into_owned()
    }
}

/// The key of the text for one of a set that the engine names.
fn key_of(set: &str, name: &str) -> String {
    format!("{set}-{}", name.replace('_', "-"))
}

/// A language of ours in an item of `Accept-Language`, and how much it is liked.
fn asked_for(item: &str) -> Option<(f32, UserLanguage)> {
    let mut parts = item.split(';').map(str::trim);
    let code = parts.next()?.split('-').next()?.to_ascii_lowercase();
    let liked = parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |text| text.parse().ok())?;
    Some((liked, code.parse().ok()?)).filter(|(liked, _)| *liked > 0.0)
}

/// Text as a page holds it.
fn escaped(text: &str) -> String {
    let mut html = String::new();
    Html.write_escaped_str(&mut html, text).expect("a string takes everything");
    html
}

/// The keys of a file: each begins a line.
fn keys(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        .filter_map(|line| line.split_once(" =").map(|(key, _)| key))
}

/// What is put into a text.
#[derive(Debug, Clone)]
pub(crate) enum Given {
    /// Decides between one and many.
    Number(u64),
    Words(String),
}

/// Something that can be put into a text.
pub(crate) trait Giving {
    /// As it is put there.
    fn given(&self) -> Given;
}

impl<T: Giving + ?Sized> Giving for &T {
    fn given(&self) -> Given {
        (**self).given()
    }
}

impl Giving for str {
    fn given(&self) -> Given {
        Given::Words(self.to_string())
    }
}

impl Giving for String {
    fn given(&self) -> Given {
        Given::Words(self.clone())
    }
}

impl Giving for Email {
    fn given(&self) -> Given {
        Given::Words(self.to_string())
    }
}

impl Giving for u64 {
    fn given(&self) -> Given {
        Given::Number(*self)
    }
}

impl Giving for u32 {
    fn given(&self) -> Given {
        Given::Number((*self).into())
    }
}

impl Giving for usize {
    fn given(&self) -> Given {
        Given::Number(*self as u64)
    }
}

/// A text of a page, with what is put into it.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    words: Words,
    key: String,
    given: Vec<(&'static str, Given)>,
}

impl Text {
    /// Puts something in.
    pub(crate) fn with(mut self, name: &'static str, value: impl Giving) -> Self {
        self.given.push((name, value.given()));
        self
    }

    /// For where it does not become part of a page, or is escaped there.
    pub(crate) fn plain(&self) -> String {
        self.words.written(&self.key, &self.given, false)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.written(&self.key, &self.given, true))
    }
}

impl HtmlSafe for Text {}

impl From<Text> for String {
    fn from(text: Text) -> String {
        text.plain()
    }
}

#[cfg(test)]
mod tests;
