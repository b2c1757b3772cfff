//! The cross-encoders of a server: the usual one, and one for boxes in many languages that is loaded when such a box is first searched.

use std::sync::Arc;

use crate::{
    Fault,
    later::{Later, Load},
    seams::reranker::Reranker,
};

/// Which model reads a query together with the best passages of a box. Cheap to clone; clones share what was loaded.
#[derive(Clone, Default)]
pub struct Rerankers {
    usual: Option<Arc<dyn Reranker>>,
    /// The ids of embedders that know many languages: the usual cross-encoder reads nothing that they found.
    many: Arc<[String]>,
    multilingual: Option<Arc<Later<dyn Reranker>>>,
}

impl From<Option<Arc<dyn Reranker>>> for Rerankers {
    fn from(usual: Option<Arc<dyn Reranker>>) -> Self {
        Rerankers { usual, ..Rerankers::default() }
    }
}

impl Rerankers {
    /// The same, with these embedders known to know many languages.
    pub fn apart_from(self, many: Vec<String>) -> Self {
        Rerankers { many: many.into(), ..self }
    }

    /// The same, with a cross-encoder of this id for what those embedders find.
    pub fn with_multilingual(self, id: String, load: Load<dyn Reranker>) -> Self {
        Rerankers { multilingual: Some(Arc::new(Later::new(id, load))), ..self }
    }

    /// The usual one, if there is one.
    pub fn usual(&self) -> Option<&Arc<dyn Reranker>> {
        self.usual.as_ref()
    }

    /// The id of the one for many languages, if there is one.
    pub fn multilingual_id(&self) -> Option<&str> {
        self.multilingual.as_ref().map(|later| later.id.as_str())
    }

    /// Whether there is any.
    pub(super) fn any(&self) -> bool {
        self.usual.is_some() || self.multilingual.is_some()
    }

    /// The id of the one that reads what this embedder found, if there is one.
    pub(super) fn id_for(&self, embedder: &str) -> Option<&str> {
        match self.many.iter().any(|many| many == embedder) {
            true => self.multilingual_id(),
            false => self.usual.as_ref().map(|usual| usual.id()),
        }
    }

    /// The one that reads what this embedder found, loaded where it has not been yet.
    pub(super) async fn get(&self, embedder: &str) -> Result<Option<Arc<dyn Reranker>>, Fault> {
        match (self.many.iter().any(|many| many == embedder), &self.multilingual) {
            (true, Some(later)) => Ok(Some(later.get().await?)),
            (true, None) => Ok(None),
            (false, _) => Ok(self.usual.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Named(&'static str);

    #[async_trait::async_trait]
    impl Reranker for Named {
        fn id(&self) -> &str {
            self.0
        }
        async fn score(&self, _: &str, passages: Vec<String>) -> Result<Vec<f32>, Fault> {
            Ok(vec![0.0; passages.len()])
        }
    }

    #[tokio::test]
    async fn each_reads_what_its_embedder_found() {
        let usual: Arc<dyn Reranker> = Arc::new(Named("english"));
        let alone = Rerankers::from(Some(usual)).apart_from(vec!["many".into()]);
        assert_eq!((alone.id_for("one"), alone.id_for("many")), (Some("english"), None));
        assert!(alone.get("many").await.unwrap().is_none());
        let load: Load<dyn Reranker> = Arc::new(|| Ok(Arc::new(Named("languages"))));
        let both = alone.with_multilingual("languages".into(), load);
        assert_eq!((both.id_for("one"), both.id_for("many")), (Some("english"), Some("languages")));
        assert_eq!(both.get("many").await.unwrap().unwrap().id(), "languages");
        assert_eq!(both.get("one").await.unwrap().unwrap().id(), "english");
    }
}
