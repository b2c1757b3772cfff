//! The words of a text, as far as chat needs to know them: normalised, without stop words.

use std::{collections::HashSet, sync::LazyLock};

use unicode_segmentation::UnicodeSegmentation;

/// Stop words, in the languages that most boxes are in.
const EMPTY: &[&str] = &[
    // English
    "a",
    "about",
    "after",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "before",
    "being",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "for",
    "from",
    "had",
    "has",
    "have",
    "he",
    "her",
    "him",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "many",
    "may",
    "me",
    "more",
    "most",
    "much",
    "my",
    "no",
    "not",
    "of",
    "on",
    "one",
    "or",
    "our",
    "please",
    "s",
    "she",
    "should",
    "so",
    "some",
    "such",
    "t",
    "tell",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "us",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your", // German
    "aber",
    "als",
    "am",
    "auch",
    "auf",
    "aus",
    "bei",
    "bin",
    "bis",
    "da",
    "dann",
    "das",
    "dass",
    "dem",
    "den",
    "denn",
    "der",
    "des",
    "die",
    "dies",
    "diese",
    "dieser",
    "du",
    "durch",
    "ein",
    "eine",
    "einem",
    "einen",
    "einer",
    "eines",
    "er",
    "es",
    "für",
    "gibt",
    "hat",
    "haben",
    "ich",
    "ihr",
    "im",
    "in",
    "ist",
    "kann",
    "mit",
    "nach",
    "nicht",
    "noch",
    "nur",
    "oder",
    "sich",
    "sie",
    "sind",
    "über",
    "um",
    "und",
    "uns",
    "viel",
    "viele",
    "vom",
    "von",
    "vor",
    "wann",
    "war",
    "waren",
    "warum",
    "was",
    "welche",
    "welchem",
    "welchen",
    "welcher",
    "welches",
    "wem",
    "wen",
    "wer",
    "werden",
    "wie",
    "wir",
    "wird",
    "wo",
    "wurde",
    "wurden",
    "zu",
    "zum",
    "zur", // Spanish
    "al",
    "como",
    "cómo",
    "con",
    "cuál",
    "cuáles",
    "cuando",
    "cuándo",
    "cuánto",
    "cuántos",
    "cuántas",
    "de",
    "del",
    "donde",
    "dónde",
    "el",
    "ella",
    "en",
    "entre",
    "era",
    "es",
    "esta",
    "este",
    "esto",
    "fue",
    "fueron",
    "ha",
    "hay",
    "la",
    "las",
    "lo",
    "los",
    "más",
    "o",
    "para",
    "pero",
    "por",
    "que",
    "qué",
    "quién",
    "quiénes",
    "se",
    "ser",
    "si",
    "sin",
    "sobre",
    "son",
    "su",
    "sus",
    "tiene",
    "un",
    "una",
    "y",
    // French
    "au",
    "aux",
    "avec",
    "ce",
    "ces",
    "cette",
    "combien",
    "comment",
    "dans",
    "du",
    "elle",
    "est",
    "et",
    "il",
    "ils",
    "je",
    "le",
    "les",
    "leur",
    "mais",
    "ne",
    "nous",
    "on",
    "où",
    "ou",
    "par",
    "pas",
    "pour",
    "quand",
    "quel",
    "quelle",
    "quelles",
    "quels",
    "qui",
    "sa",
    "ses",
    "sont",
    "sur",
    "une",
    "vous", // Portuguese
    "à",
    "ao",
    "aos",
    "as",
    "às",
    "até",
    "com",
    "da",
    "das",
    "do",
    "dos",
    "e",
    "é",
    "em",
    "esse",
    "foi",
    "foram",
    "há",
    "isso",
    "mais",
    "mas",
    "na",
    "nas",
    "nos",
    "não",
    "onde",
    "os",
    "pela",
    "pelo",
    "qual",
    "quais",
    "quando",
    "quanta",
    "quantas",
    "quanto",
    "quantos",
    "quem",
    "são",
    "sua",
    "seu",
    "também",
    "tem",
    "têm",
    "um",
    "uma", // Italian
    "alla",
    "allo",
    "che",
    "chi",
    "ci",
    "cosa",
    "dal",
    "dalla",
    "degli",
    "dei",
    "della",
    "delle",
    "dello",
    "di",
    "dove",
    "gli",
    "ha",
    "hanno",
    "i",
    "il",
    "nel",
    "nella",
    "non",
    "per",
    "quale",
    "quali",
    "quante",
    "quanti",
    "questo",
    "si",
    "sono",
    "sul",
    "sulla",
    "suo",
    "tra",
    "uno", // and more German, Spanish and French
    "hatte",
    "hatten",
    "wurden",
    "gab",
    "welch",
    "cuánta",
    "cuantos",
    "cuantas",
    "cual",
    "quien",
    "tienen",
    "fueron",
    "son",
    "était",
    "étaient",
    "avait",
    "ont",
    "des",
    "quoi",
    "leurs", // Russian
    "а",
    "без",
    "бы",
    "был",
    "была",
    "были",
    "было",
    "в",
    "во",
    "вы",
    "где",
    "для",
    "до",
    "его",
    "ее",
    "её",
    "если",
    "есть",
    "еще",
    "ещё",
    "же",
    "за",
    "и",
    "из",
    "или",
    "им",
    "их",
    "к",
    "как",
    "какая",
    "какие",
    "какой",
    "каком",
    "какую",
    "ко",
    "когда",
    "который",
    "которая",
    "которые",
    "кто",
    "кого",
    "ли",
    "мы",
    "на",
    "не",
    "но",
    "о",
    "об",
    "он",
    "она",
    "они",
    "оно",
    "от",
    "по",
    "под",
    "при",
    "про",
    "с",
    "сколько",
    "со",
    "так",
    "также",
    "то",
    "только",
    "ты",
    "у",
    "чего",
    "чем",
    "что",
    "это",
    "этот",
    "эта",
    "эти",
    "этого",
    "я", // Arabic
    "ما",
    "من",
    "في",
    "على",
    "إلى",
    "عن",
    "هو",
    "هي",
    "هم",
    "هذا",
    "هذه",
    "ذلك",
    "تلك",
    "التي",
    "الذي",
    "كم",
    "متى",
    "أين",
    "كيف",
    "لماذا",
    "هل",
    "أن",
    "إن",
    "كان",
    "كانت",
    "قد",
    "مع",
    "بين",
    "أو",
    "ثم",
    "و",
    "أي",
    "ماذا",
    "لم",
    "لا",
    "كل",
    "بعد",
    "قبل",
    "الذين",
    "الى", // Chinese
    "的",
    "了",
    "是",
    "在",
    "和",
    "与",
    "有",
    "什",
    "么",
    "吗",
    "呢",
    "哪",
    "谁",
    "几",
    "何",
    "为",
    "这",
    "那",
    "个",
    "之",
    "其",
    "也",
    "都",
    "就",
    "被",
    "把",
    "对",
    "及", // Japanese
    "の",
    "は",
    "が",
    "を",
    "に",
    "で",
    "と",
    "も",
    "か",
    "へ",
    "や",
    "から",
    "まで",
    "です",
    "ます",
    "した",
    "する",
    "て",
    "た",
    "し",
    "る",
    "い",
    "な",
    "れ",
    "さ",
    "す",
    "ま",
    "ど",
    "こ",
    "そ",
    "あ",
    "誰",
];

/// Endings that forms of a word differ by, longest first.
const ENDINGS: &[&str] = &[
    "ation", "ing", "ied", "ies", "ed", "es", "en", "er", "ly", "s", "e", "y", "n", // Russian
    "иями", "ями", "ами", "ией", "иях", "ого", "его", "ому", "ему", "ыми", "ими", "ая", "яя", "ое", "ее",
    "ые", "ие", "ый", "ий", "ой", "ом", "ем", "ам", "ям", "ах", "ях", "ую", "юю", "ов", "ев", "ей", "ия",
    "ию", "ии", "ть", "ла", "ли", "ло", "ет", "ют", "ит", "ат", "ят", "ут", "а", "я", "о", "е", "ы", "и",
    "у", "ю", "ь", // Arabic
    "ات", "ون", "ين", "ها", "ة", "ه",
];

/// A word with the form that it is compared by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// As written in the text.
    pub(super) text: &'a str,
    /// Lower case, without a common ending.
    pub(super) stem: String,
}

/// The content words of a text, in order.
pub(super) fn telling(text: &str) -> Vec<Word<'_>> {
    let words = text.unicode_words().filter(|word| !is_empty(&word.to_lowercase()));
    words.map(|text| Word { text, stem: stem(text) }).collect()
}

/// Whether a word in lower case is a stop word.
pub(super) fn is_empty(lower: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| EMPTY.iter().copied().collect());
    WORDS.contains(lower)
}

/// The form that words are compared by: lower case, common endings taken off long words. Rough on purpose: it only
/// weighs, it never decides alone.
pub(super) fn stem(word: &str) -> String {
    let mut lower = word.to_lowercase();
    if lower.ends_with("'s") || lower.ends_with("’s") {
        let end = lower.char_indices().nth_back(1).map_or(lower.len(), |(at, _)| at);
        lower.truncate(end);
    }
    // The article of Arabic, alone and with what is written together with it.
    if let Some(bare) =
        ["وال", "بال", "كال", "فال", "ال", "لل"].iter().find_map(|article| lower.strip_prefix(article))
        && bare.chars().count() >= 3
    {
        lower = bare.to_string();
    }
    while let Some(stem) =
        ENDINGS.iter().find_map(|ending| lower.strip_suffix(ending).filter(|stem| long(stem)))
    {
        lower = stem.to_string();
    }
    // "dogs" too is more than one dog; "news", "plus" and "this" are not.
    if lower.len() == 4
        && lower.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| lower.ends_with(end))
        && lower != "news"
    {
        lower.pop();
    }
    // "baked" is a form of "bake", which is too short to lose more.
    if lower.ends_with("ed") && lower.chars().count() == 5 {
        lower.pop();
    }
    lower
}

/// The fewest letters that remain of a word.
fn long(stem: &str) -> bool {
    stem.chars().count() >= 4
}

/// Whether a word holds a digit.
pub(super) fn is_number(word: &str) -> bool {
    word.chars().any(|character| character.is_numeric())
}

/// Numbers written out.
const NUMBERS: &str = "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|\
    sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|\
    hundred|thousand|million|billion|half|third|once|twice|zwei|drei|vier|fünf|sechs|sieben|acht|\
    neun|zehn|elf|zwölf|zwanzig|hundert|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|\
    veinte|cien|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|quinze|vingt|cent|dois|duas|\
    três|quatro|sete|oito|nove|dez|doze|vinte|cem|due|tre|quattro|cinque|sei|sette|otto|dieci|dodici|\
    quindici|venti|cento";

/// Whether a word in lower case is a number written out.
pub(super) fn is_number_word(lower: &str) -> bool {
    NUMBERS.split('|').any(|number| number == lower)
}

/// A text in lower case on one line, without marks of citations.
pub(super) fn flat(text: &str) -> String {
    let lower = text.to_lowercase();
    lower.split_whitespace().filter(|word| !is_mark(word)).collect::<Vec<_>>().join(" ")
}

fn is_mark(word: &str) -> bool {
    let inside = word.strip_prefix('[').and_then(|word| word.trim_end_matches(['.', ',']).strip_suffix(']'));
    inside.is_some_and(|inside| !inside.is_empty() && inside.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The stems of a text's content words.
pub(super) fn stems(text: &str) -> HashSet<String> {
    telling(text).into_iter().map(|word| word.stem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_citations_do_not_count() {
        assert_eq!(flat("It  lasts two\nyears. [1] So [x]."), "it lasts two years. so [x].");
    }

    #[test]
    fn forms_of_a_word_are_alike_and_empty_words_are_left_out() {
        let stems: Vec<String> = telling("How many points did the Panthers' defenses surrender?")
            .into_iter()
            .map(|word| word.stem)
            .collect();
        assert_eq!(stems, ["point", "panth", "defe", "surrend"]);
        assert_eq!(stem("surrendered"), stem("surrendering"));
        assert_eq!(stem("defense"), stem("defenses"));
        assert_eq!(stem("dog"), stem("dogs"));
        assert!(stem("news") == "news" && stem("plus") == "plus");
        assert!(is_number("E4021") && !is_number("two"));
    }
}
