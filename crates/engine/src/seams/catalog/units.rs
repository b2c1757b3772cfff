//! The ledger of intelligence units: what was charged, and what calls in progress may still cost.

use std::{fmt, str::FromStr, time::Duration};

use async_trait::async_trait;
use jiff::{Timestamp, civil::Date, tz::TimeZone};

use crate::{
    Fault, Reason,
    ids::{AttemptId, ReservationId, UserId},
};

/// What units are charged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// A search in a box.
    Search,
    /// An answer of the chat.
    Chat,
    /// Texts turned into vectors for a program outside.
    Embeddings,
    /// Texts put in order for a program outside.
    Rerank,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 4] =
        [Operation::Search, Operation::Chat, Operation::Embeddings, Operation::Rerank];

    /// The word kept in the catalog and shown in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Search => "search",
            Operation::Chat => "chat",
            Operation::Embeddings => "embeddings",
            Operation::Rerank => "rerank",
        }
    }
}

impl FromStr for Operation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Operation::ALL
            .into_iter()
            .find(|operation| operation.as_str() == text)
            .ok_or_else(|| format!("`{text}` is no operation"))
    }
}

/// A calendar month in UTC, written `2026-11`: the period of a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month(Date);

impl Month {
    /// The month that a moment lies in.
    pub fn of(time: Timestamp) -> Self {
        Month(time.to_zoned(TimeZone::UTC).date().first_of_month())
    }

    /// When the next month begins.
    pub fn end(self) -> Timestamp {
        let next = self.0.saturating_add(jiff::Span::new().months(1));
        next.to_zoned(TimeZone::UTC).map_or(Timestamp::MAX, |start| start.timestamp())
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.0.year(), self.0.month())
    }
}

impl FromStr for Month {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no month; expected something like 2026-11");
        let digits = |part: &str, length| part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
        let (year, month) = text.split_once('-').ok_or_else(wrong)?;
        if !digits(year, 4) || !digits(month, 2) {
            return Err(wrong());
        }
        let (year, month) = (year.parse().map_err(|_| wrong())?, month.parse().map_err(|_| wrong())?);
        Date::new(year, month, 1).map(Month).map_err(|_| wrong())
    }
}

/// Whose units they are, and the monthly quota where neither the account nor its plan sets one.
#[derive(Debug, Clone, Copy)]
pub struct Account {
    /// The user.
    pub user: UserId,
    /// The `units.monthly` setting.
    pub unset_monthly: u64,
}

/// A user's account of a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balance {
    /// The month.
    pub month: Month,
    /// Its quota.
    pub monthly: u64,
    /// Charged so far.
    pub used: u64,
    /// Held for calls in progress.
    pub held: u64,
}

impl Balance {
    /// Not charged yet, including what is held for calls in progress.
    pub fn remaining(&self) -> u64 {
        self.monthly.saturating_sub(self.used)
    }

    /// What a new call may cost at most.
    pub fn free(&self) -> u64 {
        self.remaining().saturating_sub(self.held)
    }

    /// When the quota resets.
    pub fn resets_at(&self) -> Timestamp {
        self.month.end()
    }

    /// The fault for a call that may cost `most`, which is more than is left.
    pub fn too_little(&self, most: u64, now: Timestamp) -> Fault {
        let (free, monthly, reset) = (self.free(), self.monthly, self.resets_at());
        let wait = reset.as_millisecond().saturating_sub(now.as_millisecond());
        let cause = format!(
            "this call may cost up to {most} intelligence units, but only {free} of the {monthly} for this month are left; \
             the quota resets on {reset}; ask the operator for more units"
        );
        let fault = Fault::new(Reason::UnitsExhausted, cause)
            .retry_after(Duration::from_millis(u64::try_from(wait).unwrap_or(0)));
        if free == 0 {
            fault
        } else {
            fault.hint(&format!("send \"max_units\": {free} to limit the call to that"))
        }
    }
}

/// Units to be held before a call does any work.
#[derive(Debug, Clone)]
pub struct NewReservation {
    /// Who pays.
    pub account: Account,
    /// The prefix of the API key, for the report.
    pub key: String,
    /// What for.
    pub operation: Operation,
    /// The most that the call can cost.
    pub most: u64,
    /// The attempt that the call is part of, where its request carries an `Idempotency-Key`.
    pub attempt: Option<AttemptId>,
    /// When the call came in: decides the month and the day that are charged.
    pub now: Timestamp,
    /// After this time its process must have died: later than any call can take.
    pub expires_at: Timestamp,
}

/// Units held for one call.
#[derive(Debug, Clone)]
pub struct Reservation {
    /// Identifies it.
    pub id: ReservationId,
    /// Who pays.
    pub account: Account,
    /// The month it is held against, whenever it is settled.
    pub month: Month,
    /// The most that can be charged.
    pub most: u64,
}

/// A line of a month's report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageLine {
    /// The day, as in `2026-11-15`.
    pub day: String,
    /// The prefix of the API key.
    pub key: String,
    /// What its owner calls the key.
    pub key_name: String,
    /// What for.
    pub operation: Operation,
    /// Calls charged for.
    pub calls: u64,
    /// Units charged.
    pub units: u64,
}

/// The ledger. What is charged and held never exceeds the quota at the time it is reserved, and every reservation
/// ends once: settled, released, or released for a process that died.
///
/// The charge of a call outside an attempt outlives the process when `settle_units` returns, so before its answer is sent. A
/// call inside an attempt is charged together with the storing of its answer
/// ([`finish_attempt`](super::Attempts::finish_attempt)). Whatever is still held when a process has died was
/// therefore never answered in full, and costs nothing.
#[async_trait]
pub trait Units: Send + Sync {
    /// Holds `most` units, or says that too few are free ([`Reason::UnitsExhausted`]). May be lost in a power cut.
    async fn reserve_units(&self, new: NewReservation) -> Result<Reservation, Fault>;

    /// Charges `actual`, or `most` if that is less. One that has ended already is a fault, and nothing is charged: an
    /// [`UpstreamUnavailable`](crate::Reason::UpstreamUnavailable) one where it was given back or lost, so that the call
    /// may be made again.
    async fn settle_units(&self, reservation: &Reservation, actual: u64) -> Result<Balance, Fault>;

    /// Gives the units back; one that has ended already stays as it is.
    async fn release_units(&self, reservation: &Reservation) -> Result<(), Fault>;

    /// Gives back what is held by processes that have died: all that expires by `until`. Where one process has the
    /// store for itself, that is everything at its start.
    async fn release_abandoned_units(&self, until: Timestamp) -> Result<u64, Fault>;

    /// A user's account of a month.
    async fn balance(&self, account: Account, month: Month) -> Result<Balance, Fault>;

    /// What was charged in a month, by day, key and operation.
    async fn usage(&self, user: UserId, month: Month) -> Result<Vec<UsageLine>, Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_ends_where_the_next_begins() {
        for (now, name, end) in [
            ("2026-11-15T14:00:00Z", "2026-11", "2026-12-01T00:00:00Z"),
            ("2026-12-31T23:59:59.999Z", "2026-12", "2027-01-01T00:00:00Z"),
            ("2028-02-01T00:00:00Z", "2028-02", "2028-03-01T00:00:00Z"),
        ] {
            let month = Month::of(now.parse().unwrap());
            assert_eq!((month.to_string().as_str(), month.end()), (name, end.parse().unwrap()));
            assert_eq!(name.parse(), Ok(month));
        }
    }

    #[test]
    fn only_months_are_months() {
        for wrong in ["", "2026", "2026-13", "2026-00", "2026-1", "26-11", "2026-11-01", "+026-11", "2026-1x"]
        {
            assert!(wrong.parse::<Month>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn too_little_says_what_would_still_do() {
        let month = "2026-11".parse().unwrap();
        let now = "2026-11-30T23:59:00Z".parse().unwrap();
        let fault = Balance { month, monthly: 10, used: 6, held: 2 }.too_little(5, now);
        assert_eq!(fault.retry_after, Some(Duration::from_secs(60)));
        assert!(fault.cause.contains("up to 5") && fault.cause.contains("\"max_units\": 2"), "{fault}");
        let fault = Balance { month, monthly: 5, used: 6, held: 0 }.too_little(1, now);
        assert!(!fault.cause.contains("max_units"), "{fault}");
    }
}
