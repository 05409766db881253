//! Implements the `Model` trait with the script, at the pace of a fast model.

use std::sync::Arc;
use std::time::Duration;

use windlass_provider::{BoxFuture, Delivery, Model, ModelRequest, Piece, Segments, Sink};
use windlass_runtime::Clock;
use windlass_vocab::{Failure, Reply, ReplyCall, StopReason, TurnMode, Usage};

use super::script::{DemoCall, DemoStep, cut_short, next_step};
use super::words::DemoWords;

/// Delay before the first word, and between words.
const THINKING: Duration = Duration::from_millis(180);
const WORD: Duration = Duration::from_millis(22);

pub(super) struct DemoModel {
    clock: Arc<dyn Clock>,
    words: DemoWords,
}

impl DemoModel {
    pub(super) fn new(clock: Arc<dyn Clock>, words: DemoWords) -> Self {
        Self { clock, words }
    }
}

impl Model for DemoModel {
    fn attempt(
        &self,
        request: &ModelRequest<'_>,
        _segments: &mut Segments,
        mut sink: Sink,
    ) -> BoxFuture<'static, Result<Reply, Failure>> {
        let reply = reply(request, &self.words);
        let delivery = request.delivery;
        let (thinking, word) = (self.clock.real(THINKING), self.clock.real(WORD));
        Box::pin(async move {
            tokio::time::sleep(thinking).await;
            if delivery == Delivery::Streamed {
                for piece in reply.text().split_inclusive(' ') {
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

fn reply(request: &ModelRequest<'_>, words: &DemoWords) -> Reply {
    let offers = |tool: &str| request.context.offer.iter().any(|spec| spec.wire_name == tool);
    match request.mode {
        // The demo's job has no steps to plan.
        TurnMode::Plan => text_reply("NONE".to_owned()),
        TurnMode::Route => text_reply("AGENT".to_owned()),
        TurnMode::WrapUp | TurnMode::Summary | TurnMode::Title | TurnMode::Synthesis => text_reply(cut_short(words)),
        TurnMode::Tools | TurnMode::Talk => match next_step(request.history, words) {
            DemoStep::Calls { beside, calls } => calls_reply(beside, calls),
            DemoStep::Nothing => text_reply(String::new()),
            // Where a run ends only through a tool, the answer has to be a tool call.
            DemoStep::Finish(text) if offers("task_completion") => calls_reply(
                String::new(),
                vec![DemoCall { tool: "task_completion", arguments: serde_json::json!({ "result": text }) }],
            ),
            DemoStep::Talk(text) if offers("converse") => calls_reply(
                String::new(),
                vec![DemoCall { tool: "converse", arguments: serde_json::json!({ "message": text }) }],
            ),
            DemoStep::Finish(text) | DemoStep::Talk(text) => text_reply(text),
        },
    }
}

fn text_reply(text: String) -> Reply {
    // The reply reports a cost of zero.
    let usage = Some(Usage { calls: 1, ..Usage::default() });
    let model = Some(crate::models::DEMO.to_owned());
    Reply { stop: StopReason::Stop, usage, model, ..Reply::from_text(text) }
}

fn calls_reply(beside: String, calls: Vec<DemoCall>) -> Reply {
    let call = |call: DemoCall| ReplyCall {
        provider_id: None,
        name: call.tool.to_owned(),
        arguments: call.arguments.to_string(),
        mended: None,
    };
    let mut reply = Reply { stop: StopReason::Calls, ..text_reply(beside) };
    calls.into_iter().map(call).for_each(|call| reply.push_call(call));
    reply
}
