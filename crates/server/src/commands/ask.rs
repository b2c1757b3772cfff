//! `quire ask`: a question to a box, answered while you watch, with its sources below.

use std::io::{IsTerminal, Write, stdout};

use clap::Args;
use engine::{Fault, Reason};
use serde_json::{Value, json};

use super::{
    Global,
    client::Connection,
    output,
    search::{plain, units},
};

/// Bytes of a frame at most; anything longer is not an answer of quire.
const LONGEST_FRAME: usize = 4 * 1024 * 1024;

#[derive(Args)]
pub(super) struct Ask {
    /// Box: its id or its name
    r#box: String,
    /// What to ask
    question: String,
    /// Only these files, by id (may be repeated)
    #[arg(long = "source", value_name = "FILE")]
    sources: Vec<String>,
    /// Read whole documents if they fit
    #[arg(long)]
    full_context: bool,
    /// The most units that the answer may cost
    #[arg(long, value_name = "N")]
    max_units: Option<u64>,
    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(global: &Global, ask: Ask) -> Result<(), Fault> {
    let mut working = Some(output::working(global.json, output::plain("command-searching")));
    let api = ask.connection.open(global)?;
    let box_id = api.find_box(&ask.r#box).await?;
    let mut body = json!({"messages": [{"role": "user", "content": ask.question}]});
    if !ask.sources.is_empty() {
        body["sources"] = json!(ask.sources);
    }
    if ask.full_context {
        body["full_context"] = json!(true);
    }
    if let Some(most) = ask.max_units {
        body["max_units"] = json!(most);
    }
    let path = format!("/boxes/{box_id}/chat/completions");
    if global.json {
        let data = api.post(&path, &body).await?;
        drop(working);
        output::print(true, &data, "");
        return Ok(());
    }
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    let mut response = api.begin(&path, &body).await?;
    let mut shown = Shown::default();
    let mut rest = Vec::new();
    let broken =
        || Fault::new(Reason::UpstreamUnavailable, "the connection was lost before the answer was complete");
    while let Some(bytes) = response.chunk().await.map_err(|_| broken())? {
        rest.extend_from_slice(&bytes);
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            let text = shown.take(&String::from_utf8_lossy(&line))?;
            // A language model may think for long before its first word.
            if !text.is_empty() {
                drop(working.take());
            }
            print!("{}", plain(&text));
            let _ = stdout().flush();
        }
        if rest.len() > LONGEST_FRAME {
            return Err(Fault::new(
                Reason::UpstreamUnavailable,
                "the server does not send events; is it quire?",
            ));
        }
    }
    drop(working);
    if !shown.done {
        return Err(broken());
    }
    println!("\n{}", shown.sources(stdout().is_terminal()));
    Ok(())
}

/// What was shown of an answer so far.
#[derive(Default)]
struct Shown {
    citations: Vec<Value>,
    warnings: Vec<Value>,
    usage: Value,
    done: bool,
}

impl Shown {
    /// Reads a line of the stream and gives the text in it.
    fn take(&mut self, line: &str) -> Result<String, Fault> {
        let Some(data) = line.trim().strip_prefix("data:").map(str::trim) else { return Ok(String::new()) };
        if data == "[DONE]" {
            self.done = true;
            return Ok(String::new());
        }
        let mut frame: Value = serde_json::from_str(data).map_err(|_| {
            Fault::new(Reason::UpstreamUnavailable, "the server sent a frame that is not JSON")
        })?;
        if frame["success"] == false {
            let cause = frame["error"]["cause"].as_str().unwrap_or("the answer was interrupted");
            return Err(Fault::new(Reason::UpstreamUnavailable, cause));
        }
        let list = |value: Value| if let Value::Array(list) = value { list } else { Vec::new() };
        if frame["citations"].is_array() {
            self.citations = list(frame["citations"].take());
            self.warnings = list(frame["warnings"].take());
        }
        if frame["usage"].is_object() {
            self.usage = frame["usage"].take();
        }
        Ok(frame["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_string())
    }

    /// The sources by their numbers, what to beware of, and what it cost.
    fn sources(&self, colours: bool) -> String {
        let mut text = String::new();
        for citation in &self.citations {
            let file = citation["fileName"].as_str().unwrap_or_default();
            let page = citation["page"].to_string();
            let place = plain(&output::text("command-place").with("file", file).with("page", &page).plain());
            let place = if colours { format!("\x1b[1m{place}\x1b[0m") } else { place };
            text.push_str(&format!("\n[{}] {place}", citation["index"]));
        }
        for warning in self.warnings.iter().filter_map(Value::as_str) {
            text.push_str(&format!(
                "\n{}",
                output::text("command-note").with("text", plain(warning)).plain()
            ));
        }
        text.push_str(&format!("\n\n{}", units(&self.usage)));
        text.trim_start_matches('\n').to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_comes_first_and_the_sources_below() {
        let mut shown = Shown::default();
        let frames = [
            json!({"success": true, "choices": [{"delta": {"content": "Two years. [1]"}}]}),
            json!({"success": true, "choices": [{"delta": {}}],
                   "citations": [{"index": 1, "fileName": "a.md", "page": 3}], "warnings": ["half"]}),
            json!({"success": true, "choices": [],
                   "usage": {"intelligence_units_consumed": 1, "intelligence_units_remaining": 9}}),
        ];
        let text: String =
            frames.iter().map(|frame| shown.take(&format!("data: {frame}\n")).unwrap()).collect();
        assert_eq!(text, "Two years. [1]");
        assert_eq!(shown.take(": ping").unwrap(), "");
        assert!(!shown.done);
        shown.take("data: [DONE]").unwrap();
        assert!(shown.done);
        assert_eq!(shown.sources(false), "[1] a.md, page 3\nNote: half\n\n1 unit, 9 left this month");
        let failed = json!({"success": false, "error": {"cause": "it broke"}});
        assert_eq!(shown.take(&format!("data: {failed}")).unwrap_err().cause, "it broke");
    }
}
