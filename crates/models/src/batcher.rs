//! One thread per model that takes waiting texts in batches: those somebody waits for first, then passages of files that are
//! being read, none for callers who left.
//!
//! Accounts share the model: the one that has used least of it lately goes first, so that a few searches of one account do not
//! wait behind the many of another.
//!
//! Callers are answered through a oneshot channel; a caller that dropped it no longer needs its texts. The queue
//! is bounded in tokens, because tokens are what costs time.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::ids::UserId;
use engine::seams::embedder::Role;
use engine::turnstile::served;
use engine::{Fault, Reason};
use tokio::sync::oneshot;

use crate::runtime::Sequence;

/// How long one batch should take: a query that just missed it waits at most this long.
const BATCH_TIME: Duration = Duration::from_millis(25);

/// Tokens per second before anything was measured: a slow processor without vector units.
const FIRST_GUESS: f64 = 2_000.0;

/// After this time half of what an account has used is forgotten.
const HALF_FORGOTTEN: Duration = Duration::from_secs(10);

/// Tokens that an account which asks seldom may run before it shares with one that always asks: about two searches.
const HEAD_START: f64 = 10_000.0;

/// How long passages of files wait while any model has something to do that somebody waits for. They are not left out for
/// longer: files are read on however many searches there are.
const PATIENCE: Duration = Duration::from_millis(250);
/// How often it is looked whether that is over.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Sequences that somebody waits for, at all models of the process: they share its cores.
static HURRIED: AtomicUsize = AtomicUsize::new(0);

/// Counts among them for as long as it lives.
struct Hurry;

impl Hurry {
    fn new() -> Self {
        HURRIED.fetch_add(1, Ordering::Relaxed);
        Hurry
    }
}

impl Drop for Hurry {
    fn drop(&mut self) {
        HURRIED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The weight of the newest measurement of speed.
const NEWEST: f64 = 0.3;

/// What a batcher drives. Implementations: an embedder's and a reranker's network, and a counting one in tests.
pub(crate) trait Model: Send + Sync + 'static {
    type Output: Send + 'static;

    /// How many sequences run at the same time.
    fn threads(&self) -> usize;

    /// One answer per sequence, in order.
    fn run(&self, batch: &[&Work]) -> Vec<Self::Output>;
}

/// One sequence to run.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) sequence: Sequence,
    /// From which token on each one's vector is wanted too.
    pub(crate) tokens_from: Option<usize>,
}

/// Feeds one model; dropping it ends the thread.
pub(crate) struct Batcher<M: Model> {
    shared: Arc<Shared<M::Output>>,
    thread: Option<JoinHandle<()>>,
    queue_tokens: usize,
}

struct Shared<O> {
    queues: Mutex<Queues<O>>,
    arrived: Condvar,
}

struct Queues<O> {
    /// What somebody waits for.
    urgent: Queue<O>,
    /// What is being indexed.
    patient: Queue<O>,
    /// When some of it was last taken.
    last_patient: Instant,
    /// Tokens per second, as last measured.
    speed: f64,
    closed: bool,
}

/// Waiting sequences of all accounts.
struct Queue<O> {
    shares: Vec<Share<O>>,
    /// Tokens that wait.
    tokens: usize,
    /// When what was used was last brought up to date.
    aged: Instant,
}

/// One account's part of a queue.
struct Share<O> {
    /// `None`: the server itself.
    account: Option<UserId>,
    /// In order of arrival.
    waiting: VecDeque<Waiting<O>>,
    /// Tokens that were run for it lately.
    used: f64,
}

struct Waiting<O> {
    work: Work,
    /// Its place in the request's answer.
    index: usize,
    /// Set where somebody waits for it.
    _hurry: Option<Hurry>,
    request: Arc<Mutex<Request<O>>>,
}

/// One call's answers as they come in.
struct Request<O> {
    answers: Vec<Option<O>>,
    missing: usize,
    reply: Option<oneshot::Sender<Vec<O>>>,
}

impl<O> Request<O> {
    /// Whether nobody waits for the answer any more.
    fn abandoned(&self) -> bool {
        self.reply.as_ref().is_none_or(oneshot::Sender::is_closed)
    }
}

impl<M: Model> Batcher<M> {
    /// Starts the thread `name`. More than `queue_tokens` waiting of one kind make further calls fail.
    pub(crate) fn start(name: &str, model: M, queue_tokens: usize) -> std::io::Result<Self> {
        let queue = || Queue { shares: Vec::new(), tokens: 0, aged: Instant::now() };
        let (urgent, patient, last_patient) = (queue(), queue(), Instant::now());
        let queues = Queues { urgent, patient, last_patient, speed: FIRST_GUESS, closed: false };
        let shared = Arc::new(Shared { queues: Mutex::new(queues), arrived: Condvar::new() });
        let for_thread = shared.clone();
        let thread =
            std::thread::Builder::new().name(name.to_owned()).spawn(move || serve(&for_thread, &model))?;
        Ok(Batcher { shared, thread: Some(thread), queue_tokens })
    }

    /// Runs all of `work`, answers in order. Fails at once when too much is waiting already.
    pub(crate) async fn run(&self, work: Vec<Work>, role: Role) -> Result<Vec<M::Output>, Fault> {
        if work.is_empty() {
            return Ok(Vec::new());
        }
        let answer = self.enqueue(work, role, served())?;
        answer.await.map_err(|_| Fault::internal("the model's thread failed on this batch"))
    }

    fn enqueue(
        &self,
        work: Vec<Work>,
        role: Role,
        account: Option<UserId>,
    ) -> Result<oneshot::Receiver<Vec<M::Output>>, Fault> {
        let tokens: usize = work.iter().map(|work| work.sequence.ids.len()).sum();
        let mut queues = lock(&self.shared.queues);
        let speed = queues.speed;
        // An answer's sentences are passages to the model, but somebody waits for them.
        let patient = role == Role::Passage && account.is_none();
        let queue = if patient { &mut queues.patient } else { &mut queues.urgent };
        // A request larger than the whole queue still gets its turn when the queue is empty.
        if queue.tokens > 0 && queue.tokens + tokens > self.queue_tokens {
            let wait = Duration::from_secs_f64((queue.tokens as f64 / speed).clamp(1.0, 60.0));
            return Err(Fault::new(Reason::Overloaded, "the model is busy")
                .hint("try again shortly")
                .retry_after(wait));
        }
        let (reply, answer) = oneshot::channel();
        let answers = work.iter().map(|_| None).collect();
        let request = Arc::new(Mutex::new(Request { answers, missing: work.len(), reply: Some(reply) }));
        let hurry = || (!patient).then(Hurry::new);
        let waiting = |(index, work)| Waiting { work, index, _hurry: hurry(), request: request.clone() };
        queue.add(account, work.into_iter().enumerate().map(waiting));
        queue.tokens += tokens;
        drop(queues);
        self.shared.arrived.notify_one();
        Ok(answer)
    }
}

impl<M: Model> Drop for Batcher<M> {
    fn drop(&mut self) {
        lock(&self.shared.queues).closed = true;
        self.shared.arrived.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic there was already answered as an error.
            let _ = thread.join();
        }
    }
}

/// Locks even after a panic: every change under these locks is complete at any point it could panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The owner thread: batch after batch until closed.
fn serve<M: Model>(shared: &Shared<M::Output>, model: &M) {
    while let Some(batch) = next_batch(shared, model.threads()) {
        let start = Instant::now();
        let work: Vec<&Work> = batch.iter().map(|waiting| &waiting.work).collect();
        let tokens: usize = work.iter().map(|work| work.sequence.ids.len()).sum();
        // A panicking kernel must not take the server's model with it: its callers hear of it, the others go on.
        let Ok(outputs) = catch_unwind(AssertUnwindSafe(|| model.run(&work))) else {
            tracing::error!(batch.tokens = tokens, "A model failed to process a batch");
            batch.iter().for_each(|waiting| lock(&waiting.request).reply = None);
            continue;
        };
        let speed = tokens as f64 / start.elapsed().as_secs_f64().max(1e-6);
        let mut queues = lock(&shared.queues);
        queues.speed += NEWEST * (speed - queues.speed);
        drop(queues);
        batch.into_iter().zip(outputs).for_each(|(waiting, output)| answer(&waiting, output));
    }
}

/// Puts one answer in its place and replies once all are there.
fn answer<O>(waiting: &Waiting<O>, output: O) {
    let mut request = lock(&waiting.request);
    if request.answers[waiting.index].replace(output).is_none() {
        request.missing -= 1;
    }
    if request.missing == 0
        && let Some(reply) = request.reply.take()
    {
        let answers = std::mem::take(&mut request.answers);
        // A caller who left meanwhile needs no answer.
        let _ = reply.send(answers.into_iter().flatten().collect());
    }
}

/// Waits for work for this many threads; `None` when closed.
fn next_batch<O>(shared: &Shared<O>, threads: usize) -> Option<Vec<Waiting<O>>> {
    let mut queues = lock(&shared.queues);
    loop {
        if queues.closed {
            return None;
        }
        let budget = (queues.speed * BATCH_TIME.as_secs_f64()) as usize;
        let mut batch = queues.urgent.take(budget, threads);
        if batch.is_empty() && queues.patient.tokens > 0 {
            if HURRIED.load(Ordering::Relaxed) > 0 && queues.last_patient.elapsed() < PATIENCE {
                let waited = shared.arrived.wait_timeout(queues, LOOK_EVERY);
                queues = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            batch = queues.patient.take(budget, threads);
            queues.last_patient = Instant::now();
        }
        if !batch.is_empty() {
            // Longest first: threads then finish at about the same time.
            batch.sort_by_key(|waiting| usize::MAX - waiting.work.sequence.ids.len());
            return Some(batch);
        }
        queues = shared.arrived.wait(queues).unwrap_or_else(PoisonError::into_inner);
    }
}

impl<O> Queue<O> {
    /// Who comes while others wait is never behind them for what it used when nobody else did, and never far ahead of them
    /// for having been away.
    fn add(&mut self, account: Option<UserId>, work: impl Iterator<Item = Waiting<O>>) {
        self.forget();
        let at = self.shares.iter().position(|share| share.account == account).unwrap_or_else(|| {
            self.shares.push(Share { account, waiting: VecDeque::new(), used: 0.0 });
            self.shares.len() - 1
        });
        let others = self.shares.iter().filter(|share| !share.waiting.is_empty()).map(|share| share.used);
        let least = others.fold(f64::INFINITY, f64::min);
        let share = &mut self.shares[at];
        if share.waiting.is_empty() && least.is_finite() {
            share.used = share.used.clamp((least - HEAD_START).max(0.0), least);
        }
        share.waiting.extend(work);
    }

    /// Sequences of whoever has used least, within the budget, and then as many more as give each thread the same number;
    /// abandoned ones are dropped. Without the second rule a slow processor would get batches of one sequence, which keep one
    /// thread busy, which measures as slow: it would never use its other cores.
    fn take(&mut self, budget: usize, threads: usize) -> Vec<Waiting<O>> {
        self.forget();
        let mut batch = Vec::new();
        let mut taken = 0;
        let next = |shares: &mut Vec<Share<O>>| {
            let waiting = (0..shares.len()).filter(|&at| !shares[at].waiting.is_empty());
            waiting.min_by(|&a, &b| shares[a].used.total_cmp(&shares[b].used))
        };
        while let Some(at) = next(&mut self.shares) {
            let share = &mut self.shares[at];
            let first = share.waiting.front().expect("only those that wait are looked at");
            let tokens = first.work.sequence.ids.len();
            let abandoned = lock(&first.request).abandoned();
            let even = !batch.is_empty() && batch.len().is_multiple_of(threads);
            if !abandoned && even && taken + tokens > budget {
                break;
            }
            self.tokens -= tokens;
            let first = share.waiting.pop_front().expect("it was just looked at");
            if !abandoned {
                share.used += tokens as f64;
                taken += tokens;
                batch.push(first);
            }
        }
        batch
    }

    /// What was used fades, and with it who used it.
    fn forget(&mut self) {
        let halves = self.aged.elapsed().as_secs_f64() / HALF_FORGOTTEN.as_secs_f64();
        self.aged = Instant::now();
        self.shares.iter_mut().for_each(|share| share.used *= 0.5f64.powf(halves));
        self.shares.retain(|share| share.used >= 1.0 || !share.waiting.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Answers each sequence with its first id; lets a test hold it up and see what it ran.
    struct Echo {
        threads: usize,
        ran: mpsc::Sender<Vec<u32>>,
        go: Mutex<mpsc::Receiver<()>>,
    }

    impl Model for Echo {
        type Output = u32;

        fn threads(&self) -> usize {
            self.threads
        }

        fn run(&self, batch: &[&Work]) -> Vec<u32> {
            let ids: Vec<u32> = batch.iter().map(|work| work.sequence.ids[0]).collect();
            self.ran.send(ids.clone()).unwrap();
            self.go.lock().unwrap().recv().unwrap();
            assert!(!ids.contains(&666), "asked to fail");
            ids
        }
    }

    struct Stage {
        batcher: Arc<Batcher<Echo>>,
        ran: mpsc::Receiver<Vec<u32>>,
        go: mpsc::Sender<()>,
    }

    fn stage(queue_tokens: usize) -> Stage {
        stage_with(1, queue_tokens)
    }

    fn stage_with(threads: usize, queue_tokens: usize) -> Stage {
        let (ran, has_run) = mpsc::channel();
        let (go, may_go) = mpsc::channel();
        let model = Echo { threads, ran, go: Mutex::new(may_go) };
        let batcher = Arc::new(Batcher::start("test", model, queue_tokens).unwrap());
        Stage { batcher, ran: has_run, go }
    }

    fn work(ids: &[u32], tokens: usize) -> Vec<Work> {
        let one = |id: &u32| Work {
            sequence: Sequence { ids: vec![*id; tokens], second_from: tokens },
            tokens_from: None,
        };
        ids.iter().map(one).collect()
    }

    #[tokio::test]
    async fn answers_come_in_the_order_of_the_texts() {
        let Stage { batcher, ran, go } = stage(1000);
        (0..10).for_each(|_| go.send(()).unwrap());
        let mut work = work(&[1, 2, 3], 5);
        work[1].sequence.ids.push(0);
        assert_eq!(batcher.run(work, Role::Passage).await.unwrap(), [1, 2, 3]);
        // Run longest first, all the same.
        assert_eq!(ran.recv().unwrap(), [2, 1, 3]);
        assert!(batcher.run(Vec::new(), Role::Query).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn queries_go_before_passages_and_batches_keep_to_the_budget() {
        let Stage { batcher, ran, go } = stage(10_000);
        let first = batcher.enqueue(work(&[1], 40), Role::Passage, None).unwrap();
        assert_eq!(ran.recv().unwrap(), [1]);
        // While the first batch runs: four passages of which one fills a batch, then a query.
        let passages = batcher.enqueue(work(&[2, 3, 4, 5], 1_000_000), Role::Passage, None).unwrap();
        let query = batcher.enqueue(work(&[9], 5), Role::Query, None).unwrap();
        (0..6).for_each(|_| go.send(()).unwrap());
        assert_eq!(query.await.unwrap(), [9]);
        assert_eq!((first.await.unwrap(), passages.await.unwrap()), (vec![1], vec![2, 3, 4, 5]));
        assert_eq!(ran.recv().unwrap(), [9]);
        assert_eq!(ran.recv().unwrap(), [2]);
    }

    #[tokio::test]
    async fn a_processor_that_was_measured_as_slow_still_gets_work_for_every_thread() {
        let Stage { batcher, ran, go } = stage_with(4, 10_000);
        let first = batcher.enqueue(work(&[1], 10), Role::Passage, None).unwrap();
        assert_eq!(ran.recv().unwrap(), [1]);
        // Each of them is more than the budget of a batch; the first batch was far too small to make the model look faster.
        let passages = batcher.enqueue(work(&[2, 3, 4, 5, 6], 1_000_000), Role::Passage, None).unwrap();
        (0..3).for_each(|_| go.send(()).unwrap());
        assert_eq!((first.await.unwrap(), passages.await.unwrap()), (vec![1], vec![2, 3, 4, 5, 6]));
        assert_eq!(ran.recv().unwrap(), [2, 3, 4, 5]);
    }

    #[tokio::test]
    async fn a_full_queue_says_so_at_once_and_when_to_come_back() {
        let Stage { batcher, ran, go } = stage(100);
        let first = batcher.enqueue(work(&[1], 500), Role::Passage, None).unwrap();
        ran.recv().unwrap();
        let second = batcher.enqueue(work(&[2], 60), Role::Passage, None).unwrap();
        let fault = batcher.enqueue(work(&[3], 60), Role::Passage, None).unwrap_err();
        assert_eq!(fault.reason, Reason::Overloaded);
        assert!(fault.retry_after.unwrap() >= Duration::from_secs(1));
        // Queries have a queue of their own.
        let query = batcher.enqueue(work(&[4], 60), Role::Query, None).unwrap();
        (0..3).for_each(|_| go.send(()).unwrap());
        assert_eq!(
            (first.await.unwrap(), second.await.unwrap(), query.await.unwrap()),
            (vec![1], vec![2], vec![4])
        );
    }

    #[tokio::test]
    async fn texts_of_a_caller_who_left_are_not_run() {
        let Stage { batcher, ran, go } = stage(1000);
        let first = batcher.enqueue(work(&[1], 5), Role::Passage, None).unwrap();
        ran.recv().unwrap();
        drop(batcher.enqueue(work(&[2], 5), Role::Passage, None).unwrap());
        let third = batcher.enqueue(work(&[3], 5), Role::Passage, None).unwrap();
        (0..2).for_each(|_| go.send(()).unwrap());
        assert_eq!((first.await.unwrap(), third.await.unwrap()), (vec![1], vec![3]));
        assert_eq!(ran.recv().unwrap(), [3]);
    }

    #[tokio::test]
    async fn who_used_little_goes_before_who_used_much() {
        let Stage { batcher, ran, go } = stage(10_000_000);
        let (busy, quiet) = (Some(UserId::generate()), Some(UserId::generate()));
        let mut answers = vec![batcher.enqueue(work(&[1], 1000), Role::Query, busy).unwrap()];
        assert_eq!(ran.recv().unwrap(), [1]);
        answers.push(batcher.enqueue(work(&[2, 3, 4], 1_000_000), Role::Query, busy).unwrap());
        // An answer's sentences: somebody waits for them, too.
        answers.push(batcher.enqueue(work(&[8], 1_000_000), Role::Passage, quiet).unwrap());
        answers.push(batcher.enqueue(work(&[9], 1_000_000), Role::Query, quiet).unwrap());
        (0..6).for_each(|_| go.send(()).unwrap());
        for answer in answers {
            answer.await.unwrap();
        }
        // After one batch the quiet account has used as much as the other, which then takes its turn.
        assert_eq!(ran.try_iter().flatten().collect::<Vec<_>>(), [8, 2, 9, 3, 4]);
    }

    #[tokio::test]
    async fn what_was_used_while_nobody_else_asked_is_forgiven() {
        let Stage { batcher, ran, go } = stage(10_000_000);
        let (early, late) = (Some(UserId::generate()), Some(UserId::generate()));
        go.send(()).unwrap();
        batcher.enqueue(work(&[1], 1_000_000), Role::Query, early).unwrap().await.unwrap();
        let mut answers = vec![batcher.enqueue(work(&[2], 1000), Role::Query, late).unwrap()];
        assert_eq!([ran.recv().unwrap(), ran.recv().unwrap()], [[1], [2]]);
        answers.push(batcher.enqueue(work(&[3, 4], 1_000_000), Role::Query, late).unwrap());
        answers.push(batcher.enqueue(work(&[5], 1_000_000), Role::Query, early).unwrap());
        (0..4).for_each(|_| go.send(()).unwrap());
        for answer in answers {
            answer.await.unwrap();
        }
        assert_eq!(ran.try_iter().flatten().collect::<Vec<_>>(), [5, 3, 4], "not 3, 4, 5");
    }

    #[tokio::test]
    async fn a_failing_batch_is_an_error_and_the_next_one_works() {
        let Stage { batcher, ran: _ran, go } = stage(1000);
        (0..2).for_each(|_| go.send(()).unwrap());
        let fault = batcher.run(work(&[666], 5), Role::Query).await.unwrap_err();
        assert_eq!(fault.reason, Reason::Internal);
        assert_eq!(batcher.run(work(&[7], 5), Role::Query).await.unwrap(), [7]);
    }
}
