//! Parses a line into messages.
//!
//! rmcp's own parser tries every kind of result in turn and takes the first that fits. Here the request is known, so
//! an answer is parsed as the result of that request: this is faster, and a tool's result can't be mistaken for
//! something else. A listing of tools is passed on as its literal text, so that a schema reaches the model as the
//! server wrote it, and one broken tool does not affect the others.

use std::collections::HashMap;

use rmcp::model::{
    CallToolResult, CreateTaskResult, CustomResult, DiscoverResult, ErrorCode, ErrorData, InitializeResult,
    InputRequiredResult, NumberOrString, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::lines::ProtocolLine;
use super::scan::{IdScan, MessagePurpose};
use crate::notice::OutputFault;

/// The result of parsing a line.
#[derive(Debug, Default)]
pub(super) struct ReadLine {
    /// The messages in the line.
    pub(super) messages: Vec<ServerJsonRpcMessage>,
    /// The faults of the line.
    pub(super) faults: Vec<OutputFault>,
}

/// The requests without an answer yet, with their methods.
pub(super) type OpenRequests = HashMap<RequestId, String>;

const MARK: &str = "\u{feff}";

/// Parses a line.
pub(super) fn read(line: &ProtocolLine, asked: &mut OpenRequests) -> ReadLine {
    let mut read = ReadLine::default();
    match line {
        ProtocolLine::TooLong { purpose, .. } => {
            read.faults.push(OutputFault::TooLong);
            if let MessagePurpose::Answer(id) = purpose {
                read.messages.extend(unreadable(id.clone(), OutputFault::TooLong, asked));
            }
        }
        ProtocolLine::Whole(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text_line(text, asked, &mut read),
            Err(_) => {
                read.faults.push(OutputFault::NotUtf8);
                text_line(&String::from_utf8_lossy(bytes), asked, &mut read);
            }
        },
    }
    read
}

fn text_line(text: &str, asked: &mut OpenRequests, read: &mut ReadLine) {
    let mut text = text;
    if let Some(rest) = text.strip_prefix(MARK) {
        read.faults.push(OutputFault::ByteOrderMark);
        text = rest;
    }
    if let Some(rest) = text.strip_suffix('\r') {
        read.faults.push(OutputFault::CarriageReturn);
        text = rest;
    }
    let text = text.trim();
    if text.is_empty() {
        read.faults.push(OutputFault::Blank);
    } else if text.starts_with('[') {
        // A revision of 2025 allowed several messages in an array.
        match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(messages) => messages.iter().for_each(|message| one(message.get(), asked, read)),
            Err(_) => read.faults.push(OutputFault::NotJson),
        }
    } else {
        one(text, asked, read);
    }
}

/// The outermost members of a message, unparsed.
#[derive(Deserialize)]
struct MessageMembers<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

fn one(text: &str, asked: &mut OpenRequests, read: &mut ReadLine) {
    let Ok(envelope) = serde_json::from_str::<MessageMembers<'_>>(text) else {
        return broken(text, asked, read);
    };
    match envelope {
        MessageMembers { id: Some(id), method: None, result, error, .. } if result.is_some() || error.is_some() => {
            let Some((id, method)) = serde_json::from_str(id.get()).ok().and_then(|id| take(asked, id)) else {
                return read.faults.push(OutputFault::Unasked);
            };
            read.messages.push(match (result, error) {
                (_, Some(error)) => ServerJsonRpcMessage::error(error_from_text(error.get()), Some(id)),
                (Some(result), None) => match answer(&method, result.get()) {
                    Some(result) => ServerJsonRpcMessage::response(result, id),
                    None => {
                        let fault = fault_of(text);
                        read.faults.push(fault);
                        ServerJsonRpcMessage::error(problem(fault), Some(id))
                    }
                },
                (None, None) => return read.faults.push(OutputFault::NotAMessage),
            });
        }
        MessageMembers { .. } => match serde_json::from_str::<ServerJsonRpcMessage>(text) {
            Ok(message) => read.messages.push(message),
            Err(_) => read.faults.push(match fault_of(text) {
                OutputFault::NotJson => OutputFault::NotAMessage,
                fault => fault,
            }),
        },
    }
}

/// Handles a text whose outermost members can't be parsed.
fn broken(text: &str, asked: &mut OpenRequests, read: &mut ReadLine) {
    let fault = if text.starts_with('{') { fault_of(text) } else { OutputFault::NotJson };
    read.faults.push(fault);
    if text.starts_with('{')
        && let MessagePurpose::Answer(id) = IdScan::of(text.as_bytes()).purpose()
    {
        read.messages.extend(unreadable(id, fault, asked));
    }
}

/// The recursion limit of `serde_json`.
const DEEPEST: usize = 127;

fn fault_of(text: &str) -> OutputFault {
    if IdScan::of(text.as_bytes()).deepest() > DEEPEST { OutputFault::TooDeep } else { OutputFault::NotJson }
}

/// Removes the request that an answer belongs to: a server may return a numeric id as a string.
fn take(asked: &mut OpenRequests, id: RequestId) -> Option<(RequestId, String)> {
    let id = match &id {
        NumberOrString::String(text) if !asked.contains_key(&id) => NumberOrString::Number(text.parse().ok()?),
        NumberOrString::String(_) | NumberOrString::Number(_) => id,
    };
    asked.remove_entry(&id)
}

fn unreadable(id: RequestId, fault: OutputFault, asked: &mut OpenRequests) -> Option<ServerJsonRpcMessage> {
    let (id, _) = take(asked, id)?;
    Some(ServerJsonRpcMessage::error(problem(fault), Some(id)))
}

/// The code of an error that we create, not the server.
pub(crate) const UNREADABLE: ErrorCode = ErrorCode(-32_099);

/// Whether this message stands for an answer that could not be parsed.
pub(super) fn is_unreadable(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Error(error) if error.error.code == UNREADABLE)
}

fn problem(fault: OutputFault) -> ErrorData {
    ErrorData::new(UNREADABLE, format!("The server's answer could not be read: it is {fault}."), None)
}

/// Parses a server's error, even if it does not follow the protocol.
fn error_from_text(error: &str) -> ErrorData {
    serde_json::from_str(error).unwrap_or_else(|_| {
        let value: Value = serde_json::from_str(error).unwrap_or_default();
        let message = value.get("message").and_then(Value::as_str).map_or_else(|| value.to_string(), str::to_owned);
        ErrorData::new(ErrorCode::INTERNAL_ERROR, message, None)
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultTypeField<'a> {
    #[serde(borrow, default)]
    result_type: Option<&'a str>,
}

/// Parses the result of a request of this method.
fn answer(method: &str, result: &str) -> Option<ServerResult> {
    let known = match method {
        "tools/list" => Some(ServerResult::CustomResult(CustomResult(Value::String(result.to_owned())))),
        "tools/call" => {
            match serde_json::from_str(result).ok().and_then(|kind: ResultTypeField<'_>| kind.result_type) {
                Some("input_required") => {
                    serde_json::from_str::<InputRequiredResult>(result).ok().map(ServerResult::InputRequiredResult)
                }
                Some("task") => {
                    serde_json::from_str::<CreateTaskResult>(result).ok().map(ServerResult::CreateTaskResult)
                }
                Some(_) | None => serde_json::from_str::<CallToolResult>(result).ok().map(ServerResult::CallToolResult),
            }
        }
        "initialize" => serde_json::from_str::<InitializeResult>(result).ok().map(ServerResult::InitializeResult),
        "server/discover" => serde_json::from_str::<DiscoverResult>(result).ok().map(ServerResult::DiscoverResult),
        _ => serde_json::from_str::<ServerResult>(result).ok(),
    };
    // A result of an unexpected shape is passed on as it is; the caller decides what to do with it.
    known.or_else(|| Some(ServerResult::CustomResult(CustomResult(serde_json::from_str(result).ok()?))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> OpenRequests {
        [(1, "tools/call"), (2, "tools/list"), (3, "ping")]
            .into_iter()
            .map(|(id, method)| (NumberOrString::Number(id), method.to_owned()))
            .collect()
    }

    fn read_back(line: &[u8]) -> (Vec<String>, Vec<OutputFault>) {
        let read = read(&ProtocolLine::Whole(line.to_vec()), &mut asked());
        let said = |message: &ServerJsonRpcMessage| serde_json::to_string(message).unwrap();
        (read.messages.iter().map(said).collect(), read.faults)
    }

    const PING: &str = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;

    // proves P4
    #[test]
    fn what_is_no_message_is_told_and_skipped() {
        for (line, fault) in [
            ("Server listening…".as_bytes(), OutputFault::NotJson),
            (b"", OutputFault::Blank),
            (b"   \r", OutputFault::CarriageReturn),
            (b"{\"half\":", OutputFault::NotJson),
            (b"{\"any\": \"object\"}", OutputFault::NotAMessage),
            (b"42", OutputFault::NotJson),
            (b"\xff\xfe\x00", OutputFault::NotUtf8),
            (br#"{"jsonrpc":"2.0","id":77,"result":{}}"#, OutputFault::Unasked),
            (br#"{"jsonrpc":"2.0","id":null,"result":{}}"#, OutputFault::NotAMessage),
        ] {
            let (messages, faults) = read_back(line);
            assert_eq!((messages.len(), faults.first()), (0, Some(&fault)), "{}", String::from_utf8_lossy(line));
        }
    }

    // proves P4
    #[test]
    fn a_message_is_read_whatever_stands_around_it() {
        for (line, faults) in [
            (PING.to_owned(), vec![]),
            (format!("\u{feff}{PING}\r"), vec![OutputFault::ByteOrderMark, OutputFault::CarriageReturn]),
            (format!("  {PING}  "), vec![]),
            (format!("[{PING}]"), vec![]),
        ] {
            assert_eq!(read_back(line.as_bytes()), (vec![PING.to_owned()], faults), "{line}");
        }
    }

    // proves P4
    #[test]
    fn an_answer_that_can_not_be_read_is_an_error_for_whoever_asked() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}1{}}}"#, "[".repeat(5000), "]".repeat(5000));
        let unclosed = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}"#, "{\"a\":".repeat(100_000));
        for (line, part) in [
            (deep.as_bytes(), "nested too deeply"),
            (unclosed.as_bytes(), "nested too deeply"),
            (br#"{"jsonrpc":"2.0","id":1,"result":{"content":[}}"#, "no message"),
        ] {
            let (messages, _) = read_back(line);
            assert!(messages[0].contains("\"id\":1") && messages[0].contains(part), "{messages:?}");
        }
        let long =
            ProtocolLine::TooLong { purpose: MessagePurpose::Answer(NumberOrString::Number(1)), sample: Vec::new() };
        assert_eq!(read(&long, &mut asked()).messages.len(), 1);
    }

    // proves P4
    #[test]
    fn an_answer_counts_once_and_its_id_may_be_a_text() {
        let line = br#"{"jsonrpc":"2.0","id":"1","result":{"content":[{"type":"text","text":"hi"}]}}"#;
        let mut asked = asked();
        let read_once = |asked: &mut OpenRequests| read(&ProtocolLine::Whole(line.to_vec()), asked);
        let first = read_once(&mut asked);
        assert!(matches!(
            &first.messages[0],
            ServerJsonRpcMessage::Response(response)
                if response.id == NumberOrString::Number(1) && matches!(response.result, ServerResult::CallToolResult(_))
        ));
        assert_eq!(read_once(&mut asked).faults, [OutputFault::Unasked]);
    }

    // proves P4
    #[test]
    fn a_listing_is_passed_on_to_the_letter() {
        let result =
            r#"{"tools":[{"name":"t","inputSchema":{"$schema":"x","$defs":{},"type":"object","z":1.0,"a":1}}]}"#;
        let line = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{result}}}"#);
        let read = read(&ProtocolLine::Whole(line.into_bytes()), &mut asked());
        let ServerJsonRpcMessage::Response(response) = &read.messages[0] else { panic!("{read:?}") };
        assert!(
            matches!(&response.result, ServerResult::CustomResult(CustomResult(Value::String(text))) if text == result)
        );
    }

    #[test]
    fn an_error_that_breaks_the_rules_is_still_heard() {
        for error in [r#"{"code":-1,"message":"no"}"#, r#"{"message":"no"}"#, r#""no""#] {
            let (messages, _) = read_back(format!(r#"{{"id":1,"error":{error}}}"#).as_bytes());
            assert!(messages[0].contains("no"), "{messages:?}");
        }
    }
}
