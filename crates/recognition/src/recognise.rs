//! Reads a line of text: cuts it out of its picture, and makes words of what the network sees in it.

use std::sync::LazyLock;

use crate::detect::Strip;
use crate::gray::{Cut, Gray};
use crate::network::{HEIGHT, Networks, STEP};

/// The widest line that is read in one piece, in steps; wider ones are made narrower still.
const MOST_STEPS: usize = 512;

/// The characters that the network knows, one a line. Its first class is none of them, its last a blank.
static CHARACTERS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| include_str!("../../../models/pp-ocrv6-small/characters.txt").lines().collect());

/// A word of a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Where it starts and ends, as shares of the line's length.
    pub(crate) from: f32,
    pub(crate) to: f32,
    /// How sure its characters are, added up.
    sure: f32,
}

/// What a line says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    pub(crate) words: Vec<Word>,
    /// How sure its characters are on the average, and how many there are.
    pub(crate) confidence: f32,
    pub(crate) characters: usize,
}

/// How many steps the network takes to read a line.
pub(crate) fn steps(strip: &Strip) -> usize {
    let width = strip.length / strip.height * HEIGHT as f32;
    ((width / STEP as f32).ceil() as usize).clamp(2, MOST_STEPS)
}

/// Reads a line that runs in the direction `angle`.
pub(crate) fn read(gray: &Gray, strip: &Strip, angle: f32, networks: &dyn Networks) -> Said {
    let scale = strip.height / HEIGHT as f32;
    let width = steps(strip) * STEP;
    let (sine, cosine) = angle.sin_cos();
    let stretch = strip.length / width as f32;
    let along = (cosine * stretch, sine * stretch);
    let down = (-sine * scale, cosine * scale);
    // From the middle of the first pixel.
    let (right, lower) = ((width as f32 - 1.0) / 2.0, (HEIGHT as f32 - 1.0) / 2.0);
    let from = (
        strip.middle.0 - 0.5 - along.0 * right - down.0 * lower,
        strip.middle.1 - 0.5 - along.1 * right - down.1 * lower,
    );
    let values = gray.cut(Cut { from, along, down }, width, HEIGHT);
    said(&networks.recognise(&values, width))
}

/// Words of the classes of each step: a class that repeats is one character, the first class none.
fn said(steps: &[(usize, f32)]) -> Said {
    let known = &*CHARACTERS;
    let mut said = Said::default();
    let count = steps.len().max(1) as f32;
    let (mut before, mut blank, mut sum) = (0, true, 0.0);
    // Characters as wide as on the average of this line reach half as far from their middles.
    let classes = steps.iter().map(|step| step.0);
    let characters =
        classes.filter(|class| std::mem::replace(&mut before, *class) != *class && *class != 0).count();
    let half = 0.4 / characters.max(1) as f32;
    before = 0;
    for (at, (class, margin)) in steps.iter().enumerate() {
        let repeated = std::mem::replace(&mut before, *class) == *class;
        if *class == 0 || repeated {
            continue;
        }
        let middle = (at as f32 + 0.5) / count;
        let Some(character) = known.get(*class - 1).filter(|character| **character != "\u{3000}") else {
            blank = true;
            continue;
        };
        let sure = 1.0 / (1.0 + (-margin).exp());
        sum += sure;
        said.characters += 1;
        match said.words.last_mut() {
            Some(word) if !blank => {
                word.text.push_str(character);
                word.to = (middle + half).min(1.0);
                word.sure += sure;
            }
            _ => {
                let from = (middle - half).max(said.words.last().map_or(0.0, |word| word.to));
                let to = (middle + half).min(1.0);
                said.words.push(Word { text: (*character).to_owned(), from, to, sure });
            }
        }
        blank = false;
    }
    said.confidence = sum / said.characters.max(1) as f32;
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_become_words() {
        let class = |character: &str| CHARACTERS.iter().position(|known| *known == character).unwrap() + 1;
        let blank = CHARACTERS.len() + 1;
        let (o, n, e) = (class("o"), class("n"), class("e"));
        let steps = [0, o, o, 0, n, e, 0, blank, blank, 0, n, 0, n, 0].map(|class| (class, 9.0));
        let said = said(&steps);
        let words: Vec<&str> = said.words.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(words, ["one", "nn"]);
        assert!(said.confidence > 0.99 && said.characters == 5);
        assert!(said.words[0].to < said.words[1].from && said.words[1].to <= 1.0);
    }
}
