//! Trying a search: hits with their words marked, their pages, their scores, and the same as code.

use askama::Template;
use axum::extract::State;
use engine::{
    Fault,
    access::Reading,
    cost,
    seams::catalog::Operation,
    search::{Hit, Mode, SearchRequest},
};

use super::{
    fields::Fields,
    page::{self, Frame, Place, Shown},
    permit::{Here, InBox},
    show,
    snippets::Snippets,
};
use crate::{
    app::App,
    http::{origin::Origin, request_id::RequestId},
    payer::Payer,
};

/// What the form holds.
struct Wanted {
    query: String,
    mode: String,
    top_k: usize,
    rerank: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { query: String::new(), mode: "hybrid".into(), top_k: 10, rerank: true }
    }
}

impl Wanted {
    fn of(fields: &Fields) -> Result<Self, Fault> {
        let mode = fields.text("mode");
        Ok(Wanted {
            query: fields.text("query").to_string(),
            mode: if mode.is_empty() { "hybrid".into() } else { mode.to_string() },
            top_k: fields.optional("top_k")?.unwrap_or(10),
            rerank: fields.ticked("rerank"),
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

/// A hit as the page shows it.
struct Shot {
    rank: usize,
    percent: u32,
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
    query: String,
    hits: Vec<Shot>,
    cost: String,
    left: String,
    took_ms: u128,
    snippets: Snippets,
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    frame: Frame,
    here: Here,
    wanted: Wanted,
    results: Option<Results>,
}

#[derive(Template)]
#[template(path = "search_results.html")]
struct SearchResults {
    here: Here,
    results: Results,
}

/// The empty form.
pub(super) async fn show(State(app): State<App>, at: InBox<Reading>) -> Shown {
    let frame = Frame::new(&app, &at.who.0, format!("Search · {}", at.here.name), Place::Boxes);
    page::show(&SearchPage { frame, here: at.here, wanted: Wanted::default(), results: None })
}

/// Searches, and charges whoever does: the query comes in the body, so no address holds it.
pub(super) async fn search(
    State(app): State<App>,
    at: InBox<Reading>,
    origin: Origin,
    id: RequestId,
    fields: Fields,
) -> Shown {
    let wanted = Wanted::of(&fields)?;
    let results = run(&app, &at, &origin, id, &wanted).await?;
    if at.who.0.script {
        return page::show(&SearchResults { here: at.here, results });
    }
    let frame = Frame::new(&app, &at.who.0, format!("Search · {}", at.here.name), Place::Boxes);
    page::show(&SearchPage { frame, here: at.here, wanted, results: Some(results) })
}

async fn run(
    app: &App,
    at: &InBox<Reading>,
    origin: &Origin,
    id: RequestId,
    wanted: &Wanted,
) -> Result<Results, Fault> {
    let started = std::time::Instant::now();
    let request = wanted.request()?;
    let payer = Payer::signed_in(app, at.who.user().id);
    let turn = payer.turn().await?;
    let charge = payer.reserve(Operation::Search, app.search.bounds(&request).max).await?;
    let found = turn.serve(app.search.run(&at.right, request)).await?;
    app.recent_queries.note(at.here.id, &wanted.query, &found);
    app.questions.searched(id.question(), &[at.right], &wanted.query, &found.hits);
    let units = cost::search(&found.work, found.hits.len());
    let mut hits = Vec::new();
    for hit in found.hits {
        // A file that was deleted meanwhile takes its hits with it.
        if let Some(file) = app.catalog.files(&at.right, &[hit.id.file]).await?.pop().flatten() {
            hits.push(shot(hit, file.name.as_str(), hits.len() + 1));
        }
    }
    let usage = charge.settle(units).await?;
    Ok(Results {
        query: wanted.query.clone(),
        hits,
        cost: show::count(usage.intelligence_units_consumed, "unit", "units"),
        left: show::number(usage.intelligence_units_remaining),
        took_ms: started.elapsed().as_millis(),
        snippets: Snippets::of(
            &origin.to_string(),
            &at.here.id.to_string(),
            &wanted.query,
            &wanted.mode,
            wanted.top_k,
        ),
    })
}

fn shot(hit: Hit, file_name: &str, rank: usize) -> Shot {
    let chunk = &hit.chunk;
    let spans = hit.highlights.iter().map(|mark| {
        (mark.start.saturating_sub(chunk.start) as usize, mark.end.saturating_sub(chunk.start) as usize)
    });
    Shot {
        rank,
        percent: (hit.score * 100.0).round() as u32,
        file: hit.id.file.to_string(),
        file_name: file_name.to_string(),
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
        stage("Meaning", "how close its vector is to the query's", scores.semantic, ranks.semantic),
        stage("Words", "how well its words match the query", scores.keyword, ranks.keyword),
        stage("Both", "meaning and words combined", Some(scores.fused), Some(ranks.fused)),
        stage("Reranking", "from reading query and passage together", scores.rerank, None),
        stage("Score", "how likely it is to be relevant, overall", Some(hit.score), None),
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
