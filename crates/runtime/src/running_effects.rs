//! The running effects of a driver: started and not finished.

use std::collections::BTreeMap;
use std::future::Future;
use std::task::{Context, Poll};

use tokio_util::sync::CancellationToken;
use windlass_machine::{AttemptKey, Effect, EffectKey, Fact, ListedFiles};
use windlass_provider::BoxFuture;
use windlass_store::StoreError;
use windlass_vocab::{Failure, Reply, UndoId};

use crate::attempt::EncodedHistory;
use crate::call::EndedCall;
use crate::child_slot::ChildSlot;
use crate::elicit::{AskingCall, OpenElicitations};
use crate::known_names::KnownNames;
use crate::offering::{Offering, PinnedRun};
use crate::planner_files::PlannerFiles;
use crate::retrieval::gather::Gathered;
use crate::retrieval::turn_passages::TurnPassages;
use crate::snapshot::SnapshotKeeper;
use crate::streamed::{ReplyTally, Streamed};

/// The outcome of an effect.
pub(crate) enum EffectOutcome {
    /// The context to send before the conversation, and the offer it was built with, where that is new.
    Pinned(PinnedRun),
    /// The end of a model call, and the names that were known when it was made.
    Model(AttemptKey, KnownNames, Result<Reply, Failure>),
    /// The passages for a turn whose model is called next.
    Retrieved(AttemptKey, Gathered),
    /// The files of the workspace, for a planner that is called next.
    Listed(AttemptKey, ListedFiles),
    /// What an aborted model call had streamed; none if its request was not sent yet.
    HandedBack(AttemptKey, Option<Streamed>),
    Call(EndedCall),
    Restored(UndoId, Result<BTreeMap<String, String>, StoreError>),
    /// What the child session that works on a step has come to: a question, or the end of its run.
    Step(Result<Fact, StoreError>),
}

/// An effect that was started.
pub(crate) struct StartedEffect {
    key: EffectKey,
    kind: EffectKind,
    future: BoxFuture<'static, EffectOutcome>,
}

/// How to end an effect that is no longer outstanding, and what remains of it.
enum EffectKind {
    /// It is dropped.
    Plain,
    /// It is dropped; the text it had streamed is handed back.
    Model(ReplyTally),
    /// It is told to stop: the tool sees the token and ends by itself, within its grace period.
    Call(CancellationToken),
    /// A call that was told to stop and has not ended yet.
    Stopping,
}

impl StartedEffect {
    pub(crate) fn plain(effect: &Effect, future: BoxFuture<'static, EffectOutcome>) -> Self {
        Self { key: effect.key(), kind: EffectKind::Plain, future }
    }

    pub(crate) fn model(effect: &Effect, streamed: ReplyTally, future: BoxFuture<'static, EffectOutcome>) -> Self {
        Self { key: effect.key(), kind: EffectKind::Model(streamed), future }
    }

    pub(crate) fn call(effect: &Effect, cancel: CancellationToken, future: BoxFuture<'static, EffectOutcome>) -> Self {
        Self { key: effect.key(), kind: EffectKind::Call(cancel), future }
    }

    fn over(self, done: EffectOutcome) -> NextEffect {
        let Self { kind, future, .. } = self;
        // What holds its text back passes it on when it is dropped.
        drop(future);
        match (kind, &done) {
            (EffectKind::Stopping, _) => NextEffect::LeftBehind(done),
            (EffectKind::Model(streamed), EffectOutcome::Model(_, _, Err(_))) => {
                NextEffect::Finished(done, streamed.so_far().unwrap_or_default())
            }
            (EffectKind::Plain | EffectKind::Model(_) | EffectKind::Call(_), _) => {
                NextEffect::Finished(done, Streamed::default())
            }
        }
    }
}

/// The next event of the running effects.
pub(crate) enum NextEffect {
    /// An outstanding effect finished. For a failed model call, with what it had streamed.
    Finished(EffectOutcome, Streamed),
    /// A call ended after it had been told to stop.
    LeftBehind(EffectOutcome),
    /// A call's tool asks the person something.
    Asks(Box<AskingCall>),
}

/// The running effects of a driver.
#[derive(Default)]
pub(crate) struct RunningEffects {
    /// Few at a time, so they are searched linearly and all polled together.
    effects: Vec<StartedEffect>,
    pub(crate) written: EncodedHistory,
    pub(crate) offering: Option<Offering>,
    pub(crate) elicited: OpenElicitations,
    handed_back: Option<(AttemptKey, Option<Streamed>)>,
    pub(crate) keeper: SnapshotKeeper,
    pub(crate) passages: TurnPassages,
    pub(crate) planner_files: PlannerFiles,
    /// The child session that works on a step.
    pub(crate) child: ChildSlot,
}

impl RunningEffects {
    pub(crate) fn is_running(&self, effect: &Effect) -> bool {
        let key = effect.key();
        self.effects.iter().any(|started| started.key == key && !matches!(started.kind, EffectKind::Stopping))
    }

    /// Whether a call was told to stop and has not ended yet.
    pub(crate) fn is_stopping(&self) -> bool {
        self.effects.iter().any(|started| matches!(started.kind, EffectKind::Stopping))
    }

    /// Whether nothing is running.
    pub(crate) fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    /// Drops what is not under way outside yet: a model call whose request was not sent, and what only prepares one; files
    /// being kept for a call that has not begun; the watch over the session of a step. All of it can be begun again.
    pub(crate) fn keep_only_under_way(&mut self) {
        self.effects.retain(|started| match (&started.kind, started.key) {
            (EffectKind::Call(_) | EffectKind::Stopping, _)
            | (EffectKind::Plain, EffectKey::Restore(_) | EffectKey::HandBack(_)) => true,
            (EffectKind::Model(streamed), _) => streamed.so_far().is_some(),
            (
                EffectKind::Plain,
                EffectKey::Receive
                | EffectKey::Pin(_)
                | EffectKey::CallModel(_)
                | EffectKey::RunCall(_)
                | EffectKey::CheckPermission(_)
                | EffectKey::VerifyCall(_)
                | EffectKey::Ask(_)
                | EffectKey::TakeSnapshot(_)
                | EffectKey::RunStep(..),
            ) => false,
        });
    }

    pub(crate) fn start(&mut self, started: StartedEffect) {
        self.effects.push(started);
    }

    /// Ends the effects that are no longer outstanding.
    pub(crate) fn abort_all_but(&mut self, owed: &[Effect]) {
        if !owed.iter().any(|effect| matches!(effect, Effect::RunStep { .. })) {
            drop(self.child.leave());
        }
        let handed_back = &mut self.handed_back;
        self.effects.retain_mut(|started| {
            if owed.iter().any(|effect| effect.key() == started.key) {
                return true;
            }
            match &started.kind {
                EffectKind::Plain => false,
                EffectKind::Model(streamed) => {
                    // What holds its text back passes it on when it is dropped.
                    started.future = Box::pin(std::future::pending());
                    if let EffectKey::CallModel(attempt) = started.key {
                        *handed_back = Some((attempt, streamed.so_far()));
                    }
                    false
                }
                EffectKind::Call(cancel) => {
                    cancel.cancel();
                    started.kind = EffectKind::Stopping;
                    true
                }
                EffectKind::Stopping => true,
            }
        });
    }

    /// Returns the text that an aborted model call had streamed; none if its request was not sent yet.
    pub(crate) fn hand_back(&mut self, attempt: AttemptKey) -> Option<Streamed> {
        self.handed_back.take().filter(|(of, _)| *of == attempt).and_then(|(_, text)| text)
    }

    /// Waits until the first effect finishes or asks something; forever where there is none.
    pub(crate) fn next(&mut self) -> impl Future<Output = NextEffect> {
        std::future::poll_fn(|context| self.poll_next(context))
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<NextEffect> {
        for place in 0..self.effects.len() {
            if let Poll::Ready(done) = self.effects[place].future.as_mut().poll(context) {
                return Poll::Ready(self.effects.remove(place).over(done));
            }
        }
        // Only calls can ask.
        if self.effects.iter().any(|started| matches!(started.kind, EffectKind::Call(_) | EffectKind::Stopping)) {
            return self.elicited.poll_next(context).map(NextEffect::Asks);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::{AttemptKey, Effect, EffectKey, RunningEffects, StartedEffect};
    use crate::streamed::ReplyTally;
    use windlass_vocab::{ModelRole, RunId, TurnId, TurnMode};

    fn model_call(attempt: u32) -> Effect {
        let key = AttemptKey { run: RunId(1), turn: TurnId(1), attempt };
        let (mode, role) = (TurnMode::Tools, ModelRole::Turn);
        Effect::CallModel { key, model: "m".into(), role, mode, whole: false, not_before: None }
    }

    // proves J3, M3: a model call that waits for its next try, or for what it is to send, is not under way
    #[test]
    fn only_what_has_begun_outside_is_under_way() {
        let mut running = RunningEffects::default();
        let sent = ReplyTally::default();
        sent.begin();
        running.start(StartedEffect::model(&model_call(1), sent, Box::pin(std::future::pending())));
        running.start(StartedEffect::model(&model_call(2), ReplyTally::default(), Box::pin(std::future::pending())));
        running.start(StartedEffect::plain(&model_call(3), Box::pin(std::future::pending())));
        running.start(StartedEffect::plain(&Effect::Pin(RunId(1)), Box::pin(std::future::pending())));
        running.keep_only_under_way();
        let kept: Vec<EffectKey> = running.effects.iter().map(|started| started.key).collect();
        assert_eq!(kept, [model_call(1).key()]);
    }
}
