//! How the parts of an Office package lead to each other, and what it says about itself.

use engine::seams::parser::ParseFailure;

use super::package::{self, Package};
use crate::xml::{self, Node};

/// A link from one part of an Office package to another.
#[derive(Debug, Clone)]
pub(crate) struct Relationship {
    pub(crate) id: String,
    /// The last word of its type, such as `styles`; the rest differs between strict and transitional files.
    pub(crate) kind: String,
    /// The part it leads to, resolved.
    pub(crate) target: String,
}

/// The links of one part.
pub(crate) fn relationships(
    package: &mut Package<'_>,
    part: &str,
) -> Result<Vec<Relationship>, ParseFailure> {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let name =
        if folder.is_empty() { format!("_rels/{file}.rels") } else { format!("{folder}/_rels/{file}.rels") };
    let Some(xml) = package.read(&name)? else { return Ok(Vec::new()) };
    let link = |node: &Node| {
        if node.attribute("TargetMode") == Some("External") {
            return None;
        }
        Some(Relationship {
            id: node.attribute("Id")?.to_owned(),
            kind: node.attribute("Type")?.rsplit('/').next()?.to_owned(),
            target: package::resolve(part, node.attribute("Target")?),
        })
    };
    Ok(xml::parse(&xml).nodes().filter_map(link).collect())
}

/// The main part of an Office package.
pub(crate) fn main_part(package: &mut Package<'_>, usual: &str) -> Result<String, ParseFailure> {
    let links = relationships(package, "")?;
    let main = links.into_iter().find(|link| link.kind == "officeDocument").map(|link| link.target);
    Ok(main.filter(|part| package.has(part)).unwrap_or_else(|| usual.to_owned()))
}

/// The title an Office document states in its properties.
pub(crate) fn title(package: &mut Package<'_>) -> Option<String> {
    let xml = package.read("docProps/core.xml").ok()??;
    let title = xml::parse(&xml).child("title")?.text();
    Some(title).filter(|title| !title.trim().is_empty())
}
