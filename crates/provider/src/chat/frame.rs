//! Most events of a stream differ from the previous one only in their text. Such an event is recognized by the bytes
//! around the text, which costs far less than parsing its lines and its JSON.

use super::chunk::Chunk;
use super::scan::plain_length;
use crate::json_text::{RawJson, or_empty};

/// The JSON around the text of the last event that added only text, quotes included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    before: Vec<u8>,
    after: Vec<u8>,
}

/// How most servers delimit an event.
const OPENING: &[u8] = b"data: ";
const CLOSING: &[u8] = b"\n\n";

impl Frame {
    /// If `bytes` begins with the remembered event with other text, returns that text and the bytes after the event.
    pub(super) fn split<'a>(&self, bytes: &'a [u8]) -> Option<(&'a str, &'a [u8])> {
        if self.before.is_empty() {
            return None;
        }
        let words = bytes.strip_prefix(OPENING)?.strip_prefix(self.before.as_slice())?;
        // The first quote ends the text; a backslash before it would be an escape, and control characters are
        // forbidden.
        let (words, rest) = words.split_at(plain_length(words));
        let rest = rest.strip_prefix(self.after.as_slice())?.strip_prefix(CLOSING)?;
        Some((std::str::from_utf8(words).ok()?, rest))
    }

    /// Remembers the event with this `chunk`, which was parsed from `text`, if it adds only text.
    pub(super) fn remember(&mut self, text: &str, chunk: &Chunk<'_>) {
        let Some(words) = only_words(chunk) else { return };
        let Some(start) = words.as_ptr().addr().checked_sub(text.as_ptr().addr()) else { return };
        let (Some(before), Some(after)) = (text.get(..=start), text.get(start + words.len() - 1..)) else { return };
        before.as_bytes().clone_into(&mut self.before);
        after.as_bytes().clone_into(&mut self.after);
    }
}

/// Returns the raw string of a chunk that adds only text.
fn only_words<'a>(chunk: &Chunk<'a>) -> Option<&'a str> {
    let [choice] = chunk.choices.as_deref()? else { return None };
    let delta = choice.delta.as_ref()?;
    let RawJson(words) = delta.content.filter(|RawJson(raw)| raw.starts_with('"'))?;
    let nothing_else = chunk.usage.is_none()
        && choice.index.unwrap_or(0) == 0
        && choice.message.is_none()
        && choice.usage.is_none()
        && or_empty(choice.finish_reason.as_ref()).is_empty()
        && [delta.reasoning_content, delta.reasoning, delta.thinking].iter().all(Option::is_none)
        && or_empty(delta.refusal.as_ref()).is_empty()
        && delta.tool_calls.is_none()
        && delta.function_call.is_none();
    nothing_else.then_some(words)
}

#[cfg(test)]
mod tests {
    use super::Frame;
    use crate::chat::chunk::Chunk;

    fn frame(text: &str) -> Frame {
        let mut frame = Frame::default();
        frame.remember(text, &Chunk::read(text).unwrap());
        frame
    }

    fn event(words: &str) -> String {
        format!(
            "data: {{\"id\":\"1\",\"choices\":[{{\"delta\":{{\"content\":\"{words}\"}},\"finish_reason\":null}}]}}\n\n"
        )
    }

    #[test]
    fn an_event_with_other_words_is_known_by_its_frame() {
        let frame = frame(event("one").trim().strip_prefix("data: ").unwrap());
        let both = event("zwei – 2") + &event("");
        let (words, rest) = frame.split(both.as_bytes()).unwrap();
        assert_eq!((words, rest), ("zwei – 2", event("").as_bytes()));
        assert_eq!(frame.split(rest), Some(("", &[][..])));
    }

    #[test]
    fn anything_else_is_read_the_long_way() {
        let frame = frame(event("one").trim().strip_prefix("data: ").unwrap());
        for special in [r"a\nb", r#"","x":""#, "a\nb", r#"" "#] {
            assert_eq!(frame.split(event(special).as_bytes()), None, "{special}");
        }
        let whole = event("x");
        for cut in 0..whole.len() {
            assert_eq!(frame.split(&whole.as_bytes()[..cut]), None, "cut at {cut}");
        }
        assert_eq!(frame.split(whole.replace("\"1\"", "\"2\"").as_bytes()), None);
        assert_eq!(Frame::default().split(whole.as_bytes()), None);
    }

    #[test]
    fn a_chunk_that_says_more_than_words_is_not_remembered() {
        for text in [
            r#"{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":1}}"#,
            r#"{"choices":[{"delta":{"content":"x","reasoning":"y"}}]}"#,
            r#"{"choices":[{"delta":{"content":"x","tool_calls":[{}]}}]}"#,
            r#"{"choices":[{"delta":{"content":["x"]}}]}"#,
            r#"{"choices":[{"index":1,"delta":{"content":"x"}}]}"#,
            r#"{"choices":[{"delta":{"content":"x"}},{"delta":{"content":"x"}}]}"#,
            r#"{"choices":[]}"#,
        ] {
            assert_eq!(frame(text), Frame::default(), "{text}");
        }
    }
}
