//! A request body in its parts.

use bytes::Bytes;
use serde::Serialize;
use windlass_vocab::{Failure, FailureClass};

/// A request body: a stable part that only grows, and the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestBody {
    /// The part that is a prefix of the next turn's, while the epoch holds.
    pub stable: Bytes,
    /// JSON to insert into `stable` when the body is sent, each with its offset there, in ascending order. They tell a
    /// provider what to cache, move from turn to turn, and are no part of what stays the same.
    pub marks: Vec<(usize, &'static str)>,
    /// The rest.
    pub closing: Bytes,
    /// The rest without a summary of the reasoning, where `closing` asks for one: it is sent if the server refuses that.
    pub closing_without_summary: Option<Bytes>,
}

impl RequestBody {
    /// Returns a body without marks.
    #[must_use]
    pub fn new(stable: Bytes, closing: Bytes) -> Self {
        Self { stable, marks: Vec::new(), closing, closing_without_summary: None }
    }

    /// Returns the body that asks for no summary of the reasoning, if this one asks for it.
    #[must_use]
    pub fn without_summary(&self) -> Option<Self> {
        let closing = self.closing_without_summary.clone()?;
        Some(Self { closing, closing_without_summary: None, ..self.clone() })
    }

    /// Returns how many bytes are sent, without the marks.
    pub(crate) fn len(&self) -> u64 {
        (self.stable.len() + self.closing.len()) as u64
    }

    /// Returns the parts in the order in which they are sent. No byte of the stable part is copied.
    #[must_use]
    pub fn into_parts(self) -> Vec<Bytes> {
        let Self { mut stable, marks, closing, closing_without_summary: _ } = self;
        let mut parts = Vec::with_capacity(2 + 2 * marks.len());
        let mut sent = 0;
        for (at, mark) in marks {
            let before = stable.split_to(at.saturating_sub(sent).min(stable.len()));
            sent += before.len();
            parts.extend([before, Bytes::from_static(mark.as_bytes())]);
        }
        parts.extend([stable, closing]);
        parts
    }

    /// Returns the whole body as it is sent, copied together.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.clone().into_parts().concat()
    }
}

/// Returns the volatile tail of a request as it is sent.
pub(crate) fn reminder(tail: &str) -> String {
    format!("<reminder>\n{tail}\n</reminder>")
}

/// Ends a body whose last messages are `messages`: closes their list and adds the fields of `parameters`.
pub(crate) fn end_body(mut messages: Vec<u8>, parameters: &impl Serialize) -> serde_json::Result<Bytes> {
    messages.push(b']');
    let brace = messages.len();
    serde_json::to_writer(&mut messages, parameters)?;
    // The parameters are serialized as an object of their own; replacing its brace by a comma merges it into the body.
    messages[brace] = b',';
    Ok(messages.into())
}

/// Returns the failure of a request that can't be written.
pub(crate) fn unwritable(error: &serde_json::Error) -> Failure {
    Failure::new(FailureClass::Internal, format!("The request could not be written as JSON: {error}."))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::RequestBody;

    fn body(marks: Vec<(usize, &'static str)>) -> RequestBody {
        RequestBody { marks, ..RequestBody::new(Bytes::from_static(b"abcdef"), Bytes::from_static(b"!")) }
    }

    // proves M6
    #[test]
    fn marks_stand_between_slices_of_the_stable_part() {
        for (marks, sent) in [
            (vec![], "abcdef!"),
            (vec![(2, "<1>"), (5, "<2>")], "ab<1>cde<2>f!"),
            (vec![(0, "<1>"), (6, "<2>")], "<1>abcdef<2>!"),
            (vec![(3, "<1>"), (3, "<2>")], "abc<1><2>def!"),
            (vec![(9, "<1>")], "abcdef<1>!"),
        ] {
            assert_eq!(String::from_utf8(body(marks).to_vec()).unwrap_or_default(), sent);
        }
    }

    #[test]
    fn the_stable_part_is_not_copied() {
        let body = body(vec![(2, "<1>")]);
        let start = body.stable.as_ptr();
        let parts = body.into_parts();
        assert_eq!(parts[0].as_ptr(), start);
        assert_eq!(parts[2].as_ptr(), start.wrapping_add(2));
    }
}
