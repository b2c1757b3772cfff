//! Which pages there are and in which order: the one list of the documentation.

use std::borrow::Cow;

use super::settings;
use crate::reference;

/// A page of the documentation.
pub struct Page {
    /// Its name as a file, such as `search.md`.
    pub name: &'static str,
    /// Where its text comes from.
    pub content: Content,
}

/// Where the text of a page comes from.
pub enum Content {
    /// A file of `docs/`.
    Written(&'static str),
    /// Made from a file of the repository, to which pages link by this path: where there is no server, readers find that file.
    Generated(&'static str, fn() -> String),
}

/// Pages that belong together, in the order of the menu.
pub struct Group {
    /// The heading in the menu.
    pub title: &'static str,
    /// The pages.
    pub pages: &'static [Page],
}

impl Page {
    /// The last part of its address.
    pub fn slug(&self) -> &'static str {
        self.name.trim_end_matches(".md")
    }

    /// Its text.
    pub fn markdown(&self) -> Cow<'static, str> {
        match self.content {
            Content::Written(text) => text.into(),
            Content::Generated(_, make) => make().into(),
        }
    }
}

const fn written(name: &'static str, text: &'static str) -> Page {
    Page { name, content: Content::Written(text) }
}

const fn generated(name: &'static str, source: &'static str, make: fn() -> String) -> Page {
    Page { name, content: Content::Generated(source, make) }
}

/// Every page. Titles are the pages' own first headings. A test compares the list with the folder.
pub const GROUPS: &[Group] = &[
    Group {
        title: "Start",
        pages: &[
            written("quickstart.md", include_str!("../../../../docs/quickstart.md")),
            written("concepts.md", include_str!("../../../../docs/concepts.md")),
        ],
    },
    Group {
        title: "Guides",
        pages: &[
            written("uploading.md", include_str!("../../../../docs/uploading.md")),
            written("sources.md", include_str!("../../../../docs/sources.md")),
            written("searching.md", include_str!("../../../../docs/searching.md")),
            written("filters.md", include_str!("../../../../docs/filters.md")),
            written("asking.md", include_str!("../../../../docs/asking.md")),
            written("integrations.md", include_str!("../../../../docs/integrations.md")),
            written("languages.md", include_str!("../../../../docs/languages.md")),
            written("evaluation.md", include_str!("../../../../docs/evaluation.md")),
            written("dashboard.md", include_str!("../../../../docs/dashboard.md")),
            written("roles.md", include_str!("../../../../docs/roles.md")),
            written("feedback.md", include_str!("../../../../docs/feedback.md")),
            written("webhooks.md", include_str!("../../../../docs/webhooks.md")),
            written("accounts.md", include_str!("../../../../docs/accounts.md")),
        ],
    },
    Group {
        title: "Operating",
        pages: &[
            written("operating.md", include_str!("../../../../docs/operating.md")),
            written("backup.md", include_str!("../../../../docs/backup.md")),
            written("reliability.md", include_str!("../../../../docs/reliability.md")),
            written("upgrade.md", include_str!("../../../../docs/upgrade.md")),
            written("bounds.md", include_str!("../../../../docs/bounds.md")),
            written("scaling.md", include_str!("../../../../docs/scaling.md")),
            written("security.md", include_str!("../../../../docs/security.md")),
            written("troubleshooting.md", include_str!("../../../../docs/troubleshooting.md")),
        ],
    },
    Group {
        title: "Reference",
        pages: &[
            generated("api.md", "openapi.json", reference::markdown),
            generated("settings.md", "../crates/server/src/config/defaults.toml", settings::markdown),
            written("errors.md", include_str!("../../../../docs/errors.md")),
            written("units.md", include_str!("../../../../docs/units.md")),
        ],
    },
    Group {
        title: "Background",
        pages: &[
            written("search.md", include_str!("../../../../docs/search.md")),
            written("chat.md", include_str!("../../../../docs/chat.md")),
            written("index.md", include_str!("../../../../docs/index.md")),
            written("benchmarks.md", include_str!("../../../../docs/benchmarks.md")),
            written("comparison.md", include_str!("../../../../docs/comparison.md")),
        ],
    },
];

/// Every page, in the order of the menu.
pub fn pages() -> impl Iterator<Item = &'static Page> {
    GROUPS.iter().flat_map(|group| group.pages)
}

/// Where a link of a page leads on the site; `None` where that is in the repository only, so that its text stays plain text.
pub(super) fn address(target: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
    if path.is_empty()
        || path.starts_with("/docs")
        || path.starts_with("/api/")
        || path.starts_with("https://")
    {
        return Some(target.to_string());
    }
    if path == "README.md" {
        return Some("/docs".into());
    }
    if super::PICTURES.iter().any(|(name, _)| *name == path) {
        return Some(format!("/docs/{path}"));
    }
    let page = pages().find(|page| match page.content {
        Content::Written(_) => page.name == path,
        Content::Generated(source, _) => page.name == path || source == path,
    })?;
    Some(format!("/docs/{}{anchor}", page.slug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_the_tree_become_links_of_the_site() {
        for (link, leads_to) in [
            ("search.md", Some("/docs/search")),
            ("search.md#the-score", Some("/docs/search#the-score")),
            ("#the-score", Some("#the-score")),
            ("openapi.json", Some("/docs/api")),
            ("../crates/server/src/config/defaults.toml", Some("/docs/settings")),
            ("calibration.svg", Some("/docs/calibration.svg")),
            ("https://example.org/x", Some("https://example.org/x")),
            ("../training/MODEL_CARD.md", None),
            ("screenshots/search.png", None),
            ("javascript:alert(1)", None),
        ] {
            assert_eq!(address(link).as_deref(), leads_to, "{link}");
        }
    }
}
