//! How many failed sign-ins the audit log takes. Anybody can cause them, with any text for an address, so only so many are written.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Lines in an hour: enough to see what goes on, and about 2 MB a day while somebody floods from everywhere.
const MOST: u32 = 600;
const WINDOW: Duration = Duration::from_secs(60 * 60);

/// How many were written lately.
pub struct Failures(Mutex<Counted>);

struct Counted {
    since: Instant,
    written: u32,
    left_out: u32,
}

impl Default for Failures {
    fn default() -> Self {
        Failures(Mutex::new(Counted { since: Instant::now(), written: 0, left_out: 0 }))
    }
}

impl Failures {
    /// Whether there is room for a line, and how many were left out in the hours before.
    pub(crate) fn take(&self, now: Instant) -> Option<u32> {
        let mut counted = self.0.lock();
        let mut before = 0;
        if now.duration_since(counted.since) >= WINDOW {
            before = counted.left_out;
            *counted = Counted { since: now, written: 0, left_out: 0 };
        }
        if counted.written >= MOST {
            counted.left_out = counted.left_out.saturating_add(1);
            return None;
        }
        counted.written += 1;
        Some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_an_hour_are_written_and_the_next_hour_says_how_many_were_not() {
        let (failures, now) = (Failures::default(), Instant::now());
        let written = (0..5_000).filter(|_| failures.take(now).is_some()).count();
        assert_eq!(written, 600);
        assert_eq!(failures.take(now + WINDOW), Some(4_400));
        assert_eq!(failures.take(now + WINDOW), Some(0));
    }
}
