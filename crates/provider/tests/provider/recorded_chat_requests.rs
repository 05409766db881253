//! Recorded requests of the Chat Completions wire that OpenAI and DeepSeek accepted: what they say, our encoder says in
//! the same form. (Ollama's recordings are of its own protocol, which is not spoken: it is called by this wire too.)

use serde_json::{Value, json};
use windlass_provider::chat::{ChatDraft, encode};
use windlass_provider::{Delivery, ModelConfig, ModelRequest, Segments};
use windlass_vocab::{
    CallId, CallInHistory, Json, MaxTokens, Message, ModelName, OutcomeKind, Part, PinnedContext, Reasoning, RunId,
    StreamIdle, ToolSpec, TurnId, TurnMode,
};

use super::recorded::{Recording, chat_recordings, consecutive, join_results_to_calls, recorded_tool};

/// Brings a recorded message into our form: text as a string, no text as null, calls without their place, and arguments
/// as what they say. Empty reasoning is none: we send the field to servers that require it in some of their modes.
fn normalized(message: &Value) -> Value {
    let mut fields = message.as_object().cloned().unwrap_or_default();
    fields.retain(|name, value| name != "reasoning_content" || value != "");
    if let Some(parts) = message["content"].as_array() {
        let texts: Option<String> = parts.iter().map(|part| part["text"].as_str()).collect();
        if let Some(text) = texts {
            fields.insert("content".to_owned(), text.into());
        }
    }
    if let Some(calls) = fields.get_mut("tool_calls").and_then(Value::as_array_mut) {
        for call in calls {
            let function = &call["function"];
            let arguments = function["arguments"].as_str().unwrap_or_default();
            let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
            *call = json!({"id": call["id"], "name": function["name"], "arguments": arguments});
        }
        if fields.get("content").and_then(Value::as_str).unwrap_or_default().is_empty() {
            fields.insert("content".to_owned(), Value::Null);
        }
    }
    Value::Object(fields)
}

/// The messages of a request, in our form.
fn messages(body: &Value) -> Vec<Value> {
    body["messages"].as_array().into_iter().flatten().map(normalized).collect()
}

/// Divides normalized messages into the system prompt and the others.
fn divided(messages: &[Value]) -> (&str, &[Value]) {
    match messages.split_first() {
        Some((first, others)) if first["role"] == "system" => (first["content"].as_str().unwrap_or_default(), others),
        Some(_) | None => ("", messages),
    }
}

/// Returns the history that normalized messages stand for; `None` if something in them is not ours to send.
fn history(messages: &[Value], model: &ModelName) -> Option<Vec<Message>> {
    let mut history = Vec::new();
    for (turn, message) in (0..).zip(messages) {
        let text = |field: &str| message[field].as_str().map(str::to_owned);
        let call = |index| CallId { run: RunId(1), turn: TurnId(turn), index };
        history.push(match message["role"].as_str()? {
            "user" => Message::user(text("content")?),
            "tool" => Message::Tool {
                call: call(0),
                provider_id: text("tool_call_id"),
                name: "tool".into(),
                outcome: OutcomeKind::Ok,
                text: text("content")?,
                images: Vec::new(),
            },
            "assistant" => {
                let mut parts = Vec::new();
                let thinking = text("reasoning_content").filter(|text| !text.is_empty());
                parts.extend(thinking.map(|text| Part::Thinking { text, signature: None }));
                parts.extend(text("content").map(|text| Part::Text { text }));
                let mut calls = Vec::new();
                for (index, asked) in (0..).zip(message["tool_calls"].as_array().into_iter().flatten()) {
                    parts.push(Part::Call { index });
                    calls.push(CallInHistory {
                        call: call(index),
                        provider_id: asked["id"].as_str().map(str::to_owned),
                        name: asked["name"].as_str()?.to_owned(),
                        arguments: Json::from(&asked["arguments"]),
                    });
                }
                Message::Assistant { parts, calls, model: model.clone() }
            }
            _ => return None,
        });
    }
    join_results_to_calls(&mut history);
    Some(history)
}

fn tools(recorded: &Value) -> Option<Vec<ToolSpec>> {
    let list = recorded["tools"].as_array().into_iter().flatten();
    list.map(|tool| recorded_tool(&tool["function"], "parameters")).collect()
}

/// The tools without what only says that the schema is held to the server's own rules.
fn plain_tools(body: &Value) -> Vec<Value> {
    let tool = |tool: &Value| {
        let mut function = tool["function"].as_object().cloned().unwrap_or_default();
        function.remove("strict");
        Value::Object(function)
    };
    body["tools"].as_array().into_iter().flatten().map(tool).collect()
}

/// The most tokens of the reply: in newer requests of OpenAI the field has another name.
fn length_limit(body: &Value) -> Option<u64> {
    ["max_tokens", "max_completion_tokens"].into_iter().find_map(|field| body[field].as_u64())
}

/// Encodes a recorded request with this history in place of its own; `None` if it says something that is not ours to
/// send.
fn encoded(recording: &Recording, recorded: &Value, prefix: &str, history: &[Message]) -> Option<Value> {
    let model = ModelName::from("own");
    let context = PinnedContext { prefix: prefix.to_owned(), offer: tools(recorded)?, ..PinnedContext::default() };
    let request = ModelRequest {
        model: &model,
        context: &context,
        history,
        epoch: 1,
        tail: "",
        cache_key: "",
        mode: if recorded["tool_choice"] == "none" { TurnMode::Talk } else { TurnMode::Tools },
        delivery: if recorded["stream"] == true { Delivery::Streamed } else { Delivery::Whole },
        temperature_milli: None,
        max_tokens: match length_limit(recorded) {
            Some(tokens) => MaxTokens::Fixed(u32::try_from(tokens).ok()?),
            None => MaxTokens::ModelOwn,
        },
        reasoning: Reasoning::ModelOwn,
        idle: StreamIdle { first_ms: 1_000, next_ms: 1_000 },
        output: None,
        output_form: windlass_vocab::OutputForm::Schema,
        stop: &[],
    };
    let is_deepseek = recording.file.components().any(|folder| folder.as_os_str() == "deepseek");
    let server = if is_deepseek { "https://api.deepseek.com/v1" } else { "https://api.openai.com/v1" };
    let config = ModelConfig::chat(server, recorded["model"].as_str()?);
    let body = encode(&config, &request, &mut Segments::default()).unwrap();
    Some(serde_json::from_slice(&body.to_vec()).unwrap())
}

// proves M1
#[test]
fn what_recorded_chat_requests_say_is_written_in_the_same_form() {
    let recordings = chat_recordings();
    let model = ModelName::from("own");
    let mut compared = 0;
    for recording in recordings.iter().filter(|recording| recording.status == 200) {
        let Ok(recorded) = serde_json::from_str::<Value>(&recording.request) else { continue };
        let recorded_messages = messages(&recorded);
        let (prefix, others) = divided(&recorded_messages);
        // A request that ends with a reply is none of ours.
        let sent =
            history(others, &model).filter(|history| !matches!(history.last(), Some(Message::Assistant { .. }) | None));
        let Some(ours) = sent.and_then(|sent| encoded(recording, &recorded, prefix, &sent)) else { continue };
        let file = recording.file.display();
        assert_eq!(messages(&ours), recorded_messages, "messages of {file}");
        assert_eq!(plain_tools(&ours), plain_tools(&recorded), "tools of {file}");
        assert_eq!(length_limit(&ours), length_limit(&recorded), "length limit of {file}");
        for field in ["model", "stream_options"] {
            assert_eq!(ours.get(field), recorded.get(field), "{field} of {file}");
        }
        compared += 1;
    }
    println!("{compared} of {} recorded requests are ours too", recordings.len());
    assert!(recordings.is_empty() || compared > 300, "{compared}");
}

/// Returns the history of a recorded request as a run has it whose reply before was decoded from the recorded answer;
/// `None` if the request does not follow that one, or says something that is not ours to send.
fn continued(before: &[Value], next: &[Value], reply: Message, model: &ModelName) -> Option<Vec<Message>> {
    let (replied, rest) = next.strip_prefix(before)?.split_first()?;
    (replied["role"] == "assistant" && !rest.is_empty()).then_some(())?;
    let mut whole = history(before, model)?;
    whole.push(reply);
    whole.extend(history(rest, model)?);
    join_results_to_calls(&mut whole);
    Some(whole)
}

// proves M1, M5: recorded runs, replayed: what was answered is sent back as the recording sent it
#[test]
fn a_recorded_answer_is_sent_back_as_the_recording_sent_it() {
    let recordings = chat_recordings();
    let model = ModelName::from("own");
    let mut compared = 0;
    for (one, next) in consecutive(&recordings) {
        let requests = [one, next].map(|recording| serde_json::from_str::<Value>(&recording.request));
        let [Ok(before), Ok(after)] = requests else { continue };
        let (sent, sent_next) = (messages(&before), messages(&after));
        let ((prefix, before), (prefix_next, next_messages)) = (divided(&sent), divided(&sent_next));
        let reply = one.replied::<ChatDraft>(&model);
        let Some(history) = continued(before, next_messages, reply, &model).filter(|_| prefix == prefix_next) else {
            continue;
        };
        let Some(ours) = encoded(next, &after, prefix, &history) else { continue };
        assert_eq!(messages(&ours), sent_next, "{}", next.file.display());
        compared += 1;
    }
    println!("{compared} recorded answers went back as they came");
    assert!(recordings.is_empty() || compared > 25, "{compared}");
}
