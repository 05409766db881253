//! Images in messages and results, on each wire (C9).

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_provider::{
    Abilities, Ability, ModelConfig, ModelRequest, RequestBody, Segments, WireKind, largest_image,
};
use windlass_provider::{chat, messages, responses};
use windlass_vocab::{CallInHistory, Hash, ImageRef, Json, Message, ModelName, OutcomeKind, Part};

use super::requests::{call_id, context, request};

/// The contents of the images, by hash; in base64 they are `b25l` and `dHdv`.
const CONTENTS: [(Hash, &[u8]); 2] = [(Hash([1; 32]), b"one"), (Hash([2; 32]), b"two")];

pub(crate) const WIRES: [WireKind; 3] = [WireKind::Chat, WireKind::Messages, WireKind::Responses];

fn image(number: u8, name: &str) -> ImageRef {
    ImageRef {
        name: name.into(),
        media_type: "image/png".into(),
        bytes: 120_000,
        width: 640,
        height: 480,
        blob: Hash([number; 32]),
    }
}

pub(crate) fn config(wire: WireKind, images: Ability) -> ModelConfig {
    let usual = match wire {
        WireKind::Chat => ModelConfig::chat("http://models.test/v1", "m"),
        WireKind::Messages => ModelConfig::messages("http://models.test/v1", "m"),
        WireKind::Responses => ModelConfig::responses("http://models.test/v1", "m"),
    };
    ModelConfig { abilities: Abilities { images, ..usual.abilities }, ..usual }
}

fn encode(config: &ModelConfig, request: &ModelRequest<'_>, segments: &mut Segments) -> RequestBody {
    for hash in segments.unwritten_images(request.epoch, request.history) {
        if let Some((_, content)) = CONTENTS.iter().find(|(known, _)| *known == hash) {
            segments.give_image(hash, Arc::from(*content));
        }
    }
    let encode = match config.wire {
        WireKind::Chat => chat::encode,
        WireKind::Messages => messages::encode,
        WireKind::Responses => responses::encode,
    };
    encode(config, request, segments).unwrap()
}

/// The conversation of a request, as it is sent.
pub(crate) fn sent(config: &ModelConfig, history: &[Message]) -> Value {
    let context = context(vec![]);
    let body = encode(config, &request(&context, history), &mut Segments::default());
    let body: Value = serde_json::from_slice(&body.to_vec()).unwrap();
    let field = if config.wire == WireKind::Responses { "input" } else { "messages" };
    let messages = body[field].as_array().unwrap().iter().filter(|message| message["role"] != "system");
    messages.map(without_marks).collect()
}

/// Returns a message without the marks for the provider's cache.
fn without_marks(message: &Value) -> Value {
    let mut message = message.clone();
    for block in message["content"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        block.remove("cache_control");
    }
    message
}

fn result(index: u32, outcome: OutcomeKind, images: Vec<ImageRef>) -> Message {
    let (call, provider_id) = (call_id(index), Some(format!("p{index}")));
    Message::Tool { call, provider_id, name: "chart".into(), outcome, text: "A chart.".into(), images }
}

/// A message with an image, and a reply with three calls: two results have images.
fn history() -> Vec<Message> {
    let call = |index| CallInHistory {
        call: call_id(index),
        provider_id: Some(format!("p{index}")),
        name: "chart".into(),
        arguments: Json::parse("{}").unwrap(),
    };
    vec![
        Message::User { text: "Look.".into(), images: vec![image(1, "notes.png")] },
        Message::Assistant {
            parts: (0..3).map(|index| Part::Call { index }).collect(),
            calls: (0..3).map(call).collect(),
            model: ModelName::from("a model"),
        },
        result(0, OutcomeKind::Ok, vec![image(1, "")]),
        result(1, OutcomeKind::Ok, vec![]),
        result(2, OutcomeKind::Ok, vec![image(2, ""), image(1, "")]),
    ]
}

const LINE: &str = "Look.\n[image notes.png, 640 × 480, 120 kB]";

// proves M1, C9, T6
#[test]
fn each_wire_writes_images_of_messages_and_results_in_its_own_form() {
    let url = |data: &str| json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}});
    let words = |text: &str| json!({"type": "text", "text": text});
    let chat = sent(&config(WireKind::Chat, Ability::Yes), &history());
    assert_eq!(chat[0], json!({"role": "user", "content": [words(LINE), url("b25l")]}));
    assert_eq!(chat[2], json!({"role": "tool", "tool_call_id": "p0", "content": "A chart."}));
    assert_eq!(chat[4], json!({"role": "tool", "tool_call_id": "p2", "content": "A chart."}));
    let of = |id: &str| words(&format!("[images in the result of chart, {id}]"));
    let content = json!([of("p0"), url("b25l"), of("p2"), url("dHdv"), url("b25l")]);
    assert_eq!(chat[5], json!({"role": "user", "content": content}));
    assert_eq!(chat.as_array().unwrap().len(), 6);

    let block =
        |data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    let messages = sent(&config(WireKind::Messages, Ability::Yes), &history());
    assert_eq!(messages[0], json!({"role": "user", "content": [words(LINE), block("b25l")]}));
    let result = |id: &str, content: Value| json!({"type": "tool_result", "tool_use_id": id, "content": content});
    assert_eq!(
        messages[2]["content"],
        json!([
            result("p0", json!([words("A chart."), block("b25l")])),
            result("p1", json!("A chart.")),
            result("p2", json!([words("A chart."), block("dHdv"), block("b25l")])),
        ])
    );

    let item = |data: &str| json!({"type": "input_image", "detail": "auto", "image_url": format!("data:image/png;base64,{data}")});
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let input = sent(&config(WireKind::Responses, Ability::Yes), &history());
    assert_eq!(input[0], json!({"type": "message", "role": "user", "content": [text(LINE), item("b25l")]}));
    assert_eq!(input[4]["output"], json!([text("A chart."), item("b25l")]));
    assert_eq!(input[5]["output"], "A chart.");
    assert_eq!(input[6]["output"], json!([text("A chart."), item("dHdv"), item("b25l")]));
}

/// Every text in a value, joined.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(texts).collect(),
        Value::Object(fields) => fields.values().map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

// proves C9: a model that can't see gets a sentence for each image, and so does one of which nobody knows it
#[test]
fn a_model_without_the_ability_gets_a_sentence_in_the_place_of_each_image() {
    for (wire, images) in WIRES.into_iter().flat_map(|wire| [(wire, Ability::No), (wire, Ability::Unknown)]) {
        let all = texts(&sent(&config(wire, images), &history()));
        assert!(!all.contains("b25l") && !all.contains("dHdv"), "{wire:?}: {all}");
        assert_eq!(
            all.matches("[image notes.png, 640 × 480, 120 kB: this model can't see images]").count(),
            1,
            "{all}"
        );
        assert_eq!(all.matches("[image, 640 × 480, 120 kB: this model can't see images]").count(), 3, "{all}");
    }
}

// proves C9: whatever is wrong with an image, the request stays legal and says so
#[test]
fn an_image_that_can_not_be_sent_is_a_sentence() {
    for wire in WIRES {
        let bytes = largest_image(wire) + 1;
        let most = windlass_vocab::file_size(largest_image(wire));
        for (image, sentence) in [
            (
                ImageRef { bytes, ..image(1, "a.png") },
                format!("larger than the {most} that this model's server accepts]"),
            ),
            (image(9, "a.png"), "its content is no longer stored]".to_owned()),
            (ImageRef { media_type: "image/x\"".into(), ..image(1, "a.png") }, "that models don't accept]".to_owned()),
        ] {
            let history = [Message::User { text: String::new(), images: vec![image] }];
            let all = texts(&sent(&config(wire, Ability::Yes), &history));
            assert!(all.contains("[image a.png, 640 × 480, ") && all.contains(&sentence), "{wire:?}: {all}");
            assert!(!all.contains("b25l"), "{wire:?}: {all}");
        }
    }
}

// proves C9: an error's content must be text on the Messages wire
#[test]
fn images_of_results_become_sentences_where_the_wire_takes_none() {
    let mut history = history();
    history[2] = result(0, OutcomeKind::ToolError, vec![image(1, "")]);
    let messages = sent(&config(WireKind::Messages, Ability::Yes), &history);
    let expected = "A chart.\n[image, 640 × 480, 120 kB: it can't be shown with this result]";
    let is_error = json!({"type": "tool_result", "tool_use_id": "p0", "is_error": true, "content": expected});
    assert_eq!(messages[2]["content"][0], is_error);
}

// proves C9, J10: the message with the images is one of the user, which some servers refuse directly behind results
#[test]
fn images_of_results_follow_a_reply_where_the_server_requires_one() {
    let usual = config(WireKind::Chat, Ability::Yes);
    let abilities = Abilities { user_after_results: Ability::No, ..usual.abilities };
    let mut history = history();
    history.push(Message::user("And now?"));
    let roles = |config: &ModelConfig| -> Vec<Value> {
        sent(config, &history).as_array().unwrap().iter().map(|message| message["role"].clone()).collect()
    };
    let results = ["user", "assistant", "tool", "tool", "tool"];
    assert_eq!(roles(&usual), [&results[..], &["user", "user"]].concat());
    let strict = ModelConfig { abilities, ..usual };
    assert_eq!(roles(&strict), [&results[..], &["assistant", "user", "assistant", "user"]].concat());
}

// proves M6, C9: each message is written once, and the same after a restart
#[test]
fn each_turns_bytes_with_images_begin_the_next_turns() {
    let context = context(vec![]);
    let mut history = history();
    history.push(Message::User { text: "And this?".into(), images: vec![image(2, "b.png")] });
    for config in WIRES.map(|wire| config(wire, Ability::Yes)) {
        let (mut segments, mut before) = (Segments::default(), Vec::new());
        // Results enter the history together.
        for length in [1, 5, 6] {
            let request = request(&context, &history[..length]);
            let body = encode(&config, &request, &mut segments);
            assert!(segments.unwritten_images(request.epoch, request.history).is_empty());
            assert!(body.stable.starts_with(&before), "{:?}, {length}", config.wire);
            // The contents are not needed again.
            assert_eq!(encode(&config, &request, &mut segments), body);
            assert_eq!(encode(&config, &request, &mut Segments::default()), body);
            before = body.stable.to_vec();
        }
    }
}
