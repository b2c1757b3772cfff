//! Reads the text in the pictures of Office documents: screenshots and scanned pages. Names and labels alone are left out.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use crate::blocks::Block;
use crate::office::package::Package;
use crate::{Job, likely, ocr, pdf};

/// Pictures of one document that are read. An album has more, and says nothing.
const MOST_PICTURES: usize = 60;
/// Bytes of one picture.
const LARGEST_PICTURE: u64 = 16 << 20;
/// Smaller files are icons.
const SMALLEST_PICTURE: usize = 1 << 10;
/// What is read less surely is a photograph of something else.
const SURE: f32 = 0.8;

/// The pictures of one document.
pub(crate) struct Pictures<'a> {
    job: &'a Job<'a>,
    /// Those that were read: a picture on every slide says the same each time.
    seen: HashSet<String>,
}

impl<'a> Pictures<'a> {
    pub(crate) fn new(job: &'a Job<'a>) -> Self {
        Self { job, seen: HashSet::new() }
    }

    /// What the picture `part` says, where it is looked at for the first time and says something.
    pub(crate) fn blocks(&mut self, package: &mut Package<'_>, part: &str) -> Vec<Block> {
        let (job, limits) = (self.job, self.job.limits);
        let full =
            self.seen.len() >= MOST_PICTURES || job.recognised.load(Ordering::Relaxed) >= limits.ocr_pages;
        if limits.ocr.here() == crate::Ocr::Off || full || !self.seen.insert(part.to_owned()) {
            return Vec::new();
        }
        let Some(picture) = package.read_aside(part, LARGEST_PICTURE) else { return Vec::new() };
        if picture.len() < SMALLEST_PICTURE {
            return Vec::new();
        }
        // Told before, because it takes a while.
        job.recognised.fetch_add(1, Ordering::Relaxed);
        (job.progress)(0, None);
        let read = ocr::read(&picture, limits).unwrap_or_default().into_iter().take(1);
        let sure = |page: &engine::document::Page| {
            page.confidence.is_some_and(|confidence| confidence >= SURE) && likely::has_sentences(&page.text)
        };
        let pages = read.map(pdf::recognised_page).filter(sure);
        pages.flat_map(|page| page.text.split("\n\n").map(paragraph).collect::<Vec<_>>()).collect()
    }
}

fn paragraph(text: &str) -> Block {
    Block::Paragraph(text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use engine::document::Document;
    use engine::seams::parser::Drawing;

    use super::*;
    use crate::{Limits, Ocr, parse_bytes};

    const LINKS: &str = "<Relationships><Relationship Id='p1' Type='x/image' Target='../media/shot.png'/>\
        <Relationship Id='p2' Type='x/image' Target='media/shot.png'/></Relationships>";

    /// A picture of two lines of print.
    fn shot() -> Vec<u8> {
        let content =
            "BT /F1 18 Tf 22 TL 20 70 Td (The spare key is kept) Tj T* (behind the blue door) Tj ET";
        let file = format!(
            "%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
             2 0 obj\n<< /Type /Pages /Kids [4 0 R] /Count 1 >>\nendobj\n\
             3 0 obj\n<< /Length {} >>\nstream\n{content}\nendstream\nendobj\n\
             4 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 260 110] /Contents 3 0 R \
             /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>\nendobj\n\
             trailer << /Root 1 0 R /Size 5 >>\n",
            content.len()
        );
        pdf::draw(file.into_bytes(), Drawing { page: 1, width: 640 }).expect("a picture")
    }

    fn read(parts: &[(&str, &[u8])], ocr: Ocr) -> Document {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, content) in parts {
            writer.start_file(*name, zip::write::SimpleFileOptions::default()).expect("a part");
            writer.write_all(content).expect("its content");
        }
        let file = writer.finish().expect("a package").into_inner();
        let limits = Limits { ocr, second_opinion: false, ..Limits::default() };
        parse_bytes(file, "x", &limits, &|_, _| {}).expect("a document")
    }

    #[test]
    fn a_picture_in_a_letter_is_read_where_it_stands() {
        let body = "<w:document><w:body><w:p><w:r><w:t>Before.</w:t></w:r></w:p><w:p><w:r><w:drawing><a:blip r:embed='p2'/></w:drawing></w:r></w:p>\
            <w:p><w:r><w:t>After.</w:t></w:r></w:p></w:body></w:document>";
        let shot = shot();
        let parts: [(&str, &[u8]); 5] = [
            ("[Content_Types].xml", b"<Types><Override ContentType='application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'/></Types>"),
            ("_rels/.rels", b"<Relationships><Relationship Id='a' Type='x/officeDocument' Target='word/document.xml'/></Relationships>"),
            ("word/document.xml", body.as_bytes()),
            ("word/_rels/document.xml.rels", LINKS.as_bytes()),
            ("word/media/shot.png", &shot),
        ];
        let text = &read(&parts, Ocr::BuiltIn).pages[0].text;
        assert_eq!(text, "Before.\n\nThe spare key is kept\n\nbehind the blue door\n\nAfter.");
        assert_eq!(read(&parts, Ocr::Off).pages[0].text, "Before.\n\nAfter.");
    }

    #[test]
    fn a_picture_on_two_slides_is_read_once() {
        let slide = "<p:sld><p:cSld><p:spTree><p:pic><p:blipFill><a:blip r:embed='p1'/></p:blipFill></p:pic></p:spTree></p:cSld></p:sld>";
        let shot = shot();
        let parts: [(&str, &[u8]); 9] = [
            ("[Content_Types].xml", b"<Types><Override ContentType='application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml'/></Types>"),
            ("_rels/.rels", b"<Relationships><Relationship Id='a' Type='x/officeDocument' Target='ppt/presentation.xml'/></Relationships>"),
            ("ppt/presentation.xml", b"<p:presentation><p:sldIdLst><p:sldId r:id='s1'/><p:sldId r:id='s2'/></p:sldIdLst></p:presentation>"),
            ("ppt/_rels/presentation.xml.rels", b"<Relationships><Relationship Id='s1' Type='x/slide' Target='slides/slide1.xml'/><Relationship Id='s2' Type='x/slide' Target='slides/slide2.xml'/></Relationships>"),
            ("ppt/slides/slide1.xml", slide.as_bytes()),
            ("ppt/slides/slide2.xml", slide.as_bytes()),
            ("ppt/slides/_rels/slide1.xml.rels", LINKS.as_bytes()),
            ("ppt/slides/_rels/slide2.xml.rels", LINKS.as_bytes()),
            ("ppt/media/shot.png", &shot),
        ];
        let document = read(&parts, Ocr::BuiltIn);
        assert_eq!(document.pages[0].text, "The spare key is kept\n\nbehind the blue door");
        assert_eq!(document.pages[1].text, "");
    }
}
