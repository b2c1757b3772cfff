//! The language that somebody speaks to us in, as far as short questions tell.
//!
//! A question of four words is too short for statistics over letters, but rarely has no word that only one language
//! uses; so those are counted, and only a tie is left to the statistics.

use crate::seams::answerer::{Speaker, Turn};

/// The languages that fixed sentences are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Language {
    #[default]
    English,
    German,
    Spanish,
    French,
    Portuguese,
    Italian,
    Chinese,
    Japanese,
    Russian,
    Arabic,
}

use Language::{Arabic, Chinese, English, French, German, Italian, Japanese, Portuguese, Russian, Spanish};

/// Words that tell a language, most of them of one only.
const TELLING: &[(Language, &str)] = &[
    (
        English,
        "the|what|which|who|when|where|why|how|is|are|was|were|does|did|do|and|of|with|about|many|much|\
         this|that|it|they|for|have|has|can|you|your|there|hello|thanks|thank|please|compare|between",
    ),
    (
        German,
        "der|die|das|den|dem|des|ein|eine|einen|einer|was|wer|wie|wann|wo|warum|welche|welcher|welches|\
         welchen|ist|sind|war|waren|hat|haben|und|von|mit|für|über|viel|viele|im|zum|zur|es|gibt|nicht|\
         wurde|wird|bitte|danke|hallo|fasse|zwischen|vergleiche|worum|geht|dieses|dokument|lange|vielen|\
         dank|guten|tag|morgen",
    ),
    (
        Spanish,
        "el|la|los|las|del|qué|quién|cuándo|dónde|cuánto|cuánta|cuántos|cuántas|cuál|cuáles|cómo|es|son|\
         fue|fueron|hay|y|con|en|una|un|sobre|tiene|cuesta|gracias|hola|resume|compara|entre|este|esta|\
         pesa|documentos|por|para|dura|empresa|muchas|días",
    ),
    (
        French,
        "le|la|les|des|du|un|une|quel|quelle|quels|quelles|qui|quand|où|combien|comment|pourquoi|est|sont|\
         était|et|avec|pour|dans|sur|il|elle|avez|vous|merci|bonjour|résume|résumez|compare|ce|cette|entre|\
         quoi|a|au|aux|de|documents|coûte|pèse|dure|y",
    ),
    (
        Portuguese,
        "o|a|os|as|do|da|dos|das|qual|quais|quem|quando|onde|quanto|quanta|quantos|quantas|como|é|são|foi|\
         foram|há|e|com|em|no|na|um|uma|sobre|tem|custa|obrigado|obrigada|olá|resuma|entre|este|esta|que|\
         não|documento|documentos|pesa|dura|depois|muito|bom|dia",
    ),
    (
        Italian,
        "il|lo|gli|di|del|della|dei|degli|delle|che|chi|quando|dove|quanto|quanti|quante|quale|quali|come|\
         è|sono|fu|c'è|ci|e|con|nel|nella|un|una|per|grazie|ciao|buongiorno|riassumi|confronta|tra|questo|\
         questa|cosa|documenti|costa|pesa|dura|ha",
    ),
];

impl Language {
    /// The language of a conversation: that of the last turn which tells, of those who ask.
    pub(super) fn of(turns: &[Turn]) -> Self {
        let asked = turns.iter().rev().filter(|turn| turn.speaker == Speaker::User);
        asked.filter_map(|turn| Self::told(&turn.text)).next().unwrap_or_default()
    }

    /// The language of a text; `None` where nothing tells.
    pub(super) fn told(text: &str) -> Option<Self> {
        if let Some(script) = Script::of(text) {
            return script.language(text);
        }
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower
            .split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let count = |known: &str| {
            let known: Vec<&str> = known.split('|').collect();
            words.iter().filter(|word| known.contains(word)).count() as f32
        };
        let mut scores: Vec<(Language, f32)> = TELLING
            .iter()
            .map(|(language, known)| (*language, count(known) + signs(*language, &lower)))
            .collect();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1));
        let [(best, most), (_, next), ..] = scores[..] else { return None };
        if most == 0.0 {
            return detected(text);
        }
        if most > next {
            return Some(best);
        }
        let tied = |language: Language| scores.contains(&(language, most));
        detected(text).filter(|language| tied(*language)).or(Some(best))
    }
}

/// A script that few languages are written in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Kana,
    Han,
    Cyrillic,
    Arabic,
}

impl Script {
    /// The script of a text. One character of kana makes a text Japanese, whatever Chinese characters it has; a name in Latin
    /// letters tells nothing.
    fn of(text: &str) -> Option<Self> {
        let of = |character: char| match character {
            '\u{3040}'..='\u{30ff}' => Some(Script::Kana),
            '\u{4e00}'..='\u{9fff}' => Some(Script::Han),
            '\u{0400}'..='\u{04ff}' => Some(Script::Cyrillic),
            '\u{0621}'..='\u{06d3}' => Some(Script::Arabic),
            _ => None,
        };
        let found: Vec<Script> = text.chars().filter_map(of).collect();
        let any = |script: Script| found.contains(&script).then_some(script);
        any(Script::Kana)
            .or_else(|| any(Script::Han))
            .or_else(|| any(Script::Cyrillic))
            .or_else(|| any(Script::Arabic))
    }

    /// The language that we speak of those written in it; `None` where letters tell that it is another.
    fn language(self, text: &str) -> Option<Language> {
        let others: &[char] = match self {
            Script::Kana | Script::Han => &[],
            Script::Cyrillic => {
                &['і', 'ї', 'є', 'ґ', 'ў', 'ј', 'љ', 'њ', 'ћ', 'ђ', 'ѓ', 'ќ', 'ә', 'қ', 'ө', 'ү']
            }
            Script::Arabic => &['پ', 'چ', 'ژ', 'گ', 'ک', 'ی', 'ٹ', 'ڈ', 'ڑ', 'ں', 'ے', 'ہ', 'ھ', 'ې'],
        };
        if text.to_lowercase().contains(others) && !others.is_empty() {
            return None;
        }
        Some(match self {
            Script::Kana => Japanese,
            Script::Han => Chinese,
            Script::Cyrillic => Russian,
            Script::Arabic => Arabic,
        })
    }
}

/// Letters and signs that tell a language.
fn signs(language: Language, lower: &str) -> f32 {
    let signs: &[char] = match language {
        German => &['ä', 'ö', 'ü', 'ß'],
        Spanish => &['¿', '¡', 'ñ', 'ó', 'ú', 'í'],
        French => &['ê', 'è', 'ù', 'û', 'œ', 'î', 'ô', 'ç'],
        Portuguese => &['ã', 'õ', 'ç', 'â', 'ê'],
        Italian => &['è', 'ù', 'ò', 'ì', 'à'],
        English | Chinese | Japanese | Russian | Arabic => &[],
    };
    if lower.contains(signs) { 0.6 } else { 0.0 }
}

/// What statistics over letters say, where they are sure.
fn detected(text: &str) -> Option<Language> {
    let found = whatlang::detect(text).filter(whatlang::Info::is_reliable)?;
    match found.lang() {
        whatlang::Lang::Eng => Some(English),
        whatlang::Lang::Deu => Some(German),
        whatlang::Lang::Spa => Some(Spanish),
        whatlang::Lang::Fra => Some(French),
        whatlang::Lang::Por => Some(Portuguese),
        whatlang::Lang::Ita => Some(Italian),
        whatlang::Lang::Cmn => Some(Chinese),
        whatlang::Lang::Jpn => Some(Japanese),
        whatlang::Lang::Rus => Some(Russian),
        whatlang::Lang::Ara => Some(Arabic),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_questions_tell_their_language() {
        for (text, language) in [
            ("How long is the warranty?", English),
            ("Wie lange gilt die Garantie?", German),
            ("Wer leitet das Labor?", German),
            ("¿Cuánto cuesta el envío?", Spanish),
            ("cuantos empleados tiene la empresa", Spanish),
            ("Combien coûte la livraison ?", French),
            ("Qui dirige le laboratoire ?", French),
            ("Quanto custa a entrega?", Portuguese),
            ("Quem é o diretor do laboratório?", Portuguese),
            ("Quanto costa la consegna?", Italian),
            ("Chi dirige il laboratorio?", Italian),
            ("保修期多长？", Chinese),
            ("保証期間はどのくらいですか？", Japanese),
            ("Сколько длится гарантия на Aurora 300?", Russian),
            ("ما هي مدة الضمان؟", Arabic),
        ] {
            assert_eq!(Language::told(text), Some(language), "{text}");
        }
        assert_eq!(Language::told("K2-35?"), None);
        assert_eq!(Language::told("Скільки триває гарантія?"), None, "Ukrainian");
        assert_eq!(Language::told("مدت گارانتی چقدر است؟"), None, "Persian");
    }

    #[test]
    fn a_turn_without_words_is_in_the_language_of_the_one_before() {
        let turn = |speaker, text: &str| Turn { speaker, text: text.into() };
        let turns = [
            turn(Speaker::User, "Wie hoch war der Umsatz 2022?"),
            turn(Speaker::Assistant, "The revenue was ten."),
            turn(Speaker::User, "2023?"),
        ];
        assert_eq!(Language::of(&turns), German);
        assert_eq!(Language::of(&[]), English);
    }
}
