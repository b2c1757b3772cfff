//! Tells the language of a document and of its chunks.
//!
//! Only a detection that is sure of itself counts: on 3,204 English abstracts, many of them only a title, the detector's best
//! guess was wrong for one in nine, and what it was sure of for one in three hundred. What neither a passage nor its document tells is taken
//! to be in the language of the box, see [`assume`].

use whatlang::{Lang, Script, detect, detect_script};

use crate::{document::Document, seams::index::Chunk};

/// Bytes looked at to tell a language: trigram statistics gain little beyond, and cost grows with length.
const SAMPLE: usize = 600;
/// Samples taken over a document, evenly spread: one in a foreign language (an abstract, a quote) is outvoted.
const SAMPLES: usize = 5;
/// Letters below which nothing can be told but the script.
const FEWEST_LETTERS: usize = 25;

/// What is known of a document's languages.
pub(super) struct Languages {
    main: Option<(Lang, Script)>,
    /// Whether the samples disagreed, so that each chunk is worth a look.
    mixed: bool,
}

impl Languages {
    /// Samples a document.
    pub(super) fn of(document: &Document) -> Self {
        let total: usize = document.pages.iter().map(|page| page.text.len()).sum();
        let stride = (total / SAMPLES).max(SAMPLE);
        let mut votes: Vec<(Lang, Script, usize)> = Vec::new();
        let (mut passed, mut due) = (0, 0);
        for page in &document.pages {
            while due < passed + page.text.len() {
                let sample = window(&page.text, due - passed);
                if let Some((language, script)) = told(sample) {
                    match votes.iter_mut().find(|vote| vote.0 == language) {
                        Some(vote) => vote.2 += sample.len(),
                        None => votes.push((language, script, sample.len())),
                    }
                }
                due += stride;
            }
            passed += page.text.len();
        }
        let main = votes.iter().max_by_key(|vote| vote.2).map(|&(language, script, _)| (language, script));
        Languages { main, mixed: votes.len() > 1 }
    }

    /// The language of a passage: the document's, unless the passage is in another script or the document is mixed.
    pub(super) fn of_passage(&self, text: &str) -> Option<&'static str> {
        let sample = window(text, 0);
        let Some((main, script)) = self.main else {
            return told(sample).and_then(|(language, _)| code(language));
        };
        let foreign = || detect_script(window_of(text, 120)).is_some_and(|found| found != script);
        if (self.mixed || foreign())
            && let Some((language, _)) = told(sample)
        {
            return code(language);
        }
        code(main)
    }
}

/// The language that most of a document is surely in, as ISO 639-1 has it.
pub fn main_language(document: &Document) -> Option<&'static str> {
    Languages::of(document).main.and_then(|(language, _)| code(language))
}

/// The language that a text is surely in, as ISO 639-1 has it.
pub fn language_of(text: &str) -> Option<&'static str> {
    told(window(text, 0)).and_then(|(language, _)| code(language))
}

/// Takes passages whose language could not be told to be in the box's usual one, where their script allows it.
pub fn assume(chunks: &mut [Chunk], usual: &str) {
    for chunk in chunks.iter_mut().filter(|chunk| chunk.language.is_none()) {
        let script = detect_script(window(&chunk.text, 0));
        if script.is_some_and(|script| script.langs().iter().any(|&lang| code(lang) == Some(usual))) {
            chunk.language = Some(usual.to_string());
        }
    }
}

/// What the detector is sure of. A script that only one language uses takes no letters to tell.
fn told(sample: &str) -> Option<(Lang, Script)> {
    let info = detect(sample)?;
    let letters = || sample.chars().filter(|c| c.is_alphabetic()).take(FEWEST_LETTERS).count();
    let sure = info.is_reliable() && (info.script().langs().len() == 1 || letters() == FEWEST_LETTERS);
    sure.then(|| (info.lang(), info.script()))
}

fn window(text: &str, from: usize) -> &str {
    let start = text.floor_char_boundary(from);
    window_of(&text[start..], SAMPLE)
}

fn window_of(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The two letters of ISO 639-1 for what the detector tells.
fn code(language: Lang) -> Option<&'static str> {
    Some(match language.code() {
        "epo" => "eo",
        "eng" => "en",
        "rus" => "ru",
        "cmn" => "zh",
        "spa" => "es",
        "por" => "pt",
        "ita" => "it",
        "ben" => "bn",
        "fra" => "fr",
        "deu" => "de",
        "ukr" => "uk",
        "kat" => "ka",
        "ara" => "ar",
        "hin" => "hi",
        "jpn" => "ja",
        "heb" => "he",
        "yid" => "yi",
        "pol" => "pl",
        "amh" => "am",
        "jav" => "jv",
        "kor" => "ko",
        "nob" => "nb",
        "dan" => "da",
        "swe" => "sv",
        "fin" => "fi",
        "tur" => "tr",
        "nld" => "nl",
        "hun" => "hu",
        "ces" => "cs",
        "ell" => "el",
        "bul" => "bg",
        "bel" => "be",
        "mar" => "mr",
        "kan" => "kn",
        "ron" => "ro",
        "slv" => "sl",
        "hrv" => "hr",
        "srp" => "sr",
        "mkd" => "mk",
        "lit" => "lt",
        "lav" => "lv",
        "est" => "et",
        "tam" => "ta",
        "vie" => "vi",
        "urd" => "ur",
        "tha" => "th",
        "guj" => "gu",
        "uzb" => "uz",
        "pan" => "pa",
        "aze" => "az",
        "ind" => "id",
        "tel" => "te",
        "pes" => "fa",
        "mal" => "ml",
        "ori" => "or",
        "mya" => "my",
        "nep" => "ne",
        "sin" => "si",
        "khm" => "km",
        "tuk" => "tk",
        "aka" => "ak",
        "zul" => "zu",
        "sna" => "sn",
        "afr" => "af",
        "lat" => "la",
        "slk" => "sk",
        "cat" => "ca",
        "tgl" => "tl",
        "hye" => "hy",
        "cym" => "cy",
        _ => return None,
    })
}
