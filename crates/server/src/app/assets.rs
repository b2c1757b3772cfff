//! Style sheets, script and icon: part of the binary, named by their content, so that a browser keeps each permanently.

use sha2::{Digest, Sha256};
use stores::blobs::hexadecimal;

const STYLE: &[u8] = include_bytes!("../../assets/style.css");
const DOCS_STYLE: &[u8] = include_bytes!("../../assets/docs.css");
/// One module of several files: its parts have no addresses of their own, so nothing has to be kept in step.
const SCRIPT: &[u8] = concat!(
    include_str!("../../assets/script/base.js"),
    include_str!("../../assets/script/forms.js"),
    include_str!("../../assets/script/files.js"),
    include_str!("../../assets/script/uploads.js"),
    include_str!("../../assets/script/reading.js"),
    include_str!("../../assets/script/search.js"),
    include_str!("../../assets/script/markdown.js"),
    include_str!("../../assets/script/chat.js"),
    include_str!("../../assets/script/playground.js"),
    include_str!("../../assets/script/passkeys.js"),
    include_str!("../../assets/script/evaluation.js"),
    include_str!("../../assets/script/start.js"),
)
.as_bytes();
/// Not a module: it runs before the page is drawn.
const THEME: &[u8] = include_bytes!("../../assets/script/theme.js");
const ICON: &[u8] = include_bytes!("../../assets/icon.svg");

/// All of them, with the addresses that pages use.
pub struct Assets {
    pub(crate) style: String,
    pub(crate) docs_style: String,
    pub(crate) script: String,
    pub(crate) theme: String,
    pub(crate) icon: String,
}

impl Assets {
    pub(crate) fn new() -> Self {
        Assets {
            style: address("style", "css", STYLE),
            docs_style: address("docs", "css", DOCS_STYLE),
            script: address("app", "js", SCRIPT),
            theme: address("theme", "js", THEME),
            icon: address("icon", "svg", ICON),
        }
    }

    /// The media type and the bytes behind an address; one with another hash is that of another version.
    pub(crate) fn find(&self, address: &str) -> Option<(&'static str, &'static [u8])> {
        let known = [
            (&self.style, "text/css; charset=utf-8", STYLE),
            (&self.docs_style, "text/css; charset=utf-8", DOCS_STYLE),
            (&self.script, "text/javascript; charset=utf-8", SCRIPT),
            (&self.theme, "text/javascript; charset=utf-8", THEME),
            (&self.icon, "image/svg+xml", ICON),
        ];
        known.into_iter().find(|(known, ..)| *known == address).map(|(_, kind, bytes)| (kind, bytes))
    }

    /// What the documentation shares with the dashboard.
    pub(crate) fn look(&self) -> Look {
        Look { style: self.style.clone(), docs_style: self.docs_style.clone(), icon: self.icon.clone() }
    }
}

/// Addresses of what gives the documentation its look.
pub(crate) struct Look {
    pub(crate) style: String,
    pub(crate) docs_style: String,
    pub(crate) icon: String,
}

fn address(name: &str, kind: &str, bytes: &[u8]) -> String {
    let hash = hexadecimal(&Sha256::digest(bytes));
    format!("/assets/{name}.{}.{kind}", &hash[..12])
}
