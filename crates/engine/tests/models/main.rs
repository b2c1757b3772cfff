//! Small models of what runs side by side, checked in all their interleavings.
//!
//! Each follows the code step by step, one step for what is one transaction or one change of a store there; what a step
//! mirrors stands beside it. A model is also run with each of the code's precautions taken out, and must fail then:
//! otherwise it would check nothing.

mod adoption;
mod deletion;
mod ledger;
mod limiter;
