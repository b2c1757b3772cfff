//! The parsers as the server uses them: small samples, arbitrary bytes, children with limits, and the shared data.

mod arbitrary;
mod breakout;
mod isolation;
mod samples;
mod shared_data;

use std::io::Write;

use engine::document::Document;
use engine::seams::parser::ParseFailure;
use parsers::{Limits, Ocr, parse_bytes};

/// Limits without other programs, so that results do not depend on the machine.
fn alone() -> Limits {
    Limits { ocr: Ocr::Off, second_opinion: false, ..Limits::default() }
}

fn read(bytes: &[u8], name: &str) -> Result<Document, ParseFailure> {
    parse_bytes(bytes.to_vec(), name, &alone(), &|_, _| {})
}

/// A zip package of these parts.
fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).expect("a part");
        writer.write_all(content.as_bytes()).expect("its content");
    }
    writer.finish().expect("a package").into_inner()
}

/// A Word document with this body.
fn docx(body: &str) -> Vec<u8> {
    package(&[
        (
            "[Content_Types].xml",
            "<Types><Override ContentType='application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'/></Types>",
        ),
        (
            "_rels/.rels",
            "<Relationships><Relationship Id='a' Type='x/officeDocument' Target='word/document.xml'/></Relationships>",
        ),
        ("word/document.xml", &format!("<w:document><w:body>{body}</w:body></w:document>")),
    ])
}

/// A PDF whose pages show these lines.
fn pdf(pages: &[&[&str]]) -> Vec<u8> {
    pdf_telling(pages, "")
}

/// The same, with a table that says which letters the codes of its font are.
fn pdf_telling(pages: &[&[&str]], letters: &str) -> Vec<u8> {
    let mut objects = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned(), String::new()];
    let table = if letters.is_empty() { "" } else { "/ToUnicode 4 0 R" };
    objects.push(format!("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica {table} >>"));
    objects.push(format!("<< /Length {} >>\nstream\n{letters}\nendstream", letters.len()));
    let mut kids = String::new();
    for lines in pages {
        let mut content = "BT /F1 12 Tf 14 TL 72 720 Td".to_owned();
        for line in *lines {
            content.push_str(&format!(" ({line}) Tj T*"));
        }
        content.push_str(" ET");
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
        let stream = objects.len();
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {stream} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        kids.push_str(&format!("{} 0 R ", objects.len()));
    }
    objects[1] = format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len());
    let mut file = "%PDF-1.7\n".to_owned();
    let mut offsets = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    let table = file.len();
    file.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    for offset in offsets {
        file.push_str(&format!("{offset:010} 00000 n \n"));
    }
    file.push_str(&format!(
        "trailer << /Root 1 0 R /Size {} >>\nstartxref\n{table}\n%%EOF",
        objects.len() + 1
    ));
    file.into_bytes()
}
