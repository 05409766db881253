//! Finds the id of a message that can't be parsed. Scans byte by byte, keeps almost nothing, and uses no recursion.

use rmcp::model::RequestId;

/// We send no keys or ids longer than this.
const LONGEST: usize = 256;

/// The purpose of a message, judging by its id and method alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessagePurpose {
    /// A request with this id.
    Question(RequestId),
    /// The answer to the request with this id.
    Answer(RequestId),
    /// A notification.
    News,
    /// Not recognizable.
    Unclear,
}

/// Scans the bytes of a message for its `id`.
#[derive(Debug, Default)]
pub(super) struct IdScan {
    depth: usize,
    deepest: usize,
    in_string: bool,
    escaped: bool,
    /// Whether the next string of the outermost object is a key.
    key_next: bool,
    key: Vec<u8>,
    value: Vec<u8>,
    id: Option<Vec<u8>>,
    has_method: bool,
    reading: IdScanState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum IdScanState {
    #[default]
    Nothing,
    Key,
    Value,
}

impl IdScan {
    /// Scans all of `bytes`.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut scan = Self::default();
        scan.push(bytes);
        scan
    }

    /// Scans the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.step(*byte));
    }

    /// The purpose of the message, as far as it is known.
    pub(super) fn purpose(&self) -> MessagePurpose {
        let id = self.id.as_deref().map(serde_json::from_slice);
        match (self.has_method, id) {
            (true, Some(Ok(id))) => MessagePurpose::Question(id),
            (false, Some(Ok(id))) => MessagePurpose::Answer(id),
            (true, None) => MessagePurpose::News,
            (_, Some(Err(_))) | (false, None) => MessagePurpose::Unclear,
        }
    }

    /// The maximum nesting depth.
    pub(super) fn deepest(&self) -> usize {
        self.deepest
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.in_string_step(byte);
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 && self.key_next {
                    self.key.clear();
                    self.reading = IdScanState::Key;
                } else {
                    self.keep(byte);
                }
            }
            b'{' | b'[' => {
                self.keep(byte);
                self.depth += 1;
                self.deepest = self.deepest.max(self.depth);
                self.key_next = self.depth == 1 && byte == b'{';
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.member_ends();
                }
                self.depth = self.depth.saturating_sub(1);
                self.keep(byte);
            }
            b',' if self.depth == 1 => {
                self.member_ends();
                self.key_next = true;
            }
            b':' if self.depth == 1 && self.key_next => {
                self.key_next = false;
                self.value.clear();
                self.reading = IdScanState::Value;
            }
            byte => self.keep(byte),
        }
    }

    fn in_string_step(&mut self, byte: u8) {
        let closes = byte == b'"' && !self.escaped;
        self.escaped = byte == b'\\' && !self.escaped;
        self.in_string = !closes;
        match self.reading {
            IdScanState::Key if closes => self.reading = IdScanState::Nothing,
            IdScanState::Key if self.key.len() < LONGEST => self.key.push(byte),
            IdScanState::Value => self.keep(byte),
            IdScanState::Key | IdScanState::Nothing => {}
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.reading == IdScanState::Value && self.key == b"id" && self.value.len() < LONGEST {
            self.value.push(byte);
        }
    }

    fn member_ends(&mut self) {
        if self.reading == IdScanState::Value {
            match self.key.as_slice() {
                b"id" => self.id = Some(std::mem::take(&mut self.value)),
                b"method" => self.has_method = true,
                _ => {}
            }
        }
        self.reading = IdScanState::Nothing;
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    fn answer(id: i64) -> MessagePurpose {
        MessagePurpose::Answer(NumberOrString::Number(id))
    }

    // proves P4
    #[test]
    fn whose_answer_it_is_shows_without_reading_it() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        for (text, want) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"method":"x"}}"#, answer(7)),
            (r#"{"result":{"a":"\"id\":9,{"}, "id" : 7 }"#, answer(7)),
            (r#"{"id":"7","result":1}"#, MessagePurpose::Answer(NumberOrString::String("7".into()))),
            (r#"{"id":7,"method":"ping","params":{"id":8}}"#, MessagePurpose::Question(NumberOrString::Number(7))),
            (r#"{"id":7,"result":{"method":"ping"}}"#, answer(7)),
            (r#"{"id":7,"result":{"text":"brok"#, answer(7)),
            (r#"{"method":"notifications/progress","params":{"id":7}}"#, MessagePurpose::News),
            (r#"{"id":{},"method":"ping"}"#, MessagePurpose::Unclear),
            (r#"{"result":{"id":7}}"#, MessagePurpose::Unclear),
            (r#"[{"id":7}]"#, MessagePurpose::Unclear),
            ("id: 7", MessagePurpose::Unclear),
            (deep.as_str(), answer(7)),
        ] {
            assert_eq!(IdScan::of(text.as_bytes()).purpose(), want, "{text}");
        }
        assert_eq!(IdScan::of(deep.as_bytes()).deepest(), 5001);
    }

    #[test]
    fn it_does_not_matter_where_the_bytes_are_cut() {
        let text = br#"{"x":"a\\\"b","id":"q\"r","result":{}}"#;
        for cut in 0..text.len() {
            let mut scan = IdScan::default();
            scan.push(&text[..cut]);
            scan.push(&text[cut..]);
            assert_eq!(scan.purpose(), MessagePurpose::Answer(NumberOrString::String("q\"r".into())), "{cut}");
        }
    }
}
