//! Reads the server's events from bytes as they arrive, cut anywhere.
//!
//! Only what our server sends is understood: lines that end in a line feed, `data` of one line, comments, and the name of an
//! event. The number of a record stands in the record itself.

/// One event: its data, and its name if it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SentEvent {
    pub(super) name: String,
    pub(super) data: String,
}

/// An event is longer than the cap, or is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnreadableEvent;

/// The parser's state between two pushes.
#[derive(Debug)]
pub(super) struct EventLines {
    cap: usize,
    line: Vec<u8>,
    event: SentEvent,
}

impl EventLines {
    /// Returns a parser that refuses events of more than `cap` bytes.
    pub(super) fn new(cap: usize) -> Self {
        Self { cap, line: Vec::new(), event: SentEvent::default() }
    }

    /// Takes bytes and returns the events that end in them.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<SentEvent>, UnreadableEvent> {
        let mut events = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.len() > self.cap {
                return Err(UnreadableEvent);
            }
            if self.line.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                let line = String::from_utf8(line).map_err(|_| UnreadableEvent)?;
                events.extend(self.take(line.trim_end_matches(['\n', '\r'])));
            }
        }
        Ok(events)
    }

    /// Takes a line; returns the event that it ends.
    fn take(&mut self, line: &str) -> Option<SentEvent> {
        if line.is_empty() {
            return Some(std::mem::take(&mut self.event)).filter(|event| !event.data.is_empty());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => self.event.data.push_str(value),
            // A comment has an empty name; `id` is in the data.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{EventLines, SentEvent, UnreadableEvent};

    const STREAM: &str =
        ":\n\nid: 1\ndata: {\"seq\":1,\"a\":\"ß: x\"}\n\ndata: {\"d\":2}\r\n\r\nevent: error\ndata: {}\n\n";

    fn events() -> Vec<SentEvent> {
        [("", "{\"seq\":1,\"a\":\"ß: x\"}"), ("", "{\"d\":2}"), ("error", "{}")]
            .map(|(name, data)| SentEvent { name: name.into(), data: data.into() })
            .to_vec()
    }

    // proves E1
    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        for cut in 0..=STREAM.len() {
            let (first, second) = STREAM.as_bytes().split_at(cut);
            let mut lines = EventLines::new(100);
            let mut seen = lines.push(first).expect("text");
            seen.extend(lines.push(second).expect("text"));
            assert_eq!(seen, events(), "cut at {cut}");
        }
    }

    #[test]
    fn a_line_without_end_and_bytes_that_are_no_text_are_refused() {
        let mut lines = EventLines::new(10);
        assert_eq!(lines.push(b"data: "), Ok(Vec::new()));
        assert_eq!(lines.push(b"0123456789"), Err(UnreadableEvent));
        assert_eq!(EventLines::new(10).push(b"data: \xff\n"), Err(UnreadableEvent));
    }
}
