//! Settings of what is remembered of questions.

use std::time::Duration;

use serde::Deserialize;

/// `[questions]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionSettings {
    /// Which questions are kept.
    pub keep: Keep,
    /// For how many days.
    pub days: u32,
}

impl QuestionSettings {
    /// How long questions are kept.
    pub fn age(&self) -> Duration {
        Duration::from_secs(u64::from(self.days) * 24 * 60 * 60)
    }
}

/// Which questions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Those that found nothing or little, or whose answer was disliked.
    Troubled,
    /// Every one.
    All,
    /// None.
    None,
}
