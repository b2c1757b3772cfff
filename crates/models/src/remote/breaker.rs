//! Leaves a failing server alone for a while, so that nobody waits for it in vain and it can recover.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{Fault, Reason};
use parking_lot::Mutex;

/// Failures in a row after which the server is left alone.
const MOST_FAILURES: u32 = 5;
/// For how long; then one request may try.
const PAUSE: Duration = Duration::from_secs(15);

/// Whether a server may be asked.
#[derive(Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Default)]
struct State {
    failures: u32,
    closed_until: Option<Instant>,
}

/// A request in progress; dropped before it went well, it counts as a failure.
pub(super) struct Trial {
    breaker: Arc<Breaker>,
    well: bool,
}

impl Breaker {
    /// Refuses at once while the server is left alone.
    pub(super) fn ask(&self, now: Instant) -> Result<(), Fault> {
        let mut state = self.0.lock();
        match state.closed_until {
            Some(until) if now < until => {
                let cause = "the language model has failed several times; try again in a few seconds";
                Err(Fault::new(Reason::UpstreamUnavailable, cause).retry_after(until - now))
            }
            Some(_) => {
                // This one tries; whoever comes meanwhile does not.
                state.closed_until = Some(now + PAUSE);
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(super) fn trial(self: Arc<Self>) -> Trial {
        Trial { breaker: self, well: false }
    }
}

impl Trial {
    pub(super) fn went_well(mut self) {
        self.well = true;
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let mut state = self.breaker.0.lock();
        if self.well {
            *state = State::default();
            return;
        }
        state.failures += 1;
        if state.failures >= MOST_FAILURES {
            state.closed_until = Some(Instant::now() + PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_server_is_left_alone_until_one_request_goes_well() {
        let breaker = Arc::new(Breaker::default());
        for _ in 0..MOST_FAILURES {
            breaker.ask(Instant::now()).unwrap();
            drop(breaker.clone().trial());
        }
        let refused = breaker.ask(Instant::now()).unwrap_err();
        assert_eq!(refused.reason, Reason::UpstreamUnavailable);
        assert!(refused.retry_after.unwrap() <= PAUSE);
        let later = Instant::now() + PAUSE;
        breaker.ask(later).unwrap();
        assert!(breaker.ask(later).is_err(), "only one tries");
        breaker.clone().trial().went_well();
        assert!(breaker.ask(later).is_ok() && breaker.ask(later).is_ok());
    }
}
