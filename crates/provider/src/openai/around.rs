//! Nearly all chunks of a stream have the same around their choices: an id, the model, a date. Where that is
//! as in the first, the choices are all there is to read.

use super::chunk::{Chunk, or_empty};
use super::scan;

/// What stood before and behind the choices of the first chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Around {
    before: String,
    behind: String,
}

impl Around {
    /// Reads one JSON text. What the first chunk said besides choices is not said again.
    pub(super) fn read<'a>(&self, text: &'a str) -> serde_json::Result<Chunk<'a>> {
        let mut chunk = Chunk::default();
        match self.choices(text).and_then(|choices| scan::read_choices(choices, &mut chunk)) {
            Some(()) => Ok(chunk),
            None => Chunk::read(text),
        }
    }

    fn choices<'a>(&self, text: &'a str) -> Option<&'a str> {
        let choices = text.strip_prefix(self.before.as_str())?.strip_suffix(self.behind.as_str())?;
        (!self.before.is_empty()).then_some(choices)
    }

    /// Remembers the first chunk, if it says nothing that would count a second time.
    pub(super) fn remember(&mut self, chunk: &Chunk<'_>) {
        let Some((before, behind)) = chunk.around else { return };
        let harmless = chunk.usage.is_none() && chunk.error.is_none() && or_empty(chunk.object.as_ref()) != "error";
        if self.before.is_empty() && harmless {
            before.clone_into(&mut self.before);
            behind.clone_into(&mut self.behind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Around;
    use crate::openai::chunk::Chunk;

    fn after(first: &str) -> Around {
        let mut around = Around::default();
        around.remember(&Chunk::read(first).unwrap());
        around
    }

    #[test]
    fn the_choices_are_read_as_they_are_in_the_whole_chunk() {
        let around = after(r#"{"id":"1","model":"m","choices":[{"index":0}],"usage":null}"#);
        assert_ne!(around, Around::default());
        for choices in
            ["[]", "[{}]", r#"[{"delta":{"content":"a\"]"}}, {"index":1}]"#, r#"[{"index":1.5}]"#, "null", "[}"]
        {
            let text = format!(r#"{{"id":"1","model":"m","choices":{choices},"usage":null}}"#);
            let whole = Chunk::read(&text).ok().and_then(|chunk| chunk.choices);
            assert_eq!(around.read(&text).ok().and_then(|chunk| chunk.choices), whole, "{text}");
        }
        let other = r#"{"id":"1","model":"m","choices":[],"usage":{"prompt_tokens":1}}"#;
        assert_eq!(around.read(other).unwrap(), Chunk::read(other).unwrap());
    }

    #[test]
    fn a_chunk_that_says_more_is_not_remembered() {
        for first in [
            r#"{"choices":[],"usage":{"prompt_tokens":1}}"#,
            r#"{"choices":[],"error":{"message":"x"}}"#,
            r#"{"choices":[],"object":"error"}"#,
            r#"{"choices":null}"#,
            "{}",
        ] {
            assert_eq!(after(first), Around::default(), "{first}");
        }
    }
}
