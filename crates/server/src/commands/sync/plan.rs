//! What must be done so that a box holds what a folder holds. Pure: it asks nobody and does nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use crate::following::{external_id, is_much};

/// A file of the box, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) id: String,
    pub(super) external_id: String,
    pub(super) name: String,
    pub(super) sha256: String,
    /// Whether it came from this folder, so that it goes when it is deleted there.
    pub(super) own: bool,
}

impl Kept {
    /// The file that the API shows, if it has a name of somebody's own.
    pub(super) fn of(file: &Value, source: &str) -> Option<Self> {
        let text = |name: &str| file[name].as_str().map(str::to_string);
        Some(Kept {
            id: text("fileId")?,
            external_id: text("externalId")?,
            name: text("name")?,
            sha256: text("sha256")?,
            own: file["metadata"][super::MARK] == source,
        })
    }
}

/// What to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Paths that the box does not have.
    pub(super) added: Vec<String>,
    /// Paths whose content is another.
    pub(super) changed: Vec<String>,
    /// Files that have another path now.
    pub(super) renamed: Vec<(Kept, String)>,
    /// Files that are no longer there.
    pub(super) removed: Vec<Kept>,
    /// How many are as they should be.
    pub(super) unchanged: usize,
}

impl Plan {
    /// Compares the hashes of local files, by path, with the files of the box.
    pub(super) fn new(local: &BTreeMap<String, String>, kept: &[Kept]) -> Self {
        let by_id: HashMap<&str, &Kept> = kept.iter().map(|file| (file.external_id.as_str(), file)).collect();
        let mut plan = Plan::default();
        for (path, hash) in local {
            match by_id.get(external_id(path).as_str()) {
                Some(file) if file.sha256 == *hash => plan.unchanged += 1,
                Some(_) => plan.changed.push(path.clone()),
                None => plan.added.push(path.clone()),
            }
        }
        let here: HashSet<String> = local.keys().map(|path| external_id(path)).collect();
        plan.removed =
            kept.iter().filter(|file| file.own && !here.contains(&file.external_id)).cloned().collect();
        plan.find_renamed(local);
        plan
    }

    /// A file that is gone and one that is new are one if their bytes are the same; of several, the one with the same name.
    fn find_renamed(&mut self, local: &BTreeMap<String, String>) {
        let mut gone: HashMap<String, Vec<Kept>> = HashMap::new();
        for file in std::mem::take(&mut self.removed) {
            gone.entry(file.sha256.clone()).or_default().push(file);
        }
        for path in std::mem::take(&mut self.added) {
            let alike = gone.get_mut(&local[&path]).filter(|alike| !alike.is_empty());
            let Some(alike) = alike else {
                self.added.push(path);
                continue;
            };
            let same_name = alike.iter().position(|file| file.name == name(&path));
            let file = alike.swap_remove(same_name.unwrap_or(0));
            self.renamed.push((file, path));
        }
        self.removed = gone.into_values().flatten().collect();
        self.removed.sort_by(|a, b| a.external_id.cmp(&b.external_id));
    }

    /// Whether there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.renamed.is_empty() && self.removed.is_empty()
    }

    /// Whether so much of what came from this folder is deleted that it may be a mistake.
    pub(super) fn deletes_much(&self, kept: &[Kept]) -> bool {
        is_much(self.removed.len(), kept.iter().filter(|file| file.own).count())
    }
}

/// The last part of a path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|(path, hash)| (path.to_string(), hash.to_string())).collect()
    }

    fn kept(path: &str, hash: &str) -> Kept {
        Kept {
            id: format!("fil_{path}"),
            external_id: path.into(),
            name: name(path).into(),
            sha256: hash.into(),
            own: true,
        }
    }

    #[test]
    fn new_changed_renamed_and_deleted_files_are_told_apart() {
        let before = [kept("a", "1"), kept("b", "2"), kept("x/c", "3"), kept("d", "4")];
        let now = local(&[("a", "1"), ("b", "5"), ("y/c", "3"), ("e", "6")]);
        let plan = Plan::new(&now, &before);
        assert_eq!(
            (plan.unchanged, &plan.added[..], &plan.changed[..]),
            (1, &["e".into()][..], &["b".into()][..])
        );
        assert_eq!(plan.renamed, [(kept("x/c", "3"), "y/c".to_string())]);
        assert_eq!(plan.removed, [kept("d", "4")]);
        assert!(Plan::new(&local(&[("a", "1")]), &before[..1]).is_empty());
    }

    #[test]
    fn of_equal_files_each_is_renamed_once_and_the_one_of_the_same_name_first() {
        let before = [kept("x/a", "1"), kept("x/b", "1")];
        let plan = Plan::new(&local(&[("y/b", "1"), ("y/c", "1"), ("y/d", "1")]), &before);
        assert_eq!(plan.renamed, [(kept("x/b", "1"), "y/b".into()), (kept("x/a", "1"), "y/c".into())]);
        assert_eq!((plan.added, plan.removed), (vec!["y/d".to_string()], vec![]));
    }

    #[test]
    fn what_came_from_elsewhere_is_never_deleted() {
        let other = Kept { own: false, ..kept("upl_1", "1") };
        assert!(Plan::new(&local(&[]), std::slice::from_ref(&other)).is_empty());
        let plan = Plan::new(&local(&[("upl_1", "2")]), &[other]);
        assert_eq!(plan.changed, ["upl_1"]);
    }

    #[test]
    fn more_than_ten_and_a_quarter_is_much() {
        let before: Vec<Kept> = (0..44).map(|n| kept(&format!("{n}"), &format!("{n}"))).collect();
        let without = |gone: usize| {
            let rest = before.iter().skip(gone).map(|file| (file.external_id.clone(), file.sha256.clone()));
            Plan::new(&rest.collect(), &before).deletes_much(&before)
        };
        assert_eq!([without(10), without(11), without(12), without(44)], [false, false, true, true]);
        assert!(!Plan::new(&local(&[]), &before[..10]).deletes_much(&before[..10]), "ten can always go");
    }
}
