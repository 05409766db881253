//! The request body of the Responses protocol.

use serde_json::{Value, json};
use windlass_provider::responses::encode;
use windlass_provider::{Abilities, Delivery, ModelConfig, ModelRequest, RequestBody, ResponseFormat, Segments};
use windlass_vocab::{
    CallInHistory, Json, MaxTokens, Message, ModelName, OutcomeKind, OutputSpec, Part, PinnedContext, Reasoning,
    TurnMode,
};

use super::requests::{call_id, context, history, read_file, request};

fn config(model: &str) -> ModelConfig {
    ModelConfig::responses("https://api.openai.com/v1", model)
}

fn written(body: &RequestBody) -> String {
    String::from_utf8([&body.stable[..], &body.closing[..]].concat()).unwrap()
}

fn json_of(config: &ModelConfig, request: &ModelRequest<'_>) -> Value {
    let body = encode(config, request, &mut Segments::default()).unwrap();
    serde_json::from_str(&written(&body)).unwrap()
}

fn reasoning(id: &str) -> Part {
    let item = json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "x"});
    Part::Opaque { item: Json::from(&item) }
}

/// A reply of `model` with reasoning, a remark and a call, and what followed.
fn reasoned(model: &str) -> Vec<Message> {
    let call = CallInHistory {
        call: call_id(0),
        provider_id: Some("p1".into()),
        name: "read_file".into(),
        arguments: Json::parse(r#"{"path": "a"}"#).unwrap(),
    };
    let phase = Json::from(&json!({"type": "message", "phase": "commentary"}));
    let parts = vec![
        Part::Thinking { text: "hm".into(), signature: None },
        reasoning("rs_1"),
        Part::Opaque { item: phase },
        Part::Text { text: "I look.".into() },
        reasoning("rs_2"),
        Part::Call { index: 0 },
        reasoning("rs_3"),
    ];
    vec![
        Message::user("Go."),
        Message::Assistant { parts, calls: vec![call], model: ModelName::from(model) },
        Message::Tool {
            call: call_id(0),
            provider_id: Some("p1".into()),
            name: "read_file".into(),
            outcome: OutcomeKind::Ok,
            text: "A\n".into(),
            images: Vec::new(),
        },
    ]
}

fn user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
}

#[test]
fn a_request_has_the_form_of_the_responses_protocol() {
    let (context, history) = (context(vec![read_file()]), history());
    let request = ModelRequest { tail: "It is late.", cache_key: "s1", ..request(&context, &history) };
    let call = |id: &str, name: &str| json!({"type": "function_call", "call_id": id, "name": name, "arguments": "{\"path\": \"a\"}"});
    let result = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "A\n"});
    assert_eq!(
        json_of(&config("gpt-4o"), &request),
        json!({
            "model": "gpt-4o",
            "instructions": "You are \"it\".",
            "tools": [{
                "type": "function", "name": "local_read_file", "description": "Reads.",
                "parameters": {"type": "object", "z": 1.0, "a": []}, "strict": false,
            }],
            "prompt_cache_key": "s1",
            "store": false,
            "input": [
                user("Go."),
                call("p1", "read_file"),
                call("call_1_2_1", "no_such_tool_"),
                result("p1"),
                result("call_1_2_1"),
                {"type": "message", "role": "assistant", "content": "Done."},
                user("<reminder>\nIt is late.\n</reminder>"),
            ],
            "stream": true,
            "tool_choice": "auto",
        })
    );
}

// proves M5
#[test]
fn reasoning_goes_back_to_the_model_that_made_it_and_to_no_other() {
    let context = context(vec![]);
    let kept = |id: &str| json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "x"});
    let call = json!({"type": "function_call", "call_id": "p1", "name": "read_file", "arguments": "{\"path\": \"a\"}"});
    let result = json!({"type": "function_call_output", "call_id": "p1", "output": "A\n"});
    let input = |author: &str| {
        let history = reasoned(author);
        json_of(&config("gpt-5"), &request(&context, &history))["input"].clone()
    };
    // The last reasoning led to nothing, and a server refuses such an item.
    assert_eq!(
        input("a model"),
        json!([
            user("Go."),
            kept("rs_1"),
            {"type": "message", "role": "assistant", "phase": "commentary", "content": "I look."},
            kept("rs_2"),
            call,
            result,
        ])
    );
    assert_eq!(
        input("other"),
        json!([user("Go."), {"type": "message", "role": "assistant", "content": "I look."}, call, result])
    );
}

// proves M5: an item that another protocol's model left under the same name
#[test]
fn an_opaque_item_of_another_protocol_is_left_out() {
    let item = Json::parse(r#"{"type":"redacted_thinking","data":"x"}"#).unwrap();
    let parts = vec![Part::Opaque { item }, Part::Text { text: "Hi".into() }];
    let history = vec![Message::Assistant { parts, calls: vec![], model: ModelName::from("a model") }];
    let input = json_of(&config("gpt-5"), &request(&context(vec![]), &history))["input"].clone();
    assert_eq!(input, json!([{"type": "message", "role": "assistant", "content": "Hi"}]));
}

// proves M6: in a run of 50 turns, each with a call, its result and a reminder
#[test]
fn prefix_and_history_are_byte_stable_over_50_turns() {
    let context = context(vec![read_file()]);
    let config = config("gpt-5");
    let (mut segments, mut history, mut before) = (Segments::default(), Vec::new(), Vec::new());
    for turn in 0..50 {
        history.extend(reasoned(if turn % 7 == 3 { "other" } else { "a model" }));
        let tail = format!("turn {turn}");
        let request = ModelRequest { tail: &tail, cache_key: "s1", ..request(&context, &history) };
        let body = encode(&config, &request, &mut segments).unwrap();
        assert!(body.stable.starts_with(&before), "turn {turn}");
        assert!(body.stable.len() > before.len() && !body.stable.ends_with(tail.as_bytes()), "turn {turn}");
        // After a restart the same bytes are written.
        assert_eq!(body, encode(&config, &request, &mut Segments::default()).unwrap(), "turn {turn}");
        let whole: Value = serde_json::from_str(&written(&body)).unwrap();
        assert_eq!(whole["input"].as_array().unwrap().last(), Some(&user(&format!("<reminder>\n{tail}\n</reminder>"))));
        before = body.stable.to_vec();
    }
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
    ] {
        let body = json_of(&config("gpt-4o"), &ModelRequest { mode, ..request(context, &history) });
        assert_eq!(body["tool_choice"], choice, "{mode:?}");
        assert_eq!(body.get("tools").is_some(), !context.offer.is_empty());
    }
}

#[test]
fn parameters_are_sent_only_where_they_are_set_and_the_model_takes_them() {
    let (context, history) = (PinnedContext::default(), history());
    let set = ModelRequest {
        delivery: Delivery::Whole,
        temperature_milli: Some(100),
        max_tokens: MaxTokens::Fixed(4096),
        reasoning: Reasoning::Low,
        stop: &["</tool>"],
        ..request(&context, &history)
    };
    let parameters = |model: &str, request: &ModelRequest<'_>| {
        let mut body = json_of(&config(model), request);
        body.as_object_mut().unwrap().remove("input");
        body
    };
    assert_eq!(
        parameters("gpt-4o", &set),
        json!({"model": "gpt-4o", "store": false, "stream": false, "temperature": 0.1, "max_output_tokens": 4096})
    );
    let include = json!(["reasoning.encrypted_content"]);
    assert_eq!(
        parameters("gpt-5", &set),
        json!({
            "model": "gpt-5", "store": false, "include": include, "stream": false, "max_output_tokens": 4096,
            "reasoning": {"effort": "low", "summary": "auto"},
        })
    );
    assert_eq!(
        parameters("gpt-5", &request(&context, &history)),
        json!({"model": "gpt-5", "store": false, "include": include, "stream": true, "reasoning": {"summary": "auto"}})
    );
}

#[test]
fn a_body_without_instructions_or_history_is_still_json() {
    let empty = PinnedContext::default();
    let silent = vec![Message::Assistant { parts: vec![], calls: vec![], model: ModelName::from("a model") }];
    for (history, tail, input) in [
        (&[][..], "", json!([])),
        (&[], "t", json!([user("<reminder>\nt\n</reminder>")])),
        (&silent, "", json!([])),
        (&silent, "t", json!([user("<reminder>\nt\n</reminder>")])),
    ] {
        let body = json_of(&config("m"), &ModelRequest { tail, ..request(&empty, history) });
        assert_eq!((&body["input"], body.get("instructions")), (&input, None));
    }
}

// proves L10, M6
#[test]
fn the_schema_of_an_output_is_the_format_of_the_text_and_leaves_the_stable_bytes_alone() {
    let schema = json!({"type": "object", "properties": {}});
    let spec = OutputSpec { name: "report".into(), schema: Json::from(&schema) };
    let (context, history) = (context(vec![read_file()]), history());
    let plain = request(&context, &history);
    let typed = ModelRequest { output: Some(&spec), ..plain };
    let format = json!({"format": {"type": "json_schema", "name": "report", "schema": schema}});
    assert_eq!(json_of(&config("gpt-4o"), &typed)["text"], format);
    let usual = config("gpt-4o");
    let abilities = Abilities { response_format: ResponseFormat::Never, ..usual.abilities };
    let never = ModelConfig { abilities, ..usual };
    assert_eq!(json_of(&never, &typed).get("text"), None);
    let stable = |request| encode(&config("gpt-4o"), request, &mut Segments::default()).unwrap().stable;
    assert_eq!(stable(&plain), stable(&typed));
}

// proves J10: a result whose call is missing is refused, whatever the parts of the reply say
#[test]
fn every_call_is_written_once_whether_parts_name_it_or_not() {
    let context = context(vec![read_file()]);
    for parts in [
        vec![reasoning("rs_1"), Part::Text { text: "I look.".into() }],
        vec![reasoning("rs_1")],
        vec![reasoning("rs_1"), Part::Call { index: 0 }, Part::Call { index: 0 }, Part::Call { index: 7 }],
    ] {
        let mut history = reasoned("scripted");
        let Message::Assistant { parts: old, model, .. } = &mut history[1] else { unreachable!() };
        *old = parts;
        *model = request(&context, &[]).model.clone();
        let body = json_of(&config("gpt-5"), &request(&context, &history));
        let kinds: Vec<&str> =
            body["input"].as_array().unwrap().iter().filter_map(|item| item["type"].as_str()).collect();
        let kinds: Vec<&str> = kinds.into_iter().filter(|kind| *kind != "message").collect();
        assert_eq!(kinds, ["reasoning", "function_call", "function_call_output"], "{body}");
    }
}
