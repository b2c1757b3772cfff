//! The answer pickers of a server: one for English, and one for other languages that is loaded when a question first needs it.

use std::sync::Arc;

use crate::{
    Fault,
    later::{Later, Load},
    seams::reranker::Reranker,
};

/// Which model says whether a sentence answers a question. Cheap to clone; clones share what was loaded.
#[derive(Clone, Default)]
pub struct Pickers {
    english: Option<Arc<dyn Reranker>>,
    multilingual: Option<Arc<Later<dyn Reranker>>>,
}

/// A picker, and whether it knows many languages.
pub(super) struct Picker {
    pub(super) model: Arc<dyn Reranker>,
    pub(super) knows_many: bool,
}

impl Pickers {
    /// One for English, or none.
    pub fn new(english: Option<Arc<dyn Reranker>>) -> Self {
        Pickers { english, multilingual: None }
    }

    /// The same with one of this id for other languages.
    pub fn with_multilingual(self, id: String, load: Load<dyn Reranker>) -> Self {
        Pickers { multilingual: Some(Arc::new(Later::new(id, load))), ..self }
    }

    /// The id of the one for English, if there is one.
    pub fn english_id(&self) -> Option<&str> {
        self.english.as_ref().map(|picker| picker.id())
    }

    /// The id of the one for other languages, if there is one.
    pub fn multilingual_id(&self) -> Option<&str> {
        self.multilingual.as_ref().map(|later| later.id.as_str())
    }

    /// The one for other languages, or for English.
    pub(super) async fn get(&self, multilingual: bool) -> Result<Option<Picker>, Fault> {
        let english = || self.english.clone().map(|model| Picker { model, knows_many: false });
        match self.multilingual.as_ref().filter(|_| multilingual) {
            Some(later) => Ok(Some(Picker { model: later.get().await?, knows_many: true })),
            None => Ok(english()),
        }
    }
}
