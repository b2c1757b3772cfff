//! Markdown to HTML: headings with anchors, links of the tree turned into links of the site, raw HTML shown as text.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use crate::html::escaped;

/// A page, rendered.
pub(super) struct Article {
    /// The first heading.
    pub(super) title: String,
    /// The first paragraph, as plain text.
    pub(super) summary: String,
    /// Everything, as HTML.
    pub(super) body: String,
    /// What the table of contents lists.
    pub(super) sections: Vec<Section>,
}

/// A heading of the second level.
pub(super) struct Section {
    pub(super) id: String,
    pub(super) title: String,
}

/// Renders a page; `address` says where its links lead.
pub(super) fn article(markdown: &str, address: &dyn Fn(&str) -> Option<String>) -> Article {
    let mut writer = Writer {
        address,
        events: Parser::new_ext(markdown, Options::ENABLE_TABLES),
        out: Vec::new(),
        links: Vec::new(),
        article: Article {
            title: String::new(),
            summary: String::new(),
            body: String::new(),
            sections: Vec::new(),
        },
    };
    while let Some(event) = writer.events.next() {
        writer.take(event);
    }
    let Writer { out, mut article, .. } = writer;
    article.summary = first_paragraph(&out);
    html::push_html(&mut article.body, without_empty_paragraphs(out).into_iter());
    article
}

struct Writer<'a> {
    address: &'a dyn Fn(&str) -> Option<String>,
    events: Parser<'a>,
    out: Vec<Event<'a>>,
    /// For each open link, whether it leads anywhere.
    links: Vec<bool>,
    article: Article,
}

impl<'a> Writer<'a> {
    fn take(&mut self, event: Event<'a>) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => self.heading(level),
            Event::Start(Tag::CodeBlock(kind)) => self.code(&kind),
            Event::Start(Tag::Image { dest_url, .. }) => self.picture(&dest_url),
            Event::Start(Tag::HtmlBlock) => self.raw_block(),
            Event::InlineHtml(raw) | Event::Html(raw) => self.out.push(Event::Text(raw)),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let address = (self.address)(&dest_url);
                self.links.push(address.is_some());
                if let Some(address) = address {
                    let dest_url = address.into();
                    self.out.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
            }
            Event::End(TagEnd::Link) => {
                if self.links.pop() == Some(true) {
                    self.out.push(Event::End(TagEnd::Link));
                }
            }
            Event::Start(Tag::Table(columns)) => {
                self.html(r#"<div class="scroll" tabindex="0">"#);
                self.out.push(Event::Start(Tag::Table(columns)));
            }
            Event::End(TagEnd::Table) => {
                self.out.push(Event::End(TagEnd::Table));
                self.html("</div>");
            }
            other => self.out.push(other),
        }
    }

    fn html(&mut self, html: impl Into<CowStr<'a>>) {
        self.out.push(Event::Html(html.into()));
    }

    /// Events up to the end of what has just begun.
    fn inside(&mut self, end: TagEnd) -> Vec<Event<'a>> {
        self.events.by_ref().take_while(|event| *event != Event::End(end)).collect()
    }

    fn heading(&mut self, level: HeadingLevel) {
        let inside = self.inside(TagEnd::Heading(level));
        let title = plain(&inside);
        if level == HeadingLevel::H1 {
            self.article.title.clone_from(&title);
            self.html("<h1>");
            inside.into_iter().for_each(|event| self.take(event));
            return self.html("</h1>\n");
        }
        let id = self.free_id(&anchor(&title));
        self.html(format!("<{level} id=\"{id}\">"));
        inside.into_iter().for_each(|event| self.take(event));
        let label = escaped(&title);
        self.html(format!(
            " <a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to “{label}”\">#</a></{level}>\n"
        ));
        if level == HeadingLevel::H2 {
            self.article.sections.push(Section { id, title });
        }
    }

    /// An anchor that no heading before has; numbered as Git hosts number them.
    fn free_id(&self, wanted: &str) -> String {
        let taken = |id: &str| {
            let attribute = format!(" id=\"{id}\">");
            self.out.iter().any(|event| matches!(event, Event::Html(html) if html.contains(&attribute)))
        };
        let numbered = (1..).map(|number| format!("{wanted}-{number}"));
        std::iter::once(wanted.to_string()).chain(numbered).find(|id| !taken(id)).expect("numbers do not end")
    }

    fn code(&mut self, kind: &CodeBlockKind<'a>) {
        let language = match kind {
            CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or_default().to_string(),
            CodeBlockKind::Indented => String::new(),
        };
        let text = plain(&self.inside(TagEnd::CodeBlock));
        let name = match language.as_str() {
            "sh" if text.starts_with("curl") => "curl",
            "sh" | "console" => "Shell",
            "python" => "Python",
            "ts" => "TypeScript",
            "json" | "jsonl" => "JSON",
            "toml" => "TOML",
            _ => "",
        };
        let caption =
            if name.is_empty() { String::new() } else { format!("<figcaption>{name}</figcaption>") };
        let text = escaped(&text);
        self.html(format!(
            "<figure class=\"sample\">{caption}<pre tabindex=\"0\"><code>{text}</code></pre></figure>\n"
        ));
    }

    /// A picture that the binary carries; any other is left out: the dashboard that it shows is one click away.
    fn picture(&mut self, target: &str) {
        let alternative = escaped(&plain(&self.inside(TagEnd::Image)));
        if let Some(address) = (self.address)(target) {
            self.html(format!("<img src=\"{}\" alt=\"{alternative}\" loading=\"lazy\">", escaped(&address)));
        }
    }

    /// Comments are for whoever edits the file; any other HTML is shown as it is written.
    fn raw_block(&mut self) {
        let text = plain(&self.inside(TagEnd::HtmlBlock));
        let trimmed = text.trim();
        if !(trimmed.starts_with("<!--") && trimmed.ends_with("-->")) {
            self.out.extend([
                Event::Start(Tag::Paragraph),
                Event::Text(text.into()),
                Event::End(TagEnd::Paragraph),
            ]);
        }
    }
}

/// The anchor of a heading, as Git hosts make it.
fn anchor(title: &str) -> String {
    let lower = title.to_lowercase();
    let kept = lower.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'));
    kept.map(|sign| if sign == ' ' { '-' } else { sign }).collect()
}

/// Text of some events, without markup.
fn plain(events: &[Event<'_>]) -> String {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                Some(text.as_ref())
            }
            Event::SoftBreak | Event::HardBreak => Some(" "),
            _ => None,
        })
        .collect()
}

fn first_paragraph(events: &[Event<'_>]) -> String {
    let inside = events.iter().skip_while(|event| !matches!(event, Event::Start(Tag::Paragraph)));
    let inside: Vec<Event<'_>> =
        inside.take_while(|event| **event != Event::End(TagEnd::Paragraph)).cloned().collect();
    plain(&inside)
}

/// Paragraphs that held nothing but a picture that was left out.
fn without_empty_paragraphs(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut kept: Vec<Event<'_>> = Vec::with_capacity(events.len());
    for event in events {
        let ends = event == Event::End(TagEnd::Paragraph);
        let blank = kept.iter().rev().take_while(|one| **one == Event::SoftBreak).count();
        let opened = kept.len().checked_sub(blank + 1).map(|at| &kept[at]);
        if ends && opened == Some(&Event::Start(Tag::Paragraph)) {
            kept.truncate(kept.len() - blank - 1);
        } else {
            kept.push(event);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(markdown: &str) -> String {
        let address = |target: &str| (!target.contains("nowhere")).then(|| format!("/to/{target}"));
        article(markdown, &address).body
    }

    #[test]
    fn raw_html_is_shown_not_run() {
        let html = body(
            "Kept in <data>/tls.\n\n<script>alert(1)</script>\n\n<!-- for editors -->\n\nA <b onclick=x>b</b>.",
        );
        assert!(
            !html.contains("<script") && !html.contains("<b ") && !html.contains("for editors"),
            "{html}"
        );
        assert!(html.contains("&lt;data&gt;/tls") && html.contains("&lt;script&gt;"), "{html}");
    }

    #[test]
    fn headings_have_the_anchors_that_git_hosts_give_them() {
        let page = article(
            "# Title\n\nFirst `code` words.\n\n## What a call costs (`cost.rs`)\n\n## Why?\n\n## Why?",
            &|_| None,
        );
        assert_eq!((page.title.as_str(), page.summary.as_str()), ("Title", "First code words."));
        let ids: Vec<&str> = page.sections.iter().map(|section| section.id.as_str()).collect();
        assert_eq!(ids, ["what-a-call-costs-costrs", "why", "why-1"]);
        assert!(page.body.contains(r##"<h2 id="why">Why? <a class="anchor" href="#why""##), "{}", page.body);
    }

    #[test]
    fn a_link_that_leads_nowhere_on_the_site_stays_text() {
        let html = body("See [the *card*](nowhere.md) and [search](search.md).");
        assert!(html.contains("See the <em>card</em> and <a href=\"/to/search.md\">search</a>."), "{html}");
    }

    #[test]
    fn a_picture_that_is_not_carried_leaves_no_hole() {
        assert_eq!(body("![Boxes](nowhere.png)\n![More](nowhere-too.png)\n"), "");
        assert!(body("![A & B](a.svg)").contains(r#"<img src="/to/a.svg" alt="A &amp; B""#));
    }

    #[test]
    fn code_is_escaped_and_says_its_language() {
        let html = body("```python run\nprint(\"<b>\")\n```");
        assert!(html.contains("<figcaption>Python</figcaption>"), "{html}");
        assert!(html.contains("print(&quot;&lt;b&gt;&quot;)"), "{html}");
    }
}
