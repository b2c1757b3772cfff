//! Charging for a call: units are held before the work, charged after it and before the answer is sent.
//!
//! ```ignore
//! let _turn  = payer.turn().await?;                                   // one account leaves room for the others
//! let charge = payer.reserve(Operation::Search, bounds.max).await?;   // too little left: B3107, no work
//! let found  = app.search.run(&reading, request).await?;              // failed or dropped here: costs nothing
//! let usage  = charge.settle(cost::search(&found.work, found.hits.len())).await?;
//! ```

use std::time::Instant;

use engine::{
    Fault, Reason,
    access::{Caller, Reading},
    cost::Bounds,
    ids::{AttemptId, UserId},
    seams::{
        answerer::Tokens,
        catalog::{Account, Balance, Month, NewReservation, Operation, Reservation},
    },
    turnstile::Pass,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::{
    App,
    spans::{Kind, Span},
};

/// Takes the place of a key's prefix where somebody paid in the dashboard. A prefix has eight characters, so the two
/// cannot be confused.
pub const DASHBOARD: &str = "dashboard";

/// What a call cost, and what is left.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Usage {
    /// Units that this call cost.
    #[schema(example = 2)]
    pub intelligence_units_consumed: u64,
    /// Units left this month.
    #[schema(example = 998)]
    pub intelligence_units_remaining: u64,
    /// When the quota resets.
    #[schema(value_type = String, format = DateTime)]
    pub resets_at: Timestamp,
    /// What the call would cost; with `dry_run` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
}

/// What a call would cost.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Estimate {
    /// At least.
    pub min: u64,
    /// At most.
    pub max: u64,
}

impl Usage {
    fn of(consumed: u64, balance: &Balance) -> Self {
        Usage {
            intelligence_units_consumed: consumed,
            intelligence_units_remaining: balance.remaining(),
            resets_at: balance.resets_at(),
            estimate: None,
        }
    }
}

/// Whoever pays for a request: what a handler that charges asks for.
pub struct Payer {
    app: App,
    user: UserId,
    /// The prefix of the API key, or [`DASHBOARD`].
    key: String,
    attempt: Option<AttemptId>,
}

impl Payer {
    /// Whoever asks with an API key; `attempt` where the request carries an idempotency key.
    pub fn with_key(app: &App, caller: &Caller, attempt: Option<AttemptId>) -> Self {
        Payer { app: app.clone(), user: caller.user, key: caller.prefix.clone(), attempt }
    }

    /// Somebody who is signed in to the dashboard.
    pub fn signed_in(app: &App, user: UserId) -> Self {
        Payer { app: app.clone(), user, key: DASHBOARD.into(), attempt: None }
    }

    /// Waits for the account's turn to work; dropping the pass is the next one's turn.
    pub async fn turn(&self) -> Result<Pass, Fault> {
        self.app.turnstile.enter(self.user).await
    }

    /// Holds the most that a call can cost, before it does any work.
    pub async fn reserve(&self, operation: Operation, most: u64) -> Result<Charge, Fault> {
        let now = Timestamp::now();
        let reserved = self.app.catalog.reserve_units(NewReservation {
            account: account(&self.app, self.user),
            key: self.key.clone(),
            operation,
            most,
            attempt: self.attempt,
            now,
            expires_at: now.saturating_add(self.app.config.longest_call()).unwrap_or(Timestamp::MAX),
        });
        match reserved.await {
            Ok(reservation) => Ok(Charge {
                span: self.app.spans.begin(operation.as_str(), Kind::Internal),
                began: Instant::now(),
                operation,
                app: self.app.clone(),
                open: Some(reservation),
                spent: 0,
            }),
            Err(fault) => Err(self.told(fault)),
        }
    }

    /// The `usage` of a dry run: costs nothing.
    pub async fn estimate(&self, bounds: Bounds) -> Result<Usage, Fault> {
        let usage = Usage::of(0, &balance(&self.app, self.user).await?);
        Ok(Usage { estimate: Some(Estimate { min: bounds.min, max: bounds.max }), ..usage })
    }

    /// "Payment required" is not a matter of waiting; "too many requests" is.
    fn told(&self, fault: Fault) -> Fault {
        if fault.reason != Reason::UnitsExhausted {
            return fault;
        }
        let wait = fault.retry_after.filter(|_| self.app.config.units.exhausted_status == 429);
        Fault { retry_after: wait, ..fault }
    }
}

/// Units held for a call in progress. Dropped (the call failed, or its client went away) it costs what was
/// [`spent`](Self::spent) so far: nothing, unless the handler says otherwise.
#[must_use = "dropped at once it holds nothing"]
pub struct Charge {
    app: App,
    /// `None` once it has ended.
    open: Option<Reservation>,
    spent: u64,
    operation: Operation,
    began: Instant,
    /// What a collector of traces is told of the call.
    span: Span,
}

impl Charge {
    /// Says what is asked, in the words of OpenTelemetry's conventions for generative AI.
    pub(crate) fn about(&mut self, readings: &[Reading], asked: &str) {
        let boxes: Vec<String> = readings.iter().map(|reading| reading.box_id().to_string()).collect();
        let boxes = boxes.join(",");
        let (name, words) = match self.operation {
            Operation::Search => ("retrieval", "gen_ai.retrieval.query.text"),
            other => (other.as_str(), "gen_ai.input.messages"),
        };
        self.span.rename(format!("{name} {boxes}"));
        self.span.set("gen_ai.operation.name", name);
        self.span.set("gen_ai.provider.name", "quire");
        self.span.set("gen_ai.data_source.id", boxes);
        self.span.set_words(words, asked);
    }

    /// Says how much a model read and wrote.
    pub(crate) fn tokens(&mut self, tokens: Tokens) {
        self.span.set("gen_ai.usage.input_tokens", tokens.prompt);
        self.span.set("gen_ai.usage.output_tokens", tokens.completion);
    }

    /// Says more about the call.
    pub(crate) fn say(&mut self, name: &'static str, value: impl Into<Value>) {
        self.span.set(name, value);
    }

    /// Says what the call costs if its client goes away now: for answers that are sent while they are made.
    pub fn spent(&mut self, units: u64) {
        self.spent = units;
    }

    /// Charges `cost`, and no more than was held. When this returns, the charge outlives the process: send the answer
    /// now.
    pub async fn settle(mut self, cost: u64) -> Result<Usage, Fault> {
        let Some(reservation) = self.open.take() else { return Err(ended()) };
        let cost = cost.min(reservation.most);
        let balance = self.app.catalog.settle_units(&reservation, cost).await?;
        self.span.set("quire.units", cost);
        self.app.metrics.charged(self.operation, self.began.elapsed(), cost);
        Ok(Usage::of(cost, &balance))
    }

    /// Ends a call before its end, which is not its own fault: it costs what was [`spent`](Self::spent).
    pub async fn stop(mut self) -> Result<(), Fault> {
        match self.open.take() {
            Some(reservation) => end(&self.app, &reservation, self.spent).await,
            None => Err(ended()),
        }
    }

    /// Ends a failed call: it costs nothing, whatever was spent.
    pub async fn release(mut self) -> Result<(), Fault> {
        let Some(reservation) = self.open.take() else { return Err(ended()) };
        self.app.catalog.release_units(&reservation).await
    }
}

async fn end(app: &App, reservation: &Reservation, spent: u64) -> Result<(), Fault> {
    match spent {
        0 => app.catalog.release_units(reservation).await,
        spent => app.catalog.settle_units(reservation, spent).await.map(drop),
    }
}

fn ended() -> Fault {
    Fault::internal("a charge ends once")
}

impl Drop for Charge {
    fn drop(&mut self) {
        let Some(reservation) = self.open.take() else { return };
        self.span.fail();
        // Without a runtime the process is ending, and its next start gives the units back.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (app, spent) = (self.app.clone(), self.spent);
        runtime.spawn(async move {
            if let Err(fault) = end(&app, &reservation, spent).await {
                tracing::error!(error = ?fault, "Could not settle the charge for a call");
            }
        });
    }
}

/// The account that a user pays from.
fn account(app: &App, user: UserId) -> Account {
    Account { user, unset_monthly: app.config.units.monthly }
}

/// A user's account of this month.
pub async fn balance(app: &App, user: UserId) -> Result<Balance, Fault> {
    balance_in(app, user, Month::of(Timestamp::now())).await
}

/// A user's account of a month.
pub async fn balance_in(app: &App, user: UserId, month: Month) -> Result<Balance, Fault> {
    app.catalog.balance(account(app, user), month).await
}
