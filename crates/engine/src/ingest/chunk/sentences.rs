//! Cuts prose into sentences, in any script.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Words that a full stop after them does not end a sentence with, lower-case, without the stop: in English, German, Spanish,
/// Portuguese, French, Italian and Russian.
const ABBREVIATIONS: &[&str] = &[
    "abs", "al", "approx", "aprox", "arq", "art", "av", "avda", "bzw", "ca", "cf", "co", "corp", "dept",
    "dott", "dr", "dra", "ed", "eg", "ej", "eq", "est", "etc", "evtl", "fig", "figs", "ggf", "gral", "hr",
    "ie", "inc", "ing", "inkl", "jr", "lic", "ltd", "max", "min", "mr", "mrs", "ms", "no", "nos", "nr",
    "num", "núm", "p", "para", "pp", "prof", "pág", "págs", "ref", "refs", "resp", "rev", "sec", "sig", "sr",
    "sra", "sres", "srta", "st", "sta", "sto", "str", "tel", "u.s", "ud", "uds", "vgl", "vol", "vs", "zzgl",
    "им", "кв", "руб", "ул",
];

/// The sentences of `text` as byte ranges without blank ends; together they hold all that is not blank.
///
/// Boundaries are those of Unicode (UAX #29), which knows the full stops of all scripts, except that a line break inside
/// a paragraph is a space, and that an abbreviation or an initial does not end a sentence.
pub(crate) fn split(text: &str) -> Vec<Range<usize>> {
    // Same length in bytes, so the boundaries found are those of `text`.
    let flat: String = text.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
    let mut sentences: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for (start, part) in flat.split_sentence_bound_indices() {
        let kept = part.trim_end();
        let end = start + kept.len();
        let start = start + (part.len() - part.trim_start().len());
        if start >= end {
            continue;
        }
        match sentences.last_mut() {
            Some(last) if open => last.end = end,
            _ => sentences.push(start..end),
        }
        open = ends_in_abbreviation(kept);
    }
    sentences
}

fn ends_in_abbreviation(sentence: &str) -> bool {
    let Some(before) = sentence.strip_suffix('.') else { return false };
    let word =
        before.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"')).next().unwrap_or("");
    let mut characters = word.chars();
    let initial =
        matches!((characters.next(), characters.next()), (Some(first), None) if first.is_uppercase());
    // Longer than the longest of the list is cheap to tell, and most words are.
    initial || (word.len() <= 8 && ABBREVIATIONS.contains(&word.to_lowercase().replace(".", "").as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        split(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn sentences_end_where_they_end() {
        assert_eq!(
            parts("  One is here. Two\nis wrapped! Is it? "),
            ["One is here.", "Two\nis wrapped!", "Is it?"]
        );
        assert_eq!(
            parts("See Fig. 3 by Dr. J. Smith et al. Version 3.2.1 is out."),
            ["See Fig. 3 by Dr. J. Smith et al. Version 3.2.1 is out."]
        );
        assert_eq!(
            parts("La Sra. Ortiz vive en la Avda. Colón núm. 4. El Dr. Ruiz no."),
            ["La Sra. Ortiz vive en la Avda. Colón núm. 4.", "El Dr. Ruiz no."]
        );
        assert_eq!(parts("Дом на ул. Ленина. Он мал."), ["Дом на ул. Ленина.", "Он мал."]);
        assert_eq!(parts("故宫位于北京。它很大！是吗？"), ["故宫位于北京。", "它很大！", "是吗？"]);
        assert_eq!(parts("هل هذا صحيح؟ نعم هو كذلك."), ["هل هذا صحيح؟", "نعم هو كذلك."]);
        assert_eq!(parts("यह एक वाक्य है। यह दूसरा है।"), ["यह एक वाक्य है।", "यह दूसरा है।"]);
        assert!(parts(" \n ").is_empty());
    }
}
