//! The plot of how evaluations went: two lines, oldest on the left.

use engine::seams::catalog::{EvaluationRun, Figures};

use super::super::show::Moment;
use crate::words::Words;

/// The size of the plot, without what is around it.
const WIDTH: f64 = 690.0;
const HEIGHT: f64 = 160.0;

/// A point of a line.
pub(super) struct Point {
    pub(super) x: String,
    pub(super) y: String,
    pub(super) words: String,
}

/// A line, and where its points stand.
pub(super) struct Line {
    /// Its class.
    pub(super) kind: &'static str,
    /// The text of what it shows.
    pub(super) name: &'static str,
    /// The points as `polyline` wants them.
    pub(super) path: String,
    pub(super) points: Vec<Point>,
}

/// A share in percent; `None` where there was nothing to count.
pub(super) fn percent(some: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| some as f64 / all as f64 * 100.0)
}

/// Percent for people.
pub(super) fn shown(words: Words, percent: f64) -> String {
    words.text("measuring-percent").with("value", words.fraction(percent, 0)).plain()
}

/// The lines of these evaluations, which are given latest first; none where there are too few to compare.
pub(super) fn lines(words: Words, runs: &[EvaluationRun]) -> Vec<Line> {
    if runs.len() < 2 {
        return Vec::new();
    }
    let found = |figures: Figures| percent(figures.found[1], figures.searched);
    let right = |figures: Figures| percent(figures.right, figures.questions);
    let lines = [
        line(words, runs, "found", "measuring-found-3", found),
        line(words, runs, "right", "measuring-right", right),
    ];
    lines.into_iter().filter(|line| !line.points.is_empty()).collect()
}

fn line(
    words: Words,
    runs: &[EvaluationRun],
    kind: &'static str,
    name: &'static str,
    of: fn(Figures) -> Option<f64>,
) -> Line {
    let step = WIDTH / (runs.len() - 1) as f64;
    let point = |(at, run): (usize, &EvaluationRun)| {
        let percent = of(run.figures)?;
        let when = Moment::of(run.at).text;
        Some(Point {
            x: format!("{:.1}", step * at as f64),
            y: format!("{:.1}", HEIGHT - percent / 100.0 * HEIGHT),
            words: format!("{when}: {}, {}", words.plain(name), shown(words, percent)),
        })
    };
    let points: Vec<Point> = runs.iter().rev().enumerate().filter_map(point).collect();
    let path: Vec<String> = points.iter().map(|point| format!("{},{}", point.x, point.y)).collect();
    Line { kind, name, path: path.join(" "), points }
}

#[cfg(test)]
mod tests {
    use engine::ids::EvaluationRunId;
    use jiff::Timestamp;

    use super::*;

    fn run(second: i64, searched: u64, found: u64, right: u64) -> EvaluationRun {
        EvaluationRun {
            id: EvaluationRunId::generate(),
            at: Timestamp::from_second(second).unwrap(),
            figures: Figures { questions: 4, searched, found: [0, found, 0], right, ..Figures::default() },
            results: None,
        }
    }

    #[test]
    fn lines_lead_from_the_oldest_to_the_latest_and_leave_out_what_was_not_measured() {
        let runs = [run(3, 2, 2, 4), run(2, 0, 0, 2), run(1, 2, 1, 0)];
        let lines = lines(Words::default(), &runs);
        let paths: Vec<_> = lines.iter().map(|line| (line.kind, line.path.as_str())).collect();
        assert_eq!(paths, [("found", "0.0,80.0 690.0,0.0"), ("right", "0.0,160.0 345.0,80.0 690.0,0.0")]);
        assert!(lines[1].points[1].words.ends_with("50%"), "{}", lines[1].points[1].words);
    }

    #[test]
    fn one_evaluation_is_no_history() {
        assert!(lines(Words::default(), &[run(1, 1, 1, 1)]).is_empty());
        let unsearched = [run(2, 0, 0, 1), run(1, 0, 0, 1)];
        assert_eq!(lines(Words::default(), &unsearched).len(), 1);
    }
}
