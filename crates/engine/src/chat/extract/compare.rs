//! Comparisons: a cited line for each side, or that nothing is said of it.

use super::{Extractive, least, quotes};
use crate::{
    Fault,
    chat::{
        alike,
        language::Language,
        phrases,
        pick::Wanted,
        words::{self, stems},
    },
    seams::answerer::{Brief, Piece, Side},
};

/// How far below an answer's a line of a comparison may be: it must name its side.
const SLACK: f32 = 1.5;

/// A line for each side; none where the documents say nothing of any.
pub(super) async fn pieces(
    extractive: &Extractive,
    sides: &[Side],
    brief: &Brief,
    language: Language,
) -> Result<Vec<Piece>, Fault> {
    let passages = &brief.passages;
    let (mut pieces, mut found) = (Vec::new(), false);
    for side in sides {
        let wanted = Wanted { question: &side.question, ..Wanted::default() };
        let weighed = extractive.weighed(&wanted, brief).await?;
        let mut name = stems(&side.name);
        // "The number of swans in 2020": the cell only says how many.
        let number = words::stem("number");
        name.retain(|word| *word != number && !alike::of(&number).contains(word));
        // What names the side: it must stand in the sentence, or right above it.
        let names = |text: &str| {
            let there = stems(text);
            name.iter().all(|word| there.contains(word))
        };
        // What is compared must be said of it, in the same words or in others.
        let aspect: Vec<String> = stems(&side.question).difference(&name).cloned().collect();
        let is_said = |text: &str| {
            let there = stems(text);
            let stands = |word: &String| {
                there.contains(word) || alike::of(word).iter().any(|other| there.contains(other))
            };
            aspect.is_empty() || aspect.iter().any(stands)
        };
        let best = weighed.into_iter().find(|sentence| {
            let passage = &passages[sentence.passage];
            let above = format!(
                "{} {}",
                passage.chunk.section.join(" "),
                passage.file_name.replace(['_', '-', '.'], " ")
            );
            let said = format!("{} {above}", sentence.text(passages));
            sentence.sum + SLACK >= least(sentence) && names(&said) && is_said(&said)
        });
        let line = if pieces.is_empty() { "" } else { "\n" };
        pieces.push(Piece::Plain(format!("{line}- {}: ", side.name)));
        match best {
            Some(best) => {
                found = true;
                pieces.extend(quotes(&[best], passages));
            }
            None => pieces.push(Piece::Plain(phrases::lacking(language).to_string())),
        }
    }
    Ok(if found { pieces } else { Vec::new() })
}
