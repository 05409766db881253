//! Recorded requests that real servers accepted: what they say, our encoder says in the same form.

use serde_json::{Value, json};
use windlass_provider::messages::{MessagesDraft, encode};
use windlass_provider::{Delivery, ModelConfig, ModelRequest, Segments};
use windlass_vocab::{
    CallId, CallInHistory, Json, MaxTokens, Message, ModelName, OutcomeKind, Part, PinnedContext, Reasoning, RunId,
    StreamIdle, ToolSpec, TurnId, TurnMode,
};

use super::recorded::{consecutive, join_results_to_calls, messages_recordings, recorded_tool};

/// Brings a recorded request into our form: content as a list, results as text, without marks and absent fields.
fn normalized(mut value: Value) -> Value {
    if let Value::Object(fields) = &mut value {
        fields.remove("cache_control");
        fields.retain(|_, value| !value.is_null());
        let is_message = fields.contains_key("role");
        if let Some(content) = fields.get_mut("content") {
            if let (true, Some(text)) = (is_message, content.as_str()) {
                *content = json!([{"type": "text", "text": text}]);
            } else if let (false, Some([block])) = (is_message, content.as_array().map(Vec::as_slice)) {
                *content = block["text"].clone();
            }
        }
    }
    match value {
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, normalized(value))).collect::<serde_json::Map<_, _>>().into()
        }
        Value::Array(items) => items.into_iter().map(normalized).collect(),
        other => other,
    }
}

/// Returns the history that normalized messages stand for; `None` if something in them is not ours to send.
fn history(messages: &Value, model: &ModelName) -> Option<Vec<Message>> {
    let mut history = Vec::new();
    for (turn, message) in (0..).zip(messages.as_array()?) {
        let blocks = message["content"].as_array()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if message["role"] == "assistant" {
            let (mut parts, mut calls) = (Vec::new(), Vec::new());
            for block in blocks {
                parts.push(match block["type"].as_str()? {
                    "text" if block.get("citations").is_none() => Part::Text { text: text(&block["text"])? },
                    "thinking" => {
                        Part::Thinking { text: text(&block["thinking"])?, signature: text(&block["signature"]) }
                    }
                    "redacted_thinking" => Part::Opaque { item: Json::from(block) },
                    "tool_use" => {
                        let index = u32::try_from(calls.len()).ok()?;
                        calls.push(CallInHistory {
                            call: CallId { run: RunId(1), turn: TurnId(turn), index },
                            provider_id: text(&block["id"]),
                            name: text(&block["name"])?,
                            arguments: Json::from(&block["input"]),
                        });
                        Part::Call { index }
                    }
                    _ => return None,
                });
            }
            history.push(Message::Assistant { parts, calls, model: model.clone() });
        } else if message["role"] == "user" {
            for (block, index) in blocks.iter().zip(0..) {
                history.push(match block["type"].as_str()? {
                    "text" => Message::user(text(&block["text"])?),
                    "tool_result" => Message::Tool {
                        call: CallId { run: RunId(1), turn: TurnId(turn), index },
                        provider_id: text(&block["tool_use_id"]),
                        name: "tool".into(),
                        outcome: if block["is_error"] == true { OutcomeKind::ToolError } else { OutcomeKind::Ok },
                        text: text(&block["content"])?,
                        images: Vec::new(),
                    },
                    _ => return None,
                });
            }
        } else {
            return None;
        }
    }
    Some(history)
}

fn tools(tools: Option<&Value>) -> Option<Vec<ToolSpec>> {
    let list = tools.and_then(Value::as_array).into_iter().flatten();
    list.map(|tool| {
        let fields = ["name", "description", "input_schema"];
        let is_plain = tool.as_object()?.keys().all(|name| fields.contains(&name.as_str()));
        is_plain.then_some(())?;
        recorded_tool(tool, "input_schema")
    })
    .collect()
}

/// Encodes what a recorded request says; `None` if it says something that is not ours to send.
fn encoded(recorded: &Value) -> Option<Value> {
    let model = ModelName::from("own");
    encoded_with(recorded, &model, history(&recorded["messages"], &model)?)
}

/// Encodes a recorded request with this history in place of its own.
fn encoded_with(recorded: &Value, model: &ModelName, mut history: Vec<Message>) -> Option<Value> {
    join_results_to_calls(&mut history);
    let system = recorded.get("system").and_then(Value::as_array);
    let prefix = match system.map(Vec::as_slice) {
        None => String::new(),
        Some([block]) => block["text"].as_str()?.to_owned(),
        Some(_) => return None,
    };
    let context = PinnedContext { prefix, offer: tools(recorded.get("tools"))?, ..PinnedContext::default() };
    let request = ModelRequest {
        model,
        context: &context,
        history: &history,
        epoch: 1,
        tail: "",
        cache_key: "",
        mode: if recorded["tool_choice"]["type"] == "none" { TurnMode::Talk } else { TurnMode::Tools },
        delivery: if recorded["stream"] == true { Delivery::Streamed } else { Delivery::Whole },
        temperature_milli: None,
        max_tokens: MaxTokens::Fixed(u32::try_from(recorded["max_tokens"].as_u64()?).ok()?),
        reasoning: Reasoning::ModelOwn,
        idle: StreamIdle { first_ms: 1_000, next_ms: 1_000 },
        output: None,
        output_form: windlass_vocab::OutputForm::Schema,
        stop: &[],
    };
    let config = ModelConfig::messages("http://models.test/v1", recorded["model"].as_str()?);
    let body = encode(&config, &request, &mut Segments::default()).unwrap();
    Some(serde_json::from_slice(&body.to_vec()).unwrap())
}

/// Whether a recorded request has something that we never send. No other may be left out of the comparison.
fn has_what_we_never_send(recorded: &Value) -> bool {
    let is_odd = |tool: &Value| {
        ["strict", "type"].iter().any(|field| tool.get(field).is_some()) || tool.get("description").is_none()
    };
    let messages = recorded["messages"].to_string();
    let never = [r#""type":"document""#, r#""type":"image""#, r#""citations":"#, r#""role":"system""#];
    recorded["tools"].as_array().is_some_and(|tools| tools.iter().any(is_odd))
        || never.iter().any(|part| messages.contains(part))
}

// proves M1
#[test]
fn what_recorded_requests_say_is_written_in_the_same_form() {
    let recordings = messages_recordings();
    let mut compared = 0;
    for recording in recordings.iter().filter(|recording| recording.status == 200) {
        let recorded = normalized(serde_json::from_str(&recording.request).unwrap());
        let Some(ours) = encoded(&recorded).map(normalized) else {
            assert!(has_what_we_never_send(&recorded), "left out: {}", recording.file.display());
            continue;
        };
        for field in ["model", "messages", "system", "tools", "max_tokens"] {
            assert_eq!(ours.get(field), recorded.get(field), "{field} of {}", recording.file.display());
        }
        compared += 1;
    }
    println!("{compared} of {} recorded requests are ours too", recordings.len());
    assert!(recordings.is_empty() || compared > 150, "{compared}");
}

/// Returns the history of a recorded request as a run has it whose reply before was decoded from the recorded answer;
/// `None` if the request does not follow that one, or says something that is not ours to send.
fn continued(before: &Value, next: &Value, reply: Message, model: &ModelName) -> Option<Vec<Message>> {
    let (before, next) = (before["messages"].as_array()?, next["messages"].as_array()?);
    let follows = next.starts_with(before) && next.get(before.len())?["role"] == "assistant";
    follows.then_some(())?;
    let mut whole = history(&Value::Array(before.clone()), model)?;
    whole.push(reply);
    whole.extend(history(&Value::Array(next[before.len() + 1..].to_vec()), model)?);
    Some(whole)
}

// proves M1, M5: recorded runs, replayed: what was answered is sent back as the recording sent it
#[test]
fn a_recorded_answer_is_sent_back_as_the_recording_sent_it() {
    let recordings = messages_recordings();
    let model = ModelName::from("own");
    let mut compared = 0;
    for (one, next) in consecutive(&recordings) {
        let [before, after] =
            [one, next].map(|recording| normalized(serde_json::from_str(&recording.request).unwrap()));
        let reply = one.replied::<MessagesDraft>(&model);
        let Some(history) = continued(&before, &after, reply, &model) else { continue };
        let Some(ours) = encoded_with(&after, &model, history).map(normalized) else { continue };
        assert_eq!(ours["messages"], after["messages"], "{}", next.file.display());
        compared += 1;
    }
    println!("{compared} recorded answers went back as they came");
    assert!(recordings.is_empty() || compared > 15, "{compared}");
}
