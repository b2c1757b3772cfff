//! What the parent makes of a child's lines. The child has read a hostile file and may be in its hands, so that every line
//! is held against the limits before anything of it is kept.

use engine::document::{Document, Page};
use engine::seams::parser::{Drawing, ParseFailure};

use super::frames::{Frame, cut};
use super::sandbox::{Missing, Sandbox};
use crate::limits::LONGEST_SIDE;
use crate::{Limits, failure};

/// The parent's side of one file.
#[derive(Debug)]
pub struct Conversation<'a> {
    limits: &'a Limits,
    sandbox: Sandbox,
    confined: Option<Vec<Missing>>,
    /// Whether a picture is asked for rather than a document.
    drawing: bool,
    pages: Vec<Page>,
    text_bytes: usize,
}

/// Bytes of a picture of a page: one of the widest, full of noise, has some twenty million.
const LARGEST_PICTURE: u64 = 64 << 20;

/// Whether this is a picture that may be shown: a PNG of no more pixels than were asked for at most.
pub(super) fn is_picture(png: &[u8], drawing: Drawing) -> bool {
    let Some((b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", rest)) = png.split_first_chunk::<16>() else { return false };
    let side = |at: usize| {
        rest.get(at..at + 4).map_or(0, |four| four.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
    };
    // Rounding may add one.
    (1..=drawing.width + 1).contains(&side(0)) && (1..=LONGEST_SIDE + 1).contains(&side(4))
}

/// What one line came to.
#[derive(Debug)]
pub enum Heard {
    /// Nothing to act upon.
    More,
    /// How far the child is, within the limits.
    Progress {
        /// Pages read.
        done: u32,
        /// Of how many, where that is known.
        total: Option<u32>,
        /// How many of them were recognised from pictures.
        recognised: u32,
    },
    /// The whole document.
    Document(Document),
    /// A picture of so many bytes, which follow.
    Picture(u64),
    /// There will be none.
    Failed(ParseFailure),
}

impl<'a> Conversation<'a> {
    /// Before the first line.
    pub fn new(limits: &'a Limits, sandbox: Sandbox) -> Self {
        Self { limits, sandbox, confined: None, drawing: false, pages: Vec::new(), text_bytes: 0 }
    }

    /// The same where a picture is asked for.
    pub fn about_a_picture(self) -> Self {
        Self { drawing: true, ..self }
    }

    /// What of its sandbox the child could not have; `None` before it said so.
    pub fn missing(&self) -> Option<&[Missing]> {
        self.confined.as_deref()
    }

    /// The longest line that a child with these limits has a reason to write: one page that is all of the text, every
    /// character of it escaped, its layout, which takes two letters for each byte of text at most, and what else belongs
    /// to a page.
    pub fn longest_line(limits: &Limits) -> u64 {
        const BESIDE_TEXT: u64 = 1 << 20;
        (limits.text_bytes as u64).saturating_mul(4).saturating_add(BESIDE_TEXT).min(limits.reply_bytes)
    }

    /// Takes in the next line.
    pub fn hear(&mut self, line: &[u8]) -> Heard {
        match serde_json::from_slice(line).map_err(|_| nonsense()).and_then(|frame| self.weigh(frame)) {
            Ok(heard) => heard,
            Err(why) => Heard::Failed(why),
        }
    }

    fn weigh(&mut self, frame: Frame) -> Result<Heard, ParseFailure> {
        if let Frame::Confined { missing } = frame {
            return self.note_confinement(missing.0);
        }
        if self.sandbox == Sandbox::Required && self.confined.is_none() && !matches!(frame, Frame::Failed(_))
        {
            return Err(failure::internal("the parser did not say that it is confined"));
        }
        match frame {
            Frame::Progress { done, total, recognised } => Ok(Heard::Progress {
                // A child may claim what it likes; it earns time for pages within the limits only.
                done: done.min(self.limits.pages),
                total: total.map(|total| total.min(self.limits.pages)),
                recognised: recognised.min(self.limits.ocr_pages),
            }),
            Frame::Picture { bytes } if self.drawing && bytes <= LARGEST_PICTURE => Ok(Heard::Picture(bytes)),
            Frame::Picture { .. } => Err(nonsense()),
            Frame::Page(_) | Frame::Done { .. } if self.drawing => Err(nonsense()),
            Frame::Page(page) => self.keep(page.page()),
            Frame::Done { media_type, title, warnings } => {
                self.document(media_type, title.map(cut), warnings.lines())
            }
            Frame::Failed(ParseFailure { kind, message }) => {
                Ok(Heard::Failed(ParseFailure { kind, message: cut(message) }))
            }
            Frame::Confined { .. } => Err(nonsense()),
        }
    }

    fn note_confinement(&mut self, missing: Vec<Missing>) -> Result<Heard, ParseFailure> {
        if self.confined.is_some() {
            return Err(nonsense());
        }
        let refused = self.sandbox.refusal(&missing);
        self.confined = Some(missing);
        refused.map_or(Ok(Heard::More), |why| Err(failure::internal(why)))
    }

    fn keep(&mut self, page: Page) -> Result<Heard, ParseFailure> {
        let expected = u32::try_from(self.pages.len() + 1).unwrap_or(u32::MAX);
        if page.number != expected || expected > self.limits.pages {
            return Err(failure::internal("the parser gave pages out of order"));
        }
        // No parser of ours leaves one in, and PostgreSQL cannot store it.
        if page.text.contains('\0') || page.label.contains('\0') {
            return Err(nonsense());
        }
        self.text_bytes += page.text.len();
        self.limits.allow_text(self.text_bytes)?;
        self.pages.push(page);
        Ok(Heard::More)
    }

    fn document(
        &mut self,
        media_type: String,
        title: Option<String>,
        warnings: Vec<String>,
    ) -> Result<Heard, ParseFailure> {
        if self.pages.is_empty() {
            return Err(failure::internal("the parser gave no pages"));
        }
        let pages = std::mem::take(&mut self.pages);
        if !is_media_type(&media_type) || title.as_ref().is_some_and(|title| title.contains('\0')) {
            return Err(nonsense());
        }
        Ok(Heard::Document(Document { media_type, title, pages, warnings }))
    }
}

fn nonsense() -> ParseFailure {
    failure::internal("the parser gave an answer that makes no sense")
}

/// Two names with a slash between them; it becomes a header of a response.
fn is_media_type(text: &str) -> bool {
    /// The longest of ours has 73 characters.
    const LONGEST: usize = 100;
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-".contains(&byte))
    };
    text.len() <= LONGEST
        && text.split_once('/').is_some_and(|(major, minor)| is_name(major) && is_name(minor))
}

#[cfg(test)]
mod tests {
    use engine::layout::{Layout, Spot};
    use engine::seams::parser::FailureKind;
    use serde_json::{Value, json};

    use super::*;

    fn page(number: u32, text: &str) -> Value {
        json!({"page": {"number": number, "label": "1", "text": text, "format": "text", "ocr": false,
            "confidence": null, "tables": 0, "warnings": []}})
    }

    fn done() -> Value {
        json!({"done": {"media_type": "text/plain", "title": null, "warnings": []}})
    }

    fn confined() -> Value {
        json!({"confined": {"missing": []}})
    }

    /// The last answer to these lines.
    fn hear(limits: &Limits, sandbox: Sandbox, lines: &[Value]) -> Heard {
        let mut conversation = Conversation::new(limits, sandbox);
        let mut last = Heard::More;
        for line in lines {
            last = conversation.hear(line.to_string().as_bytes());
        }
        last
    }

    fn failure_of(lines: &[Value]) -> ParseFailure {
        let limits = Limits { text_bytes: 100, ..Limits::default() };
        match hear(&limits, Sandbox::BestEffort, lines) {
            Heard::Failed(why) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pages_and_an_end_make_a_document() {
        let limits = Limits::default();
        let heard = hear(&limits, Sandbox::Required, &[confined(), page(1, "words"), done()]);
        let Heard::Document(document) = heard else { panic!("{heard:?}") };
        assert_eq!(document.pages[0].text, "words");
    }

    #[test]
    fn a_child_cannot_say_more_than_its_limits() {
        let most = failure_of(&[page(1, &"x".repeat(60)), page(2, &"x".repeat(60))]);
        assert_eq!(most.kind, FailureKind::Limits);
        let mut many = page(1, "x");
        many["page"]["warnings"] = json!(vec![""; 101]);
        assert_eq!(failure_of(&[many]).kind, FailureKind::Internal);
        assert_eq!(failure_of(&[page(2, "x")]).kind, FailureKind::Internal);
        assert_eq!(failure_of(&[page(1, "a\0b")]).kind, FailureKind::Internal);
        assert_eq!(failure_of(&[done()]).kind, FailureKind::Internal);
        assert_eq!(failure_of(&[confined(), confined()]).kind, FailureKind::Internal);
        let mut header = done();
        header["done"]["media_type"] = json!("text/html\r\nx: y");
        assert_eq!(failure_of(&[page(1, "x"), header]).kind, FailureKind::Internal);
        let long = json!({"failed": {"kind": "damaged", "message": "x".repeat(100_000)}});
        assert!(failure_of(&[long]).message.len() < 1_000);
    }

    #[test]
    fn a_layout_that_is_not_of_the_page_s_text_is_not_kept() {
        let spot = |start, end| Spot { start, end, edges: [0.1, 0.1, 0.2, 0.2] };
        let layout = Layout::pack("one two", &[spot(0, 3), spot(4, 7)]);
        let kept = |text: &str, layout: &Value| {
            let mut line = page(1, text);
            line["page"]["layout"] = layout.clone();
            let heard = hear(&Limits::default(), Sandbox::BestEffort, &[line, done()]);
            let Heard::Document(document) = heard else { panic!("{heard:?}") };
            document.pages[0].layout.clone()
        };
        assert_eq!(kept("one two", &json!(layout)), layout);
        assert_eq!(kept("one", &json!(layout)), None);
        assert_eq!(kept("one two", &json!("ff".repeat(100_000))), None);
        let mut odd = page(1, "x");
        odd["page"]["layout"] = json!("0g");
        assert_eq!(failure_of(&[odd]).kind, FailureKind::Internal);
    }

    #[test]
    fn a_picture_comes_where_one_is_asked_for_and_nowhere_else() {
        let limits = Limits::default();
        let say = |drawing: bool, line: &Value| {
            let conversation = Conversation::new(&limits, Sandbox::BestEffort);
            let mut conversation = if drawing { conversation.about_a_picture() } else { conversation };
            conversation.hear(line.to_string().as_bytes())
        };
        let picture = |bytes: u64| json!({"picture": {"bytes": bytes}});
        assert!(matches!(say(true, &picture(10)), Heard::Picture(10)));
        for (drawing, line) in
            [(false, picture(10)), (true, picture(u64::MAX)), (true, page(1, "x")), (true, done())]
        {
            assert!(matches!(say(drawing, &line), Heard::Failed(_)), "{line}");
        }
        let png = |width: u8, height: u8| {
            [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &[0, 0, 0, width, 0, 0, height, 0]].concat()
        };
        let drawing = Drawing { page: 1, width: 100 };
        assert!(is_picture(&png(100, 2), drawing) && is_picture(&png(101, 2), drawing));
        for wrong in [png(102, 2), png(100, 200), png(0, 2), b"<svg>".to_vec(), png(1, 1)[..20].to_vec()] {
            assert!(!is_picture(&wrong, drawing));
        }
    }

    #[test]
    fn progress_is_held_to_the_limits() {
        let limits = Limits { pages: 7, ocr_pages: 3, ..Limits::default() };
        let line = json!({"progress": {"done": u32::MAX, "total": u32::MAX, "recognised": u32::MAX}});
        let heard = hear(&limits, Sandbox::BestEffort, &[line]);
        let Heard::Progress { done, total, recognised } = heard else { panic!("{heard:?}") };
        assert_eq!((done, total, recognised), (7, Some(7), 3));
    }

    #[test]
    fn a_required_sandbox_that_is_missing_or_not_mentioned_is_a_refusal() {
        let limits = Limits::default();
        let without =
            json!({"confined": {"missing": [{"layer": "landlock", "why": "the kernel is too old"}]}});
        for lines in [vec![without.clone()], vec![page(1, "words")]] {
            let heard = hear(&limits, Sandbox::Required, &lines);
            assert!(matches!(heard, Heard::Failed(why) if why.kind == FailureKind::Internal));
        }
        let heard = hear(&limits, Sandbox::BestEffort, &[without, page(1, "words"), done()]);
        assert!(matches!(heard, Heard::Document(_)));
    }
}
