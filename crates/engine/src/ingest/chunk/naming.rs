//! What a document is called, as far as that says anything: models read it before each of its passages.

/// Characters of a name that models read.
const LONGEST: usize = 120;
/// Words that programs call documents by, whatever is in them.
const GENERIC: [&str; 34] = [
    "blank",
    "copy",
    "cover",
    "doc",
    "docs",
    "document",
    "download",
    "draft",
    "dsc",
    "excel",
    "file",
    "final",
    "image",
    "img",
    "index",
    "layout",
    "microsoft",
    "new",
    "page",
    "pdf",
    "photo",
    "powerpoint",
    "presentation",
    "print",
    "readme",
    "scan",
    "screenshot",
    "sheet",
    "slide",
    "temp",
    "title",
    "unnamed",
    "untitled",
    "word",
];

/// A document's title, and before it what its file's name adds: whose report it is, or of which year. Empty where neither says anything.
pub fn title(title: Option<&str>, file_name: &str) -> String {
    let own = title.map(without_program).filter(|title| is_telling(title));
    let stem = without_ending(file_name).replace('_', " ");
    let stem = Some(stem.trim()).filter(|stem| is_telling(stem));
    let name = match (stem, own) {
        (Some(stem), Some(own)) if adds_to(stem, own) => format!("{stem} › {own}"),
        (_, Some(own)) => own.to_string(),
        (Some(stem), None) => stem.to_string(),
        (None, None) => String::new(),
    };
    name.chars().take(LONGEST).collect()
}

/// A title without what a program put around it, such as "Microsoft Word - report.doc".
fn without_program(title: &str) -> &str {
    let programs = ["Microsoft Word - ", "Microsoft PowerPoint - ", "Microsoft Excel - "];
    let title = title.trim();
    match programs.iter().find_map(|program| title.strip_prefix(program)) {
        Some(file_name) => without_ending(file_name),
        None => title,
    }
}

fn without_ending(file_name: &str) -> &str {
    file_name.rsplit_once('.').map_or(file_name, |(stem, _)| stem)
}

/// Whether a name has a word that says something: not only numbers, letters out of a hash, or what a scanner calls everything.
fn is_telling(name: &str) -> bool {
    words(name).any(|word| is_word(&word))
}

/// Whether a name has a word or a year that another does not have.
fn adds_to(name: &str, other: &str) -> bool {
    let others: Vec<String> = words(other).collect();
    words(name).any(|word| (is_word(&word) || is_year(&word)) && !others.contains(&word))
}

fn words(name: &str) -> impl Iterator<Item = String> {
    name.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Scripts other than Latin say much in few letters.
fn is_word(word: &str) -> bool {
    let least = if word.is_ascii() { 3 } else { 2 };
    word.chars().all(char::is_alphabetic) && word.chars().count() >= least && !GENERIC.contains(&word)
}

fn is_year(word: &str) -> bool {
    word.parse().is_ok_and(|year: u16| (1900..2100).contains(&year))
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_file_name_stands_in_for_a_title_or_adds_to_it() {
        for (own, file, expected) in [
            (None, "guide.md", "guide"),
            (None, "acme_annual_report_2018.pdf", "acme annual report 2018"),
            (None, "order-1003.csv", "order-1003"),
            (None, "年度报告.pdf", "年度报告"),
            (Some(" Annual report "), "acme_2018.pdf", "acme 2018 › Annual report"),
            (Some("Acme annual report"), "annual_report_2018.pdf", "annual report 2018 › Acme annual report"),
            (Some("Guide"), "guide.md", "Guide"),
            (Some("Guide"), "x.md", "Guide"),
            (Some("Microsoft Word - Minutes of May.doc"), "4711.pdf", "Minutes of May"),
        ] {
            assert_eq!(title(own, file), expected, "{own:?} {file}");
        }
    }

    #[test]
    fn names_that_say_nothing_are_left_out() {
        for (own, file) in [
            (None, "184.md"),
            (None, "a8f3e2b1c9d04.pdf"),
            (None, "scan_0012.tiff"),
            (None, "IMG-2034 (2).jpg"),
            (None, ""),
            (Some("PowerPoint Presentation"), "1.pptx"),
            (Some("untitled"), "x"),
            (Some("Microsoft Word - Document1"), "7.pdf"),
        ] {
            assert_eq!(title(own, file), "", "{own:?} {file}");
        }
        assert_eq!(title(Some("untitled"), "warranty.pdf"), "warranty");
        assert_eq!(title(None, &format!("{}.md", "long ".repeat(100))).chars().count(), super::LONGEST);
    }
}
