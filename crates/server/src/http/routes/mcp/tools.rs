//! The tools: what each is called with, and what it does. All of them only read.

use engine::{
    Fault, Reason,
    access::{Reading, no_such_box},
    chat::ChatRequest,
    ids::BoxId,
    permissions::{Permission, Permissions},
    seams::{
        answerer::{Speaker, Turn},
        catalog::{FileQuery, Filter, Operation, SortKey},
    },
    search::SearchRequest,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    super::{chat, files, finding},
    Call,
};
use crate::{
    http::{BASE, audience::Audience, body},
    payer::Usage,
};

/// Boxes that are searched at once.
const MOST_BOXES: usize = 20;

/// What a tool gives back.
pub(super) struct Done {
    pub(super) content: Value,
    /// What it cost, where it costs anything.
    pub(super) usage: Option<Usage>,
}

impl Done {
    fn free(content: Value) -> Self {
        Done { content, usage: None }
    }
}

/// What a tool asks of the key.
fn needs(tool: &str) -> Permission {
    match tool {
        "search" | "ask" => Permission::Search,
        _ => Permission::Read,
    }
}

/// The descriptions of what the key may use, always in this order. In the address of one box nobody needs to name it.
pub(super) fn list(in_box: bool, permissions: Permissions) -> Vec<Value> {
    let may = |tool: &Value| permissions.has(needs(tool["name"].as_str().unwrap_or_default()));
    all(in_box).into_iter().filter(may).collect()
}

fn all(in_box: bool) -> Vec<Value> {
    let text = |description: &str| json!({"type": "string", "description": description});
    let number = |description: &str, most: u32| json!({"type": "integer", "minimum": 1, "maximum": most, "description": description});
    let the_box = || ("box", text("A box, by id or name. All boxes if left out."));
    let tool =
        |name: &str, title: &str, description: &str, required: &[&str], properties: Vec<(&str, Value)>| {
            let properties: Map<String, Value> = properties
                .into_iter()
                .filter(|(name, _)| !(in_box && *name == "box"))
                .map(|(name, schema)| (name.to_string(), schema))
                .collect();
            json!({"name": name, "title": title, "description": description,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
            "annotations": {"title": title, "readOnlyHint": true, "destructiveHint": false,
                "idempotentHint": true, "openWorldHint": false}})
        };
    let mut search = tool(
        "search",
        "Search documents",
        "Finds the passages of the user's documents that answer a question, by meaning and by words. Costs 1 to 4 \
         intelligence units. Use `fetch` with the id of a result to read more around it.",
        &["query"],
        vec![
            ("query", text("What to look for: a question or key words.")),
            the_box(),
            ("top_k", number("The most results; 10 if left out.", 50)),
            (
                "filter",
                json!({"type": "object", "description": "A condition on the files' metadata, such as \
                    {\"year\": {\"$gte\": 2020}}, and on $file.name, $file.tags, $file.language, $file.createdAt."}),
            ),
        ],
    );
    search["outputSchema"] = json!({"type": "object", "required": ["results"], "properties": {"results":
        {"type": "array", "items": {"type": "object", "required": ["id", "title", "url"], "properties": {
            "id": {"type": "string"}, "title": {"type": "string"}, "url": {"type": "string"},
            "text": {"type": "string"}, "score": {"type": "number"}, "page": {"type": "integer"}}}}}});
    let mut fetch = tool(
        "fetch",
        "Read a result or a document",
        "Returns the text behind an id: the pages of a search result, or a whole document. Free.",
        &["id"],
        vec![("id", text("The id of a search result (chk_…) or of a file (fil_…)."))],
    );
    fetch["outputSchema"] = json!({"type": "object", "required": ["id", "title", "text", "url"], "properties": {
        "id": {"type": "string"}, "title": {"type": "string"}, "text": {"type": "string"},
        "url": {"type": "string"}, "metadata": {"type": "object"}}});
    vec![
        search,
        fetch,
        tool(
            "list_boxes",
            "List boxes",
            "Lists the boxes (collections of documents) that can be searched. Free.",
            &[],
            vec![],
        ),
        tool(
            "list_files",
            "List files",
            "Lists the documents of a box or of all boxes, newest first. Free.",
            &[],
            vec![
                the_box(),
                ("query", text("Only files with this in their name.")),
                ("cursor", text("`next_cursor` of the previous part, to get the next one.")),
                ("limit", number("The most files; 50 if left out.", 200)),
            ],
        ),
        tool(
            "read_pages",
            "Read pages",
            "Returns the text of some pages of a document. Free.",
            &["file"],
            vec![
                ("file", text("The id of the file (fil_…).")),
                (
                    "pages",
                    text("Which pages, such as 1-3,7. From the first on if left out, as far as they fit."),
                ),
            ],
        ),
        tool(
            "ask",
            "Ask the documents",
            "Answers a question from the documents of one box, with citations that were checked against the pages. Costs 1 \
             to 10 intelligence units.",
            &["question"],
            vec![
                ("question", text("The question.")),
                ("box", text("The box to ask, by id or name; needed where there are several.")),
            ],
        ),
    ]
}

#[derive(Deserialize)]
struct SearchArguments {
    query: String,
    r#box: Option<String>,
    top_k: Option<usize>,
    filter: Option<Value>,
}

#[derive(Deserialize)]
struct FetchArguments {
    id: String,
}

#[derive(Deserialize)]
struct ListArguments {
    r#box: Option<String>,
    query: Option<String>,
    cursor: Option<String>,
    limit: Option<u32>,
}

#[derive(Deserialize)]
struct ReadArguments {
    file: String,
    pages: Option<String>,
}

#[derive(Deserialize)]
struct AskArguments {
    question: String,
    r#box: Option<String>,
}

/// The sort of a list of files; its cursors are good for no other.
const NEWEST_FIRST: &str = "-createdAt";

impl Call {
    /// Calls a tool; `None` where there is none of this name.
    pub(super) async fn call(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Option<Result<Done, Fault>> {
        let arguments = Value::Object(arguments.clone());
        Some(match name {
            "search" => match body::typed(&arguments) {
                Ok(arguments) => self.search(arguments).await,
                Err(fault) => Err(fault),
            },
            "fetch" => match body::typed::<FetchArguments>(&arguments) {
                Ok(arguments) => self.fetch(arguments.id.trim()).await.map(Done::free),
                Err(fault) => Err(fault),
            },
            "list_boxes" => self.list_boxes().await,
            "list_files" => match body::typed(&arguments) {
                Ok(arguments) => self.list_files(arguments).await,
                Err(fault) => Err(fault),
            },
            "read_pages" => match body::typed::<ReadArguments>(&arguments) {
                Ok(arguments) => {
                    self.read_pages(arguments.file.trim(), arguments.pages.as_deref()).await.map(Done::free)
                }
                Err(fault) => Err(fault),
            },
            "ask" => match body::typed(&arguments) {
                Ok(arguments) => self.ask(arguments).await,
                Err(fault) => Err(fault),
            },
            _ => return None,
        })
    }

    /// The link to a page of a file, for people.
    pub(super) fn link(&self, file: impl std::fmt::Display, page: u32) -> String {
        format!("{}{BASE}/files/{file}?page={page}#page={page}", self.origin)
    }

    /// The right to a box that a tool needs.
    fn one(&self, needed: Permission, box_id: BoxId) -> Result<Reading, Fault> {
        match needed {
            Permission::Search => self.caller.may_search(box_id),
            Permission::Read | Permission::Write | Permission::Manage => self.caller.may_read(box_id),
        }
    }

    /// The boxes that a tool works on.
    async fn boxes(&self, needed: Permission, named: Option<&str>) -> Result<Vec<Reading>, Fault> {
        if let Some(only) = self.only {
            return Ok(vec![self.one(needed, only)?]);
        }
        let all = match needed {
            Permission::Search => self.caller.searchable()?,
            Permission::Read | Permission::Write | Permission::Manage => self.caller.readable()?,
        };
        let Some(named) = named.map(str::trim).filter(|named| !named.is_empty()) else { return Ok(all) };
        if let Ok(id) = named.parse() {
            return Ok(vec![self.one(needed, id)?]);
        }
        let records = self.app.catalog.boxes_of(&all).await?;
        let lower = named.to_lowercase();
        let alike = |name: &str| name.to_lowercase() == lower;
        let found: Vec<_> = records.iter().filter(|record| alike(record.name.as_str())).collect();
        match found[..] {
            [] => Err(no_such_box()),
            [record] => Ok(vec![self.one(needed, record.id)?]),
            [..] => Err(Fault::invalid("box", format!("several boxes are called `{named}`; use the box id"))),
        }
    }

    async fn search(&self, arguments: SearchArguments) -> Result<Done, Fault> {
        let readings = self.boxes(Permission::Search, arguments.r#box.as_deref()).await?;
        if readings.len() > MOST_BOXES {
            let cause =
                format!("this key can use {} boxes; one search covers {MOST_BOXES} at most", readings.len());
            return Err(Fault::invalid("box", cause).hint("name one with `box`; list_boxes lists them"));
        }
        let usual = SearchRequest::new(arguments.query);
        let request = SearchRequest { top_k: arguments.top_k.unwrap_or(usual.top_k), ..usual };
        let filter = arguments.filter.as_ref().filter(|filter| !filter.is_null());
        let filter = filter.map(Filter::parse).transpose()?;
        let found =
            finding::search(&self.app, &self.payer, self.request, &readings, vec![request], filter).await?;
        let results = found.hits.into_iter().map(|(hit, file)| {
            json!({"id": hit.id, "title": file.name.as_str(), "url": self.link(file.id, hit.chunk.page),
                "text": hit.chunk.text, "score": hit.score, "page": hit.chunk.page, "file_id": file.id,
                "box_id": file.box_id, "section": hit.chunk.section})
        });
        let content = json!({"results": results.collect::<Vec<_>>(), "usage": found.usage});
        Ok(Done { content, usage: Some(found.usage) })
    }

    async fn list_boxes(&self) -> Result<Done, Fault> {
        let records = self.app.catalog.boxes_of(&self.boxes(Permission::Read, None).await?).await?;
        let boxes = records.iter().map(|record| {
            json!({"id": record.id, "name": record.name.as_str(), "language": record.language, "role": self.caller.role(record.id),
                "created_at": record.created_at})
        });
        Ok(Done::free(json!({"boxes": boxes.collect::<Vec<_>>()})))
    }

    async fn list_files(&self, arguments: ListArguments) -> Result<Done, Fault> {
        let limit = arguments.limit.unwrap_or(50);
        if !(1..=200).contains(&limit) {
            return Err(Fault::invalid("limit", "`limit` must be a whole number from 1 to 200"));
        }
        let after = arguments.cursor.filter(|cursor| !cursor.is_empty());
        let query = FileQuery {
            name_part: arguments.query.filter(|part| !part.is_empty()),
            statuses: Vec::new(),
            tags: Vec::new(),
            sort: SortKey::CreatedAt,
            descending: true,
            after: after.map(|cursor| files::read_cursor(&cursor, NEWEST_FIRST)).transpose()?,
            limit,
        };
        let readings = self.boxes(Permission::Read, arguments.r#box.as_deref()).await?;
        let page = self.app.catalog.list_files(&readings, query).await?;
        let files = page.files.iter().map(|file| {
            json!({"id": file.id, "title": file.name.as_str(), "url": self.link(file.id, 1), "box_id": file.box_id,
                "status": file.status, "pages": file.extent.pages, "media_type": file.media_type,
                "language": file.language, "tags": file.tags, "metadata": file.metadata,
                "created_at": file.created_at})
        });
        let next = page.next.map(|at| files::write_cursor(at, NEWEST_FIRST));
        Ok(Done::free(json!({"files": files.collect::<Vec<_>>(), "total": page.total, "next_cursor": next})))
    }

    async fn ask(&self, arguments: AskArguments) -> Result<Done, Fault> {
        let readings = self.boxes(Permission::Search, arguments.r#box.as_deref()).await?;
        let [reading] = readings[..] else {
            let cause = format!("this key can use {} boxes; `box` must name the one to ask", readings.len());
            return Err(Fault::new(Reason::MissingParameter, cause)
                .param("box")
                .hint("list_boxes lists them"));
        };
        let mut request = ChatRequest::new(vec![Turn { speaker: Speaker::User, text: arguments.question }]);
        self.app.chat().prepare(&mut request)?;
        let audience = Audience::of_key(&self.app, &self.caller, reading.box_id());
        let turn = self.payer.turn().await?;
        let mut charge = self.payer.reserve(Operation::Chat, self.app.chat().bounds(&request).max).await?;
        charge.about(&readings, request.turns.last().map_or("", |turn| &turn.text));
        let answering = self.app.chat().ask(&reading, request, turn).await?;
        let (answer, outcome, usage) = chat::finished(&audience, self.request, answering, charge).await?;
        let citations = outcome.citations.iter().map(|citation| {
            json!({"index": citation.index, "id": citation.chunk, "file_id": citation.file,
                "title": citation.file_name, "page": citation.page, "quote": citation.quote,
                "score": citation.score, "url": self.link(citation.file, citation.page)})
        });
        let content = json!({"answer": answer, "citations": citations.collect::<Vec<_>>(), "usage": usage});
        Ok(Done { content, usage: Some(usage) })
    }
}
