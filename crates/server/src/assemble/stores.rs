//! Opens the stores: in the data folder for one machine, or on servers for as many nodes as one likes.

use std::{path::Path, sync::Arc};

use anyhow::{Context, Result};
use engine::seams::{catalog::Catalog, index::Index, limiter::Limiter};
use stores::{
    blobs::Blobs,
    catalog,
    index::{Bounds, Embedded, Postgres, Sharded},
    limiter::{Away, Memory, Valkey},
};

use crate::{
    config::{Config, WhenAway},
    library::Library,
};

/// Opens the catalog, creating its tables where there are none.
pub fn open_catalog(data: &Path, config: &Config) -> Result<Arc<dyn Catalog>> {
    Ok(Arc::new(open_sql(data, config)?))
}

/// The same, as what it is.
pub fn open_sql(data: &Path, config: &Config) -> Result<catalog::Sql> {
    let catalog = match &config.catalog.url {
        Some(url) => catalog::Sql::connect(url.reveal()).context("cannot open the catalog (catalog.url)")?,
        None => {
            stores::make_private_folder(data)?;
            catalog::Sql::open(&data.join("catalog.db"))?
        }
    };
    Ok(catalog.within(config.bounds()))
}

/// Opens the files of all boxes.
pub async fn open_library(data: &Path, config: &Config) -> Result<Library> {
    let catalog = open_catalog(data, config)?;
    let blobs = match &config.blobs.url {
        Some(url) => Blobs::connect(url.reveal(), &data.join("blobs")).context("blobs.url")?,
        None => Blobs::open(&data.join("blobs"))?,
    };
    let blobs = blobs.leaving(config.load.free_disk_mb.saturating_mul(1 << 20));
    let mut shards = open_shards(data, config).await?;
    let index = match shards.len() {
        1 => shards.remove(0),
        _ => Arc::new(Sharded::new(shards, catalog.clone())),
    };
    Ok(Library::new(catalog, blobs, index))
}

/// Opens every index by itself: one, or as many as there are shards.
pub async fn open_shards(data: &Path, config: &Config) -> Result<Vec<Arc<dyn Index>>> {
    let Some(url) = &config.index.url else {
        return Ok(vec![Arc::new(Embedded::open(data.join("index"), Bounds::default())?)]);
    };
    let replicas: Vec<&str> = config.index.read_urls.iter().map(|url| url.reveal()).collect();
    let first = Postgres::connect(url.reveal(), &replicas).await;
    let mut shards: Vec<Arc<dyn Index>> = vec![Arc::new(first.context("cannot open the index (index.url)")?)];
    for (number, url) in (1..).zip(&config.index.shards) {
        let shard = Postgres::connect(url.reveal(), &[]).await;
        shards.push(Arc::new(shard.with_context(|| format!("cannot open shard {number} (index.shards)"))?));
    }
    Ok(shards)
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
