//! Mails: their heading and text, then each attachment as pages of its own.

use engine::document::Page;
use engine::seams::parser::ParseFailure;
use mail_parser::{Address, Message, MessageParser, MimeHeaders, PartType};

use crate::blocks::{self, Block};
use crate::{Job, Parsed, clean, failure, html, pages, read};

/// Attachments of one mail. People send a few; a mail of thousands of parts is made by a machine to cost time.
const MOST_ATTACHMENTS: usize = 200;

/// Reads a mail.
pub(crate) fn parse(bytes: &[u8], job: &Job<'_>) -> Result<Parsed, ParseFailure> {
    let Some(message) = MessageParser::default().parse(bytes) else {
        // Not even a header: whatever it is, its text is worth keeping.
        return Ok(crate::text::parse(bytes));
    };
    let mut warnings = Vec::new();
    let subject = message.subject().map(clean::one_line).unwrap_or_default();
    let mut blocks = vec![Block::Part(subject.clone())];
    blocks.extend(heading(&message, &subject));
    blocks.extend(body(&message, job));
    let mut pages = pages::paginate(&blocks);
    let attachments = message.attachments().count();
    for part in message.attachments().take(MOST_ATTACHMENTS) {
        pages.extend(attachment(part, job));
        (job.progress)(u32::try_from(pages.len()).unwrap_or(u32::MAX), None);
    }
    if attachments > MOST_ATTACHMENTS {
        warnings.push(format!("only the first {MOST_ATTACHMENTS} of {attachments} attachments were read"));
    }
    if pages.len() > job.limits.pages as usize {
        return Err(failure::limits("the mail and its attachments have more pages than the limit"));
    }
    Ok(Parsed { title: Some(subject).filter(|subject| !subject.is_empty()), pages, warnings })
}

fn heading(message: &Message<'_>, subject: &str) -> Vec<Block> {
    let mut lines = Vec::new();
    for (name, address) in [
        ("From", message.from()),
        ("To", message.to()),
        ("Cc", message.cc()),
        ("Reply-To", message.reply_to()),
    ] {
        let people = address.map(people).unwrap_or_default();
        if !people.is_empty() {
            lines.push(format!("{name}: {people}"));
        }
    }
    if let Some(date) = message.date() {
        lines.push(format!("Date: {}", date.to_rfc3339()));
    }
    let mut blocks = Vec::new();
    if !subject.is_empty() {
        blocks.push(Block::Heading(1, subject.to_owned()));
    }
    blocks.push(Block::Paragraph(lines.join("\n")));
    blocks
}

fn people(address: &Address<'_>) -> String {
    let one = |person: &mail_parser::Addr<'_>| {
        let name = person.name.as_deref().map(clean::one_line).filter(|name| !name.is_empty());
        match (name, person.address.as_deref()) {
            (Some(name), Some(address)) => format!("{name} <{address}>"),
            (Some(name), None) => name,
            (None, Some(address)) => address.to_owned(),
            (None, None) => String::new(),
        }
    };
    address.iter().map(one).filter(|person| !person.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The text of a mail: the plain version unless it is a stub beside a full HTML version.
fn body(message: &Message<'_>, job: &Job<'_>) -> Vec<Block> {
    let mut plain = String::new();
    let mut marked = Vec::new();
    for part in message.text_body.iter().filter_map(|id| message.parts.get(*id as usize)) {
        if let PartType::Text(text) = &part.body {
            plain.push_str(text);
            plain.push_str("\n\n");
        }
    }
    for part in message.html_body.iter().filter_map(|id| message.parts.get(*id as usize)) {
        if let PartType::Html(markup) = &part.body {
            marked.extend(html::read(markup, job.limits.nesting).blocks);
        }
    }
    let rich = blocks::markdown(&marked);
    // "Your mail program cannot show this": a fifth of the other version is no version of it.
    if plain.trim().len() * 5 >= rich.len() && !plain.trim().is_empty() {
        return paragraphs(&plain);
    }
    marked
}

fn paragraphs(text: &str) -> Vec<Block> {
    let text = clean::page_text(text);
    text.split("\n\n").map(|paragraph| Block::Paragraph(paragraph.to_owned())).collect()
}

fn attachment(part: &mail_parser::MessagePart<'_>, job: &Job<'_>) -> Vec<Page> {
    let name = part.attachment_name().map(clean::label).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "attachment".to_owned());
    if job.depth >= job.limits.attachment_depth {
        return vec![unread(&name, "it lies within too many other mails")];
    }
    // Signatures and logos inside the text are pictures of no words; recognising them costs seconds each.
    if matches!(part.body, PartType::InlineBinary(_)) && part.content_id().is_some() {
        return Vec::new();
    }
    let bytes = match &part.body {
        PartType::Text(text) | PartType::Html(text) => text.as_bytes().to_vec(),
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes.to_vec(),
        PartType::Message(message) => message.raw_message().to_vec(),
        PartType::Multipart(_) => return Vec::new(),
    };
    let hint = if matches!(part.body, PartType::Message(_)) { "message.eml" } else { &name };
    // Progress of an attachment counts from one again, so it is not passed on.
    let inner = Job { depth: job.depth + 1, progress: &|_, _| {}, ..*job };
    match read(bytes, hint, &inner) {
        Ok(document) => labelled(&name, document),
        Err(why) => vec![unread(&name, &why.message)],
    }
}

fn labelled(name: &str, document: engine::document::Document) -> Vec<Page> {
    let single = document.pages.len() == 1;
    let warnings = document.warnings;
    let mut pages = document.pages;
    for page in &mut pages {
        page.label = if single { name.to_owned() } else { clean::label(&format!("{name}, {}", page.label)) };
    }
    if let Some(first) = pages.first_mut() {
        first.warnings.extend(warnings);
    }
    pages
}

fn unread(name: &str, why: &str) -> Page {
    let mut page = pages::page(name, &format!("Attachment: {name}"), 0);
    page.warnings.push(format!("the attachment {name:?} was not read: {why}"));
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    fn parsed(mail: &str) -> Parsed {
        let limits = Limits { ocr: crate::Ocr::Off, ..Limits::default() };
        parse(
            mail.as_bytes(),
            &Job { limits: &limits, progress: &|_, _| {}, depth: 0, recognised: &Default::default() },
        )
        .expect("a mail")
    }

    #[test]
    fn a_mail_has_a_heading_a_text_and_attachments() {
        let mail = "From: Ann <ann@example.org>\r\nTo: bob@example.org\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\
            MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n\
            Hello.\r\n\r\n--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=list.csv\r\n\r\n\
            a,b\r\n1,2\r\n--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=x.bin\r\n\
            Content-Transfer-Encoding: base64\r\n\r\nf0VMRgIBAQA=\r\n--b--\r\n";
        let parsed = parsed(mail);
        assert_eq!(parsed.title.as_deref(), Some("Grüße"));
        assert!(
            parsed.pages[0].text.starts_with("# Grüße\n\nFrom: Ann <ann@example.org>\nTo: bob@example.org")
        );
        assert!(parsed.pages[0].text.ends_with("Hello."));
        assert_eq!((parsed.pages[1].label.as_str(), parsed.pages[1].tables), ("list.csv", 1));
        assert!(parsed.pages[2].warnings[0].contains("x.bin"));
    }

    #[test]
    fn mails_within_mails_end() {
        let mut mail = "Subject: core\r\n\r\nInnermost.".to_owned();
        for depth in 0..8 {
            mail = format!(
                "Subject: {depth}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b{depth}\r\n\r\n--b{depth}\r\n\
                 Content-Type: message/rfc822\r\n\r\n{mail}\r\n--b{depth}--\r\n"
            );
        }
        let parsed = parsed(&mail);
        assert!(
            parsed
                .pages
                .iter()
                .any(|page| page.warnings.iter().any(|why| why.contains("too many other mails")))
        );
    }
}
