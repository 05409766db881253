//! Recorded requests of the Responses wire that the real server accepted: what they say, our encoder says in the same
//! form. Items of ours have no ids and no status, because nothing is stored at the server.

use serde_json::{Map, Value};
use windlass_provider::responses::{ResponseDraft, encode};
use windlass_provider::{Delivery, ModelConfig, ModelRequest, Segments};
use windlass_vocab::{
    CallId, CallInHistory, Json, MaxTokens, Message, ModelName, OutcomeKind, Part, PinnedContext, Reasoning, RunId,
    StreamIdle, ToolSpec, TurnId, TurnMode,
};

use super::recorded::{consecutive, join_results_to_calls, recorded_tool, responses_recordings};

/// Brings an item into our form: without ids, status and absent fields, and a reply's text as a string.
fn normalized(item: &Value) -> Value {
    let mut fields: Map<String, Value> = item.as_object().cloned().unwrap_or_default();
    fields.retain(|_, value| !value.is_null());
    fields.remove("status");
    if item["type"] != "reasoning" {
        fields.remove("id");
    }
    if item["role"] == "assistant"
        && let Some(parts) = item["content"].as_array()
    {
        let text: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        fields.insert("content".to_owned(), Value::String(text));
    }
    Value::Object(fields)
}

/// The history that items stand for.
#[derive(Default)]
struct ItemReader {
    history: Vec<Message>,
    parts: Vec<Part>,
    calls: Vec<CallInHistory>,
}

impl ItemReader {
    /// Reads an item; `None` if it is not ours to send.
    fn read(&mut self, item: &Value, model: &ModelName) -> Option<()> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let turn = TurnId(u32::try_from(self.history.len()).ok()?);
        match (item["type"].as_str()?, item["role"].as_str()) {
            ("reasoning", _) => self.parts.push(Part::Opaque { item: Json::from(item) }),
            ("message", Some("assistant")) => self.parts.push(Part::Text { text: text(&item["content"])? }),
            ("function_call", _) => {
                let index = u32::try_from(self.calls.len()).ok()?;
                self.parts.push(Part::Call { index });
                self.calls.push(CallInHistory {
                    call: CallId { run: RunId(1), turn, index },
                    provider_id: text(&item["call_id"]),
                    name: text(&item["name"])?,
                    arguments: Json::parse(item["arguments"].as_str()?).ok()?,
                });
            }
            ("message", Some("user")) => {
                self.end_reply(model);
                let [part] = item["content"].as_array()?.as_slice() else { return None };
                (part["type"] == "input_text").then_some(())?;
                self.history.push(Message::user(text(&part["text"])?));
            }
            ("function_call_output", _) => {
                self.end_reply(model);
                self.history.push(Message::Tool {
                    call: CallId { run: RunId(1), turn, index: 0 },
                    provider_id: text(&item["call_id"]),
                    name: "tool".into(),
                    outcome: OutcomeKind::Ok,
                    text: text(&item["output"])?,
                    images: Vec::new(),
                });
            }
            _ => return None,
        }
        Some(())
    }

    fn end_reply(&mut self, model: &ModelName) {
        let (parts, calls) = (std::mem::take(&mut self.parts), std::mem::take(&mut self.calls));
        if !parts.is_empty() {
            self.history.push(Message::Assistant { parts, calls, model: model.clone() });
        }
    }
}

fn tools(recorded: &Value) -> Option<Vec<ToolSpec>> {
    let list = recorded.get("tools").and_then(Value::as_array).into_iter().flatten();
    list.map(|tool| {
        (tool["type"] == "function").then_some(())?;
        recorded_tool(tool, "parameters")
    })
    .collect()
}

/// Encodes what a recorded request says; `None` if it says something that is not ours to send.
fn encoded(recorded: &Value, items: &[Value]) -> Option<Value> {
    let model = ModelName::from("own");
    let history = history(items, &model)?;
    // A request that ends with a reply, or refers to a stored one, is none of ours.
    let is_continued = recorded.get("previous_response_id").is_some();
    (!is_continued && !matches!(history.last(), Some(Message::Assistant { .. }) | None)).then_some(())?;
    encoded_with(recorded, &model, history)
}

/// Returns the history that items stand for; `None` if one of them is not ours to send.
fn history(items: &[Value], model: &ModelName) -> Option<Vec<Message>> {
    let mut reader = ItemReader::default();
    for item in items {
        reader.read(item, model)?;
    }
    reader.end_reply(model);
    Some(reader.history)
}

/// Encodes a recorded request with this history in place of its own.
fn encoded_with(recorded: &Value, model: &ModelName, mut history: Vec<Message>) -> Option<Value> {
    join_results_to_calls(&mut history);
    let prefix = recorded.get("instructions").and_then(Value::as_str).unwrap_or_default().to_owned();
    let context = PinnedContext { prefix, offer: tools(recorded)?, ..PinnedContext::default() };
    let request = ModelRequest {
        model,
        context: &context,
        history: &history,
        epoch: 1,
        tail: "",
        cache_key: recorded.get("prompt_cache_key").and_then(Value::as_str).unwrap_or_default(),
        mode: if recorded["tool_choice"] == "none" { TurnMode::Talk } else { TurnMode::Tools },
        delivery: if recorded["stream"] == true { Delivery::Streamed } else { Delivery::Whole },
        temperature_milli: None,
        max_tokens: match recorded.get("max_output_tokens").and_then(Value::as_u64) {
            Some(tokens) => MaxTokens::Fixed(u32::try_from(tokens).ok()?),
            None => MaxTokens::ModelOwn,
        },
        reasoning: Reasoning::ModelOwn,
        idle: StreamIdle { first_ms: 1_000, next_ms: 1_000 },
        output: None,
        output_form: windlass_vocab::OutputForm::Schema,
        stop: &[],
    };
    let config = ModelConfig::responses("http://models.test/v1", recorded["model"].as_str()?);
    let body = encode(&config, &request, &mut Segments::default()).unwrap();
    Some(serde_json::from_slice(&body.to_vec()).unwrap())
}

/// The tools without what only says that the schema is not to be held to the server's own rules.
fn plain_tools(body: &Value) -> Option<Value> {
    let tool = |tool: &Value| {
        let mut fields = tool.as_object().cloned().unwrap_or_default();
        fields.remove("strict");
        Value::Object(fields)
    };
    body.get("tools").and_then(Value::as_array).map(|tools| tools.iter().map(tool).collect())
}

/// Whether a recorded request has something that we never send. No other may be left out of the comparison.
fn has_what_we_never_send(recorded: &Value) -> bool {
    let input = recorded["input"].to_string();
    recorded.get("previous_response_id").is_some()
        || [r#""role":"system""#, r#""type":"input_file""#].iter().any(|part| input.contains(part))
}

// proves M1
#[test]
fn what_recorded_responses_requests_say_is_written_in_the_same_form() {
    let recordings = responses_recordings();
    let mut compared = 0;
    for recording in recordings.iter().filter(|recording| recording.status == 200) {
        let recorded: Value = serde_json::from_str(&recording.request).unwrap();
        let file = recording.file.display();
        let items = items(&recorded).unwrap_or_default();
        let Some(ours) = encoded(&recorded, &items) else {
            assert!(has_what_we_never_send(&recorded), "left out: {file}");
            continue;
        };
        assert_eq!(ours["input"].as_array(), Some(&items), "input of {file}");
        assert_eq!(plain_tools(&ours), plain_tools(&recorded), "tools of {file}");
        for field in ["model", "instructions", "max_output_tokens", "prompt_cache_key"] {
            assert_eq!(ours.get(field), recorded.get(field), "{field} of {file}");
        }
        compared += 1;
    }
    println!("{compared} of {} recorded requests are ours too", recordings.len());
    assert!(recordings.is_empty() || compared > 100, "{compared}");
}

/// The items of a recorded request, in our form.
fn items(recorded: &Value) -> Option<Vec<Value>> {
    recorded["input"].as_array().map(|items| items.iter().map(normalized).collect())
}

/// Returns the history of a recorded request as a run has it whose reply before was decoded from the recorded answer;
/// `None` if the request does not follow that one, or says something that is not ours to send.
fn continued(before: &[Value], next: &[Value], reply: Message, model: &ModelName) -> Option<Vec<Message>> {
    let added = next.strip_prefix(before)?;
    let is_replied =
        |item: &&Value| item["role"] == "assistant" || item["type"] == "reasoning" || item["type"] == "function_call";
    let replied = added.iter().take_while(is_replied).count();
    let rest = history(&added[replied..], model)?;
    // One reply, and something that follows it.
    let is_one = !rest.iter().any(|message| matches!(message, Message::Assistant { .. }));
    (replied > 0 && is_one && !rest.is_empty()).then_some(())?;
    let mut whole = history(before, model)?;
    whole.push(reply);
    whole.extend(rest);
    Some(whole)
}

/// The items of a request of ours without the phases of messages, which that client did not return.
fn without_phases(body: &Value) -> Vec<Value> {
    let mut items = body["input"].as_array().cloned().unwrap_or_default();
    items.iter_mut().filter_map(Value::as_object_mut).for_each(|item| drop(item.remove("phase")));
    items
}

// proves M1, M5: recorded runs, replayed: what was answered is sent back as the recording sent it
#[test]
fn a_recorded_answer_is_sent_back_as_the_recording_sent_it() {
    let recordings = responses_recordings();
    let model = ModelName::from("own");
    let mut compared = 0;
    for (one, next) in consecutive(&recordings) {
        let [before, after]: [Value; 2] =
            [one, next].map(|recording| serde_json::from_str(&recording.request).unwrap());
        let (Some(sent), Some(sent_next)) = (items(&before), items(&after)) else { continue };
        let reply = one.replied::<ResponseDraft>(&model);
        let Some(history) = continued(&sent, &sent_next, reply, &model) else { continue };
        let Some(ours) = encoded_with(&after, &model, history) else { continue };
        assert_eq!(without_phases(&ours), sent_next, "{}", next.file.display());
        compared += 1;
    }
    println!("{compared} recorded answers went back as they came");
    assert!(recordings.is_empty() || compared > 15, "{compared}");
}
