//! Writes text while noting where on the page its words stand.

use std::borrow::Cow;

use engine::document::Page;
use engine::layout::{Layout, Spot};

use crate::clean;

/// A text in the making, with the places of its words.
#[derive(Debug, Default)]
pub(crate) struct Placing {
    pub(crate) text: String,
    spots: Vec<Spot>,
}

impl Placing {
    /// Writes a word, cleaned, that stands between these edges: left, top, right and bottom, as shares of the page.
    pub(crate) fn word(&mut self, word: &str, edges: [f32; 4]) {
        let start = self.text.len();
        match clean::word(word) {
            Cow::Borrowed(word) => {
                self.text.push_str(word);
                self.spots.push(Spot { start, end: self.text.len(), edges });
            }
            // What one character stands for may be several words, or nothing.
            Cow::Owned(words) => {
                self.text.push_str(&words);
                for part in words.split_whitespace() {
                    let start = start + (part.as_ptr() as usize - words.as_ptr() as usize);
                    self.spots.push(Spot { start, end: start + part.len(), edges });
                }
            }
        }
    }

    /// Writes what stands nowhere: blanks and markup.
    pub(crate) fn plain(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Takes back the last character: the hyphen of a divided word.
    pub(crate) fn take_back(&mut self) {
        self.text.pop();
        if let Some(last) = self.spots.last_mut() {
            last.end = last.end.min(self.text.len());
            if last.end <= last.start {
                self.spots.pop();
            }
        }
    }

    /// Where the words stand in a page that this text became: cleaning moves blanks only. `None` where more than that
    /// has changed.
    pub(crate) fn layout(mut self, page: &Page) -> Option<Layout> {
        if !page.text.starts_with(&self.text) {
            self.spots = moved(&self.text, self.spots, &page.text)?;
        }
        Layout::pack(&page.text, &self.spots)
    }
}

/// The same places in a text that differs by blanks, and by what follows its end.
fn moved(written: &str, mut spots: Vec<Spot>, text: &str) -> Option<Vec<Spot>> {
    let solid = |(_, character): &(usize, char)| !character.is_whitespace();
    let mut pairs = written.char_indices().filter(solid).zip(text.char_indices().filter(solid)).peekable();
    for spot in &mut spots {
        let mut place = None::<(usize, usize)>;
        while let Some(((old, before), (new, after))) = pairs.next_if(|((old, _), _)| *old < spot.end) {
            if before != after {
                return None;
            }
            if old >= spot.start {
                let start = place.map_or(new, |(start, _)| start);
                place = Some((start, new + after.len_utf8()));
            }
        }
        (spot.start, spot.end) = place?;
    }
    Some(spots)
}

#[cfg(test)]
mod tests {
    use engine::layout::Placed;

    use super::*;
    use crate::pages;

    #[test]
    fn places_survive_cleaning() {
        let mut placing = Placing::default();
        let edges = |nth: f32| [nth / 10.0, 0.1, nth / 10.0 + 0.05, 0.12];
        placing.plain("\n\n# ");
        placing.word("\u{fb01}rst", edges(1.0));
        placing.plain("  \n\n\n\n");
        placing.word("di-", edges(2.0));
        placing.take_back();
        placing.word("vided", edges(3.0));
        placing.plain(" ");
        placing.word("\u{ad}", edges(4.0));
        placing.word("e\u{301}nd", edges(5.0));
        let page = pages::page("", &placing.text, 0);
        assert_eq!(page.text, "# first\n\ndivided énd");
        let layout = placing.layout(&page).expect("a layout");
        let placed = Placed::new(1, &page.text, &layout);
        let left = |start: u32, end: u32| {
            placed.regions(start..end).iter().map(|region| (region.x * 100.0).round()).collect::<Vec<_>>()
        };
        assert_eq!((left(2, 7), left(9, 16), left(17, 20)), (vec![10.0], vec![20.0, 30.0], vec![50.0]));
    }

    #[test]
    fn places_of_another_text_are_none() {
        let mut placing = Placing::default();
        placing.word("one", [0.1, 0.1, 0.2, 0.2]);
        assert_eq!(placing.layout(&pages::page("", "two", 0)), None);
    }
}
