//! Trying a search: hits with their words marked, their pages, their scores, and the same as code.

use std::{collections::HashMap, time::Instant};

use askama::Template;
use axum::extract::{Query, State};
use engine::{
    Fault, Reason,
    access::Reading,
    ids::BoxId,
    seams::catalog::FileRecord,
    search::{Hit, Mode, SearchRequest},
};

use super::{
    certificate,
    fields::Fields,
    narrowed::Narrowed,
    page::{self, Frame, Place, Shown},
    permit::{Here, InBox, SignedIn},
    snippets::Snippets,
};
use crate::{
    app::App,
    http::{BASE, origin::Origin, request_id::RequestId, routes::finding},
    payer::Payer,
    words::Words,
};

/// Boxes that one search looks into: opening more at once would take longer than somebody waits.
const MOST_BOXES: usize = 50;

/// What the form holds.
struct Wanted {
    query: String,
    mode: String,
    top_k: usize,
    rerank: bool,
    narrowed: Narrowed,
}

impl Wanted {
    fn of(fields: &Fields) -> Result<Self, Fault> {
        let mode = fields.text("mode");
        Ok(Wanted {
            query: fields.text("query").to_string(),
            mode: if mode.is_empty() { "hybrid".into() } else { mode.to_string() },
            top_k: fields.optional("top_k")?.unwrap_or(10),
            // A form that was never sent says nothing of it.
            rerank: fields.ticked("rerank") || !fields.has("query"),
            narrowed: Narrowed::of(fields),
        })
    }

    fn request(&self) -> Result<SearchRequest, Fault> {
        let mode = match self.mode.as_str() {
            "hybrid" => Mode::Hybrid,
            "semantic" => Mode::Semantic,
            "keyword" => Mode::Keyword,
            other => return Err(Fault::invalid("mode", format!("`{other}` is not a search mode"))),
        };
        let request = SearchRequest {
            mode,
            top_k: self.top_k,
            rerank: self.rerank,
            explain: true,
            ..SearchRequest::new(self.query.clone())
        };
        request.check()?;
        Ok(request)
    }
}

/// One stage that a hit went through.
struct Stage {
    /// The texts of what it is called and what it says.
    name: &'static str,
    meaning: &'static str,
    score: String,
    value: f32,
    rank: Option<usize>,
}

/// A piece of a passage, marked or not.
struct Piece {
    marked: bool,
    text: String,
}

/// How well a passage fits, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strength {
    Strong,
    Possible,
    Weak,
}

impl Strength {
    /// Of a score, which is the share of passages with it that are relevant. Scores are low in boxes of a few files, where little
    /// is known of how rare a word is: there the right passage had 0.01 to 0.5, and nonsense at most 0.009. Whoever types a word
    /// wants to see where it stands, however likely that passage is.
    pub(super) fn of(score: f32, has_a_word: bool) -> Self {
        match score {
            score if score >= 0.3 => Strength::Strong,
            score if score >= 0.01 || has_a_word => Strength::Possible,
            _ => Strength::Weak,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Strength::Strong => "strong",
            Strength::Possible => "possible",
            Strength::Weak => "weak",
        }
    }

    /// The text for it.
    fn key(self) -> &'static str {
        match self {
            Strength::Strong => "asking-strong",
            Strength::Possible => "asking-possible",
            Strength::Weak => "asking-faint",
        }
    }
}

/// A hit as the page shows it.
struct Shot {
    rank: usize,
    percent: u32,
    strength: Strength,
    box_id: BoxId,
    /// What its box is called, where several were searched.
    box_name: String,
    file: String,
    file_name: String,
    page: u32,
    start: u32,
    end: u32,
    section: String,
    pieces: Vec<Piece>,
    stages: Vec<Stage>,
    copies: usize,
}

struct Results {
    words: Words,
    query: String,
    /// Those that are likely, or may be, what was looked for.
    hits: Vec<Shot>,
    /// Those that hardly are.
    weak: Vec<Shot>,
    narrowed: bool,
    certificate: bool,
    cost: String,
    left: String,
    took_ms: u128,
    /// The same as code, where one box was searched.
    snippets: Option<Snippets>,
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    frame: Frame,
    here: Here,
    action: String,
    wanted: Wanted,
    results: Option<Results>,
}

#[derive(Template)]
#[template(path = "search_everywhere.html")]
struct EverywherePage {
    frame: Frame,
    action: String,
    boxes: usize,
    wanted: Wanted,
    results: Option<Results>,
}

#[derive(Template)]
#[template(path = "search_results.html")]
struct SearchResults {
    results: Results,
}

/// The form, filled in with what the address says. The script searches then: a link that somebody followed costs nothing
/// until a page of ours asks.
pub(super) async fn show(
    State(app): State<App>,
    at: InBox<Reading>,
    Query(sent): Query<Vec<(String, String)>>,
) -> Shown {
    page::show(&in_box(&app, at, Wanted::of(&Fields::of(sent))?, None))
}

/// Searches a box, and charges whoever does: the query comes in the body, so no log holds it.
pub(super) async fn search(
    State(app): State<App>,
    at: InBox<Reading>,
    origin: Origin,
    id: RequestId,
    fields: Fields,
) -> Shown {
    let wanted = Wanted::of(&fields)?;
    let mut results = run(&app, &at.who, id, &[at.right], &wanted).await?;
    let address = format!("{origin}{BASE}/boxes/{}", at.here.id);
    let own = certificate::of(&app);
    results.snippets = Some(Snippets::of(&address, own, &wanted.query, &wanted.mode, wanted.top_k));
    if at.who.0.script {
        return page::show(&SearchResults { results });
    }
    page::show(&in_box(&app, at, wanted, Some(results)))
}

fn in_box(app: &App, at: InBox<Reading>, wanted: Wanted, results: Option<Results>) -> SearchPage {
    let frame = Frame::in_box(app, &at.who.0, "frame-search", &at.here.name);
    SearchPage { frame, action: format!("/boxes/{}/search", at.here.id), here: at.here, wanted, results }
}

/// The same form for all boxes of the visitor.
pub(super) async fn show_everywhere(
    State(app): State<App>,
    who: SignedIn,
    Query(sent): Query<Vec<(String, String)>>,
) -> Shown {
    page::show(&everywhere(&app, &who, Wanted::of(&Fields::of(sent))?, None))
}

/// Searches all boxes that the visitor may read.
pub(super) async fn search_everywhere(
    State(app): State<App>,
    who: SignedIn,
    id: RequestId,
    fields: Fields,
) -> Shown {
    let wanted = Wanted::of(&fields)?;
    let results = run(&app, &who, id, &readable(&who), &wanted).await?;
    if who.0.script {
        return page::show(&SearchResults { results });
    }
    page::show(&everywhere(&app, &who, wanted, Some(results)))
}

fn everywhere(app: &App, who: &SignedIn, wanted: Wanted, results: Option<Results>) -> EverywherePage {
    let frame = Frame::new(app, &who.0, who.0.words.text("frame-search"), Place::Search);
    EverywherePage { frame, action: "/search".into(), boxes: readable(who).len(), wanted, results }
}

fn readable(who: &SignedIn) -> Vec<Reading> {
    let mut readings = who.person().readable();
    // Latest first: their ids have the order of time.
    readings.reverse();
    readings.truncate(MOST_BOXES);
    readings
}

async fn run(
    app: &App,
    who: &SignedIn,
    id: RequestId,
    readings: &[Reading],
    wanted: &Wanted,
) -> Result<Results, Fault> {
    let started = Instant::now();
    let (request, filter) = (wanted.request()?, wanted.narrowed.filter()?);
    let totals = app.catalog.totals(readings).await?;
    let with_text = readings.iter().zip(totals).filter(|(_, totals)| totals.pages > 0);
    let filled: Vec<Reading> = with_text.map(|(reading, _)| *reading).collect();
    if filled.is_empty() {
        return Err(Fault::new(Reason::NotReady, "there is no text yet, so there is nothing to search")
            .hint("add files, and wait until the first one is ready"));
    }
    let payer = Payer::signed_in(app, who.user().id);
    let narrowed = filter.is_some();
    let found = finding::search(app, &payer, id, &filled, vec![request], filter).await?;
    let names = box_names(app, readings).await?;
    let shots = found.hits.into_iter().enumerate().map(|(at, (hit, file))| shot(hit, &file, at + 1, &names));
    let (hits, weak) = shots.partition(|hit: &Shot| hit.strength != Strength::Weak);
    let words = who.0.words;
    Ok(Results {
        words,
        query: wanted.query.clone(),
        hits,
        weak,
        narrowed,
        certificate: certificate::of(app),
        cost: words.count("frame-count-units", found.usage.intelligence_units_consumed),
        left: words.number(found.usage.intelligence_units_remaining),
        took_ms: started.elapsed().as_millis(),
        snippets: None,
    })
}

/// What the boxes are called, where there are several to tell apart.
async fn box_names(app: &App, readings: &[Reading]) -> Result<HashMap<BoxId, String>, Fault> {
    if readings.len() < 2 {
        return Ok(HashMap::new());
    }
    let records = app.catalog.boxes_of(readings).await?;
    Ok(records.into_iter().map(|record| (record.id, record.name.as_str().to_string())).collect())
}

fn shot(hit: Hit, file: &FileRecord, rank: usize, names: &HashMap<BoxId, String>) -> Shot {
    let chunk = &hit.chunk;
    let spans = hit.highlights.iter().map(|mark| {
        (mark.start.saturating_sub(chunk.start) as usize, mark.end.saturating_sub(chunk.start) as usize)
    });
    Shot {
        rank,
        percent: (hit.score * 100.0).round() as u32,
        strength: Strength::of(hit.score, !hit.highlights.is_empty()),
        box_id: file.box_id,
        box_name: names.get(&file.box_id).cloned().unwrap_or_default(),
        file: hit.id.file.to_string(),
        file_name: file.name.as_str().to_string(),
        page: chunk.page,
        start: chunk.start,
        end: if chunk.page == chunk.page_end { chunk.end } else { u32::MAX },
        section: chunk.section.join(" › "),
        pieces: pieces(&chunk.text, spans),
        stages: stages(&hit),
        copies: hit.copies.len(),
    }
}

/// The text cut at the marks, which are in order and in code points.
fn pieces(text: &str, spans: impl Iterator<Item = (usize, usize)>) -> Vec<Piece> {
    let letters: Vec<char> = text.chars().collect();
    let mut pieces = Vec::new();
    let mut done = 0;
    let mut push = |from: usize, to: usize, marked: bool| {
        if from < to {
            pieces.push(Piece { marked, text: letters[from..to].iter().collect() });
        }
    };
    for (start, end) in spans {
        let (start, end) = (start.clamp(done, letters.len()), end.clamp(done, letters.len()));
        push(done, start, false);
        push(start, end, true);
        done = done.max(end);
    }
    push(done, letters.len(), false);
    pieces
}

fn stages(hit: &Hit) -> Vec<Stage> {
    let stage = |name, meaning, score: Option<f32>, rank| {
        score.map(|value| Stage { name, meaning, score: format!("{value:.2}"), value, rank })
    };
    let (scores, ranks) = (hit.scores, hit.ranks);
    let all = [
        stage("asking-stage-meaning", "asking-stage-meaning-says", scores.semantic, ranks.semantic),
        stage("asking-stage-words", "asking-stage-words-says", scores.keyword, ranks.keyword),
        stage("asking-stage-both", "asking-stage-both-says", Some(scores.fused), Some(ranks.fused)),
        stage("asking-stage-rerank", "asking-stage-rerank-says", scores.rerank, None),
        stage("asking-score", "asking-stage-score-says", Some(hit.score), None),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_cut_a_text_where_they_stand() {
        let cut = pieces("größe zählt", [(0, 5), (6, 99)].into_iter());
        let cut: Vec<_> = cut.iter().map(|piece| (piece.marked, piece.text.as_str())).collect();
        assert_eq!(cut, [(true, "größe"), (false, " "), (true, "zählt")]);
        assert_eq!(pieces("", [(0, 3)].into_iter()).len(), 0);
        assert_eq!(pieces("abc", std::iter::empty()).len(), 1);
    }
}
