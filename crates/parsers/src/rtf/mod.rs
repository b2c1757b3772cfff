//! Rich Text Format: control words and groups of text, read in one pass.

mod reader;
mod tokens;

use crate::{Job, Parsed, pages};

/// Reads a document.
pub(crate) fn parse(bytes: &[u8], job: &Job<'_>) -> Parsed {
    let (title, blocks) = reader::Reader::new(job.limits.nesting).read(bytes);
    Parsed { title, pages: pages::paginate(&blocks), warnings: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::markdown;

    fn text(rtf: &str) -> String {
        markdown(&reader::Reader::new(200).read(rtf.as_bytes()).1)
    }

    #[test]
    fn characters_of_all_spellings_are_read() {
        let rtf = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}Caf\'e9 \u8364?5 \{x\}\~y\par Zwei\emdash drei\par}";
        assert_eq!(text(rtf), "Café €5 {x} y\n\nZwei—drei");
    }

    #[test]
    fn code_pages_of_fonts_are_followed() {
        let rtf = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}{\f1 \'cf\'f0\'e8\'e2\'e5\'f2} \'e4}";
        assert_eq!(text(rtf), "Привет ä");
    }

    #[test]
    fn headings_lists_and_tables_keep_their_shape() {
        let rtf = r"{\rtf1{\stylesheet{\s0 Normal;}{\s1 heading 1;}}\pard\s1 Top\par\pard plain\par
{\listtext\'b7\tab}\ls1 item\par\pard\trowd\intbl a\cell b\cell\row\trowd\intbl 1\cell 2\cell\row\pard end\par}";
        assert_eq!(text(rtf), "# Top\n\nplain\n\n- item\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nend");
    }

    #[test]
    fn pictures_instructions_and_hidden_text_are_left_out() {
        let rtf = r"{\rtf1{\pict 89504e}{\*\generator x}{\field{\*\fldinst HYPERLINK x}{\fldrslt link}} {\v hidden}seen\par}";
        assert_eq!(text(rtf), "link seen");
    }

    #[test]
    fn deep_groups_and_cut_files_end() {
        assert_eq!(text(&format!("{{\\rtf1 {}deep", "{".repeat(300_000))), "deep");
        assert_eq!(text("{\\rtf1 a\\"), "a");
    }
}
