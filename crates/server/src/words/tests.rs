use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use super::*;

/// Where this crate is.
const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Every key of a language, with its text as it is written.
fn texts(language: UserLanguage) -> BTreeMap<&'static str, String> {
    let mut texts = BTreeMap::new();
    for file in FILES[language as usize] {
        let mut key = None;
        for line in file.lines() {
            if let Some((found, text)) = line.split_once(" =").filter(|_| !line.starts_with([' ', '#', '}']))
            {
                let before = texts.insert(found, text.trim().to_string());
                assert_eq!(before, None, "{language:?} has {found} twice");
                key = Some(found);
            } else if let Some(key) = key {
                texts.entry(key).or_default().push_str(line);
            }
        }
    }
    texts
}

/// What is put into a text.
fn variables(text: &str) -> BTreeSet<&str> {
    let end = |rest: &str| rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
    // `->` after a variable is not a part of it.
    text.split('$').skip(1).map(|rest| rest[..end(rest)].trim_end_matches('-')).collect()
}

/// The tags of a text, in any order.
fn tags(text: &str) -> Vec<&str> {
    let mut tags: Vec<&str> =
        text.split('<').skip(1).filter_map(|rest| rest.split_once('>').map(|(tag, _)| tag)).collect();
    tags.sort_unstable();
    tags
}

/// All files below a folder with this ending, as one text.
fn source(folder: &str, ending: &str) -> String {
    fn read(folder: &Path, ending: &str, into: &mut String) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, ending, into);
            } else if path.extension().is_some_and(|found| found == ending) {
                into.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut text = String::new();
    read(&Path::new(HERE).join(folder), ending, &mut text);
    text
}

/// The texts in double quotes that look like keys.
fn quoted_keys(source: &str) -> BTreeSet<&str> {
    let areas = [
        "frame-",
        "entry-",
        "boxes-",
        "files-",
        "asking-",
        "measuring-",
        "account-",
        "operator-",
        "command-",
        "script-",
    ];
    source
        .split('"')
        .filter(|text| areas.iter().any(|area| text.starts_with(area)))
        .filter(|text| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))
        .collect()
}

#[test]
fn every_language_says_everything_that_english_says_and_nothing_else() {
    let english = texts(UserLanguage::English);
    for language in UserLanguage::ALL {
        let translated = texts(language);
        let (ours, theirs): (BTreeSet<_>, BTreeSet<_>) =
            (english.keys().collect(), translated.keys().collect());
        assert_eq!(ours, theirs, "{language:?}");
        for (key, text) in &translated {
            assert_eq!(variables(text), variables(&english[key]), "{language:?} {key}");
            assert_eq!(tags(text), tags(&english[key]), "{language:?} {key}");
            assert!(!text.is_empty(), "{language:?} {key}");
            let markup = !(key.starts_with("command-") || key.starts_with("script-"));
            assert!(!(markup && text.contains("& ")), "{language:?} {key}: write &amp;");
        }
    }
}

#[test]
fn every_text_can_be_written_in_every_language() {
    for language in UserLanguage::ALL {
        for (key, text) in texts(language) {
            let mut arguments = FluentArgs::new();
            for name in variables(&text) {
                arguments.set(name, 2);
            }
            let bundle = &BUNDLES[language as usize];
            let pattern = bundle.get_message(key).and_then(|message| message.value());
            let mut wrong = Vec::new();
            bundle.format_pattern(pattern.expect(key), Some(&arguments), &mut wrong);
            assert!(wrong.is_empty(), "{language:?} {key}: {wrong:?}");
        }
    }
}

#[test]
fn every_key_in_use_is_there_and_every_one_that_is_there_is_in_use() {
    let code = [
        source("templates", "html"),
        source("src/dashboard", "rs"),
        source("src/commands", "rs"),
        fs::read_to_string(Path::new(HERE).join("src/words/mod.rs")).unwrap(),
        fs::read_to_string(Path::new(HERE).join("src/trials.rs")).unwrap(),
        source("assets/script", "js"),
    ]
    .concat();
    let english = texts(UserLanguage::English);
    let there: BTreeSet<&str> = english.keys().copied().collect();
    let mut used = quoted_keys(&code);
    // Those that are put together.
    used.retain(|key| !["boxes-did", "operator-bound"].contains(key));
    let actions = Action::ALL.map(|action| key_of("boxes-did", action.as_str()));
    let bounds = Bound::ALL.map(|bound| key_of("operator-bound", bound.as_str()));
    used.extend(actions.iter().chain(&bounds).map(String::as_str));
    assert_eq!(used.difference(&there).collect::<Vec<_>>(), Vec::<&&str>::new(), "no such text");
    assert_eq!(there.difference(&used).collect::<Vec<_>>(), Vec::<&&str>::new(), "said nowhere");
}

#[test]
fn the_engine_and_the_pages_call_things_the_same() {
    for action in Action::ALL {
        let name = action.as_str().replace('_', " ");
        assert!(Words::default().action(action).eq_ignore_ascii_case(&name), "{name}");
    }
    for bound in Bound::ALL {
        assert!(Words::default().bound(bound).eq_ignore_ascii_case(bound.words()), "{bound}");
    }
}

#[test]
fn the_script_is_given_texts_that_it_can_fill_in() {
    for language in UserLanguage::ALL {
        let texts: BTreeMap<String, String> = serde_json::from_str(Words::of(language).of_script()).unwrap();
        assert!(texts["script-uploaded"].contains("{count}") && texts["script-uploaded"].contains("{total}"));
        for (key, text) in &texts {
            assert!(!text.contains('$'), "{language:?} {key}: the script has nothing to put there");
        }
    }
}

#[test]
fn a_browser_gets_the_language_it_likes_best_of_those_that_there_are() {
    for (header, code) in [
        ("", "en"),
        ("es", "es"),
        ("es-CO,es;q=0.9,en;q=0.8", "es"),
        ("pt-BR", "pt"),
        ("ja,fr-CH;q=0.8,en;q=0.9", "en"),
        ("zh-CN, de ; q=0.5", "de"),
        ("en-US,en;q=0.9,de;q=0.8", "en"),
        ("fr;q=0,de;q=0.1", "de"),
        ("*", "en"),
        ("fr;q=much,nonsense;;;,--", "en"),
    ] {
        assert_eq!(Words::accepted(header).code(), code, "{header}");
    }
}

#[test]
fn a_terminal_gets_the_language_of_its_locale() {
    let code = |set: &[(&str, &str)]| {
        let set: BTreeMap<&str, &str> = set.iter().copied().collect();
        Words::of_terminal(|name| set.get(name).map(ToString::to_string)).code()
    };
    assert_eq!(code(&[]), "en");
    assert_eq!(code(&[("LANG", "es_CO.UTF-8")]), "es");
    assert_eq!(code(&[("LANG", "de_DE.UTF-8"), ("LC_MESSAGES", "fr_CH@euro")]), "fr");
    assert_eq!(code(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C.UTF-8")]), "en");
    assert_eq!(code(&[("LC_ALL", ""), ("LANG", "pt")]), "pt");
}

#[test]
fn numbers_look_as_in_the_language_and_choose_between_one_and_many() {
    let say = |language| {
        let words = Words::of(language);
        [1, 2, 12_345].map(|count| words.count("frame-count-files", count))
    };
    assert_eq!(say(UserLanguage::English), ["1 file", "2 files", "12,345 files"]);
    assert_eq!(say(UserLanguage::Spanish), ["1 archivo", "2 archivos", "12.345 archivos"]);
    assert_eq!(say(UserLanguage::French), ["1 fichier", "2 fichiers", "12\u{202f}345 fichiers"]);
    assert_eq!(Words::of(UserLanguage::German).fraction(1234.5, 1), "1234,5");
    assert_eq!(Words::of(UserLanguage::German).number(1_234_567), "1.234.567");
}

#[test]
fn what_is_put_into_a_page_is_escaped_and_nothing_else() {
    let text = Words::default().text("boxes-type-name").with("box", "<i>\"a\" & b</i>");
    assert_eq!(
        text.to_string(),
        "Type <strong>&#60;i&#62;&#34;a&#34; &#38; b&#60;/i&#62;</strong> to confirm"
    );
    assert_eq!(text.plain(), "Type <strong><i>\"a\" & b</i></strong> to confirm");
}
