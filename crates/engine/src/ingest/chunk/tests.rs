//! The chunker on small documents, and its promises on arbitrary ones.

use proptest::prelude::*;

use super::*;
use crate::document::Format;

fn document(format: Format, pages: &[&str]) -> Document {
    let page = |(text, number): (&&str, u32)| Page {
        number,
        label: number.to_string(),
        text: text.to_string(),
        format,
        ocr: false,
        confidence: None,
        tables: 0,
        warnings: vec![],
        layout: None,
    };
    let pages = pages.iter().zip(1..).map(page).collect();
    Document { media_type: "text/markdown".into(), title: None, pages, warnings: vec![] }
}

/// Words, and in scripts without spaces characters: close to what tokenizers do, and never less for the parts than for
/// the whole.
fn words(text: &str) -> usize {
    let mut within_word = false;
    text.chars()
        .filter(|character| {
            let within = character.is_ascii() && !character.is_whitespace();
            let starts = within && !within_word;
            within_word = within;
            starts || !(character.is_ascii() || character.is_whitespace())
        })
        .count()
}

fn markdown(pages: &[&str], max_tokens: usize, overlap: usize) -> Vec<Chunk> {
    let document = document(Format::Markdown, pages);
    let chunks = split(&document, &Chunking { max_tokens, overlap }, &words);
    check(&document, &chunks, max_tokens);
    chunks
}

/// What holds for every document: chunks are parts of their pages, cover them, and keep to the size.
fn check(document: &Document, chunks: &[Chunk], max_tokens: usize) {
    let mut covered: Vec<Vec<bool>> =
        document.pages.iter().map(|page| vec![false; page.text.chars().count()]).collect();
    for chunk in chunks {
        let page = &document.pages[chunk.page as usize - 1];
        let (start, end) = (chunk.start as usize, chunk.end as usize);
        let quoted: String = page.text.chars().skip(start).take(end - start).collect();
        assert_eq!(quoted, chunk.text);
        assert!(!chunk.text.trim().is_empty());
        let single = chunk.text.split_whitespace().count() == 1;
        assert!(
            words(&chunk.text) <= max_tokens || single,
            "{} tokens: {:?}",
            words(&chunk.text),
            chunk.text
        );
        covered[chunk.page as usize - 1][start..end].fill(true);
    }
    for (page, covered) in document.pages.iter().zip(covered) {
        for (character, covered) in page.text.chars().zip(covered) {
            assert!(covered || character.is_whitespace(), "{character:?} of {:?} is in no chunk", page.text);
        }
    }
}

fn texts(chunks: &[Chunk]) -> Vec<&str> {
    chunks.iter().map(|chunk| chunk.text.as_str()).collect()
}

#[test]
fn headings_lead_their_sections_and_carry_over_pages() {
    let chunks = markdown(
        &["# Guide\n\n## Install\nRun the thing now.\n\n## Use\nPress the big button.", "More on use."],
        8,
        0,
    );
    assert_eq!(
        texts(&chunks),
        ["# Guide\n\n## Install\nRun the thing now.", "## Use\nPress the big button.", "More on use."]
    );
    assert_eq!(*chunks[0].section, ["Guide", "Install"]);
    assert_eq!(*chunks[1].section, ["Guide", "Use"]);
    assert_eq!(*chunks[2].section, ["Guide", "Use"]);
    assert_eq!(chunks[2].with_headings(&title(None, "guide.md")), "guide › Guide › Use\nMore on use.");
    assert_eq!(
        chunks[1].with_headings(&title(Some("Guide"), "x.md")),
        "Guide\n## Use\nPress the big button."
    );
}

#[test]
fn tiny_paragraphs_are_put_together_and_sentences_stay_whole() {
    let chunks =
        markdown(&["One.\n\nTwo.\n\nThree four five six seven. Eight nine ten eleven twelve."], 8, 0);
    assert_eq!(
        texts(&chunks),
        ["One.\n\nTwo.\n\nThree four five six seven.", "Eight nine ten eleven twelve."]
    );
}

#[test]
fn a_cut_paragraph_repeats_one_short_sentence() {
    let chunks = markdown(&["A b c d e f. G h. I j k l m n. O p q r s t."], 9, 3);
    assert_eq!(texts(&chunks), ["A b c d e f. G h.", "G h. I j k l m n.", "O p q r s t."]);
}

#[test]
fn later_rows_of_a_table_know_its_caption_and_header() {
    let rows: Vec<String> = (0..20).map(|row| format!("| item {row} | {row}.00 |")).collect();
    let text = format!("Table 1: Fees\n\n| name | fee |\n|---|---|\n{}", rows.join("\n"));
    let chunks = markdown(&[&text], 40, 10);
    assert!(chunks.len() > 2);
    assert!(chunks[0].text.starts_with("Table 1: Fees\n\n| name | fee |") && chunks[0].lead.is_empty());
    for chunk in &chunks[1..] {
        assert!(chunk.text.starts_with("| item ") && chunk.text.ends_with(" |"));
        assert_eq!(&*chunk.lead, "Table 1: Fees\n| name | fee |");
        assert!(chunk.with_headings("").starts_with("Table 1: Fees\n| name | fee |\n| item "));
    }
}

#[test]
fn a_list_stays_with_the_sentence_that_announces_it() {
    let chunks = markdown(&["Some words come first here.\n\nYou need:\n- a pen\n- a book"], 10, 0);
    assert_eq!(texts(&chunks), ["Some words come first here.", "You need:\n- a pen\n- a book"]);
}

#[test]
fn languages_are_told_by_document_and_by_script() {
    let english =
        "The committee shall meet four times a year and report its findings to the board. ".repeat(4);
    let chunks = markdown(
        &[&english, "故宫博物院位于北京市中心，是明清两代的皇家宫殿。它的收藏非常丰富，每年有很多游客。"],
        60,
        0,
    );
    assert_eq!(chunks[0].language.as_deref(), Some("en"));
    assert_eq!(chunks.last().unwrap().language.as_deref(), Some("zh"));
}

#[test]
fn a_short_text_is_in_the_language_of_its_box() {
    let mut chunks = markdown(&["Algoritmos de ordenamiento\n\nPerlis, A. J."], 60, 0);
    assert_eq!(chunks[0].language, None, "too little to tell by");
    assume(&mut chunks, "ru");
    assert_eq!(chunks[0].language, None, "nobody writes Russian in these letters");
    assume(&mut chunks, "es");
    assert_eq!(chunks[0].language.as_deref(), Some("es"));
    assume(&mut chunks, "en");
    assert_eq!(chunks[0].language.as_deref(), Some("es"), "what is known stays");
}

#[test]
fn scripts_without_spaces_are_cut_at_sentences_and_else_between_characters() {
    let chunks = markdown(&["故宫位于北京。它很大也很美。是吗？当然是的。"], 14, 0);
    assert!(chunks.iter().all(|chunk| chunk.text.ends_with(['。', '？'])), "{:?}", texts(&chunks));
    let thai = "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย".repeat(5);
    assert!(markdown(&[&thai], 30, 0).len() > 5);
}

#[test]
fn tokens_are_counted_about_once() {
    let text = "A sentence of a few words. ".repeat(4000);
    let counted = std::cell::Cell::new(0);
    let count = |text: &str| {
        counted.set(counted.get() + text.len());
        words(text)
    };
    split(&document(Format::Text, &[&text]), &Chunking::default(), &count);
    assert!(counted.get() < 2 * text.len(), "{} bytes counted of {}", counted.get(), text.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn arbitrary_text_keeps_the_promises(pages in prop::collection::vec(any::<String>(), 1..4), max in 1usize..40, overlap in 0usize..8) {
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        markdown(&pages, max, overlap);
    }

    #[test]
    fn text_full_of_markup_keeps_the_promises(parts in prop::collection::vec(
        prop::sample::select(vec!["# A", "## B b", "\n", "\n\n", "| a | b |\n", "|---|---|\n", "- item\n", "1. one\n", "```\n", "Word. ", "Two words: ", "字。", "é\u{301}", "\r\n", " ", "\u{2028}"]), 0..80),
        max in 1usize..30, overlap in 0usize..8)
    {
        let document = document(Format::Markdown, &[&parts.concat()]);
        let chunks = split(&document, &Chunking { max_tokens: max, overlap }, &words);
        check(&document, &chunks, max);
    }
}

/// Bytes behind all headings and leads, each counted once however many chunks share it.
fn bytes_above(chunks: &[Chunk]) -> usize {
    let mut seen = std::collections::HashSet::new();
    let mut bytes = 0;
    for chunk in chunks {
        if seen.insert(chunk.section.as_ptr().cast::<u8>()) {
            bytes += chunk.section.iter().map(|heading| heading.capacity() + 24).sum::<usize>();
        }
        if seen.insert(chunk.lead.as_ptr()) {
            bytes += chunk.lead.len();
        }
    }
    bytes
}

#[test]
fn a_huge_heading_over_thousands_of_sections_costs_no_more_than_the_text() {
    let mut page = format!("# {}\n\n", "Heading ".repeat(25_000));
    for section in 0..6_000 {
        page.push_str(&format!(
            "## Section {section}\n\nA sentence of ten words stands here in section {section}.\n\n"
        ));
    }
    let document = document(Format::Markdown, &[&page]);
    let chunks = split(&document, &Chunking::default(), &words);
    assert!(chunks.len() > 5_000, "{}", chunks.len());
    let bytes = bytes_above(&chunks);
    assert!(bytes < 4 << 20, "{bytes} bytes of headings from {} bytes of text", page.len());
    let longest = chunks.iter().map(|chunk| chunk.with_headings("").len()).max().unwrap();
    assert!(longest < 5_000, "a model would read {longest} bytes");
}

#[test]
fn a_huge_header_row_over_thousands_of_rows_costs_no_more_than_the_text() {
    let mut page = format!("| {} |\n|---|\n", "column ".repeat(25_000));
    for row in 0..20_000 {
        page.push_str(&format!("| row {row} of the table with the long header |\n"));
    }
    let document = document(Format::Markdown, &[&page]);
    let chunks = split(&document, &Chunking::default(), &words);
    assert!(chunks.len() > 500, "{}", chunks.len());
    assert!(bytes_above(&chunks) < 100_000, "{}", bytes_above(&chunks));
}

#[test]
fn a_document_is_cut_no_further_than_passages_are_kept() {
    let page = "# One\n\nShort text of a section here that stands alone.\n\n".repeat(1_000);
    let pages = vec![page.as_str(); 80];
    let document = document(Format::Markdown, &pages);
    let chunks = split(&document, &Chunking::default(), &|_| 150);
    assert!((MOST_PASSAGES..MOST_PASSAGES + 3_000).contains(&chunks.len()), "{}", chunks.len());
}
