//! The language packs of `tesseract`: which a box needs, and which of them are installed.

/// The packs to read a picture with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Packs {
    /// Those that are installed, as the program wants them: joined by `+`.
    pub usable: String,
    /// Those that are not.
    pub missing: Vec<String>,
}

impl Packs {
    /// Divides what is wanted by what is installed. A program that does not say what it has is asked for everything.
    pub(crate) fn of(wanted: &str, installed: &[String]) -> Self {
        let (usable, missing): (Vec<&str>, Vec<&str>) = wanted
            .split('+')
            .partition(|pack| installed.is_empty() || installed.iter().any(|have| have == pack));
        // Without any it would use English, which may be missing too; let it say so itself.
        let usable = if usable.is_empty() { wanted.to_owned() } else { usable.join("+") };
        Self { usable, missing: missing.into_iter().map(str::to_owned).collect() }
    }
}

/// What a reader of the page should know about a pack that is missing.
pub(crate) fn warning(pack: &str) -> String {
    let package = pack.replace('_', "-");
    format!(
        "tesseract's language pack `{pack}` is not installed (on Debian: tesseract-ocr-{package}), so text in that language may be wrong"
    )
}

/// The packs in what `tesseract --list-langs` says, below its heading.
pub(crate) fn listed(said: &str) -> Vec<String> {
    said.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The operator's packs, and those of a box's languages that are not among them.
pub(crate) fn wanted(always: &str, languages: &[String]) -> String {
    let mut packs: Vec<&str> = always.split('+').map(str::trim).filter(|pack| !pack.is_empty()).collect();
    for pack in languages.iter().filter_map(|language| pack(language)) {
        if !packs.contains(&pack) {
            packs.push(pack);
        }
    }
    packs.join("+")
}

/// The pack for a language, the two letters of ISO 639-1.
fn pack(language: &str) -> Option<&'static str> {
    Some(match language {
        "af" => "afr",
        "am" => "amh",
        "ar" => "ara",
        "az" => "aze",
        "be" => "bel",
        "bg" => "bul",
        "bn" => "ben",
        "ca" => "cat",
        "cs" => "ces",
        "cy" => "cym",
        "da" => "dan",
        "de" => "deu",
        "el" => "ell",
        "en" => "eng",
        "eo" => "epo",
        "es" => "spa",
        "et" => "est",
        "fa" => "fas",
        "fi" => "fin",
        "fr" => "fra",
        "gu" => "guj",
        "he" => "heb",
        "hi" => "hin",
        "hr" => "hrv",
        "hu" => "hun",
        "hy" => "hye",
        "id" => "ind",
        "it" => "ita",
        "ja" => "jpn",
        "jv" => "jav",
        "ka" => "kat",
        "km" => "khm",
        "kn" => "kan",
        "ko" => "kor",
        "la" => "lat",
        "lt" => "lit",
        "lv" => "lav",
        "mk" => "mkd",
        "ml" => "mal",
        "mr" => "mar",
        "my" => "mya",
        "nb" => "nor",
        "ne" => "nep",
        "nl" => "nld",
        "or" => "ori",
        "pa" => "pan",
        "pl" => "pol",
        "pt" => "por",
        "ro" => "ron",
        "ru" => "rus",
        "si" => "sin",
        "sk" => "slk",
        "sl" => "slv",
        "sr" => "srp",
        "sv" => "swe",
        "ta" => "tam",
        "te" => "tel",
        "th" => "tha",
        "tl" => "fil",
        "tr" => "tur",
        "uk" => "ukr",
        "ur" => "urd",
        "uz" => "uzb",
        "vi" => "vie",
        "yi" => "yid",
        "zh" => "chi_sim",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_languages_of_a_box_are_added_to_those_of_the_operator() {
        assert_eq!(wanted("eng", &[]), "eng");
        assert_eq!(wanted("eng+deu", &words(&["de", "zh", "en", "xx"])), "eng+deu+chi_sim");
    }

    #[test]
    fn a_missing_pack_is_named_and_the_others_are_used() {
        let installed = listed("List of available languages in \"/usr/share/tessdata/\" (2):\neng\nosd\n\n");
        assert_eq!(installed, ["eng", "osd"]);
        let packs = Packs::of("eng+chi_sim", &installed);
        assert_eq!(packs, Packs { usable: "eng".into(), missing: words(&["chi_sim"]) });
        assert!(
            warning("chi_sim").contains("`chi_sim`") && warning("chi_sim").contains("tesseract-ocr-chi-sim")
        );
        assert_eq!(Packs::of("rus", &installed).usable, "rus", "the program says what it lacks");
        assert_eq!(Packs::of("rus", &[]), Packs { usable: "rus".into(), missing: vec![] });
    }
}
