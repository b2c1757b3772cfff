//! Conversations, and what of them goes with the files that they cite.

use async_trait::async_trait;
use engine::{
    Fault,
    access::Reading,
    ids::{BoxId, ConversationId, FileId, UserId},
    seams::catalog::{ConversationRecord, Conversations, NewTurn, SharedConversation, Turn},
};
use jiff::Timestamp;

use super::{
    Sql,
    boxes::must_exist,
    sql::{Row, Transaction},
    users::units,
};
use crate::Error;

/// Conversations of one person with one box.
const MOST_CONVERSATIONS: i64 = 1_000;
/// Turns of one conversation; the first are forgotten when there are more.
const MOST_TURNS: i64 = 200;
/// Characters of a title.
const LONGEST_TITLE: usize = 120;

const SELECT: &str =
    "select id, title, changed_at, turns, shared_turns from conversations where user_id = $1 and box_id = $2";

#[async_trait]
impl Conversations for Sql {
    async fn add_turn(
        &self,
        reading: &Reading,
        user: UserId,
        into: Option<ConversationId>,
        turn: NewTurn,
    ) -> Result<Option<ConversationRecord>, Fault> {
        let box_id = reading.box_id();
        self.database
            .write(move |t| {
                must_exist(t, box_id)?;
                let record = match into {
                    Some(id) => find(t, user, box_id, id)?,
                    None => Some(begin(t, user, box_id, &turn)?),
                };
                let Some(record) = record else { return Ok(None) };
                add(t, record.id, &turn)?;
                Ok(Some(ConversationRecord { changed_at: turn.at, turns: record.turns + 1, ..record }))
            })
            .await
    }

    async fn conversations(&self, reading: &Reading, user: UserId) -> Result<Vec<ConversationRecord>, Fault> {
        let sql = format!("{SELECT} order by changed_at desc, id desc");
        let parameters = [user.into(), reading.box_id().into()];
        Ok(self
            .database
            .read(|t| t.all(&sql, &parameters)?.iter().map(read).collect::<Result<_, Error>>())?)
    }

    async fn conversation(
        &self,
        reading: &Reading,
        user: UserId,
        id: ConversationId,
    ) -> Result<Option<(ConversationRecord, Vec<Turn>)>, Fault> {
        let box_id = reading.box_id();
        let found = self.database.read(|t| {
            let Some(record) = find(t, user, box_id, id)? else { return Ok(None) };
            let turns = said(t, id, record.turns)?;
            Ok::<_, Error>(Some((record, turns)))
        });
        Ok(found?)
    }

    async fn rename_conversation(
        &self,
        reading: &Reading,
        user: UserId,
        id: ConversationId,
        title: String,
    ) -> Result<bool, Fault> {
        let box_id = reading.box_id();
        let sql = "update conversations set title = $1 where id = $2 and user_id = $3 and box_id = $4";
        let title = short(&title);
        self.database
            .write(move |t| {
                Ok(t.execute(sql, &[title.as_str().into(), id.into(), user.into(), box_id.into()])? > 0)
            })
            .await
    }

    async fn share_conversation(
        &self,
        reading: &Reading,
        user: UserId,
        id: ConversationId,
        shared: bool,
    ) -> Result<bool, Fault> {
        let box_id = reading.box_id();
        let sql = format!(
            "update conversations set shared_turns = {} where id = $1 and user_id = $2 and box_id = $3",
            if shared { "turns" } else { "null" }
        );
        self.database.write(move |t| Ok(t.execute(&sql, &[id.into(), user.into(), box_id.into()])? > 0)).await
    }

    async fn shared_conversation(
        &self,
        reading: &Reading,
        id: ConversationId,
    ) -> Result<Option<SharedConversation>, Fault> {
        let box_id = reading.box_id();
        let sql = "select c.id, c.title, c.changed_at, c.turns, c.shared_turns, u.email
                   from conversations c join users u on u.id = c.user_id
                   where c.box_id = $1 and c.id = $2 and c.shared_turns is not null";
        let found = self.database.read(|t| {
            let Some(row) = t.first(sql, &[box_id.into(), id.into()])? else { return Ok(None) };
            let record = read(&row)?;
            let turns = said(t, id, record.shared.unwrap_or(0))?;
            Ok::<_, Error>(Some(SharedConversation { record, by: row.email(5)?, turns }))
        });
        Ok(found?)
    }

    async fn delete_conversation(
        &self,
        reading: &Reading,
        user: UserId,
        id: ConversationId,
    ) -> Result<bool, Fault> {
        let box_id = reading.box_id();
        let sql = "delete from conversations where id = $1 and user_id = $2 and box_id = $3";
        self.database
            .write_and_wipe(move |t| Ok(t.execute(sql, &[id.into(), user.into(), box_id.into()])? > 0))
            .await
    }

    async fn forget_conversations(&self, before: Timestamp) -> Result<u64, Fault> {
        // Most of the time there is nothing to forget, and finding that out should not wait for the disk.
        let any = "select 1 from conversations where changed_at < $1 limit 1";
        if self.database.read(|t| t.first(any, &[before.into()]))?.is_none() {
            return Ok(0);
        }
        let sql = "delete from conversations where changed_at < $1";
        self.database.write_and_wipe(move |t| Ok(t.execute(sql, &[before.into()])? as u64)).await
    }
}

fn begin(
    t: &Transaction<'_>,
    user: UserId,
    box_id: BoxId,
    turn: &NewTurn,
) -> Result<ConversationRecord, Error> {
    let record = ConversationRecord {
        id: ConversationId::generate(),
        title: short(&turn.question),
        changed_at: turn.at,
        turns: 0,
        shared: None,
    };
    t.execute(
        "insert into conversations (id, user_id, box_id, title, turns, changed_at) values ($1, $2, $3, $4, 0, $5)",
        &[record.id.into(), user.into(), box_id.into(), record.title.as_str().into(), turn.at.into()],
    )?;
    let sql = "delete from conversations where user_id = $1 and box_id = $2 and id not in
               (select id from conversations where user_id = $1 and box_id = $2
                order by changed_at desc, id desc limit $3)";
    t.execute(sql, &[user.into(), box_id.into(), MOST_CONVERSATIONS.into()])?;
    Ok(record)
}

fn add(t: &Transaction<'_>, id: ConversationId, turn: &NewTurn) -> Result<(), Error> {
    let sql = "update conversations set turns = turns + 1, changed_at = $1 where id = $2";
    t.execute(sql, &[turn.at.into(), id.into()])?;
    let row = t.first("select turns from conversations where id = $1", &[id.into()])?;
    let number = row.map_or(Ok(1), |row| row.integer(0))?;
    t.execute(
        "insert into conversation_turns (conversation_id, number, question, answer, citations, at)
         values ($1, $2, $3, $4, $5, $6)",
        &[
            id.into(),
            number.into(),
            turn.question.as_str().into(),
            turn.answer.as_str().into(),
            turn.citations.as_str().into(),
            turn.at.into(),
        ],
    )?;
    for file in turn.files.iter().collect::<std::collections::BTreeSet<_>>() {
        // A file that is being deleted meanwhile is not there to be cited.
        let there = "select 1 from files where id = $1 and status <> 'deleting'";
        if t.first(there, &[(*file).into()])?.is_none() {
            forget_one(t, id, number)?;
            continue;
        }
        let sql = "insert into conversation_files (conversation_id, number, file_id) values ($1, $2, $3)";
        t.execute(sql, &[id.into(), number.into(), (*file).into()])?;
    }
    for table in ["conversation_turns", "conversation_files"] {
        let sql = format!("delete from {table} where conversation_id = $1 and number <= $2");
        t.execute(&sql, &[id.into(), (number - MOST_TURNS).into()])?;
    }
    Ok(())
}

/// Takes the answers away that cite a file which is being deleted.
pub(super) fn forget_answers_citing(t: &Transaction<'_>, file: FileId) -> Result<(), Error> {
    let sql = "select conversation_id, number from conversation_files where file_id = $1";
    for row in t.all(sql, &[file.into()])? {
        forget_one(t, row.parse(0)?, row.integer(1)?)?;
    }
    Ok(())
}

fn forget_one(t: &Transaction<'_>, id: ConversationId, number: i64) -> Result<(), Error> {
    let sql = "update conversation_turns set answer = null, citations = '[]'
               where conversation_id = $1 and number = $2";
    t.execute(sql, &[id.into(), number.into()])?;
    Ok(())
}

/// Takes a person's conversations with a box away, which they can no longer read.
pub(super) fn forget_conversations_of(t: &Transaction<'_>, user: UserId, box_id: BoxId) -> Result<(), Error> {
    let sql = "delete from conversations where user_id = $1 and box_id = $2";
    t.execute(sql, &[user.into(), box_id.into()])?;
    Ok(())
}

fn find(
    t: &Transaction<'_>,
    user: UserId,
    box_id: BoxId,
    id: ConversationId,
) -> Result<Option<ConversationRecord>, Error> {
    let row = t.first(&format!("{SELECT} and id = $3"), &[user.into(), box_id.into(), id.into()])?;
    row.map(|row| read(&row)).transpose()
}

/// A title in one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(LONGEST_TITLE).collect()
}

fn read(row: &Row) -> Result<ConversationRecord, Error> {
    Ok(ConversationRecord {
        id: row.parse(0)?,
        title: row.text(1)?.to_string(),
        changed_at: row.time(2)?,
        turns: units(row, 3)?,
        shared: row.optional(4, units)?,
    })
}

/// What was said in the first turns, as far as it is kept.
fn said(t: &Transaction<'_>, id: ConversationId, turns: u64) -> Result<Vec<Turn>, Error> {
    let sql = "select question, answer, citations, at from conversation_turns
               where conversation_id = $1 and number <= $2 order by number";
    let last = i64::try_from(turns).unwrap_or(i64::MAX);
    t.all(sql, &[id.into(), last.into()])?.iter().map(read_turn).collect()
}

fn read_turn(row: &Row) -> Result<Turn, Error> {
    Ok(Turn {
        question: row.text(0)?.to_string(),
        answer: if row.is_null(1) { None } else { Some(row.text(1)?.to_string()) },
        citations: row.text(2)?.to_string(),
        at: row.time(3)?,
    })
}
