//! Puts a server together: the only place that names concrete backends.

use std::{path::Path, sync::Arc};

use engine::seams::catalog::Catalog;
use stores::{catalog, limiter};

use crate::{
    app::{App, Parts},
    config::Config,
    http::{auth::Identities, guard::Guard, metrics::Metrics},
};

/// Opens the catalog in a data folder, making both where there is none.
pub fn open_catalog(data: &Path) -> Result<Arc<dyn Catalog>, stores::Error> {
    stores::make_private_folder(data)?;
    Ok(Arc::new(catalog::Sqlite::open(&data.join("catalog.db"))?))
}

/// Everything that a server needs, from its data folder and settings.
pub fn assemble(data: &Path, config: Config) -> Result<App, stores::Error> {
    let catalog = open_catalog(data)?;
    let limiter = limiter::Memory::open(config.limits.requests(), &data.join("limits"))?;
    Ok(App::new(Parts {
        config,
        catalog,
        limiter: Arc::new(limiter),
        identities: Identities::default(),
        guard: Guard::default(),
        metrics: Metrics::default(),
    }))
}
