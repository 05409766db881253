//! Parses messages from lines. A line that is no message gets an error response, with its id where it has one and
//! `null` otherwise, and reading goes on with the next line. A malformed response or notification gets none: two peers
//! that correct each other's responses would never stop.

use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData};
use serde_json::{Value, json};
use windlass_mcp::{MessagePurpose, ProtocolLine};

/// The longest accepted line, in bytes; a longer one is never buffered whole.
pub(super) const LONGEST: usize = 16 << 20;

/// What a line contains.
#[derive(Debug)]
pub(super) enum RequestLine {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// Not a message; holds the error response.
    Refused(Value),
    /// Nothing that needs a response.
    Nothing,
}

/// Parses a line.
pub(super) fn read(line: &ProtocolLine) -> RequestLine {
    match line {
        ProtocolLine::TooLong { purpose, .. } => {
            let problem = || format!("this line is longer than the {} MiB that are read", LONGEST >> 20);
            match purpose {
                MessagePurpose::Question(id) => refused(ErrorCode::INVALID_REQUEST, problem(), &json!(id)),
                MessagePurpose::Unclear => refused(ErrorCode::INVALID_REQUEST, problem(), &Value::Null),
                MessagePurpose::Answer(_) | MessagePurpose::News => RequestLine::Nothing,
            }
        }
        ProtocolLine::Whole(bytes) => whole(bytes),
    }
}

fn whole(line: &[u8]) -> RequestLine {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return RequestLine::Nothing;
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return RequestLine::Message(Box::new(message));
    }
    match serde_json::from_slice::<Value>(line) {
        Ok(value) => no_message(&value),
        Err(error) => refused(ErrorCode::PARSE_ERROR, format!("this line is no JSON: {error}"), &Value::Null),
    }
}

/// Handles a line that is JSON but no message.
fn no_message(value: &Value) -> RequestLine {
    let has = |member: &str| value.get(member).is_some();
    let id = value.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64()).unwrap_or(&Value::Null);
    let is_notification = !has("id") && value["jsonrpc"] == "2.0" && value["method"].is_string();
    if is_notification || (!has("method") && (has("result") || has("error"))) {
        return RequestLine::Nothing;
    }
    let problem = match value {
        Value::Array(_) => "a list of messages is not taken: write each on a line of its own",
        Value::Object(_) if value["jsonrpc"] != "2.0" => "this is no JSON-RPC message: `jsonrpc` must be \"2.0\"",
        Value::Object(_) => "this is no JSON-RPC message: a request has a `method`, and a text or number as its `id`",
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => "this is no JSON-RPC message: no object",
    };
    refused(ErrorCode::INVALID_REQUEST, problem.to_owned(), id)
}

/// Builds the error response. Its id is written even if null, as JSON-RPC requires; rmcp would omit it.
fn refused(code: ErrorCode, problem: String, id: &Value) -> RequestLine {
    let error = ErrorData::new(code, problem, None);
    RequestLine::Refused(json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;
    use serde_json::{Value, json};
    use windlass_mcp::{LineSplitter, MessagePurpose, ProtocolLine};

    use super::{LONGEST, RequestLine, read};

    /// Returns the code and the id of the error response to a line, if it gets one.
    fn answered(line: &ProtocolLine) -> Option<(i64, Value)> {
        match read(line) {
            RequestLine::Refused(refused) => {
                assert_eq!(refused["jsonrpc"], "2.0", "{refused}");
                let id = refused.as_object()?.get("id").expect("an id, though it may be null").clone();
                Some((refused["error"]["code"].as_i64().expect("a code"), id))
            }
            RequestLine::Nothing => None,
            RequestLine::Message(message) => panic!("{line:?} is {message:?}"),
        }
    }

    // proves P5: a line that is no message gets the error response JSON-RPC requires; a response never does
    #[test]
    fn what_is_no_message_is_refused_by_its_id_or_by_null() {
        let (no_json, no_request) = (-32700, -32600);
        let nested = "[".repeat(5_000);
        for (line, want) in [
            ("", None),
            ("  \r", None),
            ("\u{feff}", None),
            ("hello", Some((no_json, Value::Null))),
            ("{", Some((no_json, Value::Null))),
            ("\u{0}", Some((no_json, Value::Null))),
            (nested.as_str(), Some((no_json, Value::Null))),
            ("{\"method\":3}", Some((no_request, Value::Null))),
            ("[]", Some((no_request, Value::Null))),
            ("3", Some((no_request, Value::Null))),
            ("{}", Some((no_request, Value::Null))),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/list\"}", Some((no_request, Value::Null))),
            ("{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"tools/list\"}", Some((no_request, json!(7)))),
            ("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":3}", Some((no_request, json!("a")))),
            ("{\"jsonrpc\":\"1.0\",\"id\":7,\"result\":{}}", None),
            ("{\"id\":null,\"error\":\"what?\"}", None),
        ] {
            assert_eq!(answered(&ProtocolLine::Whole(line.into())), want, "{line}");
        }
        let ping = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r";
        assert!(matches!(read(&ProtocolLine::Whole(ping.into())), RequestLine::Message(_)));
    }

    // proves P5: a line that is too long is not buffered; its request gets an error response
    #[test]
    fn a_line_that_is_too_long_is_refused_and_the_next_is_read() {
        let mut input = br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"text":""#.to_vec();
        input.resize(LONGEST, b'x');
        input.extend_from_slice(b"\"}}\n{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"ping\"}\n");
        let (mut lines, mut all) = (LineSplitter::up_to(LONGEST), Vec::new());
        lines.push(&input, |line| all.push(line));
        assert_eq!(answered(&all[0]), Some((-32600, json!(5))));
        assert!(matches!(read(&all[1]), RequestLine::Message(_)));
        for (purpose, want) in [
            (MessagePurpose::Answer(NumberOrString::Number(5)), None),
            (MessagePurpose::News, None),
            (MessagePurpose::Unclear, Some((-32600, Value::Null))),
        ] {
            assert_eq!(answered(&ProtocolLine::TooLong { purpose, sample: Vec::new() }), want);
        }
    }
}
