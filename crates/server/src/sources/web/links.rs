//! Links of a page, and of a site map. Reads the text once from beginning to end and builds no tree, so that neither depth nor length of
//! hostile markup costs more than its bytes.

/// Links that are taken from one page.
const MOST_LINKS: usize = 5_000;
/// Attributes of one tag that are looked at.
const MOST_ATTRIBUTES: usize = 50;

/// What a page says about itself and where it leads.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Links {
    /// What addresses are relative to, where the page says so.
    pub(super) base: Option<String>,
    /// Addresses, as they are written.
    pub(super) to: Vec<String>,
    /// Whether the page asks not to be kept.
    pub(super) noindex: bool,
}

/// The links of a page. What a page asks not to be followed is left out.
pub(super) fn of_page(html: &str) -> Links {
    let mut links = Links::default();
    let mut nofollow = false;
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let name_end = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let name = rest[..name_end].to_ascii_lowercase();
        if name.is_empty() {
            continue;
        }
        let (attributes, after) = attributes(&rest[name_end..]);
        rest = after;
        let value = |wanted: &str| {
            attributes.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| *value)
        };
        match name.as_str() {
            "script" | "style" => rest = behind(rest, &name),
            "base" => links.base = links.base.take().or_else(|| value("href").map(plain)),
            "meta" if value("name").is_some_and(|name| name.eq_ignore_ascii_case("robots")) => {
                let says = value("content").unwrap_or_default().to_ascii_lowercase();
                links.noindex |= says.contains("noindex") || says.contains("none");
                nofollow |= says.contains("nofollow") || says.contains("none");
            }
            "a" | "area" => {
                let followed = !value("rel").is_some_and(|rel| rel.to_ascii_lowercase().contains("nofollow"));
                if let Some(to) = value("href").filter(|_| followed && links.to.len() < MOST_LINKS) {
                    links.to.push(plain(to));
                }
            }
            _ => {}
        }
    }
    if nofollow {
        links.to.clear();
    }
    links
}

/// Names and values of a tag, where it has both, and what follows it.
fn attributes(text: &str) -> (Vec<(&str, &str)>, &str) {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
        if rest.is_empty() {
            return (found, rest);
        }
        if let Some(after) = rest.strip_prefix('>') {
            return (found, after);
        }
        // A name has at least one letter, whatever that is.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let ends = |letter: char| letter.is_whitespace() || matches!(letter, '=' | '>' | '/');
        let end = rest[first..].find(ends).map_or(rest.len(), |at| first + at);
        let name = &rest[..end];
        rest = rest[end..].trim_start();
        let Some(value) = rest.strip_prefix('=').map(str::trim_start) else {
            continue;
        };
        let quote = value.chars().next().filter(|letter| matches!(letter, '"' | '\''));
        let (value, after) = match quote {
            Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            None => {
                let end = value.find(|letter: char| letter.is_whitespace() || letter == '>');
                value.split_at(end.unwrap_or(value.len()))
            }
        };
        if found.len() < MOST_ATTRIBUTES {
            found.push((name, value));
        }
        rest = after;
    }
}

/// What follows the end of a script or a style.
fn behind<'a>(text: &'a str, name: &str) -> &'a str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return rest;
        }
    }
    ""
}

/// An address as it is meant: what markup spells in other ways is rare in addresses, but for the one sign.
fn plain(value: &str) -> String {
    value.trim().replace("&amp;", "&").replace("&#38;", "&")
}

/// What a site map lists.
pub(super) enum Map {
    /// Pages.
    Pages(Vec<String>),
    /// Other site maps.
    Maps(Vec<String>),
}

/// Reads a site map.
pub(super) fn of_map(xml: &str, most: usize) -> Map {
    let mut found = Vec::new();
    let mut rest = xml;
    while found.len() < most {
        let Some(at) = rest.find("<loc>") else { break };
        rest = &rest[at + "<loc>".len()..];
        let Some(end) = rest.find('<') else { break };
        found.push(plain(&rest[..end]));
        rest = &rest[end..];
    }
    if xml.contains("<sitemapindex") { Map::Maps(found) } else { Map::Pages(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_however_they_are_written() {
        let page = r##"<html><head><BASE href="/docs/"><meta charset=utf-8></head><body class="<a href='no'>">
            <A HREF="one?a=1&amp;b=2">1</A> <a class=x href=two>2</a> <a href='three' rel="external NoFollow">3</a>
            <area href = "four"/> <!-- <a href="commented"> --> <script>"<a href='scripted'>"</script >
            <a>none</a> <a href="#top">top</a> <abbr href="no"> <a title="x>y" href="five">"##;
        let links = of_page(page);
        assert_eq!(links.base.as_deref(), Some("/docs/"));
        assert_eq!(links.to, ["one?a=1&b=2", "two", "four", "#top", "five"]);
        assert!(!links.noindex);
    }

    #[test]
    fn a_page_can_ask_to_be_left_alone() {
        let page = |says: &str| of_page(&format!("<meta content='{says}' name='ROBOTS'><a href=x>"));
        assert!(page("noindex").noindex && !page("noindex").to.is_empty());
        assert!(page("none").noindex && page("none").to.is_empty());
        assert!(!page("nofollow").noindex && page("nofollow").to.is_empty());
    }

    /// A reader whose time grew with the square of the depth would not come to an end here.
    #[test]
    fn hostile_markup_is_read_once() {
        for piece in ["<div>", "<a ", "<a href=", "<a href='", "<!--", "<script>", "<", "<a x", "<style></"] {
            let page = piece.repeat(2_000_000 / piece.len());
            assert!(of_page(&page).to.len() <= MOST_LINKS, "{piece}");
            assert!(matches!(of_map(&page, 10), Map::Pages(pages) if pages.is_empty()), "{piece}");
        }
        for page in
            ["", "<", "<a", "<a href", "<a href=", "<a href=\"", "<a =x>", "<a é=\"x\">", "<meta", "<é>"]
        {
            of_page(page);
        }
        let many = "<a href=x>".repeat(10_000);
        assert_eq!(of_page(&many).to.len(), MOST_LINKS);
    }

    #[test]
    fn a_map_lists_pages_or_maps() {
        let pages =
            "<urlset><url><loc> https://x/a?b=1&amp;c </loc></url><url><loc>https://x/d</loc></url></urlset>";
        assert!(
            matches!(of_map(pages, 9), Map::Pages(found) if found == ["https://x/a?b=1&c", "https://x/d"])
        );
        assert!(matches!(of_map(pages, 1), Map::Pages(found) if found.len() == 1));
        let maps = "<sitemapindex><sitemap><loc>https://x/1.xml</loc></sitemap></sitemapindex>";
        assert!(matches!(of_map(maps, 9), Map::Maps(found) if found == ["https://x/1.xml"]));
    }
}
