//! How much of a conversation is sent to a language model: as much as is paid for, and never more.

use super::ChatRequest;
use crate::{
    Fault, Reason,
    seams::answerer::{Format, Speaker},
};

/// Most tokens of a conversation that are sent, besides the passages: a question, its instructions and a few turns.
const MOST_TOKENS: usize = 4_000;
/// Earlier turns that are sent; older ones rarely matter and cost tokens.
const TURNS: usize = 8;
/// Characters of an earlier turn and of an instruction that are sent.
const LONGEST_TURN: usize = 2_000;
/// Characters of the question that are sent: as many as are searched for.
const LONGEST_QUESTION: usize = 4_000;

impl ChatRequest {
    /// Cuts what is told: long turns first, then old ones. What must be told and does not fit is a fault. Says how many
    /// tokens are left.
    pub(super) fn cut_told(&mut self, count: impl Fn(&str) -> usize) -> Result<usize, Fault> {
        let most = MOST_TOKENS.min(self.max_context_tokens);
        let last = self.turns.iter().rposition(|turn| turn.speaker == Speaker::User).unwrap_or(0);
        for (at, turn) in self.turns.iter_mut().enumerate() {
            clip(&mut turn.text, if at == last { LONGEST_QUESTION } else { LONGEST_TURN });
        }
        self.wishes.iter_mut().for_each(|wish| clip(wish, LONGEST_TURN));
        let schema = match &self.format {
            Format::Schema(schema) => schema.to_string(),
            Format::Text | Format::Object => String::new(),
        };
        let question = self.turns.get(last).map_or(0, |turn| count(&turn.text));
        let mut total = question;
        for text in self.wishes.iter().map(String::as_str).chain([schema.as_str()]) {
            // Tokens have a few bytes each: what has a hundred times as many bytes is too long without being counted.
            total = total.saturating_add(if text.len() > most * 100 { most } else { count(text) });
            if total > most {
                return Err(too_long(most));
            }
        }
        let mut first = last;
        while first > 0 && last - first < TURNS {
            let tokens = count(&self.turns[first - 1].text);
            if total + tokens > most {
                break;
            }
            (first, total) = (first - 1, total + tokens);
        }
        self.turns.drain(..first);
        Ok(total)
    }
}

fn clip(text: &mut String, longest: usize) {
    if let Some((end, _)) = text.char_indices().nth(longest) {
        text.truncate(end);
    }
}

fn too_long(most: usize) -> Fault {
    let cause = format!(
        "the question, the system messages and the schema of `response_format` have more than {most} tokens together"
    );
    Fault::new(Reason::TooLarge, cause).param("messages").hint("shorten them, or allow more `max_units`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seams::answerer::Turn;

    fn request(turns: &[(Speaker, String)]) -> ChatRequest {
        let turn = |(speaker, text): &(Speaker, String)| Turn { speaker: *speaker, text: text.clone() };
        ChatRequest::new(turns.iter().map(turn).collect())
    }

    /// A token a word.
    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    #[test]
    fn a_conversation_of_a_megabyte_is_told_within_the_bound() {
        let long = "word ".repeat(20_000);
        let mut turns: Vec<_> = (0..50).map(|_| (Speaker::Assistant, long.clone())).collect();
        turns.push((Speaker::User, format!("What now? {long}")));
        let mut request = request(&turns);
        let told = request.cut_told(words).unwrap();
        let sent: usize = request.turns.iter().map(|turn| words(&turn.text)).sum();
        assert_eq!(told, sent, "what is sent is what is counted");
        assert!(told <= MOST_TOKENS && request.turns.len() <= TURNS + 1, "{told}");
        assert!(request.turns.last().unwrap().text.starts_with("What now?"));
    }

    #[test]
    fn a_cheap_answer_is_told_less_and_what_cannot_be_cut_is_refused() {
        let turns = [
            (Speaker::User, "a ".repeat(300)),
            (Speaker::Assistant, "b ".repeat(300)),
            (Speaker::User, "c".into()),
        ];
        let mut cheap = request(&turns);
        cheap.max_context_tokens = 400;
        assert_eq!(cheap.cut_told(words).unwrap(), 301);
        assert_eq!(cheap.turns.len(), 2, "the oldest is left out");

        let mut wishes = request(&turns);
        wishes.wishes = vec!["be brief ".repeat(200); 100];
        assert_eq!(wishes.cut_told(words).unwrap_err().reason, Reason::TooLarge);
        let mut schema = request(&turns);
        schema.format = Format::Schema(serde_json::json!({ "a": "x y ".repeat(200_000) }));
        assert_eq!(schema.cut_told(words).unwrap_err().reason, Reason::TooLarge);
    }
}
