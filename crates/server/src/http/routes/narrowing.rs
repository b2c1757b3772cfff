//! `filter` and `recency`: which files of the boxes count, and how much newer ones are preferred.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use engine::{
    Fault,
    access::Reading,
    ids::FileId,
    seams::catalog::{DateField, Filter},
    search::{Freshness, Recency},
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::App;

/// How much newer files are preferred.
#[derive(Deserialize, ToSchema)]
pub(super) struct RecencyBody {
    /// The date that counts: `$file.createdAt` (if left out), `$file.updatedAt`, or an entry of the metadata.
    #[schema(example = "$file.createdAt")]
    field: Option<String>,
    /// Days after which half of the weight is taken from a score.
    #[schema(example = 90)]
    half_life_days: f64,
    /// What age can take from a score at most, 0 to 1; 0.5 if left out.
    #[schema(minimum = 0, maximum = 1)]
    weight: Option<f64>,
}

impl RecencyBody {
    fn read(self) -> Result<(DateField, Recency), Fault> {
        let field = DateField::parse(self.field.as_deref().unwrap_or("$file.createdAt"))
            .map_err(|wrong| Fault::invalid("recency.field", format!("`recency.field` {wrong}")))?;
        Ok((field, Recency::new(self.half_life_days, self.weight.unwrap_or(USUAL_WEIGHT))?))
    }
}

/// What age takes from a score at most, where nothing is said.
const USUAL_WEIGHT: f64 = 0.5;

/// What is left to be looked up: that takes work, which waits for its turn and is paid for.
#[derive(Default)]
pub(super) struct Narrowing {
    filter: Option<Filter>,
    recency: Option<(DateField, Recency)>,
}

impl Narrowing {
    /// What a body says, checked.
    pub(super) fn parse(filter: Option<&Value>, recency: Option<RecencyBody>) -> Result<Self, Fault> {
        let recency = recency.map(RecencyBody::read).transpose()?;
        Ok(Narrowing {
            filter: filter.filter(|filter| !filter.is_null()).map(Filter::parse).transpose()?,
            recency,
        })
    }

    /// A filter alone.
    pub(super) fn by(filter: Option<Filter>) -> Self {
        Narrowing { filter, recency: None }
    }

    /// Leaves only the files that pass the filter.
    pub(super) async fn only(
        &self,
        app: &App,
        readings: &[Reading],
        named: Option<HashSet<FileId>>,
    ) -> Result<Option<HashSet<FileId>>, Fault> {
        let Some(filter) = &self.filter else { return Ok(named) };
        let mut matching = HashSet::new();
        for reading in readings {
            matching.extend(app.catalog.files_where(reading, filter.clone()).await?);
        }
        Ok(Some(match named {
            Some(named) => named.intersection(&matching).copied().collect(),
            None => matching,
        }))
    }

    /// How new the files are, where that counts.
    pub(super) async fn freshness(
        &self,
        app: &App,
        readings: &[Reading],
    ) -> Result<Option<Arc<Freshness>>, Fault> {
        let Some((field, recency)) = &self.recency else { return Ok(None) };
        let mut dates = HashMap::new();
        for reading in readings {
            dates.extend(app.catalog.dates_of_files(reading, field.clone()).await?);
        }
        Ok(Some(Arc::new(Freshness::new(*recency, dates, Timestamp::now()))))
    }
}
