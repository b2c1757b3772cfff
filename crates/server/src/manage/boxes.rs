//! Boxes: founding, renaming and deleting one.

use engine::{
    Fault,
    access::{Acting, Managing, Owning, Reading, no_such_box},
    seams::catalog::{Action, BoxName, BoxRecord},
};

use super::By;
use crate::library::DeletedBox;

/// Founds a box of whoever acts.
pub(crate) async fn add(by: &By, acting: &Acting, name: BoxName) -> Result<BoxRecord, Fault> {
    acting.may_found()?;
    let record = by.app.catalog.add_box(name, acting.user()).await?;
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
