//! A box to a file and back: `engine::bundle` has the layout, here it meets the stores.

mod export;
mod import;

pub use export::{Exported, export};
pub use import::{Imported, Wanted, import};
