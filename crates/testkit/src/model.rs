//! Plays a script in process, behind the [`Model`] trait.
//!
//! A scripted fault is returned as the [`Failure`] that a client would report for it. An illegal history
//! is refused and recorded, as by the server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use windlass_provider::{BoxFuture, Delivery, Model, ModelRequest, Piece, Segments, Sink};
use windlass_vocab::{Failure, FailureClass, Part, Reply, ReplyCall, StopReason, TurnMode, Usage};

use crate::fault::{BodyPoint, FaultKind};
use crate::legality::history_legality;
use crate::position::ScriptPosition;
use crate::script::{ReplyPace, Script, ToolCalling};
use crate::stage::{Cue, ScriptPlayer};
use crate::wire::step_text;

/// A model that follows a script. Clones share the recorded requests and the fault counts.
#[derive(Clone, Debug)]
pub struct ScriptedModel {
    stage: Arc<ScriptPlayer>,
    heard: Arc<Mutex<Vec<HeardRequest>>>,
}

/// A request that the model received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardRequest {
    /// How many messages its history has.
    pub messages: usize,
    /// The purpose of the turn.
    pub mode: TurnMode,
    /// Whether the reply was to be streamed.
    pub delivery: Delivery,
    /// The scene and the number of the reply in it, from 0, or why the request was refused.
    pub answered: Result<(usize, usize), String>,
}

/// The course of an attempt, decided before it is polled.
struct AttemptPlan {
    wait: Duration,
    pieces: Vec<OwnedPiece>,
    pause: Duration,
    end: Result<Reply, Failure>,
    /// The pause between the last piece and the end.
    silence: Duration,
}

/// A piece that owns its text.
enum OwnedPiece {
    Text(String),
    Thinking(String),
    Call { index: u32, name: Option<String>, arguments: String },
}

impl ScriptedModel {
    /// A model that follows `script`.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self { stage: Arc::new(ScriptPlayer::new(script)), heard: Arc::default() }
    }

    /// Every request so far.
    #[must_use]
    pub fn heard_requests(&self) -> Vec<HeardRequest> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why requests were refused: illegal histories, and those for which the script has no reply.
    #[must_use]
    pub fn refused(&self) -> Vec<String> {
        self.heard_requests().into_iter().filter_map(|heard| heard.answered.err()).collect()
    }

    fn act(&self, request: &ModelRequest<'_>) -> AttemptPlan {
        let offered = !request.context.offer.is_empty() && request.mode == TurnMode::Tools;
        let tools = if offered { ToolCalling::Offered } else { ToolCalling::Withheld };
        let cue = history_legality(request.history)
            .map_err(|what| format!("illegal history: {what}"))
            .and_then(|()| self.stage.cue(&ScriptPosition::of_history(request.history, tools)));
        let answered = cue.as_ref().map(|cue| (cue.scene, cue.number)).map_err(Clone::clone);
        let heard =
            HeardRequest { messages: request.history.len(), mode: request.mode, delivery: request.delivery, answered };
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(heard);
        match cue {
            Ok(cue) => AttemptPlan::of(&cue, cue.step.pace.as_ref().unwrap_or(&self.stage.script.pace), request),
            Err(why) => AttemptPlan::failed(Failure::new(FailureClass::BadRequest, why)),
        }
    }
}

impl Model for ScriptedModel {
    fn attempt(
        &self,
        request: &ModelRequest<'_>,
        _segments: &mut Segments,
        mut sink: Sink,
    ) -> BoxFuture<'static, Result<Reply, Failure>> {
        let act = self.act(request);
        Box::pin(async move {
            sleep(act.wait).await;
            for (at, fragment) in act.pieces.iter().enumerate() {
                if at > 0 {
                    sleep(act.pause).await;
                }
                sink(fragment.piece());
            }
            sleep(act.silence).await;
            act.end
        })
    }
}

async fn sleep(duration: Duration) {
    if !duration.is_zero() {
        tokio::time::sleep(duration).await;
    }
}

impl AttemptPlan {
    fn of(cue: &Cue<'_>, pace: &ReplyPace, request: &ModelRequest<'_>) -> Self {
        let mut act = Self::undisturbed(cue, pace, request.delivery);
        let Some(fault) = cue.fault else { return act };
        match fault {
            FaultKind::MissingDone | FaultKind::Split { .. } | FaultKind::ContentType { .. } => act,
            FaultKind::Delay { ms } => Self { wait: Duration::from_millis(*ms), ..act },
            FaultKind::Status { code, body, retry_after } => {
                Self::failed(refusal(*code, body.as_deref().unwrap_or_default(), retry_after.as_deref()))
            }
            FaultKind::Refuse => Self::failed(transient("the connection was closed before an answer came")),
            FaultKind::Html => Self::failed(protocol("the server answered with a web page")),
            FaultKind::Garbage => Self::failed(protocol("the server's answer makes no sense")),
            FaultKind::EndlessLine { .. } => Self::failed(protocol("a line of the stream is too long")),
            FaultKind::Cut { after } => act.broken(*after, "the stream was cut off"),
            FaultKind::Idle { after } => {
                act.silence = Duration::from_millis(request.idle.next_ms);
                act.broken(*after, "the stream fell silent")
            }
            FaultKind::ErrorObject { after, message } => act.broken(*after, message),
            FaultKind::OtherShape { after, .. } => {
                let act = act.broken(*after, "");
                let first_byte = !act.pieces.is_empty();
                Self { end: Err(Failure { first_byte, ..protocol("the stream went on in another shape") }), ..act }
            }
        }
    }

    fn undisturbed(cue: &Cue<'_>, pace: &ReplyPace, delivery: Delivery) -> Self {
        let pieces = match delivery {
            Delivery::Streamed => pieces(cue, pace),
            Delivery::Whole => Vec::new(),
        };
        Self {
            wait: Duration::from_millis(pace.latency_ms),
            pieces,
            pause: Duration::from_millis(pace.pause_ms),
            end: Ok(reply(cue)),
            silence: Duration::ZERO,
        }
    }

    fn failed(failure: Failure) -> Self {
        let (wait, pause, silence) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        Self { wait, pieces: Vec::new(), pause, end: Err(failure), silence }
    }

    /// This attempt, ending in a failure after some of its pieces. Each piece counts as one event here; for
    /// a point given in bytes, it only matters whether it is the very start.
    fn broken(mut self, after: BodyPoint, what: &str) -> Self {
        let kept = match after {
            BodyPoint::Events(pieces) | BodyPoint::Pieces(pieces) | BodyPoint::HalfPiece(pieces) => pieces,
            BodyPoint::Bytes(0) => 0,
            BodyPoint::Bytes(_) => 1,
        };
        self.pieces.truncate(kept);
        let first_byte = !self.pieces.is_empty();
        Self { end: Err(Failure { first_byte, ..transient(what) }), ..self }
    }
}

impl OwnedPiece {
    fn piece(&self) -> Piece<'_> {
        match self {
            Self::Text(text) => Piece::Text(text),
            Self::Thinking(text) => Piece::Thinking(text),
            Self::Call { index, name, arguments } => Piece::Call { index: *index, name: name.as_deref(), arguments },
        }
    }
}

fn pieces(cue: &Cue<'_>, pace: &ReplyPace) -> Vec<OwnedPiece> {
    let mut pieces: Vec<_> =
        step_text::fragments(&cue.step.thinking, pace).map(|text| OwnedPiece::Thinking(text.to_owned())).collect();
    pieces.extend(step_text::fragments(&step_text::text(cue), pace).map(|text| OwnedPiece::Text(text.to_owned())));
    for (index, call) in (0..).zip(&cue.step.calls) {
        pieces.push(OwnedPiece::Call { index, name: Some(call.name.clone()), arguments: String::new() });
        let arguments = step_text::arguments(cue, call);
        pieces.extend(step_text::fragments(&arguments, pace).map(|text| OwnedPiece::Call {
            index,
            name: None,
            arguments: text.to_owned(),
        }));
    }
    pieces
}

fn reply(cue: &Cue<'_>) -> Reply {
    let step = cue.step;
    let tokens = step.usage.unwrap_or_default();
    let mut reply = Reply::from_text(step_text::text(cue));
    if !step.thinking.is_empty() {
        reply.parts.insert(0, Part::Thinking { text: step.thinking.clone(), signature: None });
    }
    for (index, call) in step.calls.iter().enumerate() {
        reply.push_call(ReplyCall {
            provider_id: step_text::id(cue, index, call),
            name: call.name.clone(),
            arguments: step_text::arguments(cue, call),
            mended: None,
        });
    }
    Reply {
        stop: stop(step_text::finish(step)),
        usage: Some(Usage {
            input: tokens.prompt,
            output: tokens.completion,
            cached: tokens.cached,
            calls: 1,
            ..Usage::default()
        }),
        model: Some(step_text::MODEL.to_owned()),
        ..reply
    }
}

fn stop(finish: &str) -> StopReason {
    match finish {
        "tool_calls" => StopReason::Calls,
        "length" => StopReason::Length,
        "content_filter" => StopReason::Filtered,
        "refusal" => StopReason::Refused,
        "error" => StopReason::Error,
        "pause_turn" => StopReason::Paused,
        _ => StopReason::Stop,
    }
}

/// The failure that a client reports for a status, as far as tests need it (M3).
fn refusal(code: u16, body: &str, retry_after: Option<&str>) -> Failure {
    let class = match code {
        429 if body.contains("insufficient_quota") => FailureClass::Quota,
        400 | 413 if body.contains("context_length_exceeded") => FailureClass::Overflow,
        408 | 425 | 429 | 500 | 502 | 503 | 504 | 529 => FailureClass::Transient,
        401 | 403 => FailureClass::Auth,
        _ => FailureClass::BadRequest,
    };
    let retry_after_ms = retry_after.and_then(|value| value.parse::<u64>().ok()).map(|seconds| seconds * 1000);
    Failure { status: Some(code), retry_after_ms, ..Failure::new(class, format!("the server answered {code}")) }
}

fn transient(what: &str) -> Failure {
    Failure::new(FailureClass::Transient, what)
}

fn protocol(what: &str) -> Failure {
    Failure::new(FailureClass::Protocol, what)
}
