//! Helpers to send requests to a model.

use std::sync::{Arc, LazyLock, Mutex};

use windlass_provider::{Delivery, Model, ModelRequest, Piece, Segments};
use windlass_vocab::{
    CallId, CallInHistory, EffectClass, Failure, Json, MaxTokens, Message, ModelName, OutcomeKind, Part, PinnedContext,
    Reasoning, Reply, RunId, StreamIdle, ToolSpec, TurnId, TurnMode,
};

/// The name of the model that is called.
static MODEL: LazyLock<ModelName> = LazyLock::new(|| "scripted".into());

/// The context that a run sends before the conversation: one tool.
pub(crate) fn context() -> PinnedContext {
    let tool = ToolSpec {
        name: "scripted.a".into(),
        wire_name: "a".into(),
        description: "".into(),
        schema: Json::empty_object(),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    };
    PinnedContext { prefix: String::new(), offer: vec![tool], ..PinnedContext::default() }
}

/// A request for the next reply, streamed.
pub(crate) fn request<'a>(context: &'a PinnedContext, history: &'a [Message]) -> ModelRequest<'a> {
    ModelRequest {
        model: &MODEL,
        context,
        history,
        cache_key: "",
        epoch: 0,
        tail: "",
        mode: TurnMode::Tools,
        delivery: Delivery::Streamed,
        temperature_milli: None,
        max_tokens: MaxTokens::ModelOwn,
        reasoning: Reasoning::ModelOwn,
        idle: StreamIdle { first_ms: 60_000, next_ms: 60_000 },
        output: None,
        output_form: windlass_vocab::OutputForm::Schema,
        stop: &[],
    }
}

/// Sends a request, and returns its result and the text that the sink received.
pub(crate) async fn ask(model: &dyn Model, request: &ModelRequest<'_>) -> (Result<Reply, Failure>, String) {
    let got = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&got);
    let attempt = model.attempt(
        request,
        &mut Segments::default(),
        Box::new(move |piece| {
            let mut got = sink.lock().unwrap();
            match piece {
                Piece::Text(text) => got.push_str(text),
                Piece::Thinking(text) => got.extend(["(", text, ")"]),
                Piece::Call { name, arguments, .. } => got.extend([name.unwrap_or_default(), arguments]),
            }
        }),
    );
    let end = attempt.await;
    let got = got.lock().unwrap().clone();
    (end, got)
}

/// A user message.
pub(crate) fn user(text: &str) -> Message {
    Message::user(text)
}

/// The history after all calls of a reply were answered.
pub(crate) fn continued(mut history: Vec<Message>, reply: &Reply, turn: u32) -> Vec<Message> {
    let id = |index| CallId { run: RunId(1), turn: TurnId(turn), index };
    let calls = (0..).zip(&reply.calls).map(|(index, call)| CallInHistory {
        call: id(index),
        provider_id: call.provider_id.clone(),
        name: call.name.clone(),
        arguments: Json::empty_object(),
    });
    let parts = vec![Part::Text { text: reply.text() }];
    history.push(Message::Assistant { parts, calls: calls.collect(), model: MODEL.clone() });
    history.extend((0..).zip(&reply.calls).map(|(index, call)| Message::Tool {
        call: id(index),
        provider_id: call.provider_id.clone(),
        name: call.name.clone(),
        outcome: OutcomeKind::Ok,
        text: "ok".into(),
        images: Vec::new(),
    }));
    history
}
