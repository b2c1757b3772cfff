//! Recall, nDCG, MRR and latency of searches.

use std::time::Duration;

use super::questions::{Question, Target};

/// The result of one question.
pub(crate) struct Outcome {
    pub(crate) question: Question,
    /// What was found, best first, each place once.
    pub(crate) found: Vec<Target>,
    pub(crate) took: Duration,
    pub(crate) units: u64,
}

/// Each place once, at its first rank.
pub(crate) fn once(places: impl Iterator<Item = Target>) -> Vec<Target> {
    let mut found: Vec<Target> = Vec::new();
    for place in places {
        if !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

/// How deep recall is looked at.
pub(crate) const DEPTHS: [usize; 4] = [1, 3, 5, 10];

/// The whole in numbers; shares are 0–1.
pub(crate) struct Summary {
    pub(crate) questions: usize,
    /// The share of questions with something relevant among the first results.
    pub(crate) hit: [f64; 4],
    /// The share of what is relevant that is among the first results.
    pub(crate) recall: [f64; 4],
    pub(crate) ndcg: f64,
    pub(crate) mrr: f64,
    /// 50th, 90th and 99th percentile.
    pub(crate) latency: [Duration; 3],
    pub(crate) units: u64,
}

impl Summary {
    pub(crate) fn of(outcomes: &[Outcome]) -> Self {
        let mean = |value: &dyn Fn(&Outcome) -> f64| {
            outcomes.iter().map(value).sum::<f64>() / outcomes.len().max(1) as f64
        };
        Summary {
            questions: outcomes.len(),
            hit: DEPTHS.map(|depth| mean(&|o| f64::from(first(o).is_some_and(|rank| rank <= depth)))),
            recall: DEPTHS.map(|depth| mean(&|o| recall(&o.question, &o.found, depth))),
            ndcg: mean(&|o| ndcg(&o.question, &o.found, 10)),
            mrr: mean(&|o| first(o).map_or(0.0, |rank| 1.0 / rank as f64)),
            latency: percentiles(outcomes.iter().map(|outcome| outcome.took)),
            units: outcomes.iter().map(|outcome| outcome.units).sum(),
        }
    }
}

/// The rank of the first relevant place, from 1.
pub(crate) fn first(outcome: &Outcome) -> Option<usize> {
    let relevant = |found: &Target| outcome.question.relevant.iter().any(|target| target.is(found));
    outcome.found.iter().position(relevant).map(|at| at + 1)
}

fn recall(question: &Question, found: &[Target], depth: usize) -> f64 {
    let seen = |target: &&Target| found.iter().take(depth).any(|found| target.is(found));
    question.relevant.iter().filter(seen).count() as f64 / question.relevant.len() as f64
}

/// Each relevant place counts once, at its first rank.
fn ndcg(question: &Question, found: &[Target], depth: usize) -> f64 {
    let discount = |at: usize| 1.0 / ((at + 2) as f64).log2();
    let gain = |target: &Target| 2f64.powf(target.grade) - 1.0;
    let mut left: Vec<&Target> = question.relevant.iter().collect();
    let mut gained = 0.0;
    for (at, found) in found.iter().take(depth).enumerate() {
        if let Some(place) = left.iter().position(|target| target.is(found)) {
            gained += gain(left.remove(place)) * discount(at);
        }
    }
    let mut gains: Vec<f64> = question.relevant.iter().map(gain).collect();
    gains.sort_by(|a, b| b.total_cmp(a));
    let best: f64 = gains.iter().take(depth).enumerate().map(|(at, gain)| gain * discount(at)).sum();
    if best == 0.0 { 0.0 } else { gained / best }
}

/// The 50th, 90th and 99th percentile; there is at least one time.
pub(crate) fn percentiles(times: impl Iterator<Item = Duration>) -> [Duration; 3] {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    [0.5, 0.9, 0.99].map(|share| times[((times.len() - 1) as f64 * share).round() as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, page: Option<u64>) -> Target {
        Target { file: file.into(), page, grade: 1.0 }
    }

    fn outcome(relevant: Vec<Target>, found: Vec<Target>) -> Outcome {
        let question = Question { text: "q".into(), relevant, facts: Vec::new(), unanswerable: false };
        Outcome { question, found, took: Duration::from_millis(5), units: 2 }
    }

    #[test]
    fn measures_are_those_of_the_books() {
        let found = vec![place("x", Some(1)), place("a", Some(3)), place("b", Some(9))];
        let outcomes = [
            outcome(vec![place("a", Some(3)), place("b", None)], found.clone()),
            outcome(vec![place("a", Some(4))], found),
        ];
        let summary = Summary::of(&outcomes);
        assert_eq!(summary.hit, [0.0, 0.5, 0.5, 0.5]);
        assert_eq!(summary.recall, [0.0, 0.5, 0.5, 0.5]);
        assert_eq!(summary.mrr, 0.25);
        let expected = (1.0 / 3f64.log2() + 0.5) / (1.0 + 1.0 / 3f64.log2()) / 2.0;
        assert!((summary.ndcg - expected).abs() < 1e-9);
        assert_eq!(summary.units, 4);
    }
}
