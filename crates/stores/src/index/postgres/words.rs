//! Full text: postings kept in a table, scored here with BM25.
//!
//! A term's postings lie together in the table's index and come in one query; scoring a hundred thousand of them takes
//! some milliseconds. Terms, weights and formula are those of the embedded index, so both rank alike.

use std::collections::{BTreeSet, HashMap, HashSet};

use engine::{
    ids::{ChunkId, FileId},
    seams::index::{Candidate, Correction, Recall},
};

use super::{
    super::text::{Field, Group, HEADING_WEIGHT, Languages, Speller},
    Content,
};
use crate::{Error, postgres::Connection};

/// Postings in one row: an entry of the server's index has room for 2,700 bytes, and a posting takes ten at most.
pub(super) const MOST_IN_PART: usize = 200;

/// How many terms a chunk has in its text, and in what is above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Length {
    pub(super) body: u32,
    pub(super) head: u32,
}

/// How often a term occurs in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) ordinal: u32,
    pub(super) body: u32,
    pub(super) head: u32,
    pub(super) length: Length,
}

/// Postings as bytes: each number in groups of seven bits, ordinals as the distance to the one before.
pub(super) fn pack(postings: &[Posting]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(postings.len() * 6);
    let mut before = 0;
    for posting in postings {
        let Posting { ordinal, body, head, length } = *posting;
        for mut number in [ordinal - before, body, head, length.body, length.head] {
            while number >= 0x80 {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
        }
        before = ordinal;
    }
    bytes
}

/// Reads packed postings; what is cut off is left out.
fn unpack(bytes: &[u8]) -> impl Iterator<Item = Posting> {
    let mut bytes = bytes.iter();
    let mut number = move || {
        let mut number = 0u32;
        for shift in (0..35).step_by(7) {
            let byte = *bytes.next()?;
            number |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                break;
            }
        }
        Some(number)
    };
    let mut before = 0;
    std::iter::from_fn(move || {
        let ordinal = before + number()?;
        before = ordinal;
        let (body, head) = (number()?, number()?);
        Some(Posting { ordinal, body, head, length: Length { body: number()?, head: number()? } })
    })
}

/// The postings of terms, each with the number of its file.
type Postings = HashMap<String, Vec<(i64, Posting)>>;

/// The chunks that share words with `text`, best first; and the words of it that were taken for others.
pub(super) async fn find(
    connection: Connection,
    content: &Content,
    text: &str,
    recall: &Recall<'_>,
) -> Result<(Vec<Candidate>, Vec<Correction>), Error> {
    let languages = Languages::of(
        content.languages.iter().map(|language| Some(language.clone()).filter(|name| !name.is_empty())),
    );
    let mut question = languages.read(text);
    let terms: Vec<&str> = question.terms().into_iter().collect();
    if terms.is_empty() {
        return Ok(Default::default());
    }
    let allowed = match recall.only {
        Some(only) => Some(numbers(&connection, content, only).await?),
        None => None,
    };
    let mut postings = postings(&connection, content, &terms).await?;
    let unknown = question.unknown(|term| postings.contains_key(term));
    let mut corrections = Vec::new();
    if !unknown.is_empty() {
        corrections = meant(&connection, content, unknown).await?;
        question.correct(&corrections);
        let terms: Vec<&str> =
            question.terms().into_iter().filter(|term| !postings.contains_key(*term)).collect();
        postings.extend(self::postings(&connection, content, &terms).await?);
    }
    let mut scores: HashMap<(i64, u32), f32> = HashMap::new();
    for group in question.groups() {
        score(content, &group, &postings, &mut scores, allowed.as_ref());
    }
    let mut best: Vec<_> = scores.into_iter().collect();
    // Ties in the order of storing: the same question gets the same answer.
    best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    best.truncate(recall.limit);
    Ok((named(&connection, content, &best).await?, corrections))
}

async fn postings(connection: &Connection, content: &Content, terms: &[&str]) -> Result<Postings, Error> {
    let sql = "select term, file, hits from index_postings where box = $1 and term = any($2)";
    let statement = connection.prepared(sql).await?;
    let mut by_term = Postings::new();
    for row in &connection.query(&statement, &[&content.number, &terms]).await? {
        let (term, file, hits): (&str, i64, &[u8]) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let postings = unpack(hits).map(|posting| (file, posting));
        match by_term.get_mut(term) {
            Some(known) => known.extend(postings),
            None => drop(by_term.insert(term.to_string(), postings.collect())),
        }
    }
    Ok(by_term)
}

/// What misspelt words may mean. Reads the box's words of about their length: 100,000 take some tens of milliseconds.
async fn meant(
    connection: &Connection,
    content: &Content,
    unknown: BTreeSet<String>,
) -> Result<Vec<Correction>, Error> {
    let mut speller = Speller::new(unknown);
    let (least, most) = speller.lengths();
    let sql = "select word, files from index_words where box = $1 and length(word) between $2 and $3";
    let statement = connection.prepared(sql).await?;
    let lengths = (least as i32, most as i32);
    for row in connection.query(&statement, &[&content.number, &lengths.0, &lengths.1]).await? {
        let files: i64 = row.try_get(1)?;
        speller.offer(row.try_get(0)?, files as u64);
    }
    Ok(speller.corrections())
}

/// Adds what a group's postings count to their chunks.
fn score(
    content: &Content,
    group: &Group,
    postings: &Postings,
    scores: &mut HashMap<(i64, u32), f32>,
    allowed: Option<&HashSet<i64>>,
) {
    let postings = || group.terms.iter().filter_map(|term| postings.get(term)).flatten();
    let field = |of: fn(&Posting) -> u32, terms: i64| {
        let found = postings().filter(|(_, posting)| of(posting) > 0).count();
        Field::new(found, content.chunks as f32, terms as f32)
    };
    let body = field(|posting| posting.body, content.terms.0);
    let head = field(|posting| posting.head, content.terms.1);
    for (file, posting) in postings() {
        if allowed.is_some_and(|allowed| !allowed.contains(file)) {
            continue;
        }
        let gained = body.worth(posting.body, posting.length.body)
            + HEADING_WEIGHT * head.worth(posting.head, posting.length.head);
        *scores.entry((*file, posting.ordinal)).or_default() += group.weight * gained;
    }
}

/// The numbers of these files in the box.
async fn numbers(
    connection: &Connection,
    content: &Content,
    only: &HashSet<FileId>,
) -> Result<HashSet<i64>, Error> {
    let files: Vec<String> = only.iter().map(FileId::to_string).collect();
    let statement =
        connection.prepared("select number from index_files where box = $1 and id = any($2)").await?;
    let rows = connection.query(&statement, &[&content.number, &files]).await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Candidates with the names of their files. One whose file was stored again meanwhile is gone.
async fn named(
    connection: &Connection,
    content: &Content,
    best: &[((i64, u32), f32)],
) -> Result<Vec<Candidate>, Error> {
    let mut files: Vec<i64> = best.iter().map(|((file, _), _)| *file).collect();
    files.sort_unstable();
    files.dedup();
    let statement =
        connection.prepared("select number, id from index_files where box = $1 and number = any($2)").await?;
    let mut names: HashMap<i64, FileId> = HashMap::new();
    for row in connection.query(&statement, &[&content.number, &files]).await? {
        let id: &str = row.try_get(1)?;
        let id = id.parse().map_err(|_| Error::Corrupt(format!("`{id}` is no file")))?;
        names.insert(row.try_get(0)?, id);
    }
    let candidate = |&((file, ordinal), score): &((i64, u32), f32)| {
        let file = *names.get(&file)?;
        Some(Candidate { chunk: ChunkId { file, ordinal }, score })
    };
    Ok(best.iter().filter_map(candidate).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn postings_come_back_as_they_were(counts in prop::collection::vec((1u32..5_000, 0u32..400, 0u32..9, 0u32..70_000, 0u32..90), 0..300)) {
            let mut ordinal = 0;
            let postings: Vec<Posting> = counts.into_iter().map(|(step, body, head, long, above)| {
                ordinal += step;
                Posting { ordinal, body, head, length: Length { body: long, head: above } }
            }).collect();
            let packed = pack(&postings);
            prop_assert_eq!(unpack(&packed).collect::<Vec<_>>(), postings);
            // Cut off anywhere, it reads what is whole.
            for end in 0..packed.len() {
                unpack(&packed[..end]).for_each(drop);
            }
        }
    }

    #[test]
    fn a_full_row_fits_the_servers_index() {
        let length = Length { body: 16_000, head: 2_000 };
        let postings: Vec<Posting> = (0..MOST_IN_PART as u32)
            .map(|at| Posting { ordinal: at * 16_000, body: 16_000, head: 100, length })
            .collect();
        assert!(pack(&postings).len() + 4 * 80 < 2_600, "{}", pack(&postings).len());
    }
}
