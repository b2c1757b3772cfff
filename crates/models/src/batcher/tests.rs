//! The batcher with a model that a test holds up.

use std::sync::mpsc;

use super::*;

/// Sequences that begin with this are answered at once.
const AT_ONCE: u32 = 1_000;

/// Answers each sequence with its first id; lets a test hold it up and see what it ran.
struct Echo {
    ran: mpsc::Sender<Vec<u32>>,
    go: Mutex<mpsc::Receiver<()>>,
}

impl Model for Echo {
    type Output = u32;
    type Scratch = ();

    fn run(&self, group: &[&Work], _: &mut ()) -> Vec<u32> {
        let ids: Vec<u32> = group.iter().map(|work| work.sequence.ids[0]).collect();
        self.ran.send(ids.clone()).unwrap();
        if !ids.contains(&AT_ONCE) {
            self.go.lock().unwrap().recv().unwrap();
        }
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
    let model = Echo { ran, go: Mutex::new(may_go) };
    let batcher = Arc::new(Batcher::start("test", model, threads, queue_tokens).unwrap());
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
async fn groups_keep_to_their_time() {
    let Stage { batcher, ran, go } = stage(10_000);
    let first = batcher.enqueue(work(&[1], 40), Role::Passage, None).unwrap();
    assert_eq!(ran.recv().unwrap(), [1]);
    // While the first group runs: four passages of which one fills a group.
    let passages = batcher.enqueue(work(&[2, 3, 4, 5], 1_000_000), Role::Passage, None).unwrap();
    (0..5).for_each(|_| go.send(()).unwrap());
    assert_eq!((first.await.unwrap(), passages.await.unwrap()), (vec![1], vec![2, 3, 4, 5]));
    assert_eq!(ran.recv().unwrap(), [2]);
}

#[tokio::test]
async fn a_question_does_not_wait_for_the_batch_of_a_file() {
    let Stage { batcher, ran, go } = stage(10_000);
    let file = batcher.enqueue(work(&[1], 40), Role::Passage, None).unwrap();
    assert_eq!(ran.recv().unwrap(), [1]);
    let question = batcher.enqueue(work(&[AT_ONCE], 5), Role::Query, None).unwrap();
    assert_eq!(question.await.unwrap(), [AT_ONCE]);
    go.send(()).unwrap();
    assert_eq!(file.await.unwrap(), [1]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn files_give_way_to_questions() {
    struct Nice;
    impl Model for Nice {
        type Output = i32;
        type Scratch = ();

        fn run(&self, group: &[&Work], _: &mut ()) -> Vec<i32> {
            group.iter().map(|_| blocking::niceness()).collect()
        }
    }
    let batcher = Batcher::start("test", Nice, 2, 1000).unwrap();
    let question = batcher.run(work(&[1], 5), Role::Query).await.unwrap();
    let file = batcher.run(work(&[1], 5), Role::Passage).await.unwrap();
    assert_eq!(question, [blocking::niceness()]);
    assert!(file[0] > question[0] || question[0] == 19, "{} and {}", file[0], question[0]);
}

#[tokio::test]
async fn every_thread_gets_its_part_and_none_waits_for_another() {
    let Stage { batcher, ran, go } = stage_with(2, 10_000);
    let passages = batcher.enqueue(work(&[1, 2, 3, 4], 10), Role::Passage, None).unwrap();
    // Half of what waits, then half of the rest; one thread goes on while the other is held up.
    let mut groups = [ran.recv().unwrap(), ran.recv().unwrap()];
    groups.sort();
    assert_eq!(groups, [vec![1, 2], vec![3]]);
    go.send(()).unwrap();
    assert_eq!(ran.recv().unwrap(), [4]);
    (0..2).for_each(|_| go.send(()).unwrap());
    assert_eq!(passages.await.unwrap(), [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_processor_that_was_measured_as_slow_still_gets_work_for_every_thread() {
    let Stage { batcher, ran, go } = stage_with(4, 10_000);
    // Each of them takes longer than a group should.
    let passages = batcher.enqueue(work(&[1, 2, 3, 4, 5], 1_000_000), Role::Passage, None).unwrap();
    let mut running: Vec<_> = (0..4).flat_map(|_| ran.recv().unwrap()).collect();
    running.sort_unstable();
    assert_eq!(running, [1, 2, 3, 4]);
    (0..5).for_each(|_| go.send(()).unwrap());
    assert_eq!(passages.await.unwrap(), [1, 2, 3, 4, 5]);
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
async fn an_account_with_much_waiting_takes_nobody_elses_place() {
    let Stage { batcher, ran, go } = stage(100);
    let (busy, quiet) = (Some(UserId::generate()), Some(UserId::generate()));
    let first = batcher.enqueue(work(&[1], 50), Role::Query, busy).unwrap();
    ran.recv().unwrap();
    let second = batcher.enqueue(work(&[2], 5_000), Role::Query, busy).unwrap();
    assert!(batcher.enqueue(work(&[3], 60), Role::Query, busy).is_err());
    let other = batcher.enqueue(work(&[4], 60), Role::Query, quiet).unwrap();
    (0..3).for_each(|_| go.send(()).unwrap());
    assert_eq!(other.await.unwrap(), [4]);
    assert_eq!((first.await.unwrap(), second.await.unwrap()), (vec![1], vec![2]));
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
    // After one group the quiet account has used as much as the other, which then takes its turn.
    assert_eq!(ran.try_iter().flatten().collect::<Vec<_>>(), [8, 2, 9, 3, 4]);
}

#[tokio::test]
async fn a_failing_group_is_an_error_and_the_next_one_works() {
    let Stage { batcher, ran: _ran, go } = stage(1000);
    (0..2).for_each(|_| go.send(()).unwrap());
    let fault = batcher.run(work(&[666], 5), Role::Query).await.unwrap_err();
    assert_eq!(fault.reason, Reason::Internal);
    assert_eq!(batcher.run(work(&[7], 5), Role::Query).await.unwrap(), [7]);
}
