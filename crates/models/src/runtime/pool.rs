//! Runs one batch's groups on several threads, each with room of its own that is kept from batch to batch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Splits work over threads. Scoped threads are started for each batch: a batch takes tens of milliseconds and
/// a start some tens of microseconds, so that keeping threads alive would buy nothing but complexity.
pub(crate) struct Pool<S> {
    /// One scratch per thread of the batches that have run at the same time, kept from batch to batch.
    scratches: Mutex<Vec<S>>,
    threads: usize,
}

impl<S: Default + Send> Pool<S> {
    pub(crate) fn new(threads: usize) -> Self {
        Pool { scratches: Mutex::default(), threads: threads.max(1) }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Results of `work` for every item, in order. Threads take the next item as soon as they are free, so put the
    /// heaviest first.
    pub(crate) fn run<I: Sync, R: Send>(&self, items: &[I], work: impl Fn(&I, &mut S) -> R + Sync) -> Vec<R> {
        let next = AtomicUsize::new(0);
        let take = || {
            let mut scratch = self.borrow();
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else { break };
                done.push((index, work(item, &mut scratch)));
            }
            self.give_back(scratch);
            done
        };
        let helpers = self.threads.min(items.len()).saturating_sub(1);
        let mut done = std::thread::scope(|scope| {
            let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(take)).collect();
            let mut done = take();
            for helper in helpers {
                done.extend(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            done
        });
        done.sort_unstable_by_key(|(index, _)| *index);
        done.into_iter().map(|(_, result)| result).collect()
    }

    /// A batch never waits for another one's.
    fn borrow(&self) -> S {
        self.scratches.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give_back(&self, scratch: S) {
        self.scratches.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items() {
        let pool = Pool::<usize>::new(3);
        let items: Vec<usize> = (0..100).collect();
        let results = pool.run(&items, |item, scratch| {
            *scratch += 1;
            item * 2
        });
        assert_eq!(results, (0..100).map(|item| item * 2).collect::<Vec<_>>());
        assert_eq!(pool.scratches.lock().unwrap().iter().sum::<usize>(), 100);
        assert!(pool.run(&[], |_: &usize, _| 0).is_empty());
    }
}
