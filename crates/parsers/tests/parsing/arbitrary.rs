//! Whatever bytes come, a parser answers: it does not panic, and no page is silently empty.

use proptest::prelude::*;

use crate::{docx, pdf, read};

fn answers(bytes: &[u8], name: &str) {
    if let Ok(document) = read(bytes, name) {
        assert!(!document.pages.is_empty());
        for (page, number) in document.pages.iter().zip(1..) {
            assert_eq!(page.number, number);
            assert!(!page.text.is_empty() || !page.warnings.is_empty(), "silently empty");
            assert!(
                !page.text.contains("\n\n\n")
                    && page.text.chars().all(|c| !c.is_control() || c == '\n' || c == '\t')
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_bytes_of_every_name(bytes in prop::collection::vec(any::<u8>(), 0..600), name in "x\\.(pdf|docx|csv|html|md|txt|eml|rtf|epub|png)") {
        answers(&bytes, &name);
    }

    #[test]
    fn arbitrary_text_after_every_magic(start in prop::sample::select(vec!["%PDF-1.4\n", "{\\rtf1 ", "<html>", "From: a\nSubject: b\nMIME-Version: 1.0\n", "PK\x03\x04", "# "]), rest in "[\\PC\\n\\\\{}<>&;|=/\\[\\]0-9]{0,400}") {
        answers(format!("{start}{rest}").as_bytes(), "x");
    }

    #[test]
    fn rtf_of_all_sorts(words in prop::collection::vec(prop::sample::select(vec!["{", "}", "\\par ", "\\u8364?", "\\'e9", "\\cell", "\\row", "\\trowd", "\\intbl", "\\*", "\\fonttbl", "\\f1", "\\bin5 ", "text", "\\v0", "\\s1", ";", "\\uc9"]), 0..60)) {
        answers(format!("{{\\rtf1{}", words.concat()).as_bytes(), "x.rtf");
    }

    #[test]
    fn web_pages_of_all_sorts(tags in prop::collection::vec(prop::sample::select(vec!["<table>", "<tr>", "<td rowspan=3 colspan=99>", "</table>", "<ul>", "<li>", "</ul>", "<p>", "<h1>", "</h1>", "<pre>", "x", " ", "<br>", "<svg>", "<math>", "<input type=checkbox>", "<select><option>"]), 0..60)) {
        answers(format!("<html>{}", tags.concat()).as_bytes(), "x.html");
    }

    #[test]
    fn word_documents_of_all_sorts(tags in prop::collection::vec(prop::sample::select(vec!["<w:p>", "</w:p>", "<w:r>", "</w:r>", "<w:t>x</w:t>", "<w:tbl>", "</w:tbl>", "<w:tr>", "<w:tc>", "<w:br w:type='page'/>", "<m:oMath>", "<m:f>", "<w:sdt>", "<w:numPr><w:numId w:val='1'/></w:numPr>", "<w:txbxContent>"]), 0..50)) {
        answers(&docx(&tags.concat()), "x.docx");
    }

    #[test]
    fn damaged_pdfs(at in 0usize..700, byte in any::<u8>(), cut in 0usize..900) {
        let mut file = pdf(&[&["Some words", "on a page"], &["and another"]]);
        let at = at % file.len();
        file[at] = byte;
        answers(&file, "x.pdf");
        file.truncate(cut);
        answers(&file, "x.pdf");
    }
}
