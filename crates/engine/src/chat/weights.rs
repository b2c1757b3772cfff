//! What each thing that is known of a sentence counts for its being the answer.
//!
//! A sum decides: what can be measured of every sentence, and plain rules on top, each for a mistake that the rest makes. The
//! numbers are fitted; docs/chat.md says how.

/// What is known of a sentence or row.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// Share of the question's words, weighed by rarity, that it has.
    pub(super) shared: f32,
    /// Its similarity by vector, or how surely a model says that it answers.
    pub(super) compared: f32,
    /// Whether it holds the kind of thing that is asked for.
    pub(super) kind: f32,
    /// The score of its passage.
    pub(super) passage: f32,
    pub(super) rules: Rules,
}

/// The plain rules: of a sentence, 1 where one applies; of the weights, what it counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    /// "212 nurses", where it is asked how many nurses.
    pub(super) counts: f32,
    /// It has every word of the question and the kind of thing asked for, however unlikely its passage is.
    pub(super) complete: f32,
    /// Neither it nor what stands around it has the number or code that is asked about.
    pub(super) unidentified: f32,
    /// Its document does not have the year.
    pub(super) undated: f32,
    /// Its document does not have a name that is asked about.
    pub(super) unknown: f32,
    /// Its document has most of them.
    pub(super) partly_unknown: f32,
    /// It has the code that is asked about, and nothing of what is asked about it.
    pub(super) named_only: f32,
    /// It says nothing of what is counted, and no number of it.
    pub(super) not_counted: f32,
    pub(super) uncounted: f32,
    /// It was said in an earlier answer, and a follow-up asks for something else.
    pub(super) repeated: f32,
    /// A row that the question names, with a column that it asks for.
    pub(super) cell: f32,
    /// A row that the question does not name.
    pub(super) unnamed: f32,
    /// A cell that does not hold the kind of thing asked for.
    pub(super) other_kind: f32,
    /// A row that the question names, and of which it asks something that no column is called.
    pub(super) no_column: f32,
    /// The item of a list whose number is asked for.
    pub(super) ordinal: f32,
    /// A row whose name says nothing besides what is asked for.
    pub(super) precise: f32,
}

/// What all of it counts.
pub(super) struct Weights {
    constant: f32,
    shared: f32,
    compared: f32,
    kind: f32,
    passage: f32,
    rules: Rules,
    /// How much of `rules` counts.
    ruled: f32,
}

/// Where sentences are compared by vector: a logistic fit of "it holds the answer", and rules by hand.
pub(super) const BY_VECTOR: Weights = Weights {
    constant: -7.24,
    shared: 3.67,
    compared: 4.19,
    kind: 0.68,
    passage: 3.88,
    rules: BY_HAND,
    ruled: 1.0,
};

/// Where the picker for many languages has judged them: fitted in the same way as for English, but for the rules and the kind of thing,
/// of which texts without tables tell little.
pub(super) const JUDGED: Weights = Weights {
    constant: -1.35,
    shared: 1.42,
    compared: 0.75,
    kind: 0.38,
    passage: 3.23,
    rules: FITTED_OTHER,
    ruled: 1.0,
};

/// Where it has, and the question is in another language than the passage: a logistic fit.
pub(super) const JUDGED_TWO: Weights = Weights {
    constant: -2.1,
    shared: 2.68,
    compared: 0.35,
    kind: 0.38,
    passage: 1.04,
    rules: BY_HAND,
    ruled: 0.7,
};

/// Where the picker for English has: fitted with the rules, over whole questions, "none of them" being one of the choices.
pub(super) const JUDGED_ENGLISH: Weights = Weights {
    constant: -1.3,
    shared: 3.0,
    compared: 0.6,
    kind: 0.8,
    passage: 1.15,
    rules: FITTED,
    ruled: 1.0,
};

const BY_HAND: Rules = Rules {
    counts: 1.2,
    complete: 0.9,
    unidentified: -6.0,
    undated: -9.0,
    unknown: -9.0,
    partly_unknown: -1.0,
    named_only: -3.0,
    not_counted: -1.5,
    uncounted: -2.2,
    repeated: -3.0,
    cell: 1.5,
    unnamed: -2.0,
    other_kind: -6.0,
    no_column: -5.0,
    ordinal: 3.0,
    precise: 0.8,
};

const FITTED: Rules = Rules {
    counts: 0.35,
    complete: -0.9,
    unidentified: -4.2,
    undated: -6.3,
    unknown: -6.3,
    partly_unknown: -1.1,
    named_only: -1.0,
    not_counted: -1.5,
    uncounted: -0.7,
    repeated: -2.1,
    cell: 2.3,
    unnamed: -1.5,
    other_kind: -4.5,
    no_column: -2.5,
    ordinal: 2.1,
    precise: 0.3,
};

/// Half as much as in English about names, codes and years, which have more forms in other languages. About cells twice as much, because
/// the picker has learnt from English tables alone.
const FITTED_OTHER: Rules = Rules {
    counts: 0.2,
    complete: -0.45,
    unidentified: -2.1,
    undated: -3.15,
    unknown: -3.15,
    partly_unknown: -0.55,
    named_only: -0.5,
    not_counted: -0.75,
    uncounted: -0.35,
    repeated: -1.05,
    cell: 4.6,
    no_column: -5.0,
    ..FITTED
};

impl Weights {
    pub(super) fn sum(&self, known: &Known) -> f32 {
        self.constant
            + self.shared * known.shared
            + self.compared * known.compared
            + self.kind * known.kind
            + self.passage * known.passage
            + self.ruled * self.rules.times(&known.rules)
    }
}

impl Rules {
    /// What the rules count by hand, which tells the likeliest sentences before anything is compared.
    pub(super) fn by_hand(&self) -> f32 {
        BY_HAND.times(self)
    }

    fn times(&self, other: &Rules) -> f32 {
        [
            self.counts * other.counts,
            self.complete * other.complete,
            self.unidentified * other.unidentified,
            self.undated * other.undated,
            self.unknown * other.unknown,
            self.partly_unknown * other.partly_unknown,
            self.named_only * other.named_only,
            self.not_counted * other.not_counted,
            self.uncounted * other.uncounted,
            self.repeated * other.repeated,
            self.cell * other.cell,
            self.unnamed * other.unnamed,
            self.other_kind * other.other_kind,
            self.no_column * other.no_column,
            self.ordinal * other.ordinal,
            self.precise * other.precise,
        ]
        .into_iter()
        .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_adds_up() {
        let known = Known {
            shared: 1.0,
            compared: 2.0,
            rules: Rules { cell: 1.0, ..Rules::default() },
            ..Known::default()
        };
        assert!((JUDGED_ENGLISH.sum(&known) - (-1.3 + 3.0 + 1.2 + 2.3)).abs() < 1e-5);
        assert!((JUDGED.sum(&known) - (-1.35 + 1.42 + 1.5 + 4.6)).abs() < 1e-5);
        assert_eq!(known.rules.by_hand(), 1.5);
    }
}
