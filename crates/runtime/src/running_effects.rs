//! What a driver has under way: effects that were started and have not ended.

use std::collections::BTreeMap;
use std::future::Future;
use std::task::{Context, Poll};

use tokio_util::sync::CancellationToken;
use windlass_machine::{AttemptKey, Effect, EffectKey};
use windlass_provider::BoxFuture;
use windlass_store::StoreError;
use windlass_vocab::{Failure, PinnedContext, Reply, UndoId};

use crate::attempt::{EncodedHistory, StreamedText};
use crate::call::EndedCall;
use crate::elicit::{AskingCall, OpenElicitations};
use crate::known_names::KnownNames;
use crate::offering::Offering;
use crate::snapshot::SnapshotKeeper;

/// What an effect came to.
pub(crate) enum EffectOutcome {
    /// What is sent before the conversation, and the offer it was gathered with, where that was taken anew.
    Pinned(PinnedContext, Option<Offering>),
    /// A model call's end, and the names it was made under.
    Model(AttemptKey, KnownNames, Result<Reply, Failure>),
    HandedBack(AttemptKey, String),
    Call(EndedCall),
    Restored(UndoId, Result<BTreeMap<String, String>, StoreError>),
}

/// An effect that was started.
pub(crate) struct StartedEffect {
    key: EffectKey,
    kind: EffectKind,
    future: BoxFuture<'static, EffectOutcome>,
}

/// How an effect is ended that is no longer owed, and what is left of it.
enum EffectKind {
    /// Given up where it stands.
    Plain,
    /// Likewise; what it had streamed is handed back.
    Model(StreamedText),
    /// Told to stop: a tool sees the token and ends by itself, in the time it is granted.
    Call(CancellationToken),
    /// A call that was told to stop and has not ended yet.
    Stopping,
}

impl StartedEffect {
    pub(crate) fn plain(effect: &Effect, future: BoxFuture<'static, EffectOutcome>) -> Self {
        Self { key: effect.key(), kind: EffectKind::Plain, future }
    }

    pub(crate) fn model(effect: &Effect, streamed: StreamedText, future: BoxFuture<'static, EffectOutcome>) -> Self {
        Self { key: effect.key(), kind: EffectKind::Model(streamed), future }
    }

    pub(crate) fn call(effect: &Effect, cancel: CancellationToken, future: BoxFuture<'static, EffectOutcome>) -> Self {
        Self { key: effect.key(), kind: EffectKind::Call(cancel), future }
    }

    fn over(self, done: EffectOutcome) -> NextEffect {
        match (self.kind, &done) {
            (EffectKind::Stopping, _) => NextEffect::LeftBehind(done),
            (EffectKind::Model(streamed), EffectOutcome::Model(_, _, Err(_))) => {
                NextEffect::Finished(done, streamed.text())
            }
            (EffectKind::Plain | EffectKind::Model(_) | EffectKind::Call(_), _) => {
                NextEffect::Finished(done, String::new())
            }
        }
    }
}

/// What happens next to what is under way.
pub(crate) enum NextEffect {
    /// An effect ended as it was owed. Where it is a model call that failed: after this had been streamed.
    Finished(EffectOutcome, String),
    /// A call ended after it had been told to stop.
    LeftBehind(EffectOutcome),
    /// A call asks something.
    Asks(Box<AskingCall>),
}

/// What a driver has under way.
#[derive(Default)]
pub(crate) struct RunningEffects {
    /// Few at a time, so they are looked through and all polled together.
    effects: Vec<StartedEffect>,
    pub(crate) written: EncodedHistory,
    pub(crate) offering: Option<Offering>,
    pub(crate) elicited: OpenElicitations,
    handed_back: Option<(AttemptKey, String)>,
    pub(crate) keeper: SnapshotKeeper,
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

    pub(crate) fn start(&mut self, started: StartedEffect) {
        self.effects.push(started);
    }

    /// Ends what is no longer owed.
    pub(crate) fn abort_all_but(&mut self, owed: &[Effect]) {
        let handed_back = &mut self.handed_back;
        self.effects.retain_mut(|started| {
            if owed.iter().any(|effect| effect.key() == started.key) {
                return true;
            }
            match &started.kind {
                EffectKind::Plain => false,
                EffectKind::Model(streamed) => {
                    if let EffectKey::CallModel(attempt) = started.key {
                        *handed_back = Some((attempt, streamed.text()));
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

    /// What an aborted model call had streamed.
    pub(crate) fn hand_back(&mut self, attempt: AttemptKey) -> String {
        self.handed_back.take().filter(|(of, _)| *of == attempt).map(|(_, text)| text).unwrap_or_default()
    }

    /// Waits for the first effect to end or to ask something; for ever where there is none.
    pub(crate) fn next(&mut self) -> impl Future<Output = NextEffect> {
        std::future::poll_fn(|context| self.poll_next(context))
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<NextEffect> {
        for place in 0..self.effects.len() {
            if let Poll::Ready(done) = self.effects[place].future.as_mut().poll(context) {
                return Poll::Ready(self.effects.remove(place).over(done));
            }
        }
        // Only calls ask.
        if self.effects.iter().any(|started| matches!(started.kind, EffectKind::Call(_) | EffectKind::Stopping)) {
            return self.elicited.poll_next(context).map(NextEffect::Asks);
        }
        Poll::Pending
    }
}
