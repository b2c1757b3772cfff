//! Turns of the models that each want every core.

use std::sync::{Condvar, Mutex, PoisonError};

use super::lock;

/// Turns in the order in which they were asked for: two models that both have work run batch about.
pub(super) struct Turns {
    /// The next number to be drawn, and the one whose turn it is.
    numbers: Mutex<(u64, u64)>,
    over: Condvar,
}

/// Its end is the end of the turn.
pub(super) struct Turn<'a>(&'a Turns);

impl Turns {
    pub(super) const fn new() -> Self {
        Turns { numbers: Mutex::new((0, 0)), over: Condvar::new() }
    }

    pub(super) fn take(&self) -> Turn<'_> {
        let mut numbers = lock(&self.numbers);
        let mine = numbers.0;
        numbers.0 += 1;
        while numbers.1 != mine {
            numbers = self.over.wait(numbers).unwrap_or_else(PoisonError::into_inner);
        }
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.0.numbers).1 += 1;
        self.0.over.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_models_that_both_have_work_run_batch_about() {
        let (turns, ran) = (Turns::new(), Mutex::new(Vec::new()));
        let model = |name: char| {
            for _ in 0..20 {
                let turn = turns.take();
                lock(&ran).push(name);
                // Until the other one waits, or has had all of its turns.
                loop {
                    let (drawn, serving) = *lock(&turns.numbers);
                    let others = lock(&ran).iter().filter(|other| **other != name).count();
                    if drawn > serving + 1 || others == 20 {
                        break;
                    }
                    std::thread::yield_now();
                }
                drop(turn);
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| model('a'));
            scope.spawn(|| model('b'));
        });
        let ran = ran.into_inner().unwrap();
        assert_eq!(ran.len(), 40);
        assert!(ran.windows(2).all(|pair| pair[0] != pair[1]), "{ran:?}");
    }
}
