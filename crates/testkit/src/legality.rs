//! Checks that every server would accept a request (J10): each call is answered by exactly one result
//! right after it, in call order, there is no result without its call, and the start is legal.

use std::collections::HashSet;

use serde_json::Value;
use windlass_vocab::Message;

/// Checks the body of a Chat Completions request; the error says what is wrong and where.
pub fn legality(request: &Value) -> Result<(), String> {
    let messages = request["messages"].as_array().ok_or("`messages` is missing or is no list")?;
    let turns =
        messages.iter().enumerate().map(|(at, message)| entry(message).map_err(|what| format!("message {at}: {what}")));
    check(turns.collect::<Result<Vec<_>, _>>()?)?;
    let tools = &request["tools"];
    if tools.as_array().is_some_and(Vec::is_empty) {
        return Err("`tools` is empty; it must be left out".to_owned());
    }
    if tools.is_null() && !request["tool_choice"].is_null() {
        return Err("`tool_choice` is given without `tools`".to_owned());
    }
    Ok(())
}

/// Checks a history before it is serialized for any API.
pub fn history_legality(history: &[Message]) -> Result<(), String> {
    check(
        history
            .iter()
            .map(|message| match message {
                Message::User { .. } => Ok(OrderedMessage::User),
                Message::Assistant { parts, calls, .. } if parts.is_empty() && calls.is_empty() => {
                    Err(SAYS_NOTHING.to_owned())
                }
                Message::Assistant { calls, .. } => {
                    Ok(OrderedMessage::Assistant(calls.iter().map(|call| call.call.to_string()).collect()))
                }
                Message::Tool { call, .. } => Ok(OrderedMessage::Tool(call.to_string())),
            })
            .collect::<Result<Vec<_>, _>>()?,
    )
}

const SAYS_NOTHING: &str = "an assistant message has neither content nor calls";

/// A message, reduced to what matters for the order.
enum OrderedMessage {
    System,
    User,
    Assistant(Vec<String>),
    Tool(String),
}

fn check(entries: Vec<OrderedMessage>) -> Result<(), String> {
    let mut owed = Vec::new().into_iter();
    let mut begun = ConversationStart::Nothing;
    for (at, entry) in entries.into_iter().enumerate() {
        let fail = |what: String| Err(format!("message {at}: {what}"));
        let next: Option<String> = match entry {
            OrderedMessage::Tool(id) => match owed.next() {
                Some(expected) if expected == id => continue,
                Some(expected) => return fail(format!("a result for `{id}` where one for `{expected}` is due")),
                None => return fail(format!("a result for `{id}`, which no call just before it asked for")),
            },
            OrderedMessage::System | OrderedMessage::User | OrderedMessage::Assistant(_) => owed.next(),
        };
        if let Some(id) = next {
            return fail(format!("call `{id}` has no result"));
        }
        match (entry, begun) {
            (OrderedMessage::System, ConversationStart::Conversation) => {
                return fail("a system message in mid-conversation".to_owned());
            }
            (OrderedMessage::Assistant(_), ConversationStart::Nothing) => {
                return fail("the assistant speaks before any user".to_owned());
            }
            (OrderedMessage::Assistant(calls), ConversationStart::Conversation) => owed = calls.into_iter(),
            (OrderedMessage::User, _) => begun = ConversationStart::Conversation,
            (OrderedMessage::System, ConversationStart::Nothing) | (OrderedMessage::Tool(_), _) => {}
        }
    }
    if let Some(id) = owed.next() {
        return Err(format!("call `{id}` has no result"));
    }
    match begun {
        ConversationStart::Conversation => Ok(()),
        ConversationStart::Nothing => Err("there is no user message".to_owned()),
    }
}

/// Which messages the conversation has had so far.
#[derive(Clone, Copy)]
enum ConversationStart {
    Nothing,
    Conversation,
}

fn entry(message: &Value) -> Result<OrderedMessage, String> {
    let content = &message["content"];
    let said = content.is_string() || content.as_array().is_some_and(|parts| !parts.is_empty());
    match message["role"].as_str() {
        Some("system" | "developer") if said => Ok(OrderedMessage::System),
        Some("user") if said => Ok(OrderedMessage::User),
        Some("tool") if said => match message["tool_call_id"].as_str() {
            Some(id) if !id.is_empty() => Ok(OrderedMessage::Tool(id.to_owned())),
            _ => Err("a result without `tool_call_id`".to_owned()),
        },
        Some("assistant") => {
            let calls = call_ids(&message["tool_calls"])?;
            let speaks = content.as_str().is_some_and(|text| !text.is_empty()) || content.is_array() && said;
            if calls.is_empty() && !speaks {
                Err(SAYS_NOTHING.to_owned())
            } else {
                Ok(OrderedMessage::Assistant(calls))
            }
        }
        Some(role @ ("system" | "developer" | "user" | "tool")) => Err(format!("a {role} message without content")),
        Some(role) => Err(format!("unknown role `{role}`")),
        None => Err("`role` is missing".to_owned()),
    }
}

/// The ids of the calls of one message, after checking that each call is well-formed.
fn call_ids(calls: &Value) -> Result<Vec<String>, String> {
    let calls = match calls {
        Value::Null => return Ok(Vec::new()),
        Value::Array(calls) if !calls.is_empty() => calls,
        Value::Array(_) => return Err("`tool_calls` is empty; it must be left out".to_owned()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return Err("`tool_calls` is no list".to_owned());
        }
    };
    let mut seen = HashSet::new();
    calls
        .iter()
        .map(|call| {
            let id = call["id"].as_str().filter(|id| !id.is_empty()).ok_or("a call without `id`")?;
            if !seen.insert(id) {
                return Err(format!("two calls have the id `{id}`"));
            }
            let function = &call["function"];
            if call["type"] != "function" || function["name"].as_str().is_none_or(str::is_empty) {
                return Err(format!("call `{id}` names no function"));
            }
            let arguments = function["arguments"].as_str().map(serde_json::from_str::<Value>);
            match arguments {
                Some(Ok(Value::Object(_))) => Ok(id.to_owned()),
                _ => Err(format!("the arguments of call `{id}` are no JSON object in a string")),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use windlass_vocab::{CallId, CallInHistory, Json, Message, OutcomeKind, RunId, TurnId};

    use super::{history_legality, legality};

    fn verdict(messages: &Value) -> String {
        legality(&json!({"messages": messages})).map_or_else(|what| what, |()| "legal".to_owned())
    }

    fn calls(ids: &[&str]) -> Value {
        let calls =
            ids.iter().map(|id| json!({"id": id, "type": "function", "function": {"name": "t", "arguments": "{}"}}));
        json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
    }

    fn user() -> Value {
        json!({"role": "user", "content": "go"})
    }

    fn result(id: &str) -> Value {
        json!({"role": "tool", "tool_call_id": id, "content": "ok"})
    }

    #[test]
    fn a_whole_history_is_legal() {
        let system = json!({"role": "system", "content": "s"});
        let text = json!({"role": "assistant", "content": "hello"});
        assert_eq!(
            verdict(&json!([system, user(), calls(&["a", "b"]), result("a"), result("b"), text, user()])),
            "legal"
        );
    }

    #[test]
    fn every_way_to_break_a_history_is_named() {
        let broken = [
            (json!([]), "there is no user message"),
            (json!([calls(&["a"]), result("a")]), "message 0: the assistant speaks before any user"),
            (json!([result("a"), user()]), "message 0: a result for `a`, which no call just before it asked for"),
            (json!([user(), calls(&["a"])]), "call `a` has no result"),
            (json!([user(), calls(&["a"]), user()]), "message 2: call `a` has no result"),
            (json!([user(), calls(&["a", "b"]), result("b")]), "message 2: a result for `b` where one for `a` is due"),
            (
                json!([user(), calls(&["a"]), result("a"), result("a")]),
                "message 3: a result for `a`, which no call just before it asked for",
            ),
            (json!([user(), calls(&["a", "a"])]), "message 1: two calls have the id `a`"),
            (
                json!([user(), {"role": "assistant", "content": null}]),
                "message 1: an assistant message has neither content nor calls",
            ),
            (
                json!([user(), {"role": "assistant", "content": ""}]),
                "message 1: an assistant message has neither content nor calls",
            ),
            (json!([user(), {"role": "system", "content": "s"}]), "message 1: a system message in mid-conversation"),
            (json!([{"role": "user"}]), "message 0: a user message without content"),
            (json!([{"role": "poet", "content": "o"}]), "message 0: unknown role `poet`"),
        ];
        for (messages, expected) in broken {
            assert_eq!(verdict(&messages), expected);
        }
    }

    #[test]
    fn arguments_that_are_no_object_are_illegal() {
        for arguments in [json!("[]"), json!("{"), json!(""), json!({})] {
            let call = json!({"id": "a", "type": "function", "function": {"name": "t", "arguments": arguments}});
            let said = verdict(&json!([user(), {"role": "assistant", "tool_calls": [call]}, result("a")]));
            assert_eq!(said, "message 1: the arguments of call `a` are no JSON object in a string");
        }
    }

    #[test]
    fn a_tool_choice_needs_tools() {
        let request = |tools: Value, choice: Value| {
            legality(&json!({"messages": [user()], "tools": tools, "tool_choice": choice}))
        };
        assert!(request(Value::Null, Value::Null).is_ok());
        assert!(request(json!([{}]), json!("none")).is_ok());
        assert!(request(Value::Null, json!("auto")).is_err());
        assert!(request(json!([]), Value::Null).is_err());
    }

    #[test]
    fn a_history_is_held_to_the_same_rules() {
        let call = CallId { run: RunId(1), turn: TurnId(1), index: 0 };
        let user = || Message::User { text: "go".into() };
        let in_history = CallInHistory { call, provider_id: None, name: "t".into(), arguments: Json::empty_object() };
        let assistant = || Message::Assistant { parts: vec![], calls: vec![in_history.clone()], model: "m".into() };
        let tool =
            || Message::Tool { call, provider_id: None, name: "t".into(), outcome: OutcomeKind::Ok, text: "ok".into() };
        assert_eq!(history_legality(&[user(), assistant(), tool()]), Ok(()));
        assert!(history_legality(&[user(), assistant()]).is_err());
        assert!(history_legality(&[user(), tool()]).is_err());
        assert!(
            history_legality(&[user(), Message::Assistant { parts: vec![], calls: vec![], model: "m".into() }])
                .is_err()
        );
    }
}
