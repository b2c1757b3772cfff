//! The full text of a box: finds chunks by their words.

use std::path::PathBuf;

use engine::Fault;
use rusqlite::Connection;

use super::truth::Change;

/// The text index of one box.
pub(super) struct Text {
    _folder: PathBuf,
}

/// A change that the text index has written down but does not show yet.
pub(super) struct Pending;

impl Text {
    pub(super) fn new(folder: PathBuf) -> Self {
        Text { _folder: folder }
    }

    pub(super) fn prepare(&self, _connection: &Connection, _change: &Change) -> Result<Pending, Fault> {
        Ok(Pending)
    }

    pub(super) fn publish(&self, _connection: &Connection, _pending: Pending) -> Result<(), Fault> {
        Ok(())
    }

    pub(super) fn retire(&self) {}
}
