//! The request body, byte by byte.

use std::sync::LazyLock;

use serde_json::{Value, json};
use windlass_provider::chat::encode;
use windlass_provider::server_kind::ServerKind;
use windlass_provider::{
    Abilities, Delivery, LengthField, ModelConfig, ModelRequest, ReasoningReturn, RequestBody, ResponseFormat, Segments,
};
use windlass_vocab::{
    CallId, CallInHistory, EffectClass, Json, MaxTokens, Message, ModelName, OutcomeKind, OutputSpec, Part,
    PinnedContext, Reasoning, RunId, StreamIdle, ToolSpec, TurnId, TurnMode,
};

fn config() -> ModelConfig {
    ModelConfig::chat("http://models.test/v1", "m")
}

pub(crate) fn context(offer: Vec<ToolSpec>) -> PinnedContext {
    PinnedContext { prefix: "You are \"it\".".into(), offer, ..PinnedContext::default() }
}

pub(crate) fn read_file() -> ToolSpec {
    ToolSpec {
        name: "local.read_file".into(),
        wire_name: "local_read_file".into(),
        description: "Reads.".into(),
        schema: Json::parse(r#"{"type":"object","z":1.0,"a":[]}"#).unwrap(),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    }
}

/// The name of the model that is called.
static MODEL: LazyLock<ModelName> = LazyLock::new(|| "a model".into());

pub(crate) fn request<'a>(context: &'a PinnedContext, history: &'a [Message]) -> ModelRequest<'a> {
    ModelRequest {
        model: &MODEL,
        context,
        history,
        cache_key: "",
        epoch: 1,
        tail: "",
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

pub(crate) fn call_id(index: u32) -> CallId {
    CallId { run: RunId(1), turn: TurnId(2), index }
}

pub(crate) fn history() -> Vec<Message> {
    let arguments = Json::parse(r#"{"path": "a"}"#).unwrap();
    let call = |index, provider_id: Option<&str>, name: &str| CallInHistory {
        call: call_id(index),
        provider_id: provider_id.map(str::to_owned),
        name: name.into(),
        arguments: arguments.clone(),
    };
    let result = |index, provider_id: Option<&str>| Message::Tool {
        call: call_id(index),
        provider_id: provider_id.map(str::to_owned),
        name: "read_file".into(),
        outcome: OutcomeKind::Ok,
        text: "A\n".into(),
        images: Vec::new(),
    };
    vec![
        Message::user("Go."),
        Message::Assistant {
            parts: vec![
                Part::Thinking { text: "hm".into(), signature: None },
                Part::Call { index: 0 },
                Part::Call { index: 1 },
            ],
            calls: vec![call(0, Some("p1"), "read_file"), call(1, None, "no such tool!")],
            model: MODEL.clone(),
        },
        result(0, Some("p1")),
        result(1, None),
        Message::Assistant {
            parts: vec![Part::Text { text: "Do".into() }, Part::Text { text: "ne.".into() }],
            calls: vec![],
            model: MODEL.clone(),
        },
    ]
}

fn written(body: &RequestBody) -> String {
    String::from_utf8([&body.stable[..], &body.closing[..]].concat()).unwrap()
}

fn json_of(config: &ModelConfig, request: &ModelRequest<'_>) -> Value {
    let body = encode(config, request, &mut Segments::default()).unwrap();
    serde_json::from_str(&written(&body)).unwrap()
}

#[test]
fn a_request_has_the_wires_form() {
    let (context, history) = (context(vec![read_file()]), history());
    let request = ModelRequest { tail: "It is late.", ..request(&context, &history) };
    let call = |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{\"path\": \"a\"}"}});
    assert_eq!(
        json_of(&config(), &request),
        json!({
            "model": "m",
            "tools": [{"type": "function", "function": {
                "name": "local_read_file", "description": "Reads.", "parameters": {"type": "object", "z": 1.0, "a": []},
            }}],
            "messages": [
                {"role": "system", "content": "You are \"it\"."},
                {"role": "user", "content": "Go."},
                {"role": "assistant", "content": null, "tool_calls": [call("p1", "read_file"), call("call_1_2_1", "no_such_tool_")]},
                {"role": "tool", "tool_call_id": "p1", "content": "A\n"},
                {"role": "tool", "tool_call_id": "call_1_2_1", "content": "A\n"},
                {"role": "assistant", "content": "Done."},
                {"role": "user", "content": "<reminder>\nIt is late.\n</reminder>"},
            ],
            "stream": true,
            "stream_options": {"include_usage": true},
            "tool_choice": "auto",
        })
    );
}

// proves M6
#[test]
fn each_turns_stable_bytes_begin_the_next_turns_body() {
    let (context, history) = (context(vec![read_file()]), history());
    let mut segments = Segments::default();
    let mut before = String::new();
    for turn in 0..=history.len() {
        let request = ModelRequest { tail: "now", ..request(&context, &history[..turn]) };
        let body = encode(&config(), &request, &mut segments).unwrap();
        assert!(written(&body).starts_with(&before), "turn {turn}");
        let afresh = encode(&config(), &request, &mut Segments::default()).unwrap();
        assert_eq!(body, afresh, "turn {turn}");
        before = String::from_utf8(body.stable.to_vec()).unwrap();
    }
}

// proves M6
#[test]
fn what_was_sent_is_not_written_again() {
    let context = context(vec![]);
    let mut segments = Segments::default();
    let mut history = vec![Message::user("first")];
    encode(&config(), &request(&context, &history), &mut segments).unwrap();
    // Violates the contract on purpose: this shows whether the first message is encoded again.
    history[0] = Message::user("other");
    history.push(Message::user("second"));
    let kept = written(&encode(&config(), &request(&context, &history), &mut segments).unwrap());
    assert!(kept.contains("first") && !kept.contains("other") && kept.contains("second"), "{kept}");
    let renewed = ModelRequest { epoch: 2, ..request(&context, &history) };
    let renewed = written(&encode(&config(), &renewed, &mut segments).unwrap());
    assert!(renewed.contains("other") && !renewed.contains("first"), "{renewed}");
}

// proves L5, M9
#[test]
fn tools_are_withheld_by_choice_so_that_the_prefix_holds() {
    let (offering, bare, history) = (context(vec![read_file()]), context(vec![]), history());
    for (context, mode, choice) in [
        (&offering, TurnMode::Tools, json!("auto")),
        (&offering, TurnMode::WrapUp, json!("none")),
        (&offering, TurnMode::Talk, json!("none")),
        (&bare, TurnMode::Talk, Value::Null),
        (&bare, TurnMode::WrapUp, Value::Null),
    ] {
        let body = json_of(&config(), &ModelRequest { mode, ..request(context, &history) });
        assert_eq!(body["tool_choice"], choice, "{mode:?}");
        assert_eq!(body.get("tools").is_some(), !context.offer.is_empty());
    }
}

#[test]
fn parameters_are_sent_only_where_set() {
    let (context, history) = (context(vec![]), history());
    let set = ModelRequest {
        delivery: Delivery::Whole,
        temperature_milli: Some(100),
        max_tokens: MaxTokens::Fixed(4096),
        reasoning: Reasoning::Low,
        stop: &["</tool>"],
        ..request(&context, &history)
    };
    let parameters = |config: &ModelConfig| {
        let mut body = json_of(config, &set);
        let object = body.as_object_mut().unwrap();
        object.remove("messages");
        body
    };
    assert_eq!(
        parameters(&config()),
        json!({
            "model": "m", "stream": false, "stop": ["</tool>"], "temperature": 0.1, "max_tokens": 4096,
            "reasoning_effort": "low"
        })
    );
    let openai = ModelConfig::chat("https://api.openai.com/v1", "m");
    assert_eq!(openai.abilities.length_field, LengthField::MaxCompletionTokens);
    assert_eq!(parameters(&openai)["max_completion_tokens"], json!(4096));
    assert_eq!(parameters(&openai).get("max_tokens"), None);
}

/// The roles of the messages that are sent, without the system's.
fn roles(config: &ModelConfig, request: &ModelRequest<'_>) -> String {
    let body = json_of(config, request);
    let messages = body["messages"].as_array().unwrap().iter();
    messages.skip(1).map(|message| message["role"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

// proves J10, M1: some servers refuse a message of the user directly behind results
#[test]
fn a_reply_stands_between_results_and_the_user_where_the_server_requires_it() {
    let context = context(vec![]);
    let results = history()[..4].to_vec();
    let (words, silent) =
        (Message::user("Stop."), |parts| Message::Assistant { parts, calls: vec![], model: MODEL.clone() });
    let thought = silent(vec![Part::Thinking { text: "hm".into(), signature: None }]);
    let with = |more: Vec<Message>| [results.clone(), more].concat();
    let mistral = ModelConfig::chat("https://api.mistral.ai/v1", "m");
    let (plain, strict) = ("user assistant tool tool", "user assistant tool tool assistant");
    for (history, tail, mode, plain, strict) in [
        (with(vec![]), "", TurnMode::Tools, plain.to_owned(), plain.to_owned()),
        (with(vec![]), "t", TurnMode::Tools, format!("{plain} user"), format!("{strict} user")),
        (with(vec![]), "Summarise.", TurnMode::Summary, format!("{plain} user"), format!("{strict} user")),
        (with(vec![words.clone()]), "", TurnMode::Tools, format!("{plain} user"), format!("{strict} user")),
        (with(vec![words.clone()]), "t", TurnMode::Tools, format!("{plain} user user"), format!("{strict} user user")),
        (with(vec![thought.clone(), words]), "", TurnMode::Tools, format!("{plain} user"), format!("{strict} user")),
        (with(vec![thought]), "t", TurnMode::Tools, format!("{plain} user"), format!("{strict} user")),
    ] {
        let request = ModelRequest { tail, mode, ..request(&context, &history) };
        assert_eq!(roles(&config(), &request), plain, "{mode:?} {tail}");
        assert_eq!(roles(&mistral, &request), strict, "{mode:?} {tail}");
        let body = json_of(&mistral, &request).to_string();
        assert!(body.contains(tail) && !body.contains(r#""content":"""#), "{body}");
    }
}

// proves J10, M1: a conversation that began elsewhere goes on where ids have a form of their own
#[test]
fn calls_have_ids_that_the_server_accepts() {
    let (context, history) = (context(vec![]), history());
    let ids = |base_url: &str| {
        let body = json_of(&ModelConfig::chat(base_url, "m"), &request(&context, &history));
        let [reply, first, second] = [2, 3, 4].map(|place| body["messages"][place].clone());
        let asked = [0, 1].map(|index| reply["tool_calls"][index]["id"].as_str().unwrap().to_owned());
        assert_eq!(asked, [first, second].map(|result| result["tool_call_id"].as_str().unwrap().to_owned()));
        asked
    };
    assert_eq!(ids("http://models.test/v1"), ["p1", "call_1_2_1"]);
    let mistral = ids("https://api.mistral.ai/v1");
    assert!(
        mistral.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())),
        "{mistral:?}"
    );
    assert_ne!(mistral[0], mistral[1]);
}

// proves M5
#[test]
fn reasoning_is_returned_only_to_its_model_and_where_the_configuration_says_so() {
    let (context, history, other) = (context(vec![]), history(), ModelName::from("other"));
    let reasoning = |config: &ModelConfig, model: &ModelName| {
        let body = json_of(config, &ModelRequest { model, ..request(&context, &history) });
        [2, 5].map(|place| body["messages"][place]["reasoning_content"].clone())
    };
    let abilities = Abilities { reasoning_return: ReasoningReturn::Field, ..config().abilities };
    let returning = ModelConfig { abilities, ..config() };
    assert_eq!(reasoning(&config(), &MODEL), [Value::Null, Value::Null]);
    assert_eq!(reasoning(&returning, &MODEL), [json!("hm"), json!("")]);
    // Such a server refuses a reply without the field.
    assert_eq!(reasoning(&returning, &other), [json!(""), json!("")]);
    // As in the recorded requests of its reasoning models.
    assert_eq!(ModelConfig::chat("https://api.deepseek.com", "m").abilities.reasoning_return, ReasoningReturn::Field);
}

// proves M5: what only its own model understands is not sent on a wire that has no form for it
#[test]
fn a_reply_of_which_this_wire_has_no_form_is_left_out() {
    let (context, mut history) = (context(vec![]), history());
    let (opaque, words) = (Part::Opaque { item: Json::empty_object() }, Part::Text { text: "On.".into() });
    let thought = Part::Thinking { text: "hm".into(), signature: Some("s".into()) };
    let before = history.len();
    for parts in [vec![thought, opaque.clone()], vec![opaque, words]] {
        history.push(Message::Assistant { parts, calls: vec![], model: MODEL.clone() });
    }
    let sent = json_of(&config(), &request(&context, &history))["messages"].clone();
    let after: Vec<&Value> = sent.as_array().unwrap().iter().skip(1 + before).collect();
    assert_eq!(after, [&json!({"role": "assistant", "content": "On."})]);
}

#[test]
fn a_body_without_system_text_or_history_is_still_json() {
    let empty = PinnedContext::default();
    let reply = |parts| Message::Assistant { parts, calls: vec![], model: MODEL.clone() };
    let (silent, thought) = (reply(vec![]), reply(vec![Part::Thinking { text: "hm".into(), signature: None }]));
    let (go, reminder) =
        (json!({"role": "user", "content": "Go."}), json!({"role": "user", "content": "<reminder>\nt\n</reminder>"}));
    for (history, tail, messages) in [
        (vec![], "", json!([])),
        (vec![], "t", json!([reminder])),
        (vec![silent], "", json!([{"role": "assistant", "content": ""}])),
        // A message of which nothing is sent leaves no comma behind.
        (vec![thought.clone()], "", json!([])),
        (vec![thought.clone()], "t", json!([reminder])),
        (vec![thought.clone(), Message::user("Go.")], "t", json!([go, reminder])),
        (vec![Message::user("Go."), thought], "t", json!([go, reminder])),
    ] {
        assert_eq!(json_of(&config(), &ModelRequest { tail, ..request(&empty, &history) })["messages"], messages);
    }
}

// proves L10
#[test]
fn the_schema_of_an_output_is_sent_where_the_server_can_hold_to_it() {
    let spec = |schema: Value| OutputSpec { name: "report".into(), schema: Json::from(&schema) };
    let (report, list) = (spec(json!({"type": "object", "properties": {}})), spec(json!({"type": "array"})));
    let (with_tools, without, history) = (context(vec![read_file()]), context(vec![]), history());
    let sent = |when, context, mode, output| {
        let config = ModelConfig { abilities: Abilities { response_format: when, ..config().abilities }, ..config() };
        let body = json_of(&config, &ModelRequest { mode, output: Some(output), ..request(context, &history) });
        body.get("response_format").cloned()
    };
    let format = json!({
        "type": "json_schema",
        "json_schema": {"name": "report", "schema": {"type": "object", "properties": {}}},
    });
    for (when, context, mode, output, want) in [
        (ResponseFormat::Always, &with_tools, TurnMode::Tools, &report, Some(&format)),
        (ResponseFormat::WithoutTools, &with_tools, TurnMode::Tools, &report, None),
        (ResponseFormat::WithoutTools, &with_tools, TurnMode::Talk, &report, Some(&format)),
        (ResponseFormat::WithoutTools, &without, TurnMode::Talk, &report, Some(&format)),
        (ResponseFormat::Never, &without, TurnMode::Talk, &report, None),
        (ResponseFormat::Always, &without, TurnMode::Talk, &list, None),
    ] {
        assert_eq!(sent(when, context, mode, output).as_ref(), want, "{when:?} {mode:?}");
    }
    for (url, when) in [
        ("https://api.openai.com/v1", ResponseFormat::Always),
        ("https://api.deepseek.com/v1", ResponseFormat::Never),
        ("http://localhost:11434/v1", ResponseFormat::WithoutTools),
    ] {
        assert_eq!(ModelConfig::chat(url, "m").abilities.response_format, when, "{url}");
    }
}

// proves L10, M6
#[test]
fn the_schema_of_an_output_leaves_the_stable_bytes_alone() {
    let spec = OutputSpec { name: "report".into(), schema: Json::parse(r#"{"type":"object"}"#).unwrap() };
    let (context, history) = (context(vec![]), history());
    let plain = encode(&config(), &request(&context, &history), &mut Segments::default()).unwrap();
    let typed = ModelRequest { output: Some(&spec), ..request(&context, &history) };
    let typed = encode(&config(), &typed, &mut Segments::default()).unwrap();
    assert_eq!(plain.stable, typed.stable);
    assert_ne!(plain.closing, typed.closing);
}

// proves T4: each kind of server that people run themselves gets the schema of a reply in the field it takes
#[test]
fn the_schema_of_one_call_is_sent_to_servers_that_can_hold_to_it() {
    let schema = r#"{"type":"object","anyOf":[{"type":"object","properties":{"name":{"const":"local.read_file"},"arguments":{}}}]}"#;
    let spec = OutputSpec { name: "reply".into(), schema: Json::parse(schema).unwrap() };
    // Where calls are text, no tool is defined on the wire.
    let (context, history) = (context(vec![]), history());
    let asked = ModelRequest { output: Some(&spec), ..request(&context, &history) };
    for (kind, is_sent) in [
        (ServerKind::LlamaCpp, true),
        (ServerKind::Ollama, true),
        (ServerKind::LmStudio, true),
        (ServerKind::Vllm, true),
        (ServerKind::Other, true),
        (ServerKind::DeepSeek, false),
    ] {
        let config = ModelConfig::of(kind, "http://models.test/v1", "m");
        assert_eq!(config.can_hold_calls(), is_sent, "{kind:?}");
        if is_sent {
            let body = encode(&config, &asked, &mut Segments::default()).unwrap();
            let closing = String::from_utf8(body.closing.to_vec()).unwrap();
            let field = format!(
                r#""response_format":{{"type":"json_schema","json_schema":{{"name":"reply","schema":{schema}}}}}"#
            );
            assert!(closing.contains(&field), "{kind:?}: {closing}");
            assert!(json_of(&config, &asked).get("tools").is_none(), "{kind:?}");
        }
    }
}
