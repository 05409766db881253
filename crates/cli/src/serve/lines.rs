//! Messages out of lines. What is no message is passed over: a line that is not JSON has no id to answer
//! to, and whoever echoes answers would never be done.

use std::io;

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// The longest line taken; a longer one is passed over, and never held whole.
const LONGEST: usize = 16 * 1024 * 1024;

/// What a line is.
#[derive(Debug)]
pub(super) enum Line {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// JSON, but no message: the client is told so.
    Refused(Box<ServerJsonRpcMessage>),
    /// Nothing anybody waits for an answer to.
    Nothing,
}

/// Reads a line into `line`, without its end. `None` at the end of input; a line that is too long is empty.
pub(super) async fn read(input: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> io::Result<Option<()>> {
    line.clear();
    let mut fits = true;
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            // What has no end was not meant yet.
            return Ok(None);
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = &available[..end.unwrap_or(available.len())];
        fits = fits && line.len() + taken.len() <= LONGEST;
        if fits {
            line.extend_from_slice(taken);
        } else {
            line.clear();
        }
        let used = end.map_or(taken.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(Some(()));
        }
    }
}

/// What a line says.
pub(super) fn parse(line: &[u8]) -> Line {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    if let Ok(message) = serde_json::from_slice(line) {
        return Line::Message(Box::new(message));
    }
    let Ok(value) = serde_json::from_slice::<Value>(line) else { return Line::Nothing };
    if value.get("method").is_some() && value.get("id").is_none() {
        return Line::Nothing;
    }
    let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let refused = ErrorData::invalid_request("this is no JSON-RPC message", None);
    Line::Refused(Box::new(ServerJsonRpcMessage::error(refused, id)))
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::{LONGEST, Line, parse, read};

    fn lines(input: &[u8]) -> Vec<usize> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let (mut input, mut line, mut lengths) = (BufReader::with_capacity(7, input), Vec::new(), Vec::new());
            while read(&mut input, &mut line).await.expect("read").is_some() {
                lengths.push(line.len());
            }
            lengths
        })
    }

    // proves P5: lines of any length, and none is held that is too long
    #[test]
    fn lines_are_read_whole_or_not_at_all() {
        assert_eq!(lines(b"one\n\ntwenty-one letters..\r\nno end"), [3, 0, 21]);
        let mut long = vec![b'x'; LONGEST + 1];
        long.extend_from_slice(b"\nshort\n");
        assert_eq!(lines(&long), [0, 5]);
        assert_eq!(lines(&long[1..]), [LONGEST, 5]);
    }

    // proves P5: only what can be answered is answered
    #[test]
    fn what_is_no_message_is_refused_or_passed_over() {
        for (line, answered) in [
            ("", None),
            ("hello", None),
            ("{", None),
            ("{\"method\":3}", None),
            ("[]", Some("null")),
            ("3", Some("null")),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/list\"}", Some("null")),
            ("{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"tools/list\"}", Some("7")),
        ] {
            let id = match parse(line.as_bytes()) {
                Line::Refused(refused) => {
                    let refused = serde_json::to_value(*refused).expect("JSON");
                    assert_eq!(refused["error"]["code"], -32600, "{line}");
                    Some(refused["id"].to_string())
                }
                Line::Nothing => None,
                Line::Message(message) => panic!("{line} is {message:?}"),
            };
            assert_eq!(id.as_deref(), answered, "{line}");
        }
        let ping = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r";
        assert!(matches!(parse(ping.as_bytes()), Line::Message(_)));
    }
}
