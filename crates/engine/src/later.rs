//! A model that is loaded once, by whoever needs it first.

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::Fault;

/// Loads a model. Takes long, so it is never called on the async threads.
pub type Load<M> = Arc<dyn Fn() -> Result<Arc<M>, Fault> + Send + Sync>;

/// A model that may not be loaded yet.
pub(crate) struct Later<M: ?Sized> {
    pub(crate) id: String,
    load: Load<M>,
    loaded: OnceCell<Arc<M>>,
}

impl<M: ?Sized + Send + Sync + 'static> Later<M> {
    pub(crate) fn new(id: String, load: Load<M>) -> Self {
        Later { id, load, loaded: OnceCell::new() }
    }

    /// The model. One that cannot be loaded is tried again.
    pub(crate) async fn get(&self) -> Result<Arc<M>, Fault> {
        let load = || async {
            let load = self.load.clone();
            // On an ordinary thread: those of the model come from it, and are not to step back.
            tokio::task::spawn_blocking(move || load()).await.map_err(Fault::internal)?
        };
        self.loaded.get_or_try_init(load).await.cloned()
    }
}
