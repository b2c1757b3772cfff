//! What language boxes are for.

use async_trait::async_trait;
use engine::{
    Fault,
    access::{Managing, Writing, no_such_box},
    ids::BoxId,
    seams::catalog::{BoxLanguage, BoxRecord, EventKind, Languages, ReindexAction, SHORT_TEXT},
};
use jiff::Timestamp;

use super::{
    Sql,
    boxes::{BOXES, read_box},
    reindex::request,
    sql::Transaction,
    webhooks::{Event, emit},
};
use crate::Error;

#[async_trait]
impl Languages for Sql {
    async fn set_language(&self, managing: &Managing, language: BoxLanguage) -> Result<bool, Fault> {
        let box_id = managing.box_id();
        self.database
            .write(move |t| {
                let before = record(t, box_id)?;
                if before.language == language {
                    return Ok(false);
                }
                // What was found out about the box stays true while that is what it is for.
                let now = match language {
                    BoxLanguage::Auto => before.is_multilingual().then(Timestamp::now),
                    BoxLanguage::English | BoxLanguage::Multilingual => None,
                };
                let after = BoxRecord { language, changed_over_at: now, ..before.clone() };
                write(t, &after)?;
                let again = after.is_multilingual() != before.is_multilingual() && has_files(t, box_id)?;
                if again {
                    request(t, box_id, ReindexAction::Rebuild)?;
                }
                tell(t, &after)?;
                Ok(again)
            })
            .await
    }

    async fn change_over(&self, writing: &Writing) -> Result<bool, Fault> {
        let box_id = writing.box_id();
        self.database
            .write(move |t| {
                let before = record(t, box_id)?;
                if before.language != BoxLanguage::Auto || before.is_multilingual() || !is_foreign(t, box_id)?
                {
                    return Ok(false);
                }
                let after = BoxRecord { changed_over_at: Some(Timestamp::now()), ..before };
                write(t, &after)?;
                request(t, box_id, ReindexAction::Rebuild)?;
                tell(t, &after)?;
                Ok(true)
            })
            .await
    }

    async fn languages_of(&self, writing: &Writing) -> Result<Vec<String>, Fault> {
        /// What was added last says best what comes next, and a large box is not read through for every file.
        const LATEST: i64 = 200;
        let sql = "select language, cast(sum(characters) as bigint) from
                     (select language, characters from files where box_id = $1 and status in ('ready', 'ready_with_warnings')
                      and language is not null and characters >= $2 order by created_at desc, id desc limit $3) as latest
                   group by language order by 2 desc, 1";
        let parameters = [writing.box_id().into(), (SHORT_TEXT as i64).into(), LATEST.into()];
        let rows = self.database.read(|t| t.all(sql, &parameters))?;
        let counted: Vec<(String, i64)> = rows
            .iter()
            .map(|row| Ok((row.text(0)?.to_owned(), row.integer(1)?)))
            .collect::<Result<_, Error>>()?;
        let whole: i64 = counted.iter().map(|(_, characters)| characters).sum();
        Ok(counted
            .into_iter()
            .filter(|(_, characters)| *characters > whole / 20)
            .map(|(language, _)| language)
            .collect())
    }

    async fn begin_multilingual(&self, writing: &Writing) -> Result<(), Fault> {
        let box_id = writing.box_id();
        let sql = "update boxes set changed_over_at = $1
                   where id = $2 and language = 'auto' and changed_over_at is null";
        self.database
            .write(move |t| Ok(t.execute(sql, &[Timestamp::now().into(), box_id.into()])?))
            .await
            .map(drop)
    }

    async fn keep_language(&self, writing: &Writing, multilingual: bool) -> Result<(), Fault> {
        let box_id = writing.box_id();
        self.database
            .write(move |t| {
                let before = record(t, box_id)?;
                if before.is_multilingual() == multilingual {
                    return Ok(());
                }
                let language = match multilingual {
                    true => BoxLanguage::Multilingual,
                    false => BoxLanguage::English,
                };
                let after = BoxRecord { language, changed_over_at: None, ..before };
                write(t, &after)?;
                Ok(tell(t, &after)?)
            })
            .await
    }
}

fn record(transaction: &Transaction<'_>, box_id: BoxId) -> Result<BoxRecord, Fault> {
    let sql = format!("{BOXES} where id = $1 and deleting_at is null");
    let row = transaction.first(&sql, &[box_id.into()])?.ok_or_else(no_such_box)?;
    Ok(read_box(&row)?)
}

fn write(transaction: &Transaction<'_>, record: &BoxRecord) -> Result<(), Error> {
    transaction.execute(
        "update boxes set language = $1, changed_over_at = $2 where id = $3",
        &[record.language.as_str().into(), record.changed_over_at.into(), record.id.into()],
    )?;
    Ok(())
}

fn has_files(transaction: &Transaction<'_>, box_id: BoxId) -> Result<bool, Error> {
    let sql = "select 1 from files where box_id = $1 and status <> 'deleting' limit 1";
    Ok(transaction.first(sql, &[box_id.into()])?.is_some())
}

/// Whether more than a tenth of what can be read in the box is in another language than English. What is short, or of a
/// language that could not be told, does not count.
fn is_foreign(transaction: &Transaction<'_>, box_id: BoxId) -> Result<bool, Error> {
    let sql = "select cast(coalesce(sum(characters), 0) as bigint),
               cast(coalesce(sum(case when language <> 'en' then characters end), 0) as bigint)
               from files where box_id = $1 and status in ('ready', 'ready_with_warnings')
               and language is not null and characters >= $2";
    let Some(row) = transaction.first(sql, &[box_id.into(), (SHORT_TEXT as i64).into()])? else {
        return Ok(false);
    };
    Ok(row.integer(1)? > row.integer(0)? / 10)
}

/// Tells webhooks what the box is for now.
fn tell(transaction: &Transaction<'_>, record: &BoxRecord) -> Result<(), Error> {
    let data = serde_json::json!({
        "boxId": record.id, "name": record.name.as_str(), "language": record.language,
        "multilingual": record.is_multilingual(),
    });
    let (kind, subject) = (EventKind::BoxLanguageChanged, record.id.to_string());
    emit(transaction, &Event { kind, box_id: Some(record.id), user: None, subject: &subject, data })
}
