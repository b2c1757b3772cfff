//! Prefers newer files: a score is multiplied by how new its file is.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::{Fault, ids::FileId};

/// Days after which half of what age can take is gone, at most: a century.
const LONGEST_HALF_LIFE: f64 = 36_500.0;

/// How much newer files are preferred.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recency {
    half_life_days: f64,
    weight: f64,
}

impl Recency {
    /// Half of `weight` is taken from the score of a file that is `half_life_days` old, all of it in the end.
    pub fn new(half_life_days: f64, weight: f64) -> Result<Self, Fault> {
        if !(half_life_days > 0.0 && half_life_days <= LONGEST_HALF_LIFE) {
            let cause =
                format!("`recency.half_life_days` must be greater than 0 and at most {LONGEST_HALF_LIFE}");
            return Err(Fault::invalid("recency.half_life_days", cause));
        }
        if !(0.0..=1.0).contains(&weight) {
            return Err(Fault::invalid("recency.weight", "`recency.weight` must be from 0 to 1"));
        }
        Ok(Recency { half_life_days, weight })
    }

    /// What the score of a file of this date is multiplied by: 1 for one of now or later, `1 - weight` for an old one or
    /// one without a date.
    fn factor(self, date: Option<Timestamp>, now: Timestamp) -> f32 {
        let days = date.map(|date| (now.as_second() - date.as_second()).max(0) as f64 / 86_400.0);
        let left = days.map_or(0.0, |days| 0.5f64.powf(days / self.half_life_days));
        (1.0 - self.weight * (1.0 - left)) as f32
    }
}

/// How new the files of some boxes are.
#[derive(Debug, Clone)]
pub struct Freshness {
    recency: Recency,
    dates: HashMap<FileId, Timestamp>,
    now: Timestamp,
}

impl Freshness {
    /// By these dates, as of now.
    pub fn new(recency: Recency, dates: HashMap<FileId, Timestamp>, now: Timestamp) -> Self {
        Freshness { recency, dates, now }
    }

    /// What the score of a file is multiplied by.
    pub(super) fn of(&self, file: FileId) -> f32 {
        self.recency.factor(self.dates.get(&file).copied(), self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: i64) -> Timestamp {
        Timestamp::from_second(day * 86_400).unwrap()
    }

    #[test]
    fn age_takes_half_of_the_weight_with_each_half_life() {
        let recency = Recency::new(30.0, 0.4).unwrap();
        let factor = |date| (f64::from(recency.factor(date, at(1000))) * 1000.0).round() / 1000.0;
        assert_eq!(factor(Some(at(1000))), 1.0);
        assert_eq!(factor(Some(at(2000))), 1.0, "the future is as new as can be");
        assert_eq!(factor(Some(at(970))), 0.8);
        assert_eq!(factor(Some(at(940))), 0.7);
        assert_eq!(factor(None), 0.6);
        assert_eq!(factor(Some(Timestamp::MIN)), 0.6);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (days, weight) in
            [(0.0, 0.5), (-1.0, 0.5), (f64::NAN, 0.5), (1e9, 0.5), (1.0, 1.1), (1.0, -0.1), (1.0, f64::NAN)]
        {
            assert!(Recency::new(days, weight).is_err(), "{days} {weight}");
        }
    }
}
