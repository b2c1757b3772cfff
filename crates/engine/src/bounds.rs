//! How much one account, box or file may hold, and the error for whoever wants more.
//!
//! The settings give every bound a value, a plan may give another, and an account may have its own. The catalog checks
//! what it stores in the transaction that stores it, so two requests at once do not pass together.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Fault, Reason};

/// Something that its owner can make grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Boxes that a user owns.
    Boxes,
    /// Files in one box.
    Files,
    /// Gigabytes of originals in all boxes that a user owns.
    StorageGb,
    /// Files of one user that wait to be read.
    QueuedFiles,
    /// Members of one box.
    Members,
    /// API keys of a user that are not revoked or expired.
    Keys,
    /// Kilobytes of metadata of one file, as JSON.
    MetadataKb,
    /// Labels of one file.
    Tags,
}

impl Bound {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Bound; 8] = [
        Bound::Boxes,
        Bound::Files,
        Bound::StorageGb,
        Bound::QueuedFiles,
        Bound::Members,
        Bound::Keys,
        Bound::MetadataKb,
        Bound::Tags,
    ];

    /// Those that a plan or an account may set for itself: what is counted by account or by box.
    pub const IN_PLANS: [Bound; 6] =
        [Bound::Boxes, Bound::Files, Bound::StorageGb, Bound::QueuedFiles, Bound::Members, Bound::Keys];

    /// The name in settings, plans and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Bound::Boxes => "boxes",
            Bound::Files => "files",
            Bound::StorageGb => "storage_gb",
            Bound::QueuedFiles => "queued_files",
            Bound::Members => "members",
            Bound::Keys => "keys",
            Bound::MetadataKb => "metadata_kb",
            Bound::Tags => "tags",
        }
    }

    /// What is bounded, in words that follow "at most 5".
    pub fn words(self) -> &'static str {
        match self {
            Bound::Boxes => "boxes for each owner",
            Bound::Files => "files in a box",
            Bound::StorageGb => "GB of files for each owner",
            Bound::QueuedFiles => "files of one owner waiting to be processed",
            Bound::Members => "members in a box",
            Bound::Keys => "API keys for each user",
            Bound::MetadataKb => "KB of metadata for each file",
            Bound::Tags => "tags for each file",
        }
    }

    /// The fault for whatever would exceed the bound.
    pub fn exceeded(self, limit: u64) -> Fault {
        let reason = match self {
            Bound::StorageGb | Bound::MetadataKb | Bound::Tags => Reason::QuotaTooLarge,
            _ => Reason::QuotaExceeded,
        };
        let name = self.as_str();
        let cause = format!("there can be at most {limit} {} ({name} = {limit})", self.words());
        let setting = format!("bounds.{name}");
        let fault = Fault::new(reason, cause);
        let fault = match self {
            Bound::MetadataKb => fault.param("metadata"),
            Bound::Tags => fault.param("tags"),
            Bound::QueuedFiles => fault.hint("wait until some of them are processed"),
            _ => fault,
        };
        match Bound::IN_PLANS.contains(&self) {
            true => fault.hint(&format!(
                "an operator can raise it for one account with `quire plan set EMAIL --{} N`, or for all with the setting {setting}",
                name.replace('_', "-")
            )),
            false => fault.hint(&format!("an operator can raise it with the setting {setting}")),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Bound::ALL.into_iter().find(|bound| bound.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is not a bound"))
    }
}

/// The bounds that a plan or an account sets itself; the others come from the plan, then from the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quota(BTreeMap<Bound, u64>);

impl Quota {
    /// What it says about a bound.
    pub fn get(&self, bound: Bound) -> Option<u64> {
        self.0.get(&bound).copied()
    }

    /// Sets a bound; `None` removes it, so that the plan or the settings apply.
    pub fn set(&mut self, bound: Bound, limit: Option<u64>) {
        match limit {
            Some(limit) => self.0.insert(bound, limit),
            None => self.0.remove(&bound),
        };
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What it says, by bound.
    pub fn iter(&self) -> impl Iterator<Item = (Bound, u64)> {
        self.0.iter().map(|(&bound, &limit)| (bound, limit))
    }

    /// These bounds, overridden by those of `over`.
    pub fn under(mut self, over: &Quota) -> Quota {
        self.0.extend(over.iter());
        self
    }
}

/// Every bound with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds(Quota);

impl Bounds {
    /// Nothing is bounded: for tests, and for commands of the operator.
    pub fn none() -> Self {
        Bounds(Quota::default())
    }

    /// The value of a bound; unlimited where none was given.
    pub fn limit(&self, bound: Bound) -> u64 {
        self.0.get(bound).unwrap_or(u64::MAX)
    }

    /// These bounds, overridden by what a plan or an account sets.
    pub fn with(&self, quota: &Quota) -> Bounds {
        Bounds(self.0.clone().under(quota))
    }

    /// Refuses a count that is past the bound.
    pub fn check(&self, bound: Bound, count: u64) -> Result<(), Fault> {
        let limit = self.limit(bound);
        if count > limit { Err(bound.exceeded(limit)) } else { Ok(()) }
    }
}

impl FromIterator<(Bound, u64)> for Bounds {
    fn from_iter<T: IntoIterator<Item = (Bound, u64)>>(limits: T) -> Self {
        Bounds(Quota(limits.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_bound_its_value_and_who_can_raise_it() {
        let fault = Bound::Boxes.exceeded(7);
        assert_eq!((fault.reason.as_str(), fault.reason.status()), ("quota_exceeded", 409));
        for part in ["boxes = 7", "operator", "quire plan set EMAIL --boxes N", "bounds.boxes"] {
            assert!(fault.cause.contains(part), "{part}: {fault}");
        }
        let fault = Bound::MetadataKb.exceeded(64);
        assert_eq!((fault.reason.as_str(), fault.reason.status()), ("quota_exceeded", 413));
        assert!(fault.cause.contains("metadata_kb = 64") && !fault.cause.contains("plan set"), "{fault}");
    }

    #[test]
    fn an_account_comes_before_its_plan_and_a_plan_before_the_settings() {
        let settings: Bounds = Bound::ALL.map(|bound| (bound, 10)).into_iter().collect();
        let (mut plan, mut own) = (Quota::default(), Quota::default());
        plan.set(Bound::Boxes, Some(20));
        plan.set(Bound::Keys, Some(20));
        own.set(Bound::Keys, Some(5));
        let all = settings.with(&plan.under(&own));
        let limits = [Bound::Boxes, Bound::Keys, Bound::Files].map(|bound| all.limit(bound));
        assert_eq!(limits, [20, 5, 10]);
        assert!(all.check(Bound::Keys, 5).is_ok() && all.check(Bound::Keys, 6).is_err());
        assert!(Bounds::none().check(Bound::Keys, u64::MAX).is_ok());
    }

    #[test]
    fn names_are_the_same_in_settings_and_in_the_store() {
        for bound in Bound::ALL {
            assert_eq!(bound.as_str().parse(), Ok(bound));
            assert_eq!(serde_json::to_value(bound).unwrap(), bound.as_str());
        }
    }
}
