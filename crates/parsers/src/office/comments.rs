//! Comments that colleagues leave beside a text.

use crate::blocks::Block;
use crate::clean;

/// How a comment of a colleague is written into the text of a page.
pub(crate) fn comment_block(author: Option<&str>, date: &str, text: &str) -> Block {
    let text = clean::one_line(text);
    if text.is_empty() {
        return Block::Paragraph(String::new());
    }
    let date = if date.is_empty() { String::new() } else { format!(", {date}") };
    match author.filter(|author| !author.trim().is_empty()) {
        Some(author) => Block::Paragraph(format!("[Comment by {author}{date}: {text}]")),
        None => Block::Paragraph(format!("[Comment{date}: {text}]")),
    }
}
