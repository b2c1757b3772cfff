//! Runs work that would block an async thread on another one, and stops it when its request is dropped.
//!
//! Work on files goes [`aside`], to threads that step back behind those that answer requests. What only computes steps back
//! further ([`compute`], [`give_way`]).
//!
//! A thread cannot be stopped from outside, so long work calls [`Stop::check`] in its loops. When the request is
//! dropped, because its client disconnected or the server stops, the next check fails.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{Fault, Reason};

/// Longer than any legitimate work takes; whatever runs longer is stopped.
const LONGEST: Duration = Duration::from_secs(30);

/// How far work steps back that may hold a lock: where both want a core, an answer gets three quarters of it, and what waits for the
/// lock does not wait for long.
const STEP_BACK: i32 = 5;

/// How far it steps back where it holds nothing that others wait for: an answer gets nine tenths of the core.
const GIVE_WAY: i32 = 10;

/// Tells work whether anybody still waits for it.
#[derive(Debug, Clone)]
pub struct Stop {
    left: Arc<AtomicBool>,
    until: Instant,
}

impl Stop {
    fn new(longest: Duration) -> Self {
        Stop { left: Arc::default(), until: Instant::now() + longest }
    }

    /// Never stops the work: for commands and tests, which may take as long as they need.
    pub fn never() -> Self {
        // A century.
        Stop::new(Duration::from_secs(100 * 365 * 24 * 60 * 60))
    }

    /// Fails where nobody waits for the work any more, or it has taken too long.
    pub fn check(&self) -> Result<(), Fault> {
        if self.left.load(Ordering::Relaxed) {
            return Err(Fault::new(
                Reason::Timeout,
                "the client closed the connection before the answer was ready; send the request again if you still need it",
            ));
        }
        if Instant::now() > self.until {
            let cause = format!("this took longer than {} seconds and was stopped", LONGEST.as_secs());
            return Err(Fault::new(Reason::Timeout, cause).hint("ask for less in one request"));
        }
        Ok(())
    }

    /// Tells the work that nobody waits for it any more.
    pub fn leave(&self) {
        self.left.store(true, Ordering::Relaxed);
    }
}

/// Tells the work when the future that waits for it is dropped.
struct Waiting(Stop);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Does `work` on a thread that may block. Dropping the future tells the work to stop.
pub async fn run<T: Send + 'static>(work: impl FnOnce(&Stop) -> T + Send + 'static) -> Result<T, Fault> {
    let stop = Stop::new(LONGEST);
    let waiting = Waiting(stop.clone());
    let done = tokio::task::spawn_blocking(move || work(&stop)).await.map_err(Fault::internal);
    drop(waiting);
    done
}

/// Does `work` on a thread of its own that steps back: for files, which nobody waits for as for an answer.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    on_own_thread(STEP_BACK, work).await
}

/// Does `work` on a thread of its own that gives way to all others. It must hold no lock that an answer could wait for.
pub async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    on_own_thread(GIVE_WAY, work).await
}

/// Lets the others go first from here on: for a thread that only computes for files.
pub fn give_way() {
    step_back(GIVE_WAY);
}

async fn on_own_thread<T: Send + 'static>(
    back: i32,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    let (told, done) = tokio::sync::oneshot::channel();
    // A thread cannot become more urgent again, so it ends with its work.
    let thread = std::thread::Builder::new().name("aside".into()).spawn(move || {
        step_back(back);
        let _ = told.send(work());
    });
    thread.map_err(Fault::internal)?;
    done.await.map_err(Fault::internal)
}

/// Linux counts it for the thread, others for the process. Where it fails, the work is as urgent as any.
fn step_back(_by: i32) {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(_by);
}

/// How far this thread has stepped back.
#[doc(hidden)]
#[cfg(target_os = "linux")]
pub fn niceness() -> i32 {
    rustix::process::nice(0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn work_ends_when_whoever_asked_for_it_leaves() {
        let (began, beginning) = mpsc::channel();
        let (ended, ending) = mpsc::channel();
        let working = tokio::spawn(run(move |stop| {
            began.send(()).unwrap();
            while stop.check().is_ok() {
                std::hint::spin_loop();
            }
            ended.send(()).unwrap();
        }));
        let wait = move || beginning.recv_timeout(Duration::from_secs(20));
        tokio::task::spawn_blocking(wait).await.unwrap().expect("the work began");
        working.abort();
        let wait = move || ending.recv_timeout(Duration::from_secs(20));
        tokio::task::spawn_blocking(wait).await.unwrap().expect("the work went on although nobody waits");
    }

    #[tokio::test]
    async fn work_that_is_waited_for_is_not_stopped() {
        assert!(run(|stop| stop.check().is_ok()).await.unwrap());
        let late = Stop::new(Duration::ZERO);
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(late.check().unwrap_err().reason, Reason::Timeout);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn work_aside_gives_way_to_the_rest_of_the_process() {
        let before = niceness();
        assert_eq!(aside(niceness).await.unwrap(), (before + STEP_BACK).min(19));
        assert_eq!(compute(niceness).await.unwrap(), (before + GIVE_WAY).min(19));
        assert_eq!(niceness(), before);
        assert!(aside(|| panic!("on purpose")).await.is_err());
    }
}
