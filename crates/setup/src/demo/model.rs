//! The script behind the `Model` trait, at the pace of a quick model.

use std::sync::Arc;
use std::time::Duration;

use windlass_provider::{BoxFuture, Delivery, Model, ModelRequest, Piece, Segments, Sink};
use windlass_runtime::Clock;
use windlass_vocab::{Failure, Reply, ReplyCall, StopReason, TurnMode, Usage};

use super::script::{Act, Call, act, cut_short};

/// Before the first word, and between words.
const THINKING: Duration = Duration::from_millis(180);
const WORD: Duration = Duration::from_millis(22);

pub(super) struct DemoModel {
    clock: Arc<dyn Clock>,
}

impl DemoModel {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
}

impl Model for DemoModel {
    fn attempt(
        &self,
        request: &ModelRequest<'_>,
        _segments: &mut Segments,
        mut sink: Sink,
    ) -> BoxFuture<'static, Result<Reply, Failure>> {
        let reply = reply(request);
        let delivery = request.delivery;
        let (thinking, word) = (self.clock.real(THINKING), self.clock.real(WORD));
        Box::pin(async move {
            tokio::time::sleep(thinking).await;
            if delivery == Delivery::Streamed {
                for piece in reply.text.split_inclusive(' ') {
                    sink(Piece::Text(piece));
                    tokio::time::sleep(word).await;
                }
                for (index, call) in (0..).zip(&reply.calls) {
                    sink(Piece::Call { index, name: Some(&call.name), arguments: &call.arguments });
                    tokio::time::sleep(word).await;
                }
            }
            Ok(reply)
        })
    }
}

fn reply(request: &ModelRequest<'_>) -> Reply {
    let offers = |tool: &str| request.context.offer.iter().any(|spec| spec.wire_name == tool);
    match request.mode {
        TurnMode::WrapUp => said(cut_short()),
        TurnMode::Tools | TurnMode::Talk => match act(request.history) {
            Act::Calls { beside, calls } => asked(beside, calls),
            Act::Nothing => said(String::new()),
            // Where only a tool ends a run, the answer is a call.
            Act::Finish(text) if offers("task_completion") => asked(
                String::new(),
                vec![Call { tool: "task_completion", arguments: serde_json::json!({ "result": text }) }],
            ),
            Act::Talk(text) if offers("converse") => {
                asked(String::new(), vec![Call { tool: "converse", arguments: serde_json::json!({ "message": text }) }])
            }
            Act::Finish(text) | Act::Talk(text) => said(text),
        },
    }
}

fn said(text: String) -> Reply {
    // It costs nothing, and says so.
    let usage = Some(Usage { calls: 1, ..Usage::default() });
    Reply { text, stop: StopReason::Stop, usage, model: Some(crate::models::DEMO.to_owned()), ..Reply::default() }
}

fn asked(beside: String, calls: Vec<Call>) -> Reply {
    let call = |call: Call| ReplyCall {
        provider_id: None,
        name: call.tool.to_owned(),
        arguments: call.arguments.to_string(),
        mended: None,
    };
    Reply { calls: calls.into_iter().map(call).collect(), stop: StopReason::Calls, ..said(beside) }
}
