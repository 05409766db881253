//! What is owed to the outside, read off the state. The driver starts what is outstanding and not
//! running, and aborts what is running and no longer outstanding.

use std::sync::Arc;

use windlass_vocab::{
    CallId, CallRequested, Json, ModelName, QuestionAsked, QuestionId, Resumption, RunId, Timestamp, TurnId, TurnMode,
    UndoId, UndoStarted,
};

use crate::calls::startable;
use crate::control::{Call, CallApproval, CallState, Phase, Run};
use crate::snapshot_state::SnapshotState;
use crate::state::State;

/// One try of one model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttemptKey {
    /// Its run.
    pub run: RunId,
    /// Its turn.
    pub turn: TurnId,
    /// Its number in the turn, from 1.
    pub attempt: u32,
}

/// Something owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Take the next message from the inbox.
    Receive,
    /// Gather prefix and offer.
    Pin(RunId),
    /// Call a model.
    CallModel {
        /// Which try this is.
        key: AttemptKey,
        /// Which model.
        model: ModelName,
        /// What the turn is for.
        mode: TurnMode,
        /// Set when it must not stream.
        whole: bool,
        /// When it may begin.
        not_before: Option<Timestamp>,
    },
    /// Say what an aborted model call had streamed.
    HandBack(AttemptKey),
    /// Run a call.
    RunCall {
        /// What was asked for.
        request: Arc<CallRequested>,
        /// Arguments a person put in place of the model's.
        edited: Option<Json>,
        /// What it is run again with, after a pause.
        resumed: Option<Arc<Resumption>>,
        /// Whether a person said yes to it.
        approved: CallApproval,
    },
    /// Judge a call by the rules of this process; it has not run.
    CheckPermission {
        /// What was asked for.
        request: Arc<CallRequested>,
        /// See `RunCall`.
        edited: Option<Json>,
    },
    /// Ask the tool whether a call took place.
    VerifyCall {
        /// What was asked for.
        request: Arc<CallRequested>,
        /// See `RunCall`.
        edited: Option<Json>,
    },
    /// Ask a person.
    Ask(Arc<QuestionAsked>),
    /// Keep the files a call may change, before it runs.
    TakeSnapshot {
        /// What was asked for.
        request: Arc<CallRequested>,
        /// See `RunCall`.
        edited: Option<Json>,
    },
    /// Put files back.
    Restore(Arc<UndoStarted>),
}

/// What makes two effects the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectKey {
    /// See [`Effect::Receive`].
    Receive,
    /// See [`Effect::Pin`].
    Pin(RunId),
    /// See [`Effect::CallModel`].
    CallModel(AttemptKey),
    /// See [`Effect::HandBack`].
    HandBack(AttemptKey),
    /// See [`Effect::RunCall`].
    RunCall(CallId),
    /// See [`Effect::CheckPermission`].
    CheckPermission(CallId),
    /// See [`Effect::VerifyCall`].
    VerifyCall(CallId),
    /// See [`Effect::Ask`].
    Ask(QuestionId),
    /// See [`Effect::TakeSnapshot`].
    TakeSnapshot(CallId),
    /// See [`Effect::Restore`].
    Restore(UndoId),
}

impl Effect {
    /// What makes it the same as another.
    #[must_use]
    pub fn key(&self) -> EffectKey {
        match self {
            Self::Receive => EffectKey::Receive,
            Self::Pin(run) => EffectKey::Pin(*run),
            Self::CallModel { key, .. } => EffectKey::CallModel(*key),
            Self::HandBack(key) => EffectKey::HandBack(*key),
            Self::RunCall { request, .. } => EffectKey::RunCall(request.call),
            Self::CheckPermission { request, .. } => EffectKey::CheckPermission(request.call),
            Self::VerifyCall { request, .. } => EffectKey::VerifyCall(request.call),
            Self::Ask(asked) => EffectKey::Ask(asked.question),
            Self::TakeSnapshot { request, .. } => EffectKey::TakeSnapshot(request.call),
            Self::Restore(started) => EffectKey::Restore(started.undo),
        }
    }
}

/// What is owed now.
#[must_use]
pub fn outstanding(state: &State) -> Vec<Effect> {
    let Some(run) = &state.control.run else {
        return match &state.control.undo {
            // Nothing is taken up before the files are as they should be.
            Some(started) => vec![Effect::Restore(Arc::clone(started))],
            None if state.control.opened.is_some() => vec![Effect::Receive],
            None => Vec::new(),
        };
    };
    let mut owed = Vec::new();
    if run.takes_words() {
        owed.push(Effect::Receive);
    }
    if let Some(question) = &run.parked {
        owed.push(Effect::Ask(Arc::clone(question)));
        return owed;
    }
    match &run.phase {
        Phase::Pinning => owed.push(Effect::Pin(run.id)),
        Phase::Modelling(attempt) => {
            let key = AttemptKey { run: run.id, turn: run.turn, attempt: attempt.number };
            owed.push(if run.stop.is_some() {
                Effect::HandBack(key)
            } else if attempt.unpinned {
                Effect::Pin(run.id)
            } else {
                Effect::CallModel {
                    key,
                    model: run.model(attempt.model),
                    mode: attempt.mode,
                    whole: attempt.whole,
                    not_before: attempt.not_before,
                }
            });
        }
        Phase::Calling(calls) => {
            owed.extend(calls.iter().filter_map(owed_for));
            owed.extend(startable(run).filter_map(owed_permission_check));
            owed.extend(calls.iter().filter_map(Call::question).map(|asked| Effect::Ask(Arc::clone(asked))));
        }
        Phase::Between => {}
    }
    owed
}

fn owed_for(call: &Call) -> Option<Effect> {
    let (request, edited) = (Arc::clone(&call.request), call.edited.clone());
    match &call.state {
        CallState::Started if call.kept == SnapshotState::Missing => Some(Effect::TakeSnapshot { request, edited }),
        CallState::Started => {
            let resumed = call.resumption().map(Arc::new);
            Some(Effect::RunCall { request, edited, resumed, approved: call.approved.clone() })
        }
        CallState::Verifying => Some(Effect::VerifyCall { request, edited }),
        CallState::Asking(_)
        | CallState::NeedsApproval
        | CallState::NeedsPermissionCheck
        | CallState::Ready
        | CallState::Paused
        | CallState::Finished(_) => None,
    }
}

/// A call is judged when its turn has come, so that what it then asks or does is in order.
fn owed_permission_check(call: &Call) -> Option<Effect> {
    let (request, edited) = (Arc::clone(&call.request), call.edited.clone());
    (call.state == CallState::NeedsPermissionCheck).then_some(Effect::CheckPermission { request, edited })
}

impl Run {
    /// The attempt under way, if a model is being called.
    #[must_use]
    pub fn attempt_key(&self) -> Option<AttemptKey> {
        match &self.phase {
            Phase::Modelling(attempt) => Some(AttemptKey { run: self.id, turn: self.turn, attempt: attempt.number }),
            Phase::Pinning | Phase::Calling(_) | Phase::Between => None,
        }
    }
}
