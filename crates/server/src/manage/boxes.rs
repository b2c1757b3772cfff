//! Boxes: founding, changing and deleting one.

use engine::{
    Fault,
    access::{Acting, Managing, Owning, Reading, no_such_box},
    seams::catalog::{Action, BoxLanguage, BoxName, BoxRecord, MOST_DAYS},
};

use super::By;
use crate::library::DeletedBox;

/// Founds a box of whoever acts.
pub(crate) async fn add(
    by: &By,
    acting: &Acting,
    name: BoxName,
    language: BoxLanguage,
) -> Result<BoxRecord, Fault> {
    acting.may_found()?;
    by.app.ingest.embedders.can(language)?;
    let record = by.app.catalog.add_box_for(name, language, acting.user()).await?;
    by.note(Action::BoxMade, Some(record.id), record.name.as_str()).await?;
    Ok(record)
}

/// Calls a box something else.
pub(crate) async fn rename(by: &By, managing: &Managing, name: BoxName) -> Result<(), Fault> {
    let before = record(by, managing.reading()).await?;
    let target = format!("{} to {}", before.name.as_str(), name.as_str());
    by.app.catalog.rename_box(managing, name).await?;
    by.note(Action::BoxRenamed, Some(before.id), target).await
}

/// Says after how many days the files of a box are deleted.
pub(crate) async fn keep_for(by: &By, managing: &Managing, days: Option<u32>) -> Result<(), Fault> {
    if days.is_some_and(|days| !(1..=MOST_DAYS).contains(&days)) {
        let cause = format!("`retentionDays` must be a whole number from 1 to {MOST_DAYS}, or null");
        return Err(Fault::invalid("retentionDays", cause));
    }
    let before = record(by, managing.reading()).await?;
    by.app.catalog.set_retention(managing, days).await?;
    let target = match days {
        Some(days) => format!("{}: {days} days", before.name.as_str()),
        None => format!("{}: no end", before.name.as_str()),
    };
    by.note(Action::RetentionChanged, Some(before.id), target).await
}

/// Sets what a box is for. If that takes another model, the box is indexed again; it can be searched meanwhile.
pub(crate) async fn set_language(
    by: &By,
    managing: &Managing,
    language: BoxLanguage,
) -> Result<BoxRecord, Fault> {
    by.app.ingest.embedders.can(language)?;
    let before = record(by, managing.reading()).await?;
    let again = by.app.catalog.set_language(managing, language).await?;
    // One that is left to us now may have documents in other languages already.
    by.app.library.look_at_language(before.id);
    if before.language != language {
        let again = if again { "; the index is rebuilt" } else { "" };
        let target = format!("{} to {language}{again}", before.language);
        by.note(Action::BoxLanguageChanged, Some(before.id), target).await?;
    }
    record(by, managing.reading()).await
}

/// Deletes a box with everything in it.
pub(crate) async fn delete(by: &By, owning: &Owning) -> Result<(BoxRecord, DeletedBox), Fault> {
    let record = record(by, owning.managing().reading()).await?;
    let deleted = by.app.library.delete_box(owning).await?;
    by.note(Action::BoxDeleted, Some(record.id), record.name.as_str()).await?;
    Ok((record, deleted))
}

async fn record(by: &By, reading: &Reading) -> Result<BoxRecord, Fault> {
    by.app.catalog.boxes_of(&[*reading]).await?.pop().ok_or_else(no_such_box)
}
