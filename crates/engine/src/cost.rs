//! What a call costs in intelligence units: pure functions of the work done, never cheaper for more of it.
//!
//! A search costs 1 to 5:
//!
//! | work | units |
//! |---|---|
//! | understanding the query, recalling and weighing candidates; nothing found | 1 |
//! | looking closer at up to 50 candidates, or at more | + 1, + 2 |
//! | a cross-encoder reading up to 10 of them, or more | + 1, + 2 |
//!
//! An answer of the chat costs 1 to 10:
//!
//! | work | units |
//! |---|---|
//! | up to 1,000 tokens of context and 250 tokens of answer; nothing found | 1 |
//! | each further 2,000 tokens of context, or part of them | + 1, at most + 6 |
//! | each further 500 tokens of answer, or part of them | + 1, at most + 3 |

use crate::search::{SearchRequest, Work};

/// Candidates looked at closer that one unit pays for.
const RERANKED_STEP: usize = 50;
/// Candidates read by a cross-encoder that one unit pays for.
const CROSS_ENCODED_STEP: usize = 10;
/// Units that each of the two may add to a search.
const SEARCH_STEPS: u64 = 2;

/// Tokens of context and of answer that the first unit pays for.
const FIRST_CONTEXT: usize = 1_000;
const FIRST_GENERATED: usize = 250;
/// Further tokens that one more unit pays for.
const CONTEXT_STEP: usize = 2_000;
const GENERATED_STEP: usize = 500;
/// Units that each of the two may add to an answer.
const CONTEXT_STEPS: u64 = 6;
const GENERATED_STEPS: u64 = 3;

/// The least and the most that a call can cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// What it costs where nothing is found.
    pub min: u64,
    /// What must be left before it may begin.
    pub max: u64,
}

/// How much of the costly work a search may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchWork {
    /// Candidates to look closer at.
    pub reranked: usize,
    /// Candidates that a cross-encoder may read.
    pub cross_encoded: usize,
}

impl SearchWork {
    /// All that the dearest search pays for.
    pub const MOST: Self = SearchWork {
        reranked: RERANKED_STEP * SEARCH_STEPS as usize,
        cross_encoded: CROSS_ENCODED_STEP * SEARCH_STEPS as usize,
    };
}

/// How much an answer may read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatWork {
    /// Tokens of context.
    pub context_tokens: usize,
    /// Tokens of answer.
    pub generated_tokens: usize,
}

/// What a search costs that did this work for so many hits, 1–5.
pub fn search(work: &Work, hits: usize) -> u64 {
    if hits == 0 {
        return 1;
    }
    1 + steps(work.reranked, RERANKED_STEP, SEARCH_STEPS)
        + steps(work.cross_encoded, CROSS_ENCODED_STEP, SEARCH_STEPS)
}

/// What a search can cost, by a server with or without a cross-encoder.
pub fn search_bounds(request: &SearchRequest, cross_encoder: bool) -> Bounds {
    let reranked = if request.rerank { request.most.reranked } else { 0 };
    let cross_encoded = if reranked > 0 && cross_encoder { request.most.cross_encoded } else { 0 };
    Bounds { min: 1, max: search(&Work { reranked, cross_encoded, ..Work::default() }, 1) }
}

/// The work that fits a search of at most `max_units`: the closer look is paid for first, then the cross-encoder.
/// At 1 there is neither.
pub fn search_within(max_units: u64) -> SearchWork {
    let spare = max_units.saturating_sub(1);
    let rerank = spare.min(SEARCH_STEPS);
    let cross = (spare - rerank).min(SEARCH_STEPS);
    SearchWork {
        reranked: rerank as usize * RERANKED_STEP,
        cross_encoded: cross as usize * CROSS_ENCODED_STEP,
    }
}

/// What an answer costs that read and wrote so many tokens, 1–10.
pub fn chat(context_tokens: usize, generated_tokens: usize) -> u64 {
    1 + steps(context_tokens.saturating_sub(FIRST_CONTEXT), CONTEXT_STEP, CONTEXT_STEPS)
        + steps(generated_tokens.saturating_sub(FIRST_GENERATED), GENERATED_STEP, GENERATED_STEPS)
}

/// What an answer can cost that reads and writes at most this much.
pub fn chat_bounds(most: ChatWork) -> Bounds {
    Bounds { min: 1, max: chat(most.context_tokens, most.generated_tokens) }
}

/// The work that fits an answer of at most `max_units`: two units of context to each of writing. Where the price has
/// stopped rising, so has the limit.
pub fn chat_within(max_units: u64) -> ChatWork {
    let spare = max_units.saturating_sub(1).min(CONTEXT_STEPS + GENERATED_STEPS);
    let writing = spare / 3;
    let reading = spare - writing;
    let tokens = |units: u64, most: u64, first: usize, step: usize| match units {
        units if units >= most => usize::MAX,
        units => first + units as usize * step,
    };
    ChatWork {
        context_tokens: tokens(reading, CONTEXT_STEPS, FIRST_CONTEXT, CONTEXT_STEP),
        generated_tokens: tokens(writing, GENERATED_STEPS, FIRST_GENERATED, GENERATED_STEP),
    }
}

/// Units for `amount`, one for each started `step`.
fn steps(amount: usize, step: usize, most: u64) -> u64 {
    (amount.div_ceil(step) as u64).min(most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn work(reranked: usize, cross_encoded: usize) -> Work {
        Work { reranked, cross_encoded, ..Work::default() }
    }

    #[test]
    fn a_search_costs_what_the_table_says() {
        for (reranked, cross_encoded, units) in [
            (0, 0, 1),
            (1, 0, 2),
            (50, 0, 2),
            (51, 0, 3),
            (100, 0, 3),
            (100, 10, 4),
            (100, 20, 5),
            (20, 20, 4),
        ] {
            assert_eq!(search(&work(reranked, cross_encoded), 1), units, "{reranked} {cross_encoded}");
            assert_eq!(search(&work(reranked, cross_encoded), 0), 1, "nothing found");
        }
        let found_by_words = Work { query_tokens: 9, recalled: 200, ..Work::default() };
        assert_eq!(search(&found_by_words, 10), 1);
    }

    #[test]
    fn an_answer_costs_what_the_table_says() {
        for (context, generated, units) in [
            (0, 0, 1),
            (1_000, 250, 1),
            (1_001, 250, 2),
            (3_000, 251, 3),
            (13_000, 250, 7),
            (1_000_000, 1_000_000, 10),
        ] {
            assert_eq!(chat(context, generated), units, "{context} {generated}");
        }
    }

    #[test]
    fn bounds_follow_what_is_asked_for() {
        let mut request = SearchRequest::new("x");
        assert_eq!(search_bounds(&request, false), Bounds { min: 1, max: 3 });
        assert_eq!(search_bounds(&request, true), Bounds { min: 1, max: 5 });
        request.most = search_within(2);
        assert_eq!(search_bounds(&request, true), Bounds { min: 1, max: 2 });
        request.rerank = false;
        assert_eq!(search_bounds(&request, true), Bounds { min: 1, max: 1 });
        assert_eq!(search_within(5), SearchWork::MOST);
        assert_eq!(chat_bounds(chat_within(10)).max, 10);
    }

    proptest! {
        #[test]
        fn more_work_is_never_cheaper(a in 0usize..300, b in 0usize..300, more in 0usize..300) {
            prop_assert!(search(&work(a, b), 1) <= search(&work(a + more, b), 1));
            prop_assert!(search(&work(a, b), 1) <= search(&work(a, b + more), 1));
            prop_assert!((1..=5).contains(&search(&work(a, b), 1)));
            let (a, b, more) = (a * 97, b * 97, more * 97);
            prop_assert!(chat(a, b) <= chat(a + more, b));
            prop_assert!(chat(a, b) <= chat(a, b + more));
            prop_assert!((1..=10).contains(&chat(a, b)));
        }

        #[test]
        fn what_fits_a_cap_costs_no_more_than_it(cap in 1u64..20) {
            let fits = search_within(cap);
            prop_assert!(search(&work(fits.reranked, fits.cross_encoded), 1) <= cap);
            let fits = chat_within(cap);
            prop_assert!(chat(fits.context_tokens, fits.generated_tokens) <= cap);
        }
    }
}
