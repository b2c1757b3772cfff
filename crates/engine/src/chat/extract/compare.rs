//! Comparisons: a cited line for each side, or that nothing is said of it.

use super::{Extractive, LEAST, quotes};
use crate::{
    Fault,
    chat::{
        language::Language,
        phrases,
        pick::{Wanted, stems},
    },
    seams::answerer::{Passage, Piece, Side},
};

/// How far below an answer's a line of a comparison may be: it must name its side.
const SLACK: f32 = 1.5;

/// A line for each side; none where the documents say nothing of any.
pub(super) async fn pieces(
    extractive: &Extractive,
    sides: &[Side],
    passages: &[Passage],
    language: Language,
) -> Result<Vec<Piece>, Fault> {
    let (mut pieces, mut found) = (Vec::new(), false);
    for side in sides {
        let wanted = Wanted { question: &side.question, ..Wanted::default() };
        let weighed = extractive.weighed(&wanted, passages).await?;
        let name = stems(&side.name);
        // What names the side: it must stand in the sentence, or right above it.
        let names = |text: &str| {
            let there = stems(text);
            name.iter().all(|word| there.contains(word))
        };
        let best = weighed.into_iter().find(|sentence| {
            let passage = &passages[sentence.passage];
            let above = format!(
                "{} {}",
                passage.chunk.section.join(" "),
                passage.file_name.replace(['_', '-', '.'], " ")
            );
            sentence.sum + SLACK >= LEAST && names(&format!("{} {above}", sentence.text(passages)))
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
