//! How good searches and answers are: questions whose answers are known, and the measures. `quire eval` and the dashboard
//! differ only in how they ask and what they show.

pub(crate) mod answers;
pub(crate) mod questions;
pub(crate) mod searches;
