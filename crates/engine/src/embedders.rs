//! The embedders of a server: the usual one, one for other languages, and those that filled boxes before; all but the usual one are
//! loaded when a box first needs them.

use std::sync::Arc;

use crate::{
    Fault,
    later::{self, Later},
    seams::{catalog::BoxLanguage, embedder::Embedder},
};

/// Loads an embedder.
pub type Load = later::Load<dyn Embedder>;

/// Which embedder fills and searches which box. Cheap to clone; clones share what was loaded.
#[derive(Clone)]
pub struct Embedders {
    usual: Arc<dyn Embedder>,
    multilingual: Option<Arc<Later<dyn Embedder>>>,
    /// What filled boxes when it was the usual one, or the one for other languages. They keep it until they are indexed again.
    earlier: Vec<Arc<Later<dyn Embedder>>>,
    /// The ids of those of them that know many languages.
    earlier_of_many: Vec<String>,
    /// Whether boxes turn multilingual by themselves.
    by_itself: bool,
}

impl Embedders {
    /// One embedder for all boxes.
    pub fn one(usual: Arc<dyn Embedder>) -> Self {
        Embedders {
            usual,
            multilingual: None,
            earlier: Vec::new(),
            earlier_of_many: Vec::new(),
            by_itself: true,
        }
    }

    /// The same with one of this id for boxes in other languages. Where the usual one is that already, there is no other.
    pub fn with_multilingual(self, id: String, load: Load) -> Self {
        let later = (self.usual.id() != id).then(|| Later::new(id, load));
        Embedders { multilingual: later.map(Arc::new), ..self }
    }

    /// The same with one of this id for boxes that it filled before, unless it is the usual one.
    pub fn with_earlier(mut self, id: String, load: Load) -> Self {
        if self.usual.id() != id {
            self.earlier.push(Arc::new(Later::new(id, load)));
        }
        self
    }

    /// The same with one of this id for boxes in other languages that it filled before, unless it still is what fills them.
    pub fn with_earlier_of_many(mut self, id: String, load: Load) -> Self {
        if self.multilingual_id() == Some(id.as_str()) {
            return self;
        }
        self.earlier_of_many.push(id.clone());
        self.with_earlier(id, load)
    }

    /// The same, but boxes turn multilingual only when somebody asks for it: for a usual embedder that may know more than English.
    pub fn only_on_request(self) -> Self {
        Embedders { by_itself: false, ..self }
    }

    /// Whether boxes turn multilingual by themselves, once their documents are.
    pub fn turn_by_themselves(&self) -> bool {
        self.by_itself && self.multilingual.is_some()
    }

    /// Whether boxes may have been filled by another one than the usual.
    pub fn several(&self) -> bool {
        self.multilingual.is_some() || !self.earlier.is_empty()
    }

    /// What fills boxes unless they are multilingual; tokens are counted by it everywhere.
    pub fn usual(&self) -> &Arc<dyn Embedder> {
        &self.usual
    }

    /// The id of the one for other languages, if there is one.
    pub fn multilingual_id(&self) -> Option<&str> {
        self.multilingual.as_ref().map(|later| later.id.as_str())
    }

    /// Whether the one of this id fills boxes in other languages, or did.
    pub fn knows_many(&self, id: &str) -> bool {
        self.multilingual_id() == Some(id) || self.earlier_of_many.iter().any(|earlier| earlier == id)
    }

    /// Whether boxes can be for this language here.
    pub fn can(&self, language: BoxLanguage) -> Result<(), Fault> {
        match language == BoxLanguage::Multilingual && self.multilingual.is_none() {
            true => Err(no_multilingual()),
            false => Ok(()),
        }
    }

    /// What fills a box that is empty.
    pub async fn for_new(&self, multilingual: bool) -> Result<Arc<dyn Embedder>, Fault> {
        match self.multilingual.as_ref().filter(|_| multilingual) {
            Some(later) => later.get().await,
            None => Ok(self.usual.clone()),
        }
    }

    /// The one of this id; the usual one where nothing is known of it, which the index then refuses.
    pub async fn of_model(&self, id: Option<&str>) -> Result<Arc<dyn Embedder>, Fault> {
        let others = self.multilingual.iter().chain(&self.earlier);
        match others.into_iter().find(|later| id == Some(later.id.as_str())) {
            Some(later) => later.get().await,
            None => Ok(self.usual.clone()),
        }
    }
}

/// What is said where boxes cannot be multilingual.
pub fn no_multilingual() -> Fault {
    Fault::invalid(
        "language",
        "this server has no multilingual model, so `language` cannot be `multilingual`",
    )
    .hint("the operator can set one with models.multilingual")
}

impl From<Arc<dyn Embedder>> for Embedders {
    fn from(usual: Arc<dyn Embedder>) -> Self {
        Embedders::one(usual)
    }
}

impl<E: Embedder + 'static> From<Arc<E>> for Embedders {
    fn from(usual: Arc<E>) -> Self {
        Embedders::one(usual)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;

    use super::*;
    use crate::{
        Reason,
        seams::embedder::{Embedding, Role},
    };

    struct Named(&'static str);

    #[async_trait]
    impl Embedder for Named {
        fn id(&self) -> &str {
            self.0
        }

        fn dimensions(&self) -> usize {
            1
        }

        fn max_tokens(&self) -> usize {
            1
        }

        fn count_tokens(&self, _: &str) -> usize {
            1
        }

        async fn embed(&self, _: Vec<String>, _: Role, _: bool) -> Result<Vec<Embedding>, Fault> {
            Ok(Vec::new())
        }
    }

    #[tokio::test]
    async fn the_second_one_is_loaded_once_and_only_when_it_is_needed() {
        let loads = Arc::new(AtomicUsize::new(0));
        let counted = loads.clone();
        let load: Load = Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(Arc::new(Named("multi")))
        });
        let embedders = Embedders::from(Arc::new(Named("english"))).with_multilingual("multi".into(), load);
        for known in [None, Some("english"), Some("of another server")] {
            assert_eq!(embedders.of_model(known).await.unwrap().id(), "english");
        }
        assert_eq!(loads.load(Ordering::Relaxed), 0);
        let all = futures::future::join_all((0..8).map(|_| embedders.of_model(Some("multi")))).await;
        assert!(all.into_iter().all(|found| found.unwrap().id() == "multi"));
        assert_eq!(embedders.clone().for_new(true).await.unwrap().id(), "multi");
        assert_eq!(loads.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_box_keeps_what_filled_it_and_an_empty_one_gets_the_usual() {
        let one = Embedders::from(Arc::new(Named("second")));
        assert!(!one.several());
        let load: Load = Arc::new(|| Ok(Arc::new(Named("first"))));
        let embedders = one.with_earlier("first".into(), load.clone()).with_earlier("second".into(), load);
        assert!(embedders.several() && embedders.multilingual_id().is_none());
        assert_eq!(embedders.of_model(Some("first")).await.unwrap().id(), "first");
        assert_eq!(embedders.of_model(Some("second")).await.unwrap().id(), "second");
        assert_eq!(embedders.for_new(false).await.unwrap().id(), "second");
    }

    #[tokio::test]
    async fn a_box_in_another_language_keeps_what_filled_it() {
        let load: Load = Arc::new(|| Ok(Arc::new(Named("multi-1"))));
        let newer: Load = Arc::new(|| Ok(Arc::new(Named("multi-2"))));
        let embedders = Embedders::from(Arc::new(Named("english")))
            .with_multilingual("multi-2".into(), newer.clone())
            .with_earlier_of_many("multi-1".into(), load)
            .with_earlier_of_many("multi-2".into(), newer);
        assert_eq!(embedders.of_model(Some("multi-1")).await.unwrap().id(), "multi-1");
        assert_eq!(embedders.for_new(true).await.unwrap().id(), "multi-2");
        assert!(embedders.knows_many("multi-1") && embedders.knows_many("multi-2"));
        assert!(!embedders.knows_many("english"));
    }

    #[tokio::test]
    async fn one_that_cannot_be_loaded_is_tried_again() {
        let tries = AtomicUsize::new(0);
        let load: Load = Arc::new(move || match tries.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Fault::internal("no memory")),
            _ => Ok(Arc::new(Named("multi"))),
        });
        let embedders = Embedders::from(Arc::new(Named("english"))).with_multilingual("multi".into(), load);
        assert!(embedders.for_new(true).await.is_err());
        assert_eq!(embedders.for_new(true).await.unwrap().id(), "multi");
    }

    #[test]
    fn a_box_cannot_be_for_what_there_is_no_model_for() {
        let one = Embedders::from(Arc::new(Named("english")));
        assert_eq!(one.can(BoxLanguage::Multilingual).unwrap_err().reason, Reason::InvalidParameter);
        assert!(one.can(BoxLanguage::Auto).is_ok() && one.can(BoxLanguage::English).is_ok());
        let same = one.with_multilingual("english".into(), Arc::new(|| Err(no_multilingual())));
        assert!(same.multilingual_id().is_none());
    }
}
