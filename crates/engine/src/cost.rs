//! What a call costs in intelligence units: pure functions of the work done, never cheaper for more of it.
//!
//! A search costs 1 to 4:
//!
//! | work | units |
//! |---|---|
//! | finding and weighing candidates, a cross-encoder reading up to 10 of them, up to 20 passages; nothing found | 1 |
//! | a cross-encoder reading more | + 1 |
//! | up to 100 passages, neighbours included; more than 100 | + 1, + 2 |
//!
//! An answer of the chat costs what its search costs, and for longer texts more, 10 at most:
//!
//! | work | units |
//! |---|---|
//! | its search, up to 3,000 tokens of context and 500 tokens of answer | as the search |
//! | each further 2,000 tokens of context, or part of them | + 1, at most + 5 |
//! | each further 500 tokens of answer, or part of them | + 1, at most + 2 |
//! | nothing found | 1 |
//!
//! The models by themselves, for programs that bring their own texts:
//!
//! | work | units |
//! |---|---|
//! | vectors: each 20,000 tokens, or part of them | 1 |
//! | putting texts in order: each 20 texts, or part of them; a text that is too long to be read at once counts for each of its parts | 1 |

use serde::Serialize;

/// Candidates weighed by late interaction at most: a few milliseconds, which the first unit pays for.
const RERANKED: usize = 100;
/// Candidates read by a cross-encoder that the first unit pays for, and that one more does. Most of a search's time goes
/// into them.
const CROSS_ENCODED: usize = 10;
const CROSS_ENCODED_STEPS: u64 = 1;
/// Passages returned that the first unit pays for, and that one more does.
const PASSAGES: usize = 20;
const PASSAGES_STEP: usize = 80;
const PASSAGES_STEPS: u64 = 2;

/// Tokens of context and of answer that are in the price of the search.
const CONTEXT: usize = 3_000;
const GENERATED: usize = 500;
/// Further tokens that one more unit pays for.
const CONTEXT_STEP: usize = 2_000;
const GENERATED_STEP: usize = 500;
/// Units that each of the two may add to an answer.
const CONTEXT_STEPS: u64 = 5;
const GENERATED_STEPS: u64 = 2;

/// Tokens that one unit turns into vectors: about a hundred passages.
const EMBEDDED: usize = 20_000;
/// Texts that one unit puts in order: as many as a cross-encoder reads for the most expensive search.
const RERANKED_TEXTS: usize = 20;
/// Tokens of a query and a text together that a cross-encoder reads at once; what is longer it reads in parts.
const READ_AT_ONCE: usize = 500;

/// The least and the most that a call can cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// What it costs where nothing is found.
    pub min: u64,
    /// What must be left before it may begin.
    pub max: u64,
}

/// The work that a search did; what it costs follows from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Tokens of the query that were embedded.
    pub query_tokens: usize,
    /// Candidates of both sides.
    pub recalled: usize,
    /// Candidates that were weighed by late interaction.
    pub reranked: usize,
    /// Candidates that a cross-encoder read.
    pub cross_encoded: usize,
    /// Passages that were returned, neighbours included.
    pub passages: usize,
}

/// How much of the costly work a search may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchWork {
    /// Candidates to weigh by late interaction.
    pub reranked: usize,
    /// Candidates that a cross-encoder may read.
    pub cross_encoded: usize,
    /// Passages to return, neighbours included.
    pub passages: usize,
}

impl SearchWork {
    /// All that the most expensive search pays for.
    pub const MOST: Self = SearchWork {
        reranked: RERANKED,
        cross_encoded: CROSS_ENCODED * (1 + CROSS_ENCODED_STEPS as usize),
        passages: usize::MAX,
    };

    /// What fits this many units above the first of each.
    fn of(cross_encoded: u64, passages: u64) -> Self {
        SearchWork {
            reranked: RERANKED,
            cross_encoded: CROSS_ENCODED * (1 + cross_encoded as usize),
            passages: up_to(passages, PASSAGES_STEPS, PASSAGES, PASSAGES_STEP),
        }
    }
}

/// How much an answer may search, read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatWork {
    /// Its search.
    pub search: SearchWork,
    /// Tokens of context.
    pub context_tokens: usize,
    /// Tokens of answer.
    pub generated_tokens: usize,
}

/// The cost of a search that did this work and returned this many hits.
pub fn search(work: &Work, hits: usize) -> u64 {
    if hits == 0 {
        return 1;
    }
    1 + steps(work.cross_encoded, CROSS_ENCODED, CROSS_ENCODED, CROSS_ENCODED_STEPS)
        + steps(work.passages, PASSAGES, PASSAGES_STEP, PASSAGES_STEPS)
}

/// The work that fits a search of at most `max_units`: the cross-encoder is paid for first, then more passages.
pub fn search_within(max_units: u64) -> SearchWork {
    let spare = max_units.saturating_sub(1);
    let cross_encoded = spare.min(CROSS_ENCODED_STEPS);
    SearchWork::of(cross_encoded, (spare - cross_encoded).min(PASSAGES_STEPS))
}

/// The cost of an answer, 1–10, from that of its search and from the tokens that it read and wrote.
pub fn chat(search_units: u64, context_tokens: usize, generated_tokens: usize) -> u64 {
    search_units.max(1)
        + steps(context_tokens, CONTEXT, CONTEXT_STEP, CONTEXT_STEPS)
        + steps(generated_tokens, GENERATED, GENERATED_STEP, GENERATED_STEPS)
}

/// The range of costs of an answer, from the most that its search costs and from the most tokens that it reads and
/// writes.
pub fn chat_bounds(search: Bounds, context_tokens: usize, generated_tokens: usize) -> Bounds {
    Bounds { min: 1, max: chat(search.max, context_tokens, generated_tokens) }
}

/// What each further unit of `max_units` buys for an answer, in this order: a good search first, then twice as much reading
/// as writing.
const BOUGHT: [Bought; 9] = {
    use Bought::{Context, CrossEncoder, Passages, Writing};
    [CrossEncoder, Context, Writing, Passages, Context, Context, Writing, Context, Context]
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bought {
    CrossEncoder,
    Passages,
    Context,
    Writing,
}

/// The work that fits an answer of at most `max_units`. Where the price has stopped rising, so has the limit.
pub fn chat_within(max_units: u64) -> ChatWork {
    let spare = usize::try_from(max_units.saturating_sub(1)).unwrap_or(usize::MAX).min(BOUGHT.len());
    let units = |what: Bought| BOUGHT[..spare].iter().filter(|bought| **bought == what).count() as u64;
    ChatWork {
        search: SearchWork::of(units(Bought::CrossEncoder), units(Bought::Passages)),
        context_tokens: up_to(units(Bought::Context), CONTEXT_STEPS, CONTEXT, CONTEXT_STEP),
        generated_tokens: up_to(units(Bought::Writing), GENERATED_STEPS, GENERATED, GENERATED_STEP),
    }
}

/// What it costs to turn so many tokens into vectors.
pub fn embeddings(tokens: usize) -> u64 {
    tokens.div_ceil(EMBEDDED).max(1) as u64
}

/// What it costs to put texts of so many tokens in order.
pub fn rerank(query: usize, texts: &[usize]) -> u64 {
    // A query that leaves less room is refused by the model.
    let room = READ_AT_ONCE - query.min(READ_AT_ONCE / 2);
    let parts: usize = texts.iter().map(|tokens| tokens.div_ceil(room).max(1)).sum();
    parts.div_ceil(RERANKED_TEXTS).max(1) as u64
}

/// Units for what goes beyond `free`, one for each started `step`.
fn steps(amount: usize, free: usize, step: usize, most: u64) -> u64 {
    (amount.saturating_sub(free).div_ceil(step) as u64).min(most)
}

/// The amount that this many units pay for; unlimited for the most units.
fn up_to(units: u64, most: u64, free: usize, step: usize) -> usize {
    if units >= most { usize::MAX } else { free + units as usize * step }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::SearchRequest;

    fn work(cross_encoded: usize, passages: usize) -> Work {
        Work { reranked: 100, cross_encoded, passages, ..Work::default() }
    }

    #[test]
    fn a_search_costs_what_the_table_says() {
        for (cross_encoded, passages, units) in [
            (0, 1, 1),
            (10, 20, 1),
            (11, 20, 2),
            (20, 10, 2),
            (20, 21, 3),
            (20, 100, 3),
            (20, 101, 4),
            (20, 350, 4),
            (0, 350, 3),
        ] {
            assert_eq!(search(&work(cross_encoded, passages), 1), units, "{cross_encoded} {passages}");
            assert_eq!(search(&work(cross_encoded, passages), 0), 1, "nothing found");
        }
    }

    #[test]
    fn an_answer_costs_what_the_table_says_and_never_less_than_its_search() {
        for (search, context, generated, units) in [
            (0, 0, 0, 1),
            (1, 3_000, 500, 1),
            (2, 3_000, 500, 2),
            (2, 3_001, 500, 3),
            (2, 5_000, 501, 4),
            (2, 13_000, 500, 7),
            (3, 1_000_000, 1_000_000, 10),
        ] {
            assert_eq!(chat(search, context, generated), units, "{search} {context} {generated}");
        }
    }

    #[test]
    fn models_by_themselves_cost_what_the_table_says() {
        for (tokens, units) in [(0, 1), (1, 1), (20_000, 1), (20_001, 2), (250_000, 13)] {
            assert_eq!(embeddings(tokens), units, "{tokens}");
        }
        for (texts, units) in [(1, 1), (20, 1), (21, 2), (1_000, 50)] {
            assert_eq!(rerank(10, &vec![100; texts]), units, "{texts}");
        }
        assert_eq!(rerank(10, &[0]), 1);
        assert_eq!(rerank(10, &[490 * 20]), 1, "twenty parts");
        assert_eq!(rerank(10, &[490 * 20 + 1]), 2);
        assert_eq!(rerank(100, &[490 * 20]), 2, "a longer query leaves less room");
        assert_eq!(rerank(100_000, &[250 * 20]), 1);
    }

    /// A megabyte of text in one request: as much as a few hundred searches read.
    #[test]
    fn long_texts_are_not_cheaper_than_short_ones() {
        let (together, apart) = (rerank(10, &[250_000]), rerank(10, &vec![250; 1_000]));
        assert!(together * 2 >= apart, "{together} and {apart}");
    }

    #[test]
    fn an_ordinary_search_costs_two_and_a_default_month_lasts_for_five_hundred() {
        let mut request = SearchRequest::new("x");
        assert_eq!(request.bounds(true), Bounds { min: 1, max: 2 });
        assert_eq!(request.bounds(false), Bounds { min: 1, max: 1 });
        request.rerank = false;
        assert_eq!(request.bounds(true), Bounds { min: 1, max: 1 });
    }

    #[test]
    fn bounds_follow_what_is_asked_for() {
        let mut request = SearchRequest { top_k: 50, context: 3, ..SearchRequest::new("x") };
        assert_eq!(request.bounds(true), Bounds { min: 1, max: 4 });
        for (cap, most) in [(1, 1), (2, 2), (3, 3), (4, 4), (5, 4)] {
            request.most = search_within(cap);
            assert_eq!(request.bounds(true).max, most, "{cap}");
        }
        assert_eq!(search_within(5), SearchWork::MOST);
        let fits = chat_within(10);
        assert_eq!((fits.context_tokens, fits.generated_tokens), (usize::MAX, usize::MAX));
        assert_eq!(chat_bounds(Bounds { min: 1, max: 3 }, usize::MAX, usize::MAX).max, 10);
    }

    proptest! {
        #[test]
        fn more_work_is_never_cheaper(a in 0usize..300, b in 0usize..400, more in 0usize..300) {
            prop_assert!(search(&work(a, b), 1) <= search(&work(a + more, b), 1));
            prop_assert!(search(&work(a, b), 1) <= search(&work(a, b + more), 1));
            prop_assert!((1..=5).contains(&search(&work(a, b), 1)));
            let (a, b, more) = (a * 97, b * 97, more * 97);
            for units in 0..4 {
                prop_assert!(chat(units, a, b) <= chat(units, a + more, b));
                prop_assert!(chat(units, a, b) <= chat(units, a, b + more));
                prop_assert!(chat(units, a, b) <= chat(units + 1, a, b));
                prop_assert!(chat(units, a, b) >= units);
            }
            prop_assert!((1..=10).contains(&chat(3, a, b)));
        }

        #[test]
        fn what_fits_a_cap_costs_no_more_than_it(cap in 1u64..20, top_k in 1usize..=50, context in 0usize..=3) {
            let request = SearchRequest { top_k, context, ..SearchRequest::new("x") };
            let capped = SearchRequest { most: search_within(cap), ..request.clone() };
            prop_assert!(capped.bounds(true).max <= cap);
            let fits = chat_within(cap);
            let its_search = SearchRequest { most: fits.search, context: 0, ..request };
            let bounds = chat_bounds(
                its_search.bounds(true),
                fits.context_tokens,
                fits.generated_tokens,
            );
            prop_assert!(bounds.max <= cap);
        }
    }
}
