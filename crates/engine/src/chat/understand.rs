//! Turns a conversation into one question that can be understood without it.
//!
//! "What was the revenue of Acme in 2022?", then "and in 2023?": the second turn lacks what and who, so it takes both
//! from the first, but not the time, which it has. No model is asked.

use super::{
    intent, kind,
    language::Language,
    words::{self, Word},
};
use crate::seams::answerer::{Speaker, Turn};

/// Words that stand for something said before.
const POINTING: &[&str] = &[
    "it",
    "its",
    "they",
    "them",
    "their",
    "theirs",
    "he",
    "him",
    "his",
    "she",
    "her",
    "hers",
    "this",
    "that",
    "these",
    "those",
    "there",
    "one",
    "ones",
    "same",
    "former",
    "latter", // English
    "er",
    "sie",
    "es",
    "ihn",
    "ihm",
    "ihr",
    "dies",
    "diese",
    "dieser",
    "dieses",
    "dort",
    "davon",
    "dafür",
    "damit", // German
    "él",
    "ella",
    "ellos",
    "ellas",
    "eso",
    "esa",
    "ese",
    "esto",
    "allí", // Spanish
    "ele",
    "eles",
    "elas",
    "isso",
    "disso",
    "nele",
    "nela",
    "dele",
    "dela", // Portuguese
    "lui",
    "lei",
    "loro",
    "essa",
    "esso",
    "questo",
    "quello", // Italian
    "il",
    "elle",
    "ils",
    "elles",
    "cela",
    "ça",
    "celui",
    "celle",
    "y",
    "en", // French
    "он",
    "она",
    "оно",
    "они",
    "его",
    "её",
    "ее",
    "их",
    "ему",
    "ей",
    "им",
    "это",
    "этот",
    "эта",
    "этого",
    "там", // Russian
    "هو",
    "هي",
    "هم",
    "ذلك",
    "هذا",
    "هذه",
    "هناك", // Arabic
];
/// Words at the start of a turn that continues the last one.
const GOING_ON: &[&str] = &[
    "and",
    "but",
    "or",
    "also",
    "then",
    "so",
    "what about",
    "how about", // English
    "und",
    "aber",
    "oder",
    "auch",
    "dann",
    "wie ist es mit",
    "was ist mit", // German
    "y",
    "pero",
    "o",
    "entonces",
    "qué tal", // Spanish
    "et",
    "mais",
    "ou",
    "alors", // French
    "e",
    "mas",
    "então", // Portuguese
    "ma",
    "allora", // Italian
    "а",
    "и",
    "но",
    "или",
    "тогда",
    "как насчёт",
    "как насчет",
    "что насчёт", // Russian
    "و",
    "ماذا عن",
    "وماذا عن",
    "لكن", // Arabic
];
/// Names of times besides years and numbers of dates.
const TIMES: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "today",
    "yesterday",
    "tomorrow",
    "q1",
    "q2",
    "q3",
    "q4",
    "spring",
    "summer",
    "autumn",
    "winter",
    "januar",
    "februar",
    "märz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember",
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
    "janvier",
    "février",
    "mars",
    "avril",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
];
/// With this many content words a turn can be understood on its own, unless one of its words refers back.
const ENOUGH: usize = 3;
/// Up to this many characters, a turn in a script without capitals and spaces needs the last one.
const SHORT: usize = 12;
/// Words taken over from before at most; more would drown the turn's own.
const CARRIED: usize = 8;

/// The part that a word plays in a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Time,
    Name,
    Topic,
}

/// The question that the conversation amounts to; empty where nobody asked anything.
pub(super) fn question(turns: &[Turn]) -> String {
    let mut question = String::new();
    let mut answer = "";
    for turn in turns {
        match turn.speaker {
            // Nobody refers back to a greeting.
            Speaker::User if intent::is_talk(&turn.text) => {}
            Speaker::User if question.is_empty() => question = turn.text.trim().to_string(),
            Speaker::User => question = completed(turn.text.trim(), &question, answer),
            Speaker::Assistant => answer = &turn.text,
        }
    }
    question
}

/// The question before the last turn of whoever asks; empty where there is none.
pub(super) fn question_before(turns: &[Turn]) -> String {
    let last = turns.iter().rposition(|turn| turn.speaker == Speaker::User).unwrap_or(0);
    question(&turns[..last])
}

/// The turn with what it lacks, taken from the question and the answer before it.
fn completed(turn: &str, before: &str, answer: &str) -> String {
    if turn.is_empty() {
        return before.to_string();
    }
    let own = words::telling(turn);
    let points = points_back(turn);
    let goes_on = goes_on(turn);
    let uncased = !turn.chars().any(|character| character.is_uppercase() || character.is_lowercase());
    if uncased {
        let needs = points || goes_on || turn.chars().count() <= SHORT;
        return if needs { format!("{turn} {before}") } else { turn.to_string() };
    }
    if !points && !goes_on && own.len() >= ENOUGH {
        return turn.to_string();
    }
    let has = |kind| kinds(turn, &own).any(|(_, found)| found == kind);
    // Where every noun has a capital, names cannot be told from topics: all is taken over.
    let german = goes_on && Language::told(before) == Some(Language::German);
    let mut carried: Vec<&str> = Vec::new();
    let earlier = words::telling(before);
    for (word, kind) in kinds(before, &earlier) {
        let lacking = match kind {
            // A turn with things of its own to ask about keeps to them, and takes over whom or what it points at.
            Kind::Topic | Kind::Name if german => true,
            Kind::Topic => !has(Kind::Topic) || (points && !has(Kind::Name)),
            Kind::Name | Kind::Time => !has(kind),
        };
        if lacking && !own.iter().any(|known| known.stem == word.stem) && !carried.contains(&word.text) {
            carried.push(word.text);
        }
    }
    let said = first_line(answer);
    let named = words::telling(said);
    if points && !has(Kind::Name) && !kinds(before, &earlier).any(|(_, kind)| kind == Kind::Name) {
        // "Who won?" "Denver." "When were they founded?"
        carried.extend(
            kinds(said, &named).filter(|(_, kind)| *kind == Kind::Name).map(|(word, _)| word.text).take(3),
        );
    }
    carried.truncate(CARRIED);
    // "When was order 1001 shipped?", "and 1003?": what kind of thing is asked for is taken over too.
    if goes_on && kind::asked(turn).is_none() {
        carried.extend(kind::asked(before).map(|kind| match kind {
            kind::Kind::Number => "how many",
            // What has no word that a passage should have.
            kind::Kind::Weight | kind::Kind::Price => "how much",
            kind::Kind::Duration => "how long",
            kind::Kind::Date => "when",
            kind::Kind::Name => "who",
        }));
    }
    if carried.is_empty() { turn.to_string() } else { format!("{turn} {}", carried.join(" ")) }
}

fn first_line(text: &str) -> &str {
    let line = text.lines().next().unwrap_or("");
    &line[..line.floor_char_boundary(300)]
}

fn points_back(turn: &str) -> bool {
    let lower = turn.to_lowercase();
    let mut words =
        lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.any(|word| POINTING.contains(&word))
}

fn goes_on(turn: &str) -> bool {
    let lower = turn.to_lowercase();
    let lower = lower.trim_start_matches(|character: char| !character.is_alphanumeric());
    GOING_ON.iter().any(|start| {
        lower.strip_prefix(start).is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    })
}

/// Each content word with the part it plays. A capital at the start of a sentence says nothing.
fn kinds<'a>(text: &'a str, words: &'a [Word<'a>]) -> impl Iterator<Item = (&'a Word<'a>, Kind)> {
    words.iter().map(move |word| {
        let lower = word.text.to_lowercase();
        let year = word.text.len() == 4 && word.text.bytes().all(|byte| byte.is_ascii_digit());
        let at = word.text.as_ptr() as usize - text.as_ptr() as usize;
        let before = text[..at].trim_end();
        let begins = before.is_empty() || before.ends_with(['.', '!', '?', ':', '"', '“']);
        let capitals = word.text.chars().filter(|character| character.is_uppercase()).count();
        let kind = match () {
            () if year || (TIMES.contains(&lower.as_str()) && (lower != "may" || capitals > 0)) => Kind::Time,
            () if words::is_number(word.text) || capitals > 1 || (capitals == 1 && !begins) => Kind::Name,
            () => Kind::Topic,
        };
        (word, kind)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(turns: &[&str]) -> String {
        let speakers = [Speaker::User, Speaker::Assistant].into_iter().cycle();
        let turns: Vec<Turn> = turns
            .iter()
            .zip(speakers)
            .map(|(text, speaker)| Turn { speaker, text: text.to_string() })
            .collect();
        question(&turns)
    }

    #[test]
    fn a_turn_takes_over_what_it_lacks() {
        let first = "What was the revenue of Acme in 2022?";
        assert_eq!(asked(&[first, "Ten.", "and in 2023?"]), "and in 2023? revenue Acme");
        assert_eq!(asked(&[first, "Ten.", "What about Globex?"]), "What about Globex? revenue 2022");
        assert_eq!(
            asked(&[first, "Ten.", "and in 2023?", "Eleven.", "And Globex?"]),
            "And Globex? 2023 revenue"
        );
        assert_eq!(
            asked(&["How long does the warranty last?", "Two years.", "Does it cover batteries?"]),
            "Does it cover batteries? long warranty last"
        );
        assert_eq!(
            asked(&["Who won the final?", "The Denver Broncos won.", "When were they founded?"]),
            "When were they founded? won final Denver Broncos"
        );
        assert_eq!(
            asked(&["Wie lange gilt die Garantie des Silberdistel?", "Fünf Jahre.", "Und für den Akku?"]),
            "Und für den Akku? lange gilt Garantie Silberdistel how long"
        );
        assert_eq!(
            asked(&["When was order 1001 shipped?", "In May.", "and 1003?"]),
            "and 1003? order shipped when"
        );
        assert_eq!(asked(&["保修期多长？", "两年。", "电池呢？"]), "电池呢？ 保修期多长？");
        assert_eq!(
            asked(&["ما هي مدة ضمان الجهاز؟", "سنتان.", "وماذا عن البطارية الخارجية؟"]),
            "وماذا عن البطارية الخارجية؟ ما هي مدة ضمان الجهاز؟"
        );
        assert_eq!(
            asked(&["Какова выручка Acme в 2022 году?", "Десять.", "А в 2023?"]),
            "А в 2023? Какова выручка Acme году"
        );
    }

    #[test]
    fn a_turn_that_stands_on_its_own_is_left_alone() {
        let second = "Which office handles repairs for customers?";
        assert_eq!(asked(&["How long does the warranty last?", "Two years.", second]), second);
        assert_eq!(asked(&["Where?"]), "Where?");
        assert_eq!(asked(&[]), "");
    }
}
