//! Small files of each kind, made here.

use engine::seams::parser::FailureKind;

use parsers::{Limits, parse_bytes};

use crate::{alone, docx, package, pdf, pdf_telling, read};

#[test]
fn a_word_document_keeps_its_structure_and_pages() {
    let file = docx(
        "<w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p>\
         <w:p><w:r><w:t>One </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:t>two</w:t></w:r></w:p>\
         <w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:p><w:r><w:t>wide</w:t></w:r></w:p></w:tc></w:tr>\
         <w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
         <w:p><w:r><w:br w:type='page'/><w:t>Next page</w:t></w:r></w:p>",
    );
    let document = read(&file, "x.bin").expect("a document");
    assert!(document.media_type.ends_with("wordprocessingml.document"));
    assert_eq!(document.pages[0].text, "# Head\n\nOne two\n\n| wide | wide |\n| - | - |\n| a | b |");
    assert_eq!((document.pages[0].tables, document.pages[1].text.as_str()), (1, "Next page"));
}

#[test]
fn a_presentation_gives_one_page_a_slide_with_notes() {
    let file = package(&[
        (
            "[Content_Types].xml",
            "<Types><Override ContentType='x.presentationml.presentation.main+xml'/></Types>",
        ),
        (
            "_rels/.rels",
            "<R><Relationship Id='a' Type='x/officeDocument' Target='ppt/presentation.xml'/></R>",
        ),
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='r1'/></p:sldIdLst></p:presentation>",
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            "<R><Relationship Id='r1' Type='x/slide' Target='slides/slide1.xml'/></R>",
        ),
        (
            "ppt/slides/slide1.xml",
            "<p:sld><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>Body</a:t></a:r></a:p></p:txBody></p:sp>\
             <p:sp><p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Title</a:t></a:r></a:p></p:txBody></p:sp>\
             </p:spTree></p:cSld></p:sld>",
        ),
        (
            "ppt/slides/_rels/slide1.xml.rels",
            "<R><Relationship Id='n' Type='x/notesSlide' Target='../notesSlides/n1.xml'/></R>",
        ),
        (
            "ppt/notesSlides/n1.xml",
            "<p:notes><p:sp><p:nvSpPr><p:nvPr><p:ph type='body'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Say this</a:t></a:r></a:p></p:txBody></p:sp></p:notes>",
        ),
    ]);
    let document = read(&file, "deck").expect("a document");
    assert_eq!(document.pages[0].label, "Title");
    assert_eq!(document.pages[0].text, "# Title\n\nBody\n\nNotes:\n\nSay this");
}

#[test]
fn a_pdf_gives_its_pages_and_joins_divided_words() {
    let long = "this line goes on for long enough that it fills the column and ends in a di-";
    let file = pdf(&[&[long, "vided word."], &["Second page"], &[]]);
    let document = read(&file, "x.pdf").expect("a document");
    assert_eq!(document.pages.len(), 3);
    assert!(document.pages[0].text.ends_with("ends in a divided word."), "{}", document.pages[0].text);
    assert_eq!((document.pages[1].label.as_str(), document.pages[1].text.as_str()), ("2", "Second page"));
    assert_eq!(document.pages[2].warnings, ["this page is blank"]);
}

/// Lines of prose; what reads like no language is told by words that are missing.
const PROSE: [&str; 6] = [
    "The machine is delivered with a filter that has to be cleaned",
    "once a month. Open the cover at the back, take out the filter",
    "and rinse it with cold water, but never with soap. Let it dry",
    "for an hour before you put it in again. If the light goes on,",
    "the filter is not in its place. Do not use the machine when it",
    "is wet, and keep it away from the window and from all heaters.",
];

#[test]
fn a_page_that_carries_other_letters_than_it_shows_is_read_from_its_picture() {
    // Each letter is told to be the next one.
    let letters = "begincmap 1 begincodespacerange <00> <ff> endcodespacerange \
        2 beginbfrange <20> <40> <0020> <41> <7a> <0042> endbfrange endcmap";
    let recognising = Limits { ocr: parsers::Ocr::BuiltIn, ..alone() };
    let parse = |file: Vec<u8>, limits: &Limits| {
        parse_bytes(file, "x.pdf", limits, &|_, _| {}).expect("a document").pages.remove(0)
    };
    let page = parse(pdf_telling(&[&PROSE], letters), &recognising);
    assert!(page.ocr && page.text.contains("rinse it with cold water"), "{}", page.text);
    assert!(page.warnings[0].contains("not what it shows"), "{:?}", page.warnings);
    let as_told = parse(pdf_telling(&[&PROSE], letters), &alone());
    assert!(!as_told.ocr && as_told.text.contains("sjotf ju xjui dpme xbufs"), "{}", as_told.text);
}

#[test]
fn a_page_of_names_is_taken_at_its_word() {
    let names: Vec<String> = (0..12)
        .map(|nth: u8| {
            let letter = char::from(b'a' + nth);
            format!("Zuk{letter}rov Mbek{letter} Trlj{letter} Vrhovec{letter} Krstoj{letter}")
        })
        .collect();
    let lines: Vec<&str> = names.iter().map(String::as_str).collect();
    let recognising = Limits { ocr: parsers::Ocr::BuiltIn, ..alone() };
    let document = parse_bytes(pdf(&[&lines]), "x.pdf", &recognising, &|_, _| {}).expect("a document");
    assert!(!document.pages[0].ocr && document.pages[0].warnings.is_empty());
    assert!(document.pages[0].text.contains("Vrhovecc"), "{}", document.pages[0].text);
}

#[test]
fn lines_that_run_over_all_pages_are_dropped_once_there_are_three() {
    let pages: Vec<Vec<String>> = (1..=4)
        .map(|page| {
            vec![
                "Annual report".into(),
                " ".into(),
                " ".into(),
                " ".into(),
                format!("Text of page {page} only"),
            ]
        })
        .collect();
    let lines: Vec<Vec<&str>> = pages.iter().map(|page| page.iter().map(String::as_str).collect()).collect();
    let slices: Vec<&[&str]> = lines.iter().map(Vec::as_slice).collect();
    let document = read(&pdf(&slices), "x.pdf").expect("a document");
    assert!(document.pages.iter().all(|page| !page.text.contains("Annual report")));
    let document = read(&pdf(&slices[..2]), "x.pdf").expect("a document");
    assert!(document.pages[1].text.contains("Annual report"));
}

#[test]
fn an_open_document_and_a_book_are_read() {
    let text = "<office:document-content><office:body><office:text><text:p>Hello</text:p></office:text></office:body></office:document-content>";
    let file = package(&[("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", text)]);
    assert_eq!(read(&file, "x").expect("a document").pages[0].text, "Hello");
    let book = package(&[
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            "<container><rootfiles><rootfile full-path='o/b.opf'/></rootfiles></container>",
        ),
        (
            "o/b.opf",
            "<package><metadata><dc:title>Book</dc:title></metadata><manifest><item id='c' href='c%201.xhtml'/></manifest>\
             <spine><itemref idref='c'/></spine></package>",
        ),
        ("o/c 1.xhtml", "<html><body><h1>Chapter</h1><p>Words.</p></body></html>"),
    ]);
    let document = read(&book, "x").expect("a document");
    assert_eq!(document.title.as_deref(), Some("Book"));
    assert_eq!(
        (document.pages[0].label.as_str(), document.pages[0].text.as_str()),
        ("Chapter", "# Chapter\n\nWords.")
    );
}

#[test]
fn empty_files_and_pictures_without_a_reader_say_so() {
    let document = read(b"", "x.pdf").expect("a document");
    assert!(!document.pages[0].warnings.is_empty() && !document.warnings.is_empty());
    let picture = read(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01", "x.txt").expect("a document");
    assert_eq!(picture.media_type, "image/png");
    assert!(picture.pages[0].warnings[0].contains("no text found"));
}

#[test]
fn archives_and_locked_files_fail_with_advice() {
    let archive = package(&[("a.txt", "hello")]);
    assert_eq!(read(&archive, "a.docx").unwrap_err().kind, FailureKind::Unsupported);
    let mut locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    locked.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(read(&locked, "a.docx").unwrap_err().kind, FailureKind::Locked);
}

#[test]
fn text_is_clean() {
    let document = read("a\u{0}b and some more words\r\n\r\n\r\n\r\ne\u{301}\u{7}".as_bytes(), "x.txt")
        .expect("a document");
    assert_eq!(document.pages[0].text, "ab and some more words\n\né");
}
