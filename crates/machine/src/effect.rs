//! Effects: the work that the state requires of the driver. The driver starts effects that are outstanding and not
//! running, and aborts those that run and are no longer outstanding.

use std::sync::Arc;

use windlass_vocab::{
    CallId, CallRequested, Json, ModelName, ModelRole, QuestionAsked, QuestionId, Resumption, RunId, StopBy, Timestamp,
    TurnId, TurnMode, UndoId, UndoStarted,
};

use crate::calls::startable;
use crate::control::{Attempt, Call, CallApproval, CallState, Phase, Run, RunningStep};
use crate::snapshot_state::SnapshotState;
use crate::state::State;

/// One try of one model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttemptKey {
    /// The run.
    pub run: RunId,
    /// The turn.
    pub turn: TurnId,
    /// Its number in the turn, from 1.
    pub attempt: u32,
}

/// Work for the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Take the next message from the inbox.
    Receive,
    /// Collect the prefix and the offered tools.
    Pin(RunId),
    /// Call a model.
    CallModel {
        /// The identity of this try.
        key: AttemptKey,
        /// The model to call.
        model: ModelName,
        /// What it is called for.
        role: ModelRole,
        /// The purpose of the turn.
        mode: TurnMode,
        /// Set when it must not stream.
        whole: bool,
        /// The earliest time it may start.
        not_before: Option<Timestamp>,
    },
    /// Return the text that an aborted model call had streamed.
    HandBack(AttemptKey),
    /// Run a call.
    RunCall {
        /// The call as the model requested it.
        request: Arc<CallRequested>,
        /// Arguments with which a person replaced the model's.
        edited: Option<Json>,
        /// The input with which it is run again after a pause.
        resumed: Option<Arc<Resumption>>,
        /// Whether a person approved it.
        approved: CallApproval,
    },
    /// Check a call against the permission rules of this process; it has not run.
    CheckPermission {
        /// The call as the model requested it.
        request: Arc<CallRequested>,
        /// See `RunCall`.
        edited: Option<Json>,
    },
    /// Ask the tool whether a call's effect took place.
    VerifyCall {
        /// The call as the model requested it.
        request: Arc<CallRequested>,
        /// See `RunCall`.
        edited: Option<Json>,
    },
    /// Ask a person.
    Ask(Arc<QuestionAsked>),
    /// Save the files a call may change, before it runs.
    TakeSnapshot {
        /// The call as the model requested it.
        request: Arc<CallRequested>,
        /// See `RunCall`.
        edited: Option<Json>,
    },
    /// Restore files.
    Restore(Arc<UndoStarted>),
    /// Have a child session carry out a step of the plan, and report how it ended; or stop that session.
    RunStep {
        /// The child's position.
        child: CallId,
        /// The step, from 0.
        step: u32,
        /// Counts the child's questions and their answers: with each the effect begins anew, and the child goes on.
        rounds: u32,
        /// Who stopped the run, if anybody.
        stop: Option<StopBy>,
    },
}

/// The identity of an effect.
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
    /// See [`Effect::RunStep`]; the last number is how often it began anew.
    RunStep(CallId, u32),
}

impl Effect {
    /// Returns the identity of the effect.
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
            Self::RunStep { child, rounds, stop, .. } => EffectKey::RunStep(*child, rounds + u32::from(stop.is_some())),
        }
    }
}

/// Returns the effects that the state requires now.
#[must_use]
pub fn outstanding(state: &State) -> Vec<Effect> {
    let Some(run) = &state.control.run else {
        return match &state.control.undo {
            // No message is accepted before the files are restored.
            Some(started) => vec![Effect::Restore(Arc::clone(started))],
            None if state.control.opened.is_some() => {
                let title = state.control.title.as_deref().and_then(owed_model_call);
                [Effect::Receive].into_iter().chain(title).collect()
            }
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
                model_call(run, key, attempt)
            });
        }
        Phase::Calling(calls) => {
            owed.extend(calls.iter().filter_map(owed_for));
            owed.extend(startable(run).filter_map(owed_permission_check));
            owed.extend(calls.iter().filter_map(Call::question).map(|asked| Effect::Ask(Arc::clone(asked))));
        }
        Phase::Stepping(running) => {
            let RunningStep { child, step, .. } = *running;
            if run.stop.is_none() {
                owed.extend(running.open.iter().map(|asked| Effect::Ask(Arc::clone(asked))));
            }
            owed.push(Effect::RunStep { child, step, rounds: running.rounds(), stop: run.stop });
        }
        Phase::Between => {}
    }
    owed
}

/// Returns the model call that a run waits for.
fn owed_model_call(run: &Run) -> Option<Effect> {
    match &run.phase {
        Phase::Modelling(attempt) => Some(model_call(run, run.attempt_key()?, attempt)),
        Phase::Pinning | Phase::Calling(_) | Phase::Stepping(_) | Phase::Between => None,
    }
}

fn model_call(run: &Run, key: AttemptKey, attempt: &Attempt) -> Effect {
    Effect::CallModel {
        key,
        model: run.model_of(attempt),
        role: attempt.mode.role(),
        mode: attempt.mode,
        whole: attempt.whole,
        not_before: attempt.not_before,
    }
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

/// A call is checked only when it is next to start, so that questions and effects keep the order of the calls.
fn owed_permission_check(call: &Call) -> Option<Effect> {
    let (request, edited) = (Arc::clone(&call.request), call.edited.clone());
    (call.state == CallState::NeedsPermissionCheck).then_some(Effect::CheckPermission { request, edited })
}

impl Run {
    /// Returns the identity of the current attempt, if a model is being called.
    #[must_use]
    pub fn attempt_key(&self) -> Option<AttemptKey> {
        match &self.phase {
            Phase::Modelling(attempt) => Some(AttemptKey { run: self.id, turn: self.turn, attempt: attempt.number }),
            Phase::Pinning | Phase::Calling(_) | Phase::Stepping(_) | Phase::Between => None,
        }
    }
}
