//! The request body of the Messages wire, byte by byte.

use serde_json::{Value, json};
use windlass_provider::messages::encode;
use windlass_provider::{
    Abilities, Ability, Delivery, HttpClient, HttpConfig, ModelConfig, ModelRequest, ReasoningControl, RequestBody,
    ResponseFormat, Segments, list_models,
};
use windlass_vocab::{
    CallId, CallInHistory, EffectClass, Json, MaxTokens, Message, ModelName, OutcomeKind, OutputSpec, Part,
    PinnedContext, Reasoning, RunId, StreamIdle, ToolSpec, TurnId, TurnMode,
};

use super::network::answer;
use super::server::{Act, Server};

const BUDGET: ReasoningControl = ReasoningControl::Budget { least: 1_024, most: None };

fn config() -> ModelConfig {
    ModelConfig::messages("http://models.test/v1", "m")
}

fn context(offer: Vec<ToolSpec>) -> PinnedContext {
    PinnedContext { prefix: "You are \"it\".\n".into(), offer, ..PinnedContext::default() }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: "local.read_file".into(),
        wire_name: name.into(),
        description: "Reads.".into(),
        schema: Json::parse(r#"{"type":"object","z":1.0,"a":[]}"#).unwrap(),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    }
}

fn own() -> ModelName {
    ModelName::from("own")
}

fn request<'a>(model: &'a ModelName, context: &'a PinnedContext, history: &'a [Message]) -> ModelRequest<'a> {
    ModelRequest {
        model,
        context,
        history,
        epoch: 1,
        tail: "",
        cache_key: "",
        mode: TurnMode::Tools,
        delivery: Delivery::Streamed,
        temperature_milli: None,
        max_tokens: MaxTokens::ModelOwn,
        reasoning: Reasoning::ModelOwn,
        idle: StreamIdle { first_ms: 1_000, next_ms: 1_000 },
        output: None,
        output_form: windlass_vocab::OutputForm::Schema,
        stop: &[],
    }
}

fn user(text: &str) -> Message {
    Message::user(text)
}

fn id(turn: u32, index: u32) -> CallId {
    CallId { run: RunId(1), turn: TurnId(turn), index }
}

fn call(id: CallId, provider_id: Option<&str>, name: &str) -> CallInHistory {
    let arguments = Json::parse(r#"{"path": "a"}"#).unwrap();
    CallInHistory { call: id, provider_id: provider_id.map(str::to_owned), name: name.into(), arguments }
}

fn result(call: CallId, provider_id: Option<&str>, outcome: OutcomeKind, text: &str) -> Message {
    let provider_id = provider_id.map(str::to_owned);
    Message::Tool { call, provider_id, name: "read_file".into(), outcome, text: text.into(), images: Vec::new() }
}

fn thinking(text: &str, signature: Option<&str>) -> Part {
    Part::Thinking { text: text.into(), signature: signature.map(str::to_owned) }
}

fn text(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn opaque(item: &str) -> Part {
    Part::Opaque { item: Json::parse(item).unwrap() }
}

fn reply(model: &ModelName, parts: Vec<Part>, calls: Vec<CallInHistory>) -> Message {
    Message::Assistant { parts, calls, model: model.clone() }
}

/// A conversation with two calls, a message in the middle of the run, and an answer.
fn history() -> Vec<Message> {
    let calls = vec![call(id(2, 0), Some("toolu_1"), "read_file"), call(id(2, 1), Some("bad:id"), "no such tool!")];
    let parts = vec![
        thinking("hm", Some("sig")),
        opaque(r#"{"type":"redacted_thinking","data":"x"}"#),
        text("Looking."),
        Part::Call { index: 0 },
        Part::Call { index: 1 },
    ];
    vec![
        user("Go."),
        reply(&own(), parts, calls),
        result(id(2, 0), Some("toolu_1"), OutcomeKind::Ok, "A\n"),
        result(id(2, 1), Some("bad:id"), OutcomeKind::Unknown, ""),
        user("And be quick."),
        reply(&own(), vec![text("Do"), text("ne.")], vec![]),
    ]
}

fn json_of(config: &ModelConfig, request: &ModelRequest<'_>) -> Value {
    let body = encode(config, request, &mut Segments::default()).unwrap();
    serde_json::from_slice(&body.to_vec()).unwrap()
}

/// Removes the marks for the cache; returns how many there were.
fn remove_marks(value: &mut Value) -> usize {
    match value {
        Value::Object(fields) => {
            let own = usize::from(fields.remove("cache_control").is_some());
            own + fields.values_mut().map(remove_marks).sum::<usize>()
        }
        Value::Array(items) => items.iter_mut().map(remove_marks).sum(),
        _ => 0,
    }
}

// proves M1, M5
#[test]
fn a_request_has_the_wires_form() {
    let (own, context, history) = (own(), context(vec![tool("local_read_file")]), history());
    let request = ModelRequest { tail: "It is late.", ..request(&own, &context, &history) };
    let mut body = json_of(&config(), &request);
    assert_eq!(remove_marks(&mut body), 4);
    let call = |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "input": {"path": "a"}});
    assert_eq!(
        body,
        json!({
            "model": "m",
            "tools": [{
                "name": "local_read_file", "description": "Reads.",
                "input_schema": {"type": "object", "z": 1.0, "a": []},
            }],
            "system": [{"type": "text", "text": "You are \"it\".\n"}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Go."}]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "sig"},
                    {"type": "redacted_thinking", "data": "x"},
                    {"type": "text", "text": "Looking."},
                    call("toolu_1", "read_file"),
                    call("call_1_2_1", "no_such_tool_"),
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "A\n"},
                    {"type": "tool_result", "tool_use_id": "call_1_2_1", "is_error": true, "content": "The call failed."},
                    {"type": "text", "text": "And be quick."},
                ]},
                {"role": "assistant", "content": [{"type": "text", "text": "Do"}, {"type": "text", "text": "ne."}]},
                {"role": "user", "content": [{"type": "text", "text": "<reminder>\nIt is late.\n</reminder>"}]},
            ],
            "max_tokens": 8192,
            "stream": true,
            "tool_choice": {"type": "auto"},
        })
    );
}

// proves M5
#[test]
fn thinking_and_opaque_items_go_back_to_the_model_that_made_them_and_to_no_other() {
    let other = ModelName::from("other");
    let (own, context, history) = (own(), context(vec![tool("t")]), history());
    let sent = |model: &ModelName| json_of(&config(), &request(model, &context, &history)).to_string();
    for mark in ["\"signature\":\"sig\"", "redacted_thinking"] {
        assert!(sent(&own).contains(mark), "{mark}");
        assert!(!sent(&other).contains(mark), "{mark}");
    }
    assert!(!sent(&other).contains("hm"), "reasoning must not become text");
    // Neither reasoning without a signature, nor what nothing follows, nor an item of another wire.
    for parts in [
        vec![thinking("secret", None), text("Hi")],
        vec![thinking("secret", Some("")), text("Hi")],
        vec![text("Hi"), thinking("secret", Some("sig"))],
        vec![text("Hi"), opaque(r#"{"type":"redacted_thinking","data":"secret"}"#)],
        vec![opaque(r#"{"type":"reasoning","encrypted_content":"secret"}"#), text("Hi")],
    ] {
        let history = [user("Go."), reply(&own, parts, vec![]), user("On.")];
        let body = json_of(&config(), &request(&own, &context, &history));
        assert_eq!(body["messages"][1]["content"], json!([{"type": "text", "text": "Hi"}]));
    }
}

#[test]
fn what_servers_refuse_is_not_sent() {
    let (own, context) = (own(), context(vec![]));
    let messages_in = |mode, history: &[Message], tail| {
        let mut body = json_of(&config(), &ModelRequest { tail, mode, ..request(&own, &context, history) });
        remove_marks(&mut body);
        body["messages"].take()
    };
    let messages = |history: &[Message], tail| messages_in(TurnMode::Tools, history, tail);
    let block = |text: &str| json!({"type": "text", "text": text});
    // Blank text, and a reply of which nothing is left, between two messages that then are neighbours.
    let history = [user("a"), reply(&own, vec![text(" \n"), thinking("x", None)], vec![]), user(""), user("b")];
    assert_eq!(messages(&history, ""), json!([{"role": "user", "content": [block("a"), block("b")]}]));
    assert_eq!(messages(&[], ""), json!([]));
    let reminder = json!([{"role": "user", "content": [block("<reminder>\nt\n</reminder>")]}]);
    assert_eq!(messages(&[], "t"), reminder);
    // A paused reply is continued, so nothing may follow it.
    let item = r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{}}"#;
    let paused = [user("a"), reply(&own, vec![text("x"), opaque(item)], vec![])];
    let last = messages(&paused, "t")[1].take();
    assert_eq!(last["content"][1]["type"], "server_tool_use");
    assert_eq!(messages(&paused, "t").as_array().unwrap().len(), 2);
    // Unless something else is asked for: without its instruction, a summary would be the rest of the reply.
    assert_eq!(messages_in(TurnMode::Summary, &paused, "t")[2], reminder[0]);
}

// proves L5, M9
#[test]
fn tools_are_withheld_by_choice_so_that_the_prefix_holds() {
    let (own, offering, history) = (own(), context(vec![tool("t")]), history());
    for (mode, choice) in [(TurnMode::Tools, "auto"), (TurnMode::WrapUp, "none"), (TurnMode::Talk, "none")] {
        let body = json_of(&config(), &ModelRequest { mode, ..request(&own, &offering, &history) });
        assert_eq!(body["tool_choice"]["type"], choice, "{mode:?}");
        assert!(body["tools"].is_array());
    }
    let body = json_of(&config(), &request(&own, &context(vec![]), &history));
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
}

/// A run of `turns` turns, each with two calls; every tenth has a message of the person's.
fn long_run(turns: u32) -> Vec<Message> {
    let mut history = vec![user("Go.")];
    for turn in 1..=turns {
        let calls = (0..2).map(|index| call(id(turn, index), Some(&format!("toolu_{turn}_{index}")), "read_file"));
        let parts = vec![thinking("hm", Some("sig")), text("é\n"), Part::Call { index: 0 }, Part::Call { index: 1 }];
        history.push(reply(&own(), parts, calls.collect()));
        for index in 0..2 {
            let provider_id = format!("toolu_{turn}_{index}");
            history.push(result(id(turn, index), Some(&provider_id), OutcomeKind::Ok, &format!("result {turn}")));
        }
        if turn % 10 == 0 {
            history.push(user("Go on."));
        }
    }
    history
}

/// The lengths of the history at which a request is made: before each reply, and at the end.
fn requests_of(history: &[Message]) -> Vec<usize> {
    let replies = history.iter().enumerate().filter(|(_, message)| matches!(message, Message::Assistant { .. }));
    replies.map(|(place, _)| place).chain([history.len()]).collect()
}

// proves M6
#[test]
fn each_turns_stable_bytes_begin_the_next_turns_body_over_fifty_turns() {
    let (own, context, history) = (own(), context(vec![tool("a"), tool("b")]), long_run(50));
    let mut segments = Segments::default();
    let mut before = RequestBody::new(bytes_of(""), bytes_of(""));
    for (turn, length) in requests_of(&history).into_iter().enumerate() {
        let tail = format!("It is turn {turn}.");
        let request = ModelRequest { tail: &tail, ..request(&own, &context, &history[..length]) };
        let body = encode(&config(), &request, &mut segments).unwrap();
        assert!(body.stable.starts_with(&before.stable), "turn {turn}");
        // A restart in the middle changes nothing.
        assert_eq!(body, encode(&config(), &request, &mut Segments::default()).unwrap(), "turn {turn}");
        assert!(!body.stable.windows(tail.len()).any(|bytes| bytes == tail.as_bytes()), "reminders are not kept");
        before = body;
    }
}

fn bytes_of(text: &'static str) -> bytes::Bytes {
    bytes::Bytes::from_static(text.as_bytes())
}

/// Returns the paths of the marked blocks.
fn marked(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if fields.get("cache_control") == Some(&json!({"type": "ephemeral"})) {
                found.push(path.to_owned());
            }
            fields.iter().for_each(|(name, value)| marked(value, &format!("{path}/{name}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(number, item)| marked(item, &format!("{path}/{number}"), found));
        }
        _ => {}
    }
}

// proves M6
#[test]
fn at_most_four_marks_stand_at_the_prefix_and_where_the_turn_before_ended() {
    let (own, context, history) = (own(), context(vec![tool("a"), tool("b")]), long_run(50));
    let mut segments = Segments::default();
    let mut ends: Vec<Value> = Vec::new();
    for (turn, length) in requests_of(&history).into_iter().enumerate() {
        let request = ModelRequest { tail: "now", ..request(&own, &context, &history[..length]) };
        let body = encode(&config(), &request, &mut segments).unwrap();
        let whole: Value = serde_json::from_slice(&body.to_vec()).unwrap();
        let mut paths = Vec::new();
        marked(&whole, "", &mut paths);
        assert_eq!(paths.len(), if turn == 0 { 3 } else { 4 }, "turn {turn}: {paths:?}");
        assert!(paths.contains(&"/tools/1".to_owned()) && paths.contains(&"/system/0".to_owned()));
        // The last mark is the last thing before the reminder; the one before it is where the last turn's was.
        let mut history_marks: Vec<&String> = paths.iter().filter(|path| path.starts_with("/messages")).collect();
        history_marks.sort_by_key(|path| path.split('/').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>());
        let blocks: Vec<&Value> = history_marks.iter().map(|path| whole.pointer(path).unwrap()).collect();
        let messages = whole["messages"].as_array().unwrap();
        let last = messages.last().unwrap()["content"].as_array().unwrap();
        assert_eq!(blocks.last().unwrap(), &&last[last.len() - 2], "turn {turn}");
        if turn > 0 {
            assert_eq!(Some(blocks[0]), ends.last(), "turn {turn}");
        }
        ends.push((*blocks.last().unwrap()).clone());
    }
    // No mark where there is nothing to mark.
    let bare = PinnedContext::default();
    let body = encode(&config(), &request(&own, &bare, &[]), &mut Segments::default()).unwrap();
    assert!(body.marks.is_empty());
}

fn parameters(config: &ModelConfig, request: &ModelRequest<'_>) -> Value {
    let mut body = json_of(config, request);
    body.as_object_mut().unwrap().retain(|name, _| !matches!(name.as_str(), "messages" | "system" | "model" | "tools"));
    body
}

#[test]
fn parameters_are_sent_only_where_set() {
    let (own, context, history) = (own(), context(vec![]), [user("Go.")]);
    let set = ModelRequest {
        delivery: Delivery::Whole,
        temperature_milli: Some(100),
        max_tokens: MaxTokens::Fixed(4096),
        stop: &["</tool>", "\n"],
        ..request(&own, &context, &history)
    };
    let expected = json!({"max_tokens": 4096, "stream": false, "temperature": 0.1, "stop_sequences": ["</tool>"]});
    assert_eq!(parameters(&config(), &set), expected);
    let plain = request(&own, &context, &history);
    assert_eq!(parameters(&config(), &plain), json!({"max_tokens": 8192, "stream": true}));
    let known = ModelConfig { output_limit: Some(64_000), ..config() };
    assert_eq!(parameters(&known, &plain)["max_tokens"], 64_000);
    let cold = Abilities { temperature: Ability::No, ..config().abilities };
    let small = ModelConfig { output_limit: Some(2_000), abilities: cold, ..config() };
    assert_eq!(parameters(&small, &set), json!({"max_tokens": 2000, "stream": false, "stop_sequences": ["</tool>"]}));
}

// proves M5
#[test]
fn an_effort_is_asked_for_in_the_way_the_model_knows() {
    let (own, context, history) = (own(), context(vec![]), [user("Go.")]);
    let asked = |control, limit, reasoning, history: &[Message]| {
        let abilities = Abilities { reasoning: control, ..config().abilities };
        let config = ModelConfig { abilities, output_limit: Some(limit), ..config() };
        let request = ModelRequest { reasoning, temperature_milli: Some(300), ..request(&own, &context, history) };
        let sent = parameters(&config, &request);
        (sent["thinking"].clone(), sent["output_config"]["effort"].clone(), sent.get("temperature").is_some())
    };
    let budget = |tokens: u32| json!({"type": "enabled", "budget_tokens": tokens});
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let none = Value::Null;
    for (control, limit, reasoning, expected) in [
        (ReasoningControl::Unknown, 64_000, Reasoning::Low, (adaptive.clone(), json!("low"), false)),
        (ReasoningControl::Unknown, 64_000, Reasoning::High, (adaptive, json!("high"), false)),
        (ReasoningControl::Unknown, 64_000, Reasoning::ModelOwn, (none.clone(), none.clone(), true)),
        (BUDGET, 64_000, Reasoning::Low, (budget(2_048), none.clone(), false)),
        (BUDGET, 64_000, Reasoning::Medium, (budget(8_192), none.clone(), false)),
        (BUDGET, 8_000, Reasoning::High, (budget(6_000), none.clone(), false)),
        (BUDGET, 1_000, Reasoning::High, (none.clone(), none.clone(), true)),
        (ReasoningControl::NoReasoning, 64_000, Reasoning::High, (none.clone(), none, true)),
    ] {
        assert_eq!(asked(control, limit, reasoning, &history), expected, "{control:?} {limit} {reasoning:?}");
    }
    // In a loop of calls the reply with the calls must start with its reasoning, which only its own model is sent.
    let other = ModelName::from("other");
    for (model, thinks) in [(&own, true), (&other, false)] {
        let parts = vec![thinking("hm", Some("sig")), Part::Call { index: 0 }];
        let history = [
            user("Go."),
            reply(model, parts, vec![call(id(1, 0), Some("t"), "t")]),
            result(id(1, 0), Some("t"), OutcomeKind::Ok, "A"),
        ];
        let (thinking, ..) = asked(BUDGET, 64_000, Reasoning::Low, &history);
        assert_eq!(thinking.is_object(), thinks);
    }
}

// proves L10, M6
#[test]
fn the_schema_of_an_output_is_sent_where_the_model_can_hold_to_it() {
    let spec = |schema: Value| OutputSpec { name: "report".into(), schema: Json::from(&schema) };
    let report = spec(json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}));
    let list = spec(json!({"type": "array"}));
    let (own, with_tools, history) = (own(), context(vec![tool("t")]), history());
    let closed = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false});
    let format = json!({"format": {"type": "json_schema", "schema": closed}});
    for (when, mode, output, want) in [
        (ResponseFormat::Always, TurnMode::Tools, &report, Some(&format)),
        (ResponseFormat::WithoutTools, TurnMode::Tools, &report, None),
        (ResponseFormat::WithoutTools, TurnMode::Talk, &report, Some(&format)),
        (ResponseFormat::Never, TurnMode::Talk, &report, None),
        (ResponseFormat::Always, TurnMode::Talk, &list, None),
    ] {
        let config = ModelConfig { abilities: Abilities { response_format: when, ..config().abilities }, ..config() };
        let plain = ModelRequest { mode, ..request(&own, &with_tools, &history) };
        let typed = ModelRequest { output: Some(output), ..plain };
        assert_eq!(json_of(&config, &typed).get("output_config"), want, "{when:?} {mode:?}");
        let [plain, typed] =
            [plain, typed].map(|request| encode(&config, &request, &mut Segments::default()).unwrap().stable);
        // Where no schema is sent, the output is a tool.
        assert_eq!(plain == typed, when != ResponseFormat::Never, "{when:?}");
    }
}

// proves M1
#[tokio::test]
async fn the_models_are_listed_with_their_windows() {
    let body = r#"{"data":[{"id":"claude-x","max_input_tokens":200000,"max_tokens":64000}],"has_more":false}"#;
    let mut server = Server::start(vec![Act::Say(vec![answer("200 OK", "", body)])]).await;
    let config = ModelConfig::messages(server.base_url(), "m");
    let http = HttpClient::new(HttpConfig::default()).unwrap();
    let listed = list_models(&config, &http, std::time::Duration::from_secs(20)).await.unwrap();
    assert_eq!((listed[0].id.as_str(), listed[0].window), ("claude-x", Some(200_000)));
    let asked = server.requests.recv().await.unwrap();
    assert!(asked.starts_with("GET /v1/models?limit=1000 HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains("anthropic-version: 2023-06-01\r\n"), "{asked}");
}
