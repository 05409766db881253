//! Calls to which a provider gave the same id, on each wire.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_provider::Ability;
use windlass_vocab::{CallId, CallInHistory, Json, Message, ModelName, OutcomeKind, Part, RunId, TurnId};

use super::image_requests::{WIRES, config, sent};

/// A reply with a call for each of these ids, and the results.
fn turn(turn: u32, provider_ids: &[&str]) -> Vec<Message> {
    let call = |index: usize| CallId { run: RunId(1), turn: TurnId(turn), index: u32::try_from(index).unwrap() };
    let calls = provider_ids.iter().enumerate().map(|(index, id)| CallInHistory {
        call: call(index),
        provider_id: Some((*id).to_owned()),
        name: "read".into(),
        arguments: Json::empty_object(),
    });
    let parts = (0..).zip(provider_ids).map(|(index, _)| Part::Call { index }).collect();
    let reply = Message::Assistant { parts, calls: calls.collect(), model: ModelName::from("a model") };
    let results = provider_ids.iter().enumerate().map(|(index, id)| Message::Tool {
        call: call(index),
        provider_id: Some((*id).to_owned()),
        name: "read".into(),
        outcome: OutcomeKind::Ok,
        text: format!("{turn}.{index}"),
        images: Vec::new(),
    });
    [reply].into_iter().chain(results).collect()
}

/// Collects the ids of calls and of results, each in the order in which they are sent, whatever the wire.
fn collect(value: &Value, calls: &mut Vec<String>, results: &mut Vec<String>) {
    let text = |field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
    match value["type"].as_str() {
        Some("tool_use" | "function") => calls.extend(text("id")),
        Some("function_call") => calls.extend(text("call_id")),
        Some("tool_result") => results.extend(text("tool_use_id")),
        Some("function_call_output") => results.extend(text("call_id")),
        _ => results.extend(text("tool_call_id")),
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, calls, results)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, calls, results)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

// proves J10: a request in which two calls share an id is refused, and so is each one after it
#[test]
fn every_call_of_a_request_has_an_id_of_its_own_and_its_result_has_the_same() {
    let turns = [turn(1, &["call_0", "call_1"]), turn(2, &["call_0"]), turn(3, &["x", "x", "call_1"])];
    let history: Vec<Message> = [vec![Message::user("Go.")], turns.concat()].concat();
    for wire in WIRES {
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        collect(&sent(&config(wire, Ability::No), &history), &mut calls, &mut results);
        assert_eq!(calls, ["call_0", "call_1", "call_1_2_0", "x", "call_1_3_1", "call_1_3_2"], "{wire:?}");
        assert_eq!(calls.iter().collect::<BTreeSet<_>>().len(), calls.len(), "{wire:?}");
        assert_eq!(results, calls, "{wire:?}");
    }
}
