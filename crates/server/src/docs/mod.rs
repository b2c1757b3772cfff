//! The documentation as a small site at `/docs`: public, part of the binary, without a request to anybody else.
//!
//! The pages are the Markdown files of `docs/` and two that are generated: the API reference from the `OpenAPI` document, and
//! the settings from `defaults.toml`. Each is also served as Markdown, under its name with `.md`.

mod pages;
mod render;
mod settings;

use std::sync::{Arc, OnceLock};

use askama::Template;
use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, Uri},
    middleware::{from_fn, map_response},
    response::IntoResponse,
    routing::get,
};

pub use pages::{Content, GROUPS, Group, Page, pages};
use render::{Article, Section};

use crate::{
    app::{App, assets::Look},
    dashboard,
    http::{compress::compress, request_id::RequestId, tagged::Tagged},
};

/// Every address of the documentation, with `{page}` for the name of a page. None needs a sign-in; a test tries them as everybody.
pub const ROUTES: &[&str] = &["/docs", "/docs/{page}"];

/// Browsers keep a page and ask each time whether it is still the same: after an upgrade nobody reads the old one.
const CACHING: &str = "public, no-cache";

/// Pictures that the binary carries: only small ones. Screenshots stay in the repository.
const PICTURES: &[(&str, &str)] = &[
    ("calibration.svg", include_str!("../../../../docs/calibration.svg")),
    ("soak.svg", include_str!("../../../../docs/soak.svg")),
];

/// Everything under `/docs`, by name; made when the first page is asked for.
struct Site {
    look: Look,
    entries: OnceLock<Vec<(String, Tagged)>>,
}

impl Site {
    fn find(&self, name: &str) -> Option<&Tagged> {
        let entries = self.entries.get_or_init(|| entries(&self.look));
        entries.iter().find(|(known, _)| known == name).map(|(_, entry)| entry)
    }
}

/// All pages as HTML and as Markdown, the start page under the empty name, and the pictures.
fn entries(look: &Look) -> Vec<(String, Tagged)> {
    let articles: Vec<(&Page, String, Article)> = pages()
        .map(|page| {
            let markdown = page.markdown();
            let article = render::article(&markdown, &pages::address);
            (page, markdown.into_owned(), article)
        })
        .collect();
    let titles: Vec<(&str, &str)> =
        articles.iter().map(|(page, _, article)| (page.slug(), article.title.as_str())).collect();
    let contents = contents(&articles);
    let mut entries = vec![(String::new(), html(&StartPage { look, contents: &contents }))];
    for (at, (page, markdown, article)) in articles.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| titles[before]);
        let shown = ArticlePage {
            look,
            contents: &contents,
            slug: page.slug(),
            article,
            before,
            after: titles.get(at + 1).copied(),
        };
        entries.push((page.slug().to_string(), html(&shown)));
        entries.push((page.name.to_string(), Tagged::new("text/markdown; charset=utf-8", markdown.clone())));
    }
    entries.extend(
        PICTURES
            .iter()
            .map(|(name, picture)| (name.to_string(), Tagged::new("image/svg+xml", picture.to_string()))),
    );
    entries
}

/// A group of pages in the menu.
struct Chapter<'a> {
    title: &'static str,
    pages: Vec<Listed<'a>>,
}

/// A page in the menu and on the start page.
struct Listed<'a> {
    slug: &'static str,
    title: &'a str,
    summary: &'a str,
}

fn contents<'a>(articles: &'a [(&Page, String, Article)]) -> Vec<Chapter<'a>> {
    let listed = |page: &Page| {
        let (known, _, article) = articles.iter().find(|(known, ..)| known.name == page.name)?;
        Some(Listed { slug: known.slug(), title: &article.title, summary: &article.summary })
    };
    GROUPS
        .iter()
        .map(|group| Chapter { title: group.title, pages: group.pages.iter().filter_map(listed).collect() })
        .collect()
}

fn html(template: &impl Template) -> Tagged {
    Tagged::new(
        "text/html; charset=utf-8",
        template.render().expect("a template without conditions that fail"),
    )
}

#[derive(Template)]
#[template(path = "docs_start.html")]
struct StartPage<'a> {
    look: &'a Look,
    contents: &'a [Chapter<'a>],
}

impl StartPage<'_> {
    fn is(&self, _slug: &str) -> bool {
        false
    }
}

#[derive(Template)]
#[template(path = "docs_page.html")]
struct ArticlePage<'a> {
    look: &'a Look,
    contents: &'a [Chapter<'a>],
    slug: &'a str,
    article: &'a Article,
    before: Option<(&'a str, &'a str)>,
    after: Option<(&'a str, &'a str)>,
}

impl ArticlePage<'_> {
    fn is(&self, slug: &str) -> bool {
        self.slug == slug
    }

    /// What the table of contents of a page lists; a page with one section needs none.
    fn sections(&self) -> &[Section] {
        match self.article.sections.len() {
            0 | 1 => &[],
            _ => &self.article.sections,
        }
    }
}

/// The documentation, with the headers that pages of the dashboard have; no cookie is set and none is looked at.
pub(crate) fn router(look: Look) -> Router<App> {
    let site = Arc::new(Site { look, entries: OnceLock::new() });
    let start = site.clone();
    let show_start = move |headers: HeaderMap| async move {
        let entry = start.find("").map(|entry| entry.answer(&headers, CACHING));
        entry.unwrap_or_else(|| StatusCode::NOT_FOUND.into_response())
    };
    let show = move |app: State<App>,
                     id: RequestId,
                     headers: HeaderMap,
                     uri: Uri,
                     Path(name): Path<String>| async move {
        match site.find(&name) {
            Some(entry) if !name.is_empty() => entry.answer(&headers, CACHING),
            _ => dashboard::nowhere(app, id, headers, uri).await,
        }
    };
    Router::new()
        .route(ROUTES[0], get(show_start))
        .route(ROUTES[1], get(show))
        .layer(map_response(dashboard::with_page_headers))
        .layer(from_fn(compress))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Vec<(String, Tagged)> {
        let look = Look { style: "/s.css".into(), docs_style: "/d.css".into(), icon: "/i.svg".into() };
        entries(&look)
    }

    fn text(entry: &Tagged) -> &str {
        std::str::from_utf8(&entry.body).unwrap()
    }

    #[test]
    fn every_page_of_the_folder_is_listed_exactly_once() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let files =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> =
            files.filter(|name| name.ends_with(".md") && name != "README.md").collect();
        files.sort();
        let written = pages().filter(|page| matches!(page.content, Content::Written(_)));
        let mut listed: Vec<String> = written.map(|page| page.name.to_string()).collect();
        listed.sort();
        assert_eq!(listed, files, "add the page to GROUPS in crates/server/src/docs/pages.rs");
    }

    #[test]
    fn every_link_inside_the_site_leads_to_a_page_and_a_heading_that_exist() {
        let entries = site();
        for (name, entry) in
            entries.iter().filter(|(_, entry)| entry.kind.to_str().unwrap().starts_with("text/html"))
        {
            for link in text(entry).split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = match path.strip_prefix("/docs") {
                    Some(rest) => rest.trim_start_matches('/'),
                    None if path.is_empty() => name.as_str(),
                    None => continue,
                };
                let page = entries.iter().find(|(known, _)| known == target);
                let (_, page) = page.unwrap_or_else(|| panic!("{name}: {link} leads nowhere"));
                let there = anchor.is_empty() || text(page).contains(&format!("id=\"{anchor}\""));
                assert!(there, "{name}: {link}: no such heading");
            }
        }
    }

    #[test]
    fn no_page_has_a_script_a_style_or_a_resource_of_somebody_else() {
        for (name, entry) in
            site().iter().filter(|(_, entry)| entry.kind.to_str().unwrap().starts_with("text/html"))
        {
            let html = text(entry);
            for forbidden in
                ["<script", "<style", " style=\"", "src=\"http", "rel=\"stylesheet\" href=\"http", "<iframe"]
            {
                assert!(!html.contains(forbidden), "{name}: {forbidden}");
            }
            assert_eq!(html.matches("<h1").count(), 1, "{name}");
        }
    }
}
