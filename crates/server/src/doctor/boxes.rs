//! Whether the index of each box is whole and has what the catalog says. What is not is read again from the originals.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use engine::{
    Fault, Reason,
    access::Writing,
    ids::FileId,
    seams::catalog::{BoxRecord, FileRecord, FileStatus},
};
use stores::index::copies;

use super::{Finding, Look, State, count, said};
use crate::library::{Library, files_of};

/// What can be wrong with a box.
enum Ailment {
    /// Its database cannot be read.
    Damaged(String),
    /// The index that is kept to go back to cannot be read.
    DamagedDraft(String),
    /// Its text index cannot be read.
    DamagedText(String),
    /// These files should be in it.
    Lacks(Vec<FileId>),
    /// These files should not.
    Odd(Vec<FileId>),
}

impl Ailment {
    fn text(&self) -> String {
        match self {
            Ailment::Damaged(wrong) => format!("its index is damaged ({wrong})"),
            Ailment::DamagedDraft(wrong) => format!("its earlier index is damaged ({wrong})"),
            Ailment::DamagedText(wrong) => format!("its text index is damaged ({wrong})"),
            Ailment::Lacks(files) => {
                format!("{} not in its index", count(files.len(), "file is", "files are"))
            }
            Ailment::Odd(files) => {
                format!("its index has {}", count(files.len(), "file too many", "files too many"))
            }
        }
    }
}

/// Looks at every box; `lost` are originals that nothing can be read from.
pub(super) async fn finding(look: &Look<'_>, library: &Library, lost: &HashSet<String>) -> Finding {
    let what = "boxes";
    let listed = match library.catalog.boxes().await {
        Ok(boxes) => boxes,
        Err(fault) => return Finding::new(what, State::Wrong, said(&fault)),
    };
    let (mut wrong, mut done) = (Vec::new(), Vec::new());
    for record in &listed {
        let patient = Patient { look, library, record, writing: Writing::for_operator(record.id), lost };
        match patient.treat().await {
            Ok((still, mended)) => {
                wrong.extend(still);
                done.extend(mended);
            }
            Err(fault) => wrong.push(format!("{}: {}", record.name.as_str(), said(&fault))),
        }
    }
    let text = match (wrong.is_empty(), look.repair) {
        (true, _) => format!("{} sound", listed.len()),
        (false, true) => wrong.join("; "),
        (false, false) => format!("{}; `quire doctor --repair` mends that", wrong.join("; ")),
    };
    Finding { done, ..Finding::new(what, State::of(wrong.is_empty()), text) }
}

/// One box.
struct Patient<'a> {
    look: &'a Look<'a>,
    library: &'a Library,
    record: &'a BoxRecord,
    writing: Writing,
    lost: &'a HashSet<String>,
}

impl Patient<'_> {
    fn root(&self) -> PathBuf {
        self.look.data.join("index")
    }

    fn file(&self, root: &Path) -> PathBuf {
        copies::file_of(root, self.record.id)
    }

    /// What is wrong with it, and what was mended.
    async fn treat(&self) -> Result<(Vec<String>, Vec<String>), Fault> {
        let (mut wrong, mut done) = (Vec::new(), Vec::new());
        for ailment in self.ailments().await? {
            let text = ailment.text();
            let place = || format!("{} ({})", self.record.name.as_str(), self.file(&self.root()).display());
            match self.look.repair {
                false => wrong.push(format!("{}: {text}", place())),
                true => match self.mend(ailment).await {
                    Ok(mended) => done.push(format!("{}: {text}; {mended}", self.record.name.as_str())),
                    Err(fault) => wrong.push(format!("{}: {text}; {}", place(), said(&fault))),
                },
            }
        }
        Ok((wrong, done))
    }

    async fn ailments(&self) -> Result<Vec<Ailment>, Fault> {
        let mut ailments = Vec::new();
        let draft = self.file(&self.root().join("drafts"));
        if let Err(wrong) = sound(&draft) {
            ailments.push(Ailment::DamagedDraft(wrong));
        }
        if let Err(wrong) = sound(&self.file(&self.root())) {
            ailments.push(Ailment::Damaged(wrong));
            return Ok(ailments);
        }
        // A server changes one before the other, and rewrites the text index as it goes.
        if self.look.is_served() {
            return Ok(ailments);
        }
        if let Err(wrong) = copies::check_text(&self.root(), self.record.id) {
            ailments.push(Ailment::DamagedText(wrong));
        }
        let records = files_of(&*self.library.catalog, &self.writing).await?;
        let held = self.library.index.contents(self.writing.reading()).await?.files;
        let held: HashSet<FileId> = held.iter().map(|held| held.file).collect();
        let lacks: Vec<FileId> = records
            .iter()
            .filter(|file| is_indexed(file) && !held.contains(&file.id))
            .map(|f| f.id)
            .collect();
        let known: HashSet<FileId> = records.iter().map(|file| file.id).collect();
        let odd: Vec<FileId> = held.difference(&known).copied().collect();
        ailments.extend((!lacks.is_empty()).then_some(Ailment::Lacks(lacks)));
        ailments.extend((!odd.is_empty()).then_some(Ailment::Odd(odd)));
        Ok(ailments)
    }

    /// Mends it, and says how.
    async fn mend(&self, ailment: Ailment) -> Result<String, Fault> {
        let (index, writing) = (&self.library.index, &self.writing);
        Ok(match ailment {
            Ailment::Damaged(_) => {
                let files = files_of(&*self.library.catalog, writing).await?;
                let files: Vec<FileRecord> = files.into_iter().filter(is_indexed).collect();
                self.must_be_readable(&files)?;
                let _held = self.library.hold(self.record.id).await?;
                index.drop_box(writing).await?;
                format!("dropped it; {}", self.read_again(&files).await?)
            }
            Ailment::Lacks(lacking) => {
                let files = self.library.catalog.files(writing.reading(), &lacking).await?;
                let files: Vec<FileRecord> = files.into_iter().flatten().collect();
                self.must_be_readable(&files)?;
                self.read_again(&files).await?
            }
            Ailment::DamagedDraft(_) => {
                index.draft().drop_box(writing).await?;
                "dropped it; `quire reindex BOX --back` has nothing to go back to".into()
            }
            Ailment::DamagedText(_) => {
                copies::drop_text(&self.root(), self.record.id)?;
                "dropped it; it is built again from the box's database when the box is next searched".into()
            }
            Ailment::Odd(files) => {
                for &file in &files {
                    index.remove(writing, file).await?;
                }
                "removed what no file of the box has".into()
            }
        })
    }

    /// What was read of a file whose original is lost is all that there is of it.
    fn must_be_readable(&self, files: &[FileRecord]) -> Result<(), Fault> {
        let lost: Vec<&str> = files
            .iter()
            .filter(|file| self.lost.contains(&file.sha256))
            .map(|file| file.name.as_str())
            .collect();
        match lost.is_empty() {
            true => Ok(()),
            false => {
                let cause = format!("left as it is, because originals are lost too: {}", lost.join(", "));
                Err(Fault::new(Reason::Conflict, cause).hint(&super::how_to_restore(self.look.data)))
            }
        }
    }

    async fn read_again(&self, files: &[FileRecord]) -> Result<String, Fault> {
        for file in files {
            for superseded in self.library.catalog.requeue_file(&self.writing, file.id).await? {
                self.library.remove_original(&superseded).await?;
            }
        }
        let files = count(files.len(), "file is", "files are");
        Ok(format!("{files} queued to be read again from the originals by `quire serve`"))
    }
}

/// Whether a database is sound; one that is not there is.
fn sound(path: &Path) -> Result<(), String> {
    if path.exists() { stores::check(path) } else { Ok(()) }
}

fn is_indexed(file: &FileRecord) -> bool {
    file.indexed_at.is_some() && file.status != FileStatus::Deleting
}
