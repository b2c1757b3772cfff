//! Webhooks and their queue: who is told, in which order, and that nothing is told twice or forgotten.

use std::time::Duration;

use engine::{
    Reason,
    access::{Acting, Role, Writing},
    ids::WebhookId,
    seams::catalog::{
        Attempted, Delivery, EventKind, Exposure, NewWebhook, Next, User, Webhook, WebhookSecret,
    },
};

use super::{Fresh, at, fresh, indexed, manage, own, reason, upload};

const PATIENCE: Duration = Duration::from_secs(60);

fn acting(user: &User) -> Acting {
    Acting::for_operator(user.id)
}

fn wanted(events: &[EventKind]) -> NewWebhook {
    NewWebhook {
        url: "https://example.org/".into(),
        events: events.to_vec(),
        boxes: None,
        secret: WebhookSecret("whsec_first".into()),
    }
}

impl Fresh {
    async fn webhook(&self, user: &User, events: &[EventKind]) -> Webhook {
        self.catalog.add_webhook(&acting(user), wanted(events)).await.unwrap()
    }

    /// Adds a file and has it read.
    async fn read_file(&self, writing: &Writing, name: &str, content: &str) {
        self.file(writing, upload(name, content, Some(name))).await;
        let job = self.claim("one").await.unwrap();
        assert!(self.catalog.finish_job(&job, "one", indexed(1), at(0)).await.unwrap().written);
    }

    async fn take(&self, second: i64) -> Vec<Delivery> {
        self.catalog.take_deliveries(at(second), PATIENCE, 10).await.unwrap()
    }

    async fn finish(&self, delivery: &Delivery, status: u16, next: Next) {
        let attempted = Attempted { at: at(0), duration_ms: 5, status: Some(status), error: None };
        self.catalog.finish_delivery(delivery.id, attempted, next).await.unwrap();
    }

    async fn waiting(&self, user: &User) -> u64 {
        self.catalog.webhooks(&acting(user)).await.unwrap().iter().map(|webhook| webhook.waiting).sum()
    }
}

fn kind(delivery: &Delivery) -> String {
    let body: serde_json::Value = serde_json::from_str(&delivery.body).unwrap();
    body["type"].as_str().unwrap().to_string()
}

#[tokio::test]
async fn events_of_a_file_come_one_after_the_other_and_survive_reopening() {
    let mut fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    fresh.webhook(&ada, &[EventKind::FileReady, EventKind::FileReplaced]).await;
    fresh.read_file(&writing, "a.txt", "1").await;
    fresh.read_file(&writing, "a.txt", "2").await;
    fresh.read_file(&writing, "b.txt", "3").await;
    assert_eq!(fresh.waiting(&ada).await, 4);
    let first = fresh.take(0).await;
    assert_eq!(first.iter().map(kind).collect::<Vec<_>>(), ["file.ready", "file.ready"], "one a file");
    assert!(first[0].body.contains("a.txt") && first[1].body.contains("b.txt"));
    assert!(fresh.take(1).await.is_empty(), "they are taken");
    fresh.finish(&first[1], 200, Next::Done).await;
    fresh.finish(&first[0], 500, Next::Again(at(30))).await;

    fresh.catalog = Box::new(fresh.place.open());
    assert!(fresh.take(20).await.is_empty(), "what comes later waits for what came before");
    let again = fresh.take(30).await;
    assert_eq!((again.len(), again[0].event, again[0].tries), (1, first[0].event, 1));
    // Whoever took it died: after a while somebody else gets it.
    assert!(fresh.take(80).await.is_empty());
    let again = fresh.take(91).await;
    assert_eq!(again[0].event, first[0].event);
    fresh.finish(&again[0], 200, Next::Done).await;
    let replaced = fresh.take(92).await;
    assert_eq!(replaced.iter().map(kind).collect::<Vec<_>>(), ["file.replaced"]);
    fresh.finish(&replaced[0], 404, Next::GaveUp).await;
    let last = fresh.take(93).await;
    fresh.finish(&last[0], 200, Next::Done).await;
    assert_eq!((kind(&last[0]).as_str(), fresh.waiting(&ada).await), ("file.ready", 0));
}

#[tokio::test]
async fn an_account_whose_receivers_take_their_time_holds_up_nobody_else() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let (mine, hers) = (fresh.box_of(&ada).await, fresh.box_of(&eve).await);
    for _ in 0..2 {
        fresh.webhook(&eve, &[EventKind::FileReady]).await;
    }
    fresh.webhook(&ada, &[EventKind::FileReady]).await;
    for number in 0..10 {
        fresh.read_file(&hers, &format!("{number}.txt"), &number.to_string()).await;
    }
    fresh.read_file(&mine, "mine.txt", "mine").await;
    let first = fresh.take(0).await;
    let of_ada = |taken: &[Delivery]| taken.iter().filter(|one| one.body.contains("mine.txt")).count();
    assert_eq!((first.len(), of_ada(&first)), (5, 1), "four of the one account, and one of the other");
    assert!(fresh.take(1).await.is_empty(), "four of hers are under way");
    fresh.read_file(&mine, "mine.txt", "mine again").await;
    for delivery in first.iter().filter(|one| one.body.contains("mine.txt")) {
        fresh.finish(delivery, 200, Next::Done).await;
    }
    let second = fresh.take(2).await;
    assert_eq!((second.len(), of_ada(&second)), (1, 1), "hers are still under way");
    for delivery in &first {
        fresh.finish(delivery, 200, Next::Done).await;
    }
    assert_eq!(fresh.take(3).await.len(), 4, "then the next ones");
}

#[tokio::test]
async fn a_webhook_that_nobody_listens_to_is_disabled_before_its_queue_fills_the_disk() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    fresh.webhook(&ada, &[EventKind::FileReady, EventKind::FileReplaced]).await;
    for number in 0..30 {
        fresh.read_file(&writing, "a.txt", &number.to_string()).await;
    }
    let webhooks = fresh.catalog.webhooks(&acting(&ada)).await.unwrap();
    assert_eq!((webhooks[0].waiting, webhooks[0].disabled_at.is_some()), (30, true));
    assert!(fresh.take(0).await.is_empty(), "nothing is sent there any more");
}

#[tokio::test]
async fn only_who_may_use_the_api_on_a_box_is_told_of_it() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let (mine, hers) = (fresh.box_of(&ada).await, fresh.box_of(&eve).await);
    fresh.webhook(&eve, &[EventKind::FileReady]).await;
    let scoped = NewWebhook { boxes: Some(vec![hers.box_id()]), ..wanted(&[EventKind::FileReady]) };
    let foreign = fresh.catalog.add_webhook(&acting(&ada), scoped.clone()).await;
    assert_eq!(reason(foreign), Some(Reason::NotFound));
    assert!(fresh.catalog.webhooks(&acting(&ada)).await.unwrap().is_empty(), "nothing is left behind");
    fresh.catalog.add_webhook(&acting(&eve), scoped).await.unwrap();
    fresh.catalog.grant(&manage(&mine), eve.id, Role::Editor).await.unwrap();
    fresh.read_file(&mine, "a.txt", "1").await;
    assert_eq!(fresh.waiting(&eve).await, 0, "an editor may not use the API");
    fresh.catalog.grant(&manage(&mine), eve.id, Role::Admin).await.unwrap();
    fresh.read_file(&mine, "b.txt", "2").await;
    fresh.read_file(&hers, "c.txt", "3").await;
    assert_eq!(fresh.waiting(&eve).await, 3, "one of the first box, two of her own");
    fresh.catalog.revoke(&manage(&mine), eve.id).await.unwrap();
    let told = fresh.take(0).await;
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|delivery| delivery.body.contains("c.txt")), "{told:?}");
    assert_eq!(fresh.waiting(&eve).await, 2);
    fresh.catalog.begin_delete_box(&own(&hers)).await.unwrap();
    fresh.catalog.finish_delete_box(&hers).await.unwrap();
    assert_eq!(fresh.waiting(&eve).await, 0, "names of its files are gone with the box");
    assert!(fresh.take(100).await.is_empty());
}

#[tokio::test]
async fn webhooks_are_their_users_and_can_be_rotated_disabled_and_replayed() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let writing = fresh.box_of(&ada).await;
    let prefix = fresh.key_of(&ada, None).await;
    let id = fresh.webhook(&ada, &[EventKind::FileReady, EventKind::KeyExposed]).await.id;
    let (catalog, me, her) = (&fresh.catalog, acting(&ada), acting(&eve));
    let second = WebhookSecret("whsec_second".into());
    assert!(!catalog.rotate_secret(&her, id, second.clone(), at(50)).await.unwrap());
    assert!(!catalog.replay(&her, id, 1, at(0)).await.unwrap());
    assert!(catalog.deliveries_tried(&her, id).await.unwrap().is_none());
    assert!(!catalog.delete_webhook(&her, id).await.unwrap());
    assert!(!catalog.delete_webhook(&me, WebhookId::generate()).await.unwrap());

    catalog.expose_key(&prefix, Exposure::Url, false).await.unwrap();
    assert!(catalog.rotate_secret(&me, id, second.clone(), at(50)).await.unwrap());
    let exposed = fresh.take(0).await.pop().unwrap();
    assert_eq!(exposed.secrets, [second.clone(), WebhookSecret("whsec_first".into())]);
    fresh.finish(&exposed, 200, Next::Done).await;
    fresh.read_file(&writing, "a.txt", "1").await;
    let read = fresh.take(60).await.pop().unwrap();
    assert_eq!(read.secrets, std::slice::from_ref(&second), "the one before has had its time");
    fresh.finish(&read, 410, Next::Disable).await;
    assert!(catalog.webhooks(&me).await.unwrap()[0].disabled_at.is_some());
    fresh.read_file(&writing, "b.txt", "2").await;
    assert!(fresh.take(70).await.is_empty(), "it is gone");

    let tried = catalog.deliveries_tried(&me, id).await.unwrap().unwrap();
    let seen: Vec<_> =
        tried.iter().map(|attempt| (attempt.number, attempt.kind, attempt.attempted.status)).collect();
    assert_eq!(seen, [(2, EventKind::FileReady, Some(410)), (1, EventKind::KeyExposed, Some(200))]);
    assert!(catalog.rotate_secret(&me, id, second, at(200)).await.unwrap(), "which enables it again");
    assert!(catalog.replay(&me, id, 1, at(75)).await.unwrap());
    assert!(!catalog.replay(&me, id, 3, at(75)).await.unwrap());
    let again = fresh.take(80).await.pop().unwrap();
    assert_eq!((again.event, again.body, again.tries), (exposed.event, exposed.body, 0));
    assert!(catalog.delete_webhook(&me, id).await.unwrap());
    assert!(fresh.take(900).await.is_empty() && catalog.webhooks(&me).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_account_has_a_bounded_number_of_webhooks_and_of_attempts() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let id = fresh.webhook(&ada, &[EventKind::FileReady]).await.id;
    for _ in 1..20 {
        fresh.webhook(&ada, &[EventKind::FileDeleted]).await;
    }
    let one_more = fresh.catalog.add_webhook(&acting(&ada), wanted(&[EventKind::FileReady])).await;
    assert_eq!(reason(one_more), Some(Reason::QuotaExceeded));
    fresh.read_file(&writing, "a.txt", "1").await;
    for number in 0..205 {
        let delivery = fresh.take(number).await.pop().unwrap();
        fresh.finish(&delivery, 500, Next::Again(at(number))).await;
    }
    let tried = fresh.catalog.deliveries_tried(&acting(&ada), id).await.unwrap().unwrap();
    assert_eq!((tried.len(), tried[0].number, tried[199].number), (200, 205, 6));
}
