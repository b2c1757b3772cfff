//! What a chat request says, read into what the engine asks for.

use engine::{
    Fault,
    access::Reading,
    chat::ChatRequest,
    cost::{self, ChatWork},
    seams::answerer::{Format, Sampling, Speaker, Turn},
};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    super::{
        narrowing::{Narrowing, RecencyBody},
        sources,
    },
    named::NamedBox,
};
use crate::app::App;

/// Units that the most expensive answer costs.
const MOST_UNITS: u64 = 10;
/// Texts that may end an answer.
const MOST_STOPS: usize = 4;

/// A conversation, in OpenAI's words, and what of ours goes with it.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ChatBody {
    /// What was said; roles system, developer, user, assistant. The last user message is the question.
    #[schema(value_type = Vec<Object>)]
    messages: Option<Value>,
    /// A box: its id or its name, also after `box:`. Any other name is ignored where the key can use only one box.
    model: Option<String>,
    /// Whether to send the answer while it is made.
    pub(super) stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    temperature: Option<f32>,
    top_p: Option<f32>,
    max_tokens: Option<u64>,
    max_completion_tokens: Option<u64>,
    /// A text or up to four that end the answer.
    #[schema(value_type = Option<Object>)]
    stop: Option<Value>,
    seed: Option<i64>,
    /// 1.
    n: Option<i64>,
    /// `{"type": "text"}`; JSON where the answerer can.
    #[schema(value_type = Option<Object>)]
    response_format: Option<Value>,
    #[schema(ignore)]
    tools: Option<Value>,
    #[schema(ignore)]
    functions: Option<Value>,
    #[schema(ignore)]
    modalities: Option<Value>,
    /// The box to ask, where neither path, header nor `model` names one.
    box_id: Option<String>,
    /// Several boxes to ask at once, 1 to 10, where neither path nor `box_id` names one.
    boxes: Option<Vec<String>>,
    /// A condition on the files, as in a search.
    #[schema(value_type = Option<Object>)]
    filter: Option<Value>,
    /// How much newer files are preferred, as in a search.
    recency: Option<RecencyBody>,
    /// Only these files.
    sources: Option<Vec<String>>,
    /// Another name of `sources`.
    source_file_ids: Option<Vec<String>>,
    /// The least score of a passage, 0 to 1.
    threshold: Option<f32>,
    /// Passages to answer from, 1 to 50.
    max_sources: Option<usize>,
    /// Whether to read the documents whole, where they fit.
    full_context: Option<bool>,
    /// The most that this answer may cost; less is read and written to stay below.
    max_units: Option<u64>,
    /// Whether to say only what the answer would cost.
    dry_run: Option<bool>,
    /// The same fields of ours, for clients that send them here.
    extra_body: Option<Ours>,
}

#[derive(Deserialize, ToSchema)]
struct StreamOptions {
    include_usage: Option<bool>,
}

/// What of ours a request may carry.
#[derive(Deserialize, Default, ToSchema)]
struct Ours {
    box_id: Option<String>,
    boxes: Option<Vec<String>>,
    #[schema(value_type = Option<Object>)]
    filter: Option<Value>,
    recency: Option<RecencyBody>,
    sources: Option<Vec<String>>,
    source_file_ids: Option<Vec<String>>,
    threshold: Option<f32>,
    max_sources: Option<usize>,
    full_context: Option<bool>,
    max_units: Option<u64>,
    dry_run: Option<bool>,
}

/// What a body asks for; its sources are names still.
pub(in super::super) struct Wanted {
    request: ChatRequest,
    narrowing: Narrowing,
    sources: Option<Vec<String>>,
    dry_run: bool,
}

impl ChatBody {
    /// Fields at the top take precedence over those in `extra_body`.
    fn ours(&mut self) -> Ours {
        let extra = self.extra_body.take().unwrap_or_default();
        let sources = self.sources.take().or(self.source_file_ids.take());
        Ours {
            box_id: self.box_id.take().or(extra.box_id),
            boxes: self.boxes.take().or(extra.boxes),
            filter: self.filter.take().or(extra.filter),
            recency: self.recency.take().or(extra.recency),
            sources: sources.or(extra.sources).or(extra.source_file_ids),
            source_file_ids: None,
            threshold: self.threshold.or(extra.threshold),
            max_sources: self.max_sources.or(extra.max_sources),
            full_context: self.full_context.or(extra.full_context),
            max_units: self.max_units.or(extra.max_units),
            dry_run: self.dry_run.or(extra.dry_run),
        }
    }

    /// How the request names its box, unless its path does.
    pub(super) fn named_box<'a>(&'a self, header: Option<&'a str>) -> NamedBox<'a> {
        let extra = self.extra_body.as_ref();
        let id = self.box_id.as_deref().or(extra.and_then(|extra| extra.box_id.as_deref()));
        let boxes = self.boxes.as_deref().or(extra.and_then(|extra| extra.boxes.as_deref()));
        let model = self.model.as_deref().map(str::trim).filter(|model| !model.is_empty());
        match (id, boxes, header, model) {
            (Some(id), ..) => NamedBox::Id(id.trim()),
            (None, Some(boxes), ..) => NamedBox::Several(boxes),
            (None, None, Some(id), _) => NamedBox::Id(id.trim()),
            (None, None, None, Some(model)) => NamedBox::Model(model),
            (None, None, None, None) => NamedBox::Nothing,
        }
    }

    /// Whether the stream ends with what the answer cost.
    pub(super) fn usage_in_stream(&self) -> bool {
        self.stream_options.as_ref().and_then(|options| options.include_usage).unwrap_or(false)
    }

    /// What the engine is asked, what is still to be looked up for it, and whether only the price is asked for.
    pub(in super::super) async fn request(
        self,
        app: &App,
        readings: &[Reading],
    ) -> Result<(ChatRequest, Narrowing, bool), Fault> {
        let Wanted { mut request, narrowing, sources, dry_run } = self.wanted()?;
        app.chat().prepare(&mut request)?;
        if !app.chat().can(&request.format) {
            return Err(Fault::invalid(
                "response_format",
                "`response_format` must be text: this server answers with quotations only; for JSON, ask the operator \
                 to set up a language model",
            ));
        }
        if let Some(named) = sources {
            let (files, _) = sources::find(app, readings, named, false).await?;
            request.only = Some(files.into_iter().map(|file| file.id).collect());
        }
        Ok((request, narrowing, dry_run))
    }

    /// What the body says by itself, before anything is looked up.
    pub(in super::super) fn wanted(mut self) -> Result<Wanted, Fault> {
        self.refuse_what_we_cannot()?;
        let ours = self.ours();
        if ours.max_units == Some(0) {
            return Err(Fault::invalid(
                "max_units",
                "`max_units` must be 1 or more; an answer costs at least 1",
            ));
        }
        let fits = cost::chat_within(ours.max_units.unwrap_or(MOST_UNITS));
        let (turns, wishes) = conversation(self.messages.take())?;
        let usual = ChatRequest::new(turns);
        let request = ChatRequest {
            wishes,
            threshold: ours.threshold.unwrap_or(usual.threshold),
            max_sources: ours.max_sources.unwrap_or(usual.max_sources),
            full_context: ours.full_context.unwrap_or(usual.full_context),
            most: fits.search,
            max_context_tokens: fits.context_tokens,
            sampling: self.sampling(fits)?,
            format: format(self.response_format.take())?,
            ..usual
        };
        request.check()?;
        let narrowing = Narrowing::parse(ours.filter.as_ref(), ours.recency)?;
        let dry_run = ours.dry_run.unwrap_or(false);
        Ok(Wanted { request, narrowing, sources: ours.sources, dry_run })
    }

    fn refuse_what_we_cannot(&self) -> Result<(), Fault> {
        let given = |value: &Option<Value>| {
            value
                .as_ref()
                .is_some_and(|value| value.as_array().map_or(!value.is_null(), |list| !list.is_empty()))
        };
        for (name, value) in [("tools", &self.tools), ("functions", &self.functions)] {
            if given(value) {
                let cause = format!(
                    "`{name}` is not supported: quire answers from documents and does not call tools"
                );
                return Err(Fault::invalid(name, cause));
            }
        }
        let spoken =
            |value: &Value| value.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind != "text"));
        if self.modalities.as_ref().is_some_and(spoken) {
            return Err(Fault::invalid(
                "modalities",
                "`modalities` must be [\"text\"]: quire answers in text only",
            ));
        }
        match self.n {
            None | Some(1) => Ok(()),
            Some(n) => Err(Fault::invalid(
                "n",
                format!("`n` must be 1, not {n}: quire gives one answer per request"),
            )),
        }
    }

    fn sampling(&mut self, fits: ChatWork) -> Result<Sampling, Fault> {
        within("temperature", self.temperature, 2.0)?;
        within("top_p", self.top_p, 1.0)?;
        let wanted = self.max_completion_tokens.or(self.max_tokens);
        if wanted == Some(0) {
            return Err(Fault::invalid("max_tokens", "`max_tokens` must be 1 or more, not 0"));
        }
        let wanted = wanted.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let most = wanted.min(fits.generated_tokens);
        Ok(Sampling {
            temperature: self.temperature,
            top_p: self.top_p,
            seed: self.seed,
            max_tokens: (most < usize::MAX).then_some(most),
            stop: stops(self.stop.take())?,
        })
    }
}

fn within(name: &str, value: Option<f32>, most: f32) -> Result<(), Fault> {
    match value {
        Some(value) if !(0.0..=most).contains(&value) => {
            Err(Fault::invalid(name, format!("`{name}` must be from 0 to {most}, not {value}")))
        }
        _ => Ok(()),
    }
}

fn stops(stop: Option<Value>) -> Result<Vec<String>, Fault> {
    let wrong = || {
        Fault::invalid("stop", format!("`stop` must be a string or an array of up to {MOST_STOPS} strings"))
    };
    match stop {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text]),
        Some(Value::Array(texts)) if texts.len() <= MOST_STOPS => {
            texts.into_iter().map(|text| text.as_str().map(str::to_string).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

fn format(format: Option<Value>) -> Result<Format, Fault> {
    let Some(format) = format.filter(|format| !format.is_null()) else { return Ok(Format::Text) };
    match format["type"].as_str() {
        Some("text") => Ok(Format::Text),
        Some("json_object") => Ok(Format::Object),
        Some("json_schema") if format["json_schema"].is_object() => {
            Ok(Format::Schema(format["json_schema"].clone()))
        }
        _ => Err(Fault::invalid(
            "response_format",
            "`response_format.type` must be text, json_object, or json_schema with a schema",
        )),
    }
}

/// What was said, and what system and developer messages wish.
fn conversation(messages: Option<Value>) -> Result<(Vec<Turn>, Vec<String>), Fault> {
    let missing = || Fault::missing("messages", "an array of messages that ends with the user's question");
    let messages = match messages.ok_or_else(missing)? {
        Value::Array(messages) if messages.is_empty() => return Err(missing()),
        Value::Array(messages) => messages,
        _ => return Err(Fault::invalid("messages", "`messages` must be an array")),
    };
    let (mut turns, mut wishes) = (Vec::new(), Vec::new());
    for (at, message) in messages.iter().enumerate() {
        let text = text(&message["content"], at)?;
        match message["role"].as_str() {
            Some("system" | "developer") => wishes.push(text),
            Some("user") => turns.push(Turn { speaker: Speaker::User, text }),
            Some("assistant") => turns.push(Turn { speaker: Speaker::Assistant, text }),
            Some("tool" | "function") => {
                let cause =
                    "messages with the role tool or function are not supported: quire does not call tools";
                return Err(Fault::invalid(&format!("messages[{at}].role"), cause));
            }
            _ => {
                let cause = format!("`messages[{at}].role` must be system, developer, user or assistant");
                return Err(Fault::invalid(&format!("messages[{at}].role"), cause));
            }
        }
    }
    if turns.last().is_none_or(|turn| turn.speaker != Speaker::User) {
        return Err(Fault::invalid("messages", "the last message must be the user's question"));
    }
    Ok((turns, wishes))
}

/// The text of a message: as it is, or in parts.
fn text(content: &Value, at: usize) -> Result<String, Fault> {
    let parts = match content {
        Value::String(text) => return Ok(text.clone()),
        Value::Null => return Ok(String::new()),
        Value::Array(parts) => parts,
        _ => {
            let name = format!("messages[{at}].content");
            return Err(Fault::invalid(
                &name,
                format!("`{name}` must be a string or an array of text parts"),
            ));
        }
    };
    let mut whole = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        match (part["type"].as_str(), part["text"].as_str()) {
            (Some("text" | "input_text"), Some(text)) => whole.push(text),
            (kind, _) => {
                let name = format!("messages[{at}].content[{number}]");
                let kind: String = kind.unwrap_or("one without a type").chars().take(40).collect();
                let cause =
                    format!("`{name}` must be a text part, not {kind}: images and audio are not supported");
                return Err(Fault::invalid(&name, cause));
            }
        }
    }
    Ok(whole.join("\n"))
}
