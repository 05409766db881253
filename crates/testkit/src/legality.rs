//! Checks that every server would accept a request (J10): each call is answered by exactly one result
//! right after it, in call order, there is no result without its call, and the start is legal.

use serde_json::Value;
use windlass_provider::WireKind;
use windlass_vocab::Message;

use crate::request::message::{RequestMessage, SAYS_NOTHING};
use crate::request::read_request;

/// Checks the body of a Chat Completions request; the error says what is wrong and where.
pub fn legality(request: &Value) -> Result<(), String> {
    wire_legality(WireKind::Chat, request)
}

/// Checks the body of a request on this wire; the error says what is wrong and where.
pub fn wire_legality(wire: WireKind, request: &Value) -> Result<(), String> {
    order_legality(&read_request(wire, request)?.messages)
}

/// Checks a history before it is serialized for any API.
pub fn history_legality(history: &[Message]) -> Result<(), String> {
    let messages = history.iter().map(|message| match message {
        Message::User { text, .. } => Ok(RequestMessage::User(text.clone())),
        Message::Assistant { parts, calls, .. } if parts.is_empty() && calls.is_empty() => Err(SAYS_NOTHING.to_owned()),
        Message::Assistant { calls, .. } => {
            Ok(RequestMessage::Reply { calls: calls.iter().map(|call| call.call.to_string()).collect() })
        }
        Message::Tool { call, .. } => Ok(RequestMessage::Result(call.to_string())),
    });
    order_legality(&messages.collect::<Result<Vec<_>, _>>()?)
}

/// Checks the order of the messages of a request.
pub(crate) fn order_legality(messages: &[RequestMessage]) -> Result<(), String> {
    let mut owed = [].iter();
    let mut begun = ConversationStart::Nothing;
    for (at, message) in messages.iter().enumerate() {
        let fail = |what: String| Err(format!("message {at}: {what}"));
        let next: Option<&String> = match message {
            RequestMessage::Result(id) => match owed.next() {
                Some(expected) if expected == id => continue,
                Some(expected) => return fail(format!("a result for `{id}` where one for `{expected}` is due")),
                None => return fail(format!("a result for `{id}`, which no call just before it asked for")),
            },
            RequestMessage::System | RequestMessage::User(_) | RequestMessage::Reply { .. } => owed.next(),
        };
        if let Some(id) = next {
            return fail(format!("call `{id}` has no result"));
        }
        match (message, begun) {
            (RequestMessage::System, ConversationStart::Conversation) => {
                return fail("a system message in mid-conversation".to_owned());
            }
            (RequestMessage::Reply { .. }, ConversationStart::Nothing) => {
                return fail("the assistant speaks before any user".to_owned());
            }
            (RequestMessage::Reply { calls }, ConversationStart::Conversation) => owed = calls.iter(),
            (RequestMessage::User(_), _) => begun = ConversationStart::Conversation,
            (RequestMessage::System, ConversationStart::Nothing) | (RequestMessage::Result(_), _) => {}
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
        let user = || Message::user("go");
        let in_history = CallInHistory { call, provider_id: None, name: "t".into(), arguments: Json::empty_object() };
        let assistant = || Message::Assistant { parts: vec![], calls: vec![in_history.clone()], model: "m".into() };
        let tool = || Message::Tool {
            call,
            provider_id: None,
            name: "t".into(),
            outcome: OutcomeKind::Ok,
            text: "ok".into(),
            images: Vec::new(),
        };
        assert_eq!(history_legality(&[user(), assistant(), tool()]), Ok(()));
        assert!(history_legality(&[user(), assistant()]).is_err());
        assert!(history_legality(&[user(), tool()]).is_err());
        assert!(
            history_legality(&[user(), Message::Assistant { parts: vec![], calls: vec![], model: "m".into() }])
                .is_err()
        );
    }
}
