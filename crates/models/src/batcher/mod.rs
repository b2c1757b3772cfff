//! Threads that run a model on waiting texts, a few at a time: some on those that somebody waits for, as many on passages of files
//! that are being read. None is run for callers who left.
//!
//! The latter give way to the former: nobody who asks waits for a file that is being read, nor for the end of its group. Accounts
//! share the former by what they have used of them lately ([`Shares`]), a few milliseconds at a time, so that the searches of one
//! account do not wait behind the many of another.
//!
//! Each thread takes its next group as soon as it is free and waits for no other: where something else keeps one core busy, the other
//! threads do its part.
//!
//! Callers are answered through a oneshot channel; a caller that dropped it no longer needs its texts. What one account may have
//! waiting is bounded in tokens, because tokens are what costs time.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::ids::UserId;
use engine::seams::embedder::Role;
use engine::shares::{Rules, Shares};
use engine::turnstile::served;
use engine::{Fault, Reason, blocking};
use tokio::sync::oneshot;

use crate::runtime::Sequence;

/// How long one group should take at most: a query for which no thread is free waits about that long.
const GROUP_TIME: Duration = Duration::from_millis(25);

/// Tokens that one thread runs together. Two passages: their activations and a layer's panels share a second-level cache
/// of 2 MB; four take a tenth longer each.
const GROUP_TOKENS: usize = 448;

/// Tokens per second of one thread before anything was measured: a slow processor without vector units.
const FIRST_GUESS: f64 = 2_000.0;

/// How accounts share a model, in tokens. The head start is about one question to embed: with that of a whole search, somebody who asks
/// seldom would hold up those who ask often.
const RULES: Rules =
    Rules { half_life: Duration::from_secs(10), head_start: 500.0, patience: Duration::from_secs(1) };

/// How long passages of files wait while any model has something to do that somebody waits for. They are not left out for
/// longer: files are read on however many searches there are.
const PATIENCE: Duration = Duration::from_secs(1);
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
    /// What a thread keeps from group to group, such as room for activations.
    type Scratch: Default;

    /// One answer per sequence, in order.
    fn run(&self, group: &[&Work], scratch: &mut Self::Scratch) -> Vec<Self::Output>;
}

/// One sequence to run.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) sequence: Sequence,
    /// From which token on each one's vector is wanted too.
    pub(crate) tokens_from: Option<usize>,
}

impl Work {
    fn tokens(&self) -> usize {
        self.sequence.ids.len()
    }
}

/// Feeds one model; dropping it ends its threads.
pub(crate) struct Batcher<M: Model> {
    /// What somebody waits for.
    urgent: Lane<M::Output>,
    /// What is being indexed.
    patient: Lane<M::Output>,
    queue_tokens: usize,
}

/// Threads, and what waits for them. Lanes share no lock: a patient thread might be kept from the processor while it holds one.
struct Lane<O> {
    shared: Arc<Shared<O>>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared<O> {
    queue: Mutex<Queue<O>>,
    arrived: Condvar,
    threads: usize,
}

struct Queue<O> {
    /// By account; `None` is the server itself. Costs are tokens.
    waiting: Shares<Option<UserId>, Waiting<O>>,
    /// Tokens per second of one thread, as last measured.
    speed: f64,
    closed: bool,
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
    /// Starts `threads` threads called `name` and as many for files. More than `queue_tokens` waiting in one of the two lanes for one
    /// account make further calls of it fail.
    pub(crate) fn start(name: &str, model: M, threads: usize, queue_tokens: usize) -> std::io::Result<Self> {
        let model = Arc::new(model);
        let for_files = model.clone();
        let urgent = Lane::start(name, threads, move |queue| serve(queue, &*model, || {}))?;
        let patient = Lane::start(&format!("{name}-files"), threads, move |queue| {
            blocking::give_way();
            let mut last = Instant::now();
            serve(queue, &*for_files, || {
                while HURRIED.load(Ordering::Relaxed) > 0 && last.elapsed() < PATIENCE {
                    std::thread::sleep(LOOK_EVERY);
                }
                last = Instant::now();
            });
        })?;
        Ok(Batcher { urgent, patient, queue_tokens })
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
        let tokens: usize = work.iter().map(Work::tokens).sum();
        // An answer's sentences are passages to the model, but somebody waits for them.
        let patient = role == Role::Passage && account.is_none();
        let lane = if patient { &self.patient } else { &self.urgent };
        let mut queue = lock(&lane.shared.queue);
        // By account: what one has waiting costs the others a share of the time and no answer. A request larger than the whole
        // queue still gets its turn when the queue is empty.
        let waiting = queue.waiting.cost_of(account);
        if waiting > 0 && waiting + tokens > self.queue_tokens {
            let speed = queue.speed * lane.shared.threads as f64;
            let wait = Duration::from_secs_f64((waiting as f64 / speed).clamp(1.0, 60.0));
            return Err(Fault::new(Reason::Overloaded, "the model is busy")
                .hint("try again shortly")
                .retry_after(wait));
        }
        let (reply, answer) = oneshot::channel();
        let answers = work.iter().map(|_| None).collect();
        let request = Arc::new(Mutex::new(Request { answers, missing: work.len(), reply: Some(reply) }));
        let hurry = || (!patient).then(Hurry::new);
        let mut work: Vec<_> = work.into_iter().enumerate().collect();
        // Longest first: threads then finish at about the same time.
        work.sort_by_key(|(_, work)| Reverse(work.tokens()));
        let useful = work.len().min(lane.shared.threads);
        let work = work.into_iter().map(|(index, work)| {
            let request = request.clone();
            (work.tokens(), Waiting { work, index, _hurry: hurry(), request })
        });
        queue.waiting.add(account, work, Instant::now());
        drop(queue);
        (0..useful).for_each(|_| lane.shared.arrived.notify_one());
        Ok(answer)
    }
}

impl<O: Send + 'static> Lane<O> {
    fn start(
        name: &str,
        threads: usize,
        serve: impl Fn(&Shared<O>) + Clone + Send + 'static,
    ) -> std::io::Result<Self> {
        let threads = threads.max(1);
        let waiting = Shares::new(RULES, Instant::now());
        let queue = Mutex::new(Queue { waiting, speed: FIRST_GUESS, closed: false });
        let shared = Arc::new(Shared { queue, arrived: Condvar::new(), threads });
        let mut lane = Lane { shared, threads: Vec::with_capacity(threads) };
        for _ in 0..threads {
            let (shared, serve) = (lane.shared.clone(), serve.clone());
            let thread = std::thread::Builder::new().name(name.to_owned());
            lane.threads.push(thread.spawn(move || serve(&shared))?);
        }
        Ok(lane)
    }
}

impl<O> Drop for Lane<O> {
    fn drop(&mut self) {
        lock(&self.shared.queue).closed = true;
        self.shared.arrived.notify_all();
        for thread in self.threads.drain(..) {
            // A panic there was already answered as an error.
            let _ = thread.join();
        }
    }
}

/// Locks even after a panic: every change under these locks is complete at any point it could panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread's work: group after group until closed. `hold_back` is called before each.
fn serve<M: Model>(shared: &Shared<M::Output>, model: &M, mut hold_back: impl FnMut()) {
    let mut scratch = M::Scratch::default();
    while wait(shared) {
        hold_back();
        let group = next_group(shared);
        if group.is_empty() {
            continue;
        }
        let start = Instant::now();
        let work: Vec<&Work> = group.iter().map(|waiting| &waiting.work).collect();
        let tokens: usize = work.iter().map(|work| work.tokens()).sum();
        // A panicking kernel must not take the server's model with it: its callers hear of it, the others go on.
        let Ok(outputs) = catch_unwind(AssertUnwindSafe(|| model.run(&work, &mut scratch))) else {
            tracing::error!(group.tokens = tokens, "A model failed on a group of texts");
            group.iter().for_each(|waiting| lock(&waiting.request).reply = None);
            scratch = M::Scratch::default();
            continue;
        };
        let speed = tokens as f64 / start.elapsed().as_secs_f64().max(1e-6);
        let mut queue = lock(&shared.queue);
        queue.speed += NEWEST * (speed - queue.speed);
        drop(queue);
        group.into_iter().zip(outputs).for_each(|(waiting, output)| answer(&waiting, output));
    }
}

/// Waits for work; `false` when closed.
fn wait<O>(shared: &Shared<O>) -> bool {
    let mut queue = lock(&shared.queue);
    while queue.waiting.is_empty() && !queue.closed {
        queue = shared.arrived.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
    !queue.closed
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

/// Sequences of whoever goes first, at least one: as many as a thread runs best together and in the time a group should take, but no
/// more than its part of all that waits, so that no thread is left without work. Abandoned ones are dropped.
fn next_group<O>(shared: &Shared<O>) -> Vec<Waiting<O>> {
    let mut queue = lock(&shared.queue);
    let now = Instant::now();
    let in_time = (queue.speed * GROUP_TIME.as_secs_f64()) as usize;
    let part = queue.waiting.cost().div_ceil(shared.threads);
    let most = GROUP_TOKENS.min(in_time).min(part);
    let (mut group, mut taken) = (Vec::new(), 0);
    while let Some((tokens, next)) = queue.waiting.next(now) {
        if lock(&next.request).abandoned() {
            queue.waiting.skip(now);
            continue;
        }
        if !group.is_empty() && taken + tokens > most {
            break;
        }
        taken += tokens;
        group.extend(queue.waiting.take(now));
    }
    group
}
