//! Questions that went wrong, and what was thought of answers.

use std::collections::BTreeSet;

use async_trait::async_trait;
use engine::{
    Fault,
    access::{Managing, Reading},
    ids::BoxId,
    seams::catalog::{
        EventKind, NewQuestion, Operation, Outcome, Question, QuestionId, QuestionQuery, Questions, Rating,
        Trouble,
    },
};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::{
    Sql,
    sql::{Row, Transaction, Value},
    users::units,
    webhooks::{Event, emit},
};
use crate::Error;

/// Questions that are remembered of each box; the oldest is forgotten first.
const MOST: i64 = 10_000;

#[async_trait]
impl Questions for Sql {
    async fn note_questions(&self, questions: Vec<NewQuestion>) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                let mut asked = BTreeSet::new();
                for question in &questions {
                    for &box_id in &question.boxes {
                        note(t, question, box_id)?;
                        asked.insert(box_id);
                    }
                }
                for box_id in asked {
                    let sql = "delete from questions where box_id = $1 and asked_at < (select asked_at from questions
                               where box_id = $1 order by asked_at desc limit 1 offset $2)";
                    t.execute(sql, &[box_id.into(), (MOST - 1).into()])?;
                }
                Ok(())
            })
            .await
    }

    async fn boxes_of_question(&self, id: QuestionId) -> Result<Vec<BoxId>, Fault> {
        let sql = "select box_id from questions where id = $1 order by box_id";
        let found = self.database.read(|t| {
            t.all(sql, &[id.simple().into()])?.iter().map(|row| row.parse(0)).collect::<Result<_, Error>>()
        });
        Ok(found?)
    }

    async fn rate_question(
        &self,
        readings: &[Reading],
        id: QuestionId,
        rating: Rating,
        comment: Option<String>,
    ) -> Result<(), Fault> {
        let boxes: Vec<BoxId> = readings.iter().map(Reading::box_id).collect();
        self.database
            .write(move |t| {
                // What was disliked once stays even if it is liked later: its time runs out like that of all others.
                let kept = if rating == Rating::Disliked { ", kept = 1" } else { "" };
                let sql = format!(
                    "update questions set rating = $1, comment = $2{kept} where id = $3 and box_id = $4"
                );
                for &box_id in &boxes {
                    let values =
                        [rating.number().into(), comment.clone().into(), id.simple().into(), box_id.into()];
                    t.execute(&sql, &values)?;
                }
                Ok(())
            })
            .await
    }

    async fn questions(&self, managing: &Managing, query: QuestionQuery) -> Result<Vec<Question>, Fault> {
        let box_id = managing.box_id();
        let found = self.database.scan(move |t| list(t, box_id, &query));
        Ok(found.await?)
    }

    async fn forget_questions(&self, all: Timestamp, unkept: Timestamp) -> Result<(), Fault> {
        let old = "asked_at < $1 or (kept = 0 and asked_at < $2)";
        // Most of the time there is nothing to forget, and finding that out should not wait for the disk.
        let any = format!("select 1 from questions where {old} limit 1");
        if self.database.read(|t| t.first(&any, &[all.into(), unkept.into()]))?.is_none() {
            return Ok(());
        }
        let sql = format!("delete from questions where {old}");
        self.database
            .write_and_wipe(move |t| Ok(t.execute(&sql, &[all.into(), unkept.into()])?))
            .await
            .map(drop)
    }
}

/// A box that was deleted meanwhile has no questions.
fn note(transaction: &Transaction<'_>, question: &NewQuestion, box_id: BoxId) -> Result<(), Error> {
    let likeness: String =
        Sha256::digest(question.likeness()).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let score = question.score.map(|score| (f64::from(score) * 1_000.0).round() as i64);
    let noted = transaction.execute(
        "insert into questions (id, box_id, operation, text, likeness, outcome, score, asked_at, kept)
         select $1, id, $3, $4, $5, $6, cast($7 as bigint), cast($8 as bigint), cast($9 as bigint)
         from boxes where id = $2 and deleting_at is null on conflict do nothing",
        &[
            question.id.simple().into(),
            box_id.into(),
            question.operation.as_str().into(),
            question.text.as_str().into(),
            likeness.into(),
            question.outcome.as_str().into(),
            score.into(),
            question.asked_at.into(),
            question.kept.into(),
        ],
    )?;
    if noted > 0 && question.outcome == Outcome::Unanswered {
        tell_unanswered(transaction, question, box_id)?;
    }
    Ok(())
}

/// Whoever manages the box can read the question in its list as well.
fn tell_unanswered(t: &Transaction<'_>, question: &NewQuestion, box_id: BoxId) -> Result<(), Error> {
    let subject = question.id.simple();
    let data = serde_json::json!({
        "boxId": box_id, "id": format!("req_{subject}"), "operation": question.operation.as_str(),
        "question": question.text, "askedAt": question.asked_at,
    });
    let kind = EventKind::QuestionUnanswered;
    emit(t, &Event { kind, box_id: Some(box_id), user: None, subject: &subject, data })
}

/// Of questions that are alike, the latest with their number.
fn list(transaction: &Transaction<'_>, box_id: BoxId, query: &QuestionQuery) -> Result<Vec<Question>, Error> {
    let wanted = |name: &str| {
        let trouble = match query.trouble {
            None => String::new(),
            Some(Trouble::Unanswered) => format!(" and {name}.outcome = 'unanswered'"),
            Some(Trouble::Low) => format!(" and {name}.outcome = 'low'"),
            Some(Trouble::Disliked) => format!(" and {name}.rating = -1"),
        };
        format!("{name}.box_id = $1 and {name}.kept = 1 and {name}.asked_at >= $2{trouble}")
    };
    let sql = format!(
        "select q.id, q.operation, q.text, q.outcome, q.score, q.rating, q.comment, q.asked_at,
         (select count(*) from questions o where {} and o.likeness = q.likeness)
         from questions q where {} and (q.asked_at < $3 or (q.asked_at = $3 and q.id < $4))
         and not exists (select 1 from questions n where {} and n.likeness = q.likeness
         and (n.asked_at > q.asked_at or (n.asked_at = q.asked_at and n.id > q.id)))
         order by q.asked_at desc, q.id desc limit $5",
        wanted("o"),
        wanted("q"),
        wanted("n")
    );
    let since = query.since.unwrap_or(Timestamp::UNIX_EPOCH);
    let (before, id) = match query.after {
        Some((at, id)) => (at, id.simple()),
        None => (Timestamp::MAX, String::new()),
    };
    let parameters: [Value; 5] =
        [box_id.into(), since.into(), before.into(), id.into(), i64::from(query.limit).into()];
    transaction.all(&sql, &parameters)?.iter().map(read).collect()
}

fn operation(text: &str) -> Result<Operation, Error> {
    let found = Operation::ALL.into_iter().find(|operation| operation.as_str() == text);
    found.ok_or_else(|| Error::Corrupt(format!("`{text}` is nothing that is asked")))
}

fn read(row: &Row) -> Result<Question, Error> {
    let id =
        QuestionId::stored(row.text(0)?).ok_or_else(|| Error::Corrupt("a question has no number".into()))?;
    let score = row.optional(4, Row::integer)?;
    let rating = row.optional(5, Row::integer)?;
    Ok(Question {
        id,
        operation: operation(row.text(1)?)?,
        text: row.text(2)?.to_string(),
        outcome: row.parse(3)?,
        score: score.map(|score| score as f32 / 1_000.0),
        rating: rating.and_then(Rating::of),
        comment: row.optional(6, |row, column| row.text(column).map(str::to_string))?,
        asked_at: row.time(7)?,
        count: units(row, 8)?,
    })
}
