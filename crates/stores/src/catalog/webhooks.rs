//! Webhooks, and the queue of what is still to be sent to them.

use std::{collections::HashMap, time::Duration};

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::Acting,
    ids::{BoxId, DeliveryId, UserId, WebhookId},
    seams::catalog::{
        AttemptRecord, Attempted, Delivery, EventKind, NewWebhook, Next, Webhook, WebhookSecret, Webhooks,
    },
    trace,
};
use jiff::Timestamp;

use super::{
    Sql,
    sql::{Row, Transaction},
    users::units,
};
use crate::Error;

/// Webhooks of one account: a few programs, not one for each file.
const MOST_OF_USER: i64 = 20;
/// Events of one account that are given out at a time: a receiver that takes its time must not hold up those of others.
const AT_ONCE_OF_USER: usize = 4;
/// Events that may wait for one webhook. A receiver that is behind by more is not coming back: the webhook is disabled.
const MOST_WAITING: i64 = if cfg!(test) { 30 } else { 10_000 };
/// Attempts of one webhook that are remembered, with the events they were made for.
const MOST_ATTEMPTS: i64 = 200;
/// Characters kept of why an attempt failed.
const LONGEST_ERROR: usize = 200;

const SELECT: &str = "select w.id, w.url, w.events, w.scoped, w.created_at, w.disabled_at,
    (select count(*) from deliveries d where d.webhook_id = w.id and d.done_at is null) from webhooks w";

#[async_trait]
impl Webhooks for Sql {
    async fn add_webhook(&self, acting: &Acting, webhook: NewWebhook) -> Result<Webhook, Fault> {
        let user = acting.user();
        self.database.write(move |t| add(t, user, &webhook)).await
    }

    async fn webhooks(&self, acting: &Acting) -> Result<Vec<Webhook>, Fault> {
        let user = acting.user();
        let found = self.database.read(|t| {
            let rows =
                t.all(&format!("{SELECT} where w.user_id = $1 order by w.created_at, w.id"), &[user.into()])?;
            rows.iter().map(|row| read(t, row)).collect::<Result<Vec<_>, Error>>()
        })?;
        Ok(found.into_iter().filter(|webhook| acting.reaches(webhook.boxes.as_deref())).collect())
    }

    async fn delete_webhook(&self, acting: &Acting, webhook: WebhookId) -> Result<bool, Fault> {
        let acting = acting.clone();
        self.database
            .write(move |t| {
                if find(t, &acting, webhook)?.is_none() {
                    return Ok(false);
                }
                t.execute("delete from webhooks where id = $1", &[webhook.into()])?;
                Ok(true)
            })
            .await
    }

    async fn rotate_secret(
        &self,
        acting: &Acting,
        webhook: WebhookId,
        secret: WebhookSecret,
        until: Timestamp,
    ) -> Result<bool, Fault> {
        let acting = acting.clone();
        self.database
            .write(move |t| {
                if find(t, &acting, webhook)?.is_none() {
                    return Ok(false);
                }
                let sql =
                    "update webhooks set old_secret = secret, old_until = $1, secret = $2, disabled_at = null
                           where id = $3";
                t.execute(sql, &[until.into(), secret.0.as_str().into(), webhook.into()])?;
                Ok(true)
            })
            .await
    }

    async fn take_deliveries(
        &self,
        now: Timestamp,
        patience: Duration,
        most: u32,
    ) -> Result<Vec<Delivery>, Fault> {
        // Most of the time there is nothing to send, and finding that out should not wait for the disk.
        let due = "select 1 from deliveries where done_at is null and due_at <= $1
                   and (taken_until is null or taken_until <= $1) limit 1";
        if self.database.read(|t| t.first(due, &[now.into()]))?.is_none() {
            return Ok(Vec::new());
        }
        self.database.write(move |t| take(t, now, patience, most)).await
    }

    async fn finish_delivery(
        &self,
        delivery: DeliveryId,
        attempted: Attempted,
        next: Next,
    ) -> Result<(), Fault> {
        self.database.write(move |t| finish(t, delivery, &attempted, next)).await
    }

    async fn deliveries_tried(
        &self,
        acting: &Acting,
        webhook: WebhookId,
    ) -> Result<Option<Vec<AttemptRecord>>, Fault> {
        let sql = "select a.number, d.event_id, d.kind, a.at, a.duration_ms, a.status, a.error
                   from delivery_attempts a join deliveries d on d.id = a.delivery_id
                   where a.webhook_id = $1 order by a.number desc";
        let acting = acting.clone();
        let found = self.database.read(|t| {
            if find(t, &acting, webhook)?.is_none() {
                return Ok(None);
            }
            t.all(sql, &[webhook.into()])?.iter().map(read_attempt).collect::<Result<_, Error>>().map(Some)
        });
        Ok(found?)
    }

    async fn replay(
        &self,
        acting: &Acting,
        webhook: WebhookId,
        number: u64,
        now: Timestamp,
    ) -> Result<bool, Fault> {
        let acting = acting.clone();
        self.database
            .write(move |t| {
                if find(t, &acting, webhook)?.is_none() {
                    return Ok(false);
                }
                if waiting(t, &webhook.to_string())? >= MOST_WAITING {
                    let cause = format!("{MOST_WAITING} events are already waiting for this webhook; wait until some are delivered");
                    return Err(Fault::new(Reason::QuotaExceeded, cause));
                }
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                let sql = "insert into deliveries (id, webhook_id, event_id, kind, box_id, subject, seq, body, created_at,
                           due_at, tries, trace)
                           select $1, d.webhook_id, d.event_id, d.kind, d.box_id, d.subject, $2, d.body, $3, $3, 0, d.trace
                           from delivery_attempts a join deliveries d on d.id = a.delivery_id
                           where a.webhook_id = $4 and a.number = $5";
                let values = [
                    DeliveryId::generate().into(),
                    next_place(t)?.into(),
                    now.into(),
                    webhook.into(),
                    number.into(),
                ];
                Ok(t.execute(sql, &values)? > 0)
            })
            .await
    }
}

fn add(transaction: &Transaction<'_>, user: UserId, webhook: &NewWebhook) -> Result<Webhook, Fault> {
    let row = transaction.first("select count(*) from webhooks where user_id = $1", &[user.into()])?;
    if row.map_or(Ok(0), |row| row.integer(0))? >= MOST_OF_USER {
        let cause = format!("an account can have at most {MOST_OF_USER} webhooks; delete one first");
        return Err(Fault::new(Reason::QuotaExceeded, cause));
    }
    let (id, now) = (WebhookId::generate(), Timestamp::now());
    let events: Vec<_> = webhook.events.iter().map(|kind| kind.as_str()).collect();
    transaction.execute(
        "insert into webhooks (id, user_id, url, events, scoped, secret, attempts, created_at)
         values ($1, $2, $3, $4, $5, $6, 0, $7)",
        &[
            id.into(),
            user.into(),
            webhook.url.as_str().into(),
            events.join(",").into(),
            webhook.boxes.is_some().into(),
            webhook.secret.0.as_str().into(),
            now.into(),
        ],
    )?;
    for &box_id in webhook.boxes.iter().flatten() {
        let sql = "select 1 from memberships where box_id = $1 and user_id = $2";
        if transaction.first(sql, &[box_id.into(), user.into()])?.is_none() {
            let cause = format!("the account has no role in the box {box_id}; give it one first");
            return Err(Fault::new(Reason::NotFound, cause).param("boxes"));
        }
        let sql = "insert into webhook_boxes (webhook_id, box_id) values ($1, $2) on conflict do nothing";
        transaction.execute(sql, &[id.into(), box_id.into()])?;
    }
    let row = transaction.first(&format!("{SELECT} where w.id = $1"), &[id.into()])?;
    Ok(read(transaction, &row.ok_or_else(|| Error::Corrupt("the new webhook is not there".into()))?)?)
}

/// A webhook of whoever acts that reaches no further than they do.
fn find(
    transaction: &Transaction<'_>,
    acting: &Acting,
    webhook: WebhookId,
) -> Result<Option<Webhook>, Error> {
    let sql = format!("{SELECT} where w.id = $1 and w.user_id = $2");
    let row = transaction.first(&sql, &[webhook.into(), acting.user().into()])?;
    let found = row.map(|row| read(transaction, &row)).transpose()?;
    Ok(found.filter(|webhook| acting.reaches(webhook.boxes.as_deref())))
}

fn read(transaction: &Transaction<'_>, row: &Row) -> Result<Webhook, Error> {
    let boxes = match row.integer(3)? {
        0 => None,
        _ => {
            let sql = "select box_id from webhook_boxes where webhook_id = $1 order by box_id";
            let rows = transaction.all(sql, &[row.text(0)?.into()])?;
            Some(rows.iter().map(|row| row.parse(0)).collect::<Result<_, _>>()?)
        }
    };
    Ok(Webhook {
        id: row.parse(0)?,
        url: row.text(1)?.to_string(),
        events: events(row.text(2)?),
        boxes,
        created_at: row.time(4)?,
        disabled_at: row.optional(5, Row::time)?,
        waiting: units(row, 6)?,
    })
}

/// Names that this version does not know are of a later one, and left out.
fn events(text: &str) -> Vec<EventKind> {
    text.split(',').filter_map(|name| name.parse().ok()).collect()
}

fn read_attempt(row: &Row) -> Result<AttemptRecord, Error> {
    let text = |row: &Row, column: usize| row.text(column).map(str::to_string);
    let status = row.optional(5, Row::integer)?;
    Ok(AttemptRecord {
        number: units(row, 0)?,
        event: row.parse(1)?,
        kind: row.parse(2)?,
        attempted: Attempted {
            at: row.time(3)?,
            duration_ms: units(row, 4)?,
            status: status.and_then(|status| u16::try_from(status).ok()),
            error: row.optional(6, text)?,
        },
    })
}

/// What happened, for those who want to know.
pub(super) struct Event<'a> {
    pub(super) kind: EventKind,
    /// The box it happened in, if in any.
    pub(super) box_id: Option<BoxId>,
    /// Whose it is, where it happened in no box.
    pub(super) user: Option<UserId>,
    /// Events of one subject are delivered in their order.
    pub(super) subject: &'a str,
    /// What is told of it.
    pub(super) data: serde_json::Value,
}

/// Puts an event into the queue of everybody who wants to know of it. Must be part of the transaction that makes it happen, and
/// that runs alone.
pub(super) fn emit(transaction: &Transaction<'_>, event: &Event<'_>) -> Result<(), Error> {
    let of_box = "select w.id, w.events from webhooks w
                  join memberships m on m.user_id = w.user_id and m.box_id = $1 and m.role in ('admin', 'owner')
                  where w.disabled_at is null and (w.scoped = 0 or exists
                  (select 1 from webhook_boxes b where b.webhook_id = w.id and b.box_id = $1)) order by w.id";
    let of_user = "select w.id, w.events from webhooks w
                   where w.user_id = $1 and w.disabled_at is null and w.scoped = 0 order by w.id";
    let rows = match (event.box_id, event.user) {
        (Some(box_id), _) => transaction.all(of_box, &[box_id.into()])?,
        (None, Some(user)) => transaction.all(of_user, &[user.into()])?,
        (None, None) => Vec::new(),
    };
    let now = Timestamp::now();
    for row in &rows {
        if !events(row.text(1)?).contains(&event.kind) {
            continue;
        }
        if waiting(transaction, row.text(0)?)? >= MOST_WAITING {
            let sql = "update webhooks set disabled_at = $1 where id = $2";
            transaction.execute(sql, &[now.into(), row.text(0)?.into()])?;
            continue;
        }
        let body = serde_json::json!({
            "type": event.kind.as_str(), "timestamp": now.to_string(), "data": event.data,
        });
        transaction.execute(
            "insert into deliveries (id, webhook_id, event_id, kind, box_id, subject, seq, body, created_at, due_at, tries, trace)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, 0, $10)",
            &[
                DeliveryId::generate().into(),
                row.text(0)?.into(),
                engine::ids::EventId::generate().into(),
                event.kind.as_str().into(),
                event.box_id.into(),
                event.subject.into(),
                next_place(transaction)?.into(),
                body.to_string().into(),
                now.into(),
                trace::here().into(),
            ],
        )?;
    }
    Ok(())
}

/// How many events wait for a webhook.
fn waiting(transaction: &Transaction<'_>, webhook: &str) -> Result<i64, Error> {
    let sql = "select count(*) from deliveries where webhook_id = $1 and done_at is null";
    transaction.first(sql, &[webhook.into()])?.map_or(Ok(0), |row| row.integer(0))
}

/// The place behind everything in the queue. Those who ask run alone, so each gets one of its own.
fn next_place(transaction: &Transaction<'_>) -> Result<i64, Error> {
    let row = transaction.first("select coalesce(max(seq), 0) + 1 from deliveries", &[])?;
    row.map_or(Ok(1), |row| row.integer(0))
}

fn take(
    transaction: &Transaction<'_>,
    now: Timestamp,
    patience: Duration,
    most: u32,
) -> Result<Vec<Delivery>, Fault> {
    // Nobody is told of a box that they may no longer read.
    let lost = "delete from deliveries where done_at is null and box_id is not null and due_at <= $1 and not exists
                (select 1 from webhooks w join memberships m on m.user_id = w.user_id
                 where w.id = deliveries.webhook_id and m.box_id = deliveries.box_id and m.role in ('admin', 'owner'))";
    transaction.execute(lost, &[now.into()])?;
    // Whoever has as many under way as one account may have is passed over until some of them are done.
    let sql = "select d.id, d.event_id, w.url, d.body, d.tries, w.secret, w.old_secret, w.old_until, w.user_id, d.trace
               from deliveries d join webhooks w on w.id = d.webhook_id join users u on u.id = w.user_id
               where d.done_at is null and w.disabled_at is null and u.disabled_at is null and d.due_at <= $1
               and (d.taken_until is null or d.taken_until <= $1) and w.user_id not in
               (select v.user_id from deliveries t join webhooks v on v.id = t.webhook_id
                where t.taken_until > $1 and t.done_at is null group by v.user_id having count(*) >= $3) and not exists
               (select 1 from deliveries e where e.webhook_id = d.webhook_id and e.subject = d.subject
                and e.done_at is null and e.seq < d.seq)
               order by d.due_at, d.seq limit $2";
    // More than can be taken, because those of one account may be the first of all.
    let looked_at = i64::from(most) * 8;
    let rows = transaction.all(sql, &[now.into(), looked_at.into(), (AT_ONCE_OF_USER as i64).into()])?;
    let until = now.saturating_add(patience).unwrap_or(Timestamp::MAX);
    let mut of_user: HashMap<&str, usize> = HashMap::new();
    let mut taken = Vec::new();
    for row in &rows {
        let own = of_user.entry(row.text(8)?).or_default();
        if *own == AT_ONCE_OF_USER || taken.len() == most as usize {
            continue;
        }
        *own += 1;
        let sql = "update deliveries set taken_until = $1 where id = $2";
        transaction.execute(sql, &[until.into(), row.text(0)?.into()])?;
        let mut secrets = vec![WebhookSecret(row.text(5)?.to_string())];
        let old_until = row.optional(7, Row::time)?;
        if !row.is_null(6) && old_until.is_some_and(|until| until > now) {
            secrets.push(WebhookSecret(row.text(6)?.to_string()));
        }
        taken.push(Delivery {
            id: row.parse(0)?,
            event: row.parse(1)?,
            url: row.text(2)?.to_string(),
            secrets,
            body: row.text(3)?.to_string(),
            tries: u32::try_from(row.integer(4)?).unwrap_or(u32::MAX),
            trace: row.trace(9)?,
        });
    }
    Ok(taken)
}

fn finish(
    transaction: &Transaction<'_>,
    delivery: DeliveryId,
    attempted: &Attempted,
    next: Next,
) -> Result<(), Fault> {
    let sql = "select webhook_id from deliveries where id = $1 and done_at is null";
    // Its webhook was deleted meanwhile, or somebody else has finished it.
    let Some(row) = transaction.first(sql, &[delivery.into()])? else { return Ok(()) };
    let webhook: WebhookId = row.parse(0)?;
    let done = match next {
        Next::Done | Next::GaveUp | Next::Disable => Some(attempted.at),
        Next::Again(_) => None,
    };
    let due = match next {
        Next::Again(at) => at,
        Next::Done | Next::GaveUp | Next::Disable => attempted.at,
    };
    transaction.execute(
        "update deliveries set tries = tries + 1, taken_until = null, due_at = $1, done_at = $2 where id = $3",
        &[due.into(), done.into(), delivery.into()],
    )?;
    transaction.execute("update webhooks set attempts = attempts + 1 where id = $1", &[webhook.into()])?;
    let error = attempted.error.as_ref().map(|error| error.chars().take(LONGEST_ERROR).collect::<String>());
    transaction.execute(
        "insert into delivery_attempts (webhook_id, number, delivery_id, at, duration_ms, status, error)
         select $1, attempts, $2, $3, $4, $5, $6 from webhooks where id = $1",
        &[
            webhook.into(),
            delivery.into(),
            attempted.at.into(),
            i64::try_from(attempted.duration_ms).unwrap_or(i64::MAX).into(),
            attempted.status.map(i64::from).into(),
            error.into(),
        ],
    )?;
    if next == Next::Disable {
        let sql = "update webhooks set disabled_at = $1 where id = $2";
        transaction.execute(sql, &[attempted.at.into(), webhook.into()])?;
    }
    forget_old(transaction, webhook)?;
    Ok(())
}

/// Forgets the attempts that nobody needs any more, and events that were dealt with and have no attempt left.
fn forget_old(transaction: &Transaction<'_>, webhook: WebhookId) -> Result<(), Error> {
    let sql = "delete from delivery_attempts where webhook_id = $1
               and number <= (select attempts from webhooks where id = $1) - $2";
    if transaction.execute(sql, &[webhook.into(), MOST_ATTEMPTS.into()])? == 0 {
        return Ok(());
    }
    let sql = "delete from deliveries where webhook_id = $1 and done_at is not null and not exists
               (select 1 from delivery_attempts a where a.delivery_id = deliveries.id)";
    transaction.execute(sql, &[webhook.into()])?;
    Ok(())
}
