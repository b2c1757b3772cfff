//! Opens the stores: in the data folder for one machine, or on servers for as many nodes as one likes.

use std::{path::Path, sync::Arc};

use anyhow::{Context, Result};
use engine::seams::{catalog::Catalog, index::Index, limiter::Limiter};
use stores::{
    blobs::Blobs,
    catalog,
    index::{Bounds, Embedded, Postgres},
    limiter::{Away, Memory, Valkey},
};

use crate::{
    config::{Config, WhenAway},
    library::Library,
};

/// Opens the catalog, making its tables where there are none.
pub fn open_catalog(data: &Path, config: &Config) -> Result<Arc<dyn Catalog>> {
    stores::make_private_folder(data)?;
    Ok(match &config.catalog.url {
        Some(url) => {
            Arc::new(catalog::Sql::connect(url.reveal()).context("cannot open the catalog (catalog.url)")?)
        }
        None => Arc::new(catalog::Sql::open(&data.join("catalog.db"))?),
    })
}

/// Opens the files of all boxes.
pub async fn open_library(data: &Path, config: &Config) -> Result<Library> {
    let catalog = open_catalog(data, config)?;
    let blobs = match &config.blobs.url {
        Some(url) => Blobs::connect(url.reveal(), &data.join("scratch")).context("blobs.url")?,
        None => Blobs::open(&data.join("blobs"))?,
    };
    Ok(Library::new(catalog, blobs, open_index(data, config).await?))
}

async fn open_index(data: &Path, config: &Config) -> Result<Arc<dyn Index>> {
    let Some(url) = &config.index.url else {
        return Ok(Arc::new(Embedded::open(data.join("index"), Bounds::default())?));
    };
    let replicas: Vec<&str> = config.index.read_urls.iter().map(|url| url.reveal()).collect();
    let opened = Postgres::connect(url.reveal(), &replicas).await;
    Ok(Arc::new(opened.context("cannot open the index (index.url)")?))
}

/// Opens whatever counts requests.
pub(super) fn open_limiter(data: &Path, config: &Config) -> Result<Arc<dyn Limiter>> {
    let (limits, journal) = (config.limits.requests(), data.join("limits"));
    let Some(url) = &config.limiter.url else { return Ok(Arc::new(Memory::open(limits, &journal)?)) };
    let away = match config.limiter.when_away {
        WhenAway::Share => Away::Share { nodes: config.limiter.nodes },
        WhenAway::Refuse => Away::Refuse,
    };
    Ok(Arc::new(Valkey::new(url.reveal(), limits, away, &journal).context("limiter.url")?))
}
