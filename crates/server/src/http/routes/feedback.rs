//! `POST /feedback` and `GET /boxes/{box_id}/questions`: what people think of answers, and which questions the documents do not answer.

use axum::extract::State;
use engine::{
    Fault, Reason,
    access::Reading,
    ids::BoxId,
    seams::catalog::{NewQuestion, Operation, Outcome, Question, QuestionId, QuestionQuery, Rating, Trouble},
};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    app::App,
    http::{
        auth::{ManagingBox, Searcher},
        body::JsonBody,
        error::ErrorEnvelope,
        query::{Parameters, page_limit},
        reply::{Envelope, Reply, Success},
        token,
    },
};

/// Characters of a comment.
const LONGEST_COMMENT: usize = 2_000;

/// What somebody thinks of an answer.
#[derive(Deserialize, ToSchema)]
pub(crate) struct FeedbackBody {
    /// The id of a chat answer (`chatcmpl-…`), or the `x-request-id` of a search or an answer (`req_…`).
    #[schema(example = "chatcmpl-019388f0a5c07d2e8a6b3c1d2e3f4a5b")]
    id: String,
    /// 1 if it helped, -1 if it did not.
    #[schema(example = -1)]
    rating: i64,
    /// Why, at most 2,000 characters.
    comment: Option<String>,
}

/// A rating that was noted.
#[derive(Serialize, ToSchema)]
pub(crate) struct Rated {
    id: String,
    rating: i64,
    comment: Option<String>,
}

/// Rates an answer or the hits of a search, in place of an earlier rating. Whoever may search the boxes that were asked can do that, for
/// an hour after the answer, or for as long as the question is kept. Costs nothing.
#[utoipa::path(post, path = "/feedback", operation_id = "rate_answer", tag = "feedback", request_body = FeedbackBody, responses(
    (status = 200, description = "The rating was noted", body = Envelope<Rated>),
    (status = "4XX", description = "The key or the body is wrong, or no such answer can be rated", body = ErrorEnvelope)
))]
pub(super) async fn rate(
    State(app): State<App>,
    Searcher(caller): Searcher,
    body: JsonBody<FeedbackBody>,
) -> Reply<Rated> {
    let rated = note(&app, body.value, |box_id| caller.may_search(box_id).ok()).await?;
    Ok(Success::with_warnings(rated, body.warnings))
}

/// Notes what somebody thinks who may read the boxes that `may_read` gives a right to.
pub(crate) async fn note(
    app: &App,
    feedback: FeedbackBody,
    may_read: impl Fn(BoxId) -> Option<Reading>,
) -> Result<Rated, Fault> {
    let FeedbackBody { id, rating, comment } = feedback;
    let question: QuestionId =
        id.trim().parse().map_err(|wrong: String| Fault::invalid("id", format!("`id` {wrong}")))?;
    let given = Rating::of(rating).ok_or_else(|| Fault::invalid("rating", "`rating` must be 1 or -1"))?;
    let comment = comment.map(|comment| NewQuestion::cut(&comment)).filter(|comment| !comment.is_empty());
    if comment.as_ref().is_some_and(|comment| comment.chars().count() > LONGEST_COMMENT) {
        let cause = format!("`comment` must have at most {LONGEST_COMMENT} characters");
        return Err(Fault::invalid("comment", cause));
    }
    if !app.questions.are_kept() {
        let cause = "this server does not keep questions, so answers cannot be rated; the operator can change that with questions.keep";
        return Err(Fault::new(Reason::Unprocessable, cause));
    }
    // An answer can be rated the moment it has come.
    app.questions.write_down(&*app.catalog).await?;
    let boxes = app.catalog.boxes_of_question(question).await?;
    let readings: Vec<_> = boxes.into_iter().filter_map(may_read).collect();
    if readings.is_empty() {
        return Err(no_such_answer());
    }
    app.catalog.rate_question(&readings, question, given, comment.clone()).await?;
    Ok(Rated { id, rating, comment })
}

/// The one answer for an answer that never was, one of long ago, and one of a box of somebody else.
fn no_such_answer() -> Fault {
    Fault::new(Reason::NotFound, "there is no answer with this id that this key can rate")
        .hint("answers can be rated for an hour, and for longer if little or nothing was found")
        .param("id")
}

/// Which questions to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// unanswered (nothing was found), low (nothing that is likely to be relevant) or disliked; all of them if left out.
    outcome: Option<String>,
    /// Only questions asked since this day or time, such as `2026-11-01` or `2026-11-01T12:00:00Z`.
    since: Option<String>,
    /// The most questions to return, 1 to 200; 50 if left out.
    limit: Option<String>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Questions that are alike, by the latest of them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct QuestionObject {
    /// The `x-request-id` of the latest.
    #[schema(example = "req_019388f0a5c07d2e8a6b3c1d2e3f4a5b")]
    id: String,
    /// search or chat
    #[schema(value_type = String)]
    operation: &'static str,
    #[schema(example = "Who repairs the pump?")]
    question: String,
    /// unanswered, low or answered
    #[schema(value_type = String)]
    outcome: &'static str,
    /// The score of the best passage, 0 to 1; null where nothing was found.
    score: Option<f32>,
    /// 1, -1 or null
    rating: Option<i64>,
    comment: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    asked_at: Timestamp,
    /// How often this was asked; case, spaces and punctuation make no difference.
    count: u64,
}

impl QuestionObject {
    fn of(question: Question) -> Self {
        QuestionObject {
            id: format!("req_{}", question.id.simple()),
            operation: Operation::as_str(question.operation),
            question: question.text,
            outcome: Outcome::as_str(question.outcome),
            score: question.score,
            rating: question.rating.map(Rating::number),
            comment: question.comment,
            asked_at: question.asked_at,
            count: question.count,
        }
    }
}

/// A page of questions.
#[derive(Serialize, ToSchema)]
pub(super) struct QuestionList {
    questions: Vec<QuestionObject>,
    has_more: bool,
    next_cursor: Option<String>,
}

/// Lists questions that a box did not answer well, latest first: those that found nothing or little, and those whose answer was
/// disliked. It is never kept who asked. The key needs the permission `manage`.
#[utoipa::path(get, path = "/boxes/{box_id}/questions", operation_id = "list_questions", tag = "feedback",
    params(("box_id" = String, Path, description = "The box"), ListQuery),
    responses(
        (status = 200, description = "A page of questions", body = Envelope<QuestionList>),
        (status = "4XX", description = "The key, its role or a parameter is wrong", body = ErrorEnvelope)
    ))]
pub(super) async fn list(
    State(app): State<App>,
    ManagingBox(managing): ManagingBox,
    query: Parameters<ListQuery>,
) -> Reply<QuestionList> {
    let wanted = query.value.wanted()?;
    let limit = wanted.limit;
    app.questions.write_down(&*app.catalog).await?;
    // One more than is shown says whether there are more.
    let mut questions =
        app.catalog.questions(&managing, QuestionQuery { limit: limit + 1, ..wanted }).await?;
    let has_more = questions.len() > limit as usize;
    questions.truncate(limit as usize);
    let next_cursor = questions.last().filter(|_| has_more).map(write_cursor);
    let questions = questions.into_iter().map(QuestionObject::of).collect();
    Ok(Success::with_warnings(QuestionList { questions, has_more, next_cursor }, query.warnings))
}

impl ListQuery {
    fn wanted(&self) -> Result<QuestionQuery, Fault> {
        let limit = page_limit(self.limit.as_deref())?;
        let trouble = self.outcome.as_deref().map(str::parse::<Trouble>).transpose();
        Ok(QuestionQuery {
            trouble: trouble.map_err(|wrong| Fault::invalid("outcome", wrong))?,
            since: self.since.as_deref().map(moment).transpose()?,
            after: self.cursor.as_deref().map(read_cursor).transpose()?,
            limit,
        })
    }
}

/// A time, or the beginning of a day in UTC.
fn moment(text: &str) -> Result<Timestamp, Fault> {
    let day = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok().map(|start| start.timestamp());
    text.parse::<Timestamp>().ok().or_else(day).ok_or_else(|| {
        Fault::invalid("since", "`since` must be a day or a time such as 2026-11-01 or 2026-11-01T12:00:00Z")
    })
}

fn write_cursor(question: &Question) -> String {
    let place = format!("{} {}", question.asked_at.as_millisecond(), question.id.simple());
    token::encode(place.as_bytes())
}

fn read_cursor(text: &str) -> Result<(Timestamp, QuestionId), Fault> {
    let place = token::decode(text).and_then(|bytes| String::from_utf8(bytes).ok());
    let read = |place: String| {
        let (at, id) = place.split_once(' ')?;
        Some((Timestamp::from_millisecond(at.parse().ok()?).ok()?, QuestionId::stored(id)?))
    };
    place.and_then(read).ok_or_else(|| {
        let cause = "the cursor is not valid; use `next_cursor` of the previous page unchanged";
        Fault::invalid("cursor", cause)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_and_a_time_is_exact() {
        assert_eq!(moment("2026-11-01").unwrap(), moment("2026-11-01T00:00:00Z").unwrap());
        assert_eq!(moment("2026-11-01T01:00:00+01:00").unwrap(), moment("2026-11-01").unwrap());
        for wrong in ["", "yesterday", "2026-13-01", "12"] {
            assert_eq!(moment(wrong).unwrap_err().param.as_deref(), Some("since"), "{wrong}");
        }
    }

    #[test]
    fn a_cursor_that_was_changed_is_refused() {
        for wrong in ["", "nonsense", &token::encode(b"12 x"), &token::encode(b"x")] {
            assert!(read_cursor(wrong).is_err(), "{wrong}");
        }
    }
}
