//! What a driver has under way: effects that were started and have not ended.

use std::collections::BTreeMap;
use std::future::Future;
use std::task::{Context, Poll};

use tokio_util::sync::CancellationToken;
use windlass_machine::{AttemptKey, Effect, EffectKey};
use windlass_provider::BoxFuture;
use windlass_store::StoreError;
use windlass_vocab::{Failure, PinnedContext, Reply, UndoId};

use crate::attempt::{Streamed, Written};
use crate::call::Ended;
use crate::elicit::{Asking, Elicited};
use crate::known_names::KnownNames;
use crate::offering::Offering;
use crate::snapshot::Keeper;

/// What an effect came to.
pub(crate) enum Done {
    /// What is sent before the conversation, and the offer it was gathered with, where that was taken anew.
    Pinned(PinnedContext, Option<Offering>),
    /// A model call's end, and the names it was made under.
    Model(AttemptKey, KnownNames, Result<Reply, Failure>),
    HandedBack(AttemptKey, String),
    Call(Ended),
    Restored(UndoId, Result<BTreeMap<String, String>, StoreError>),
}

/// An effect that was started.
pub(crate) struct Started {
    key: EffectKey,
    kind: Kind,
    future: BoxFuture<'static, Done>,
}

/// How an effect is ended that is no longer owed, and what is left of it.
enum Kind {
    /// Given up where it stands.
    Plain,
    /// Likewise; what it had streamed is handed back.
    Model(Streamed),
    /// Told to stop: a tool sees the token and ends by itself, in the time it is granted.
    Call(CancellationToken),
    /// A call that was told to stop and has not ended yet.
    Stopping,
}

impl Started {
    pub(crate) fn plain(effect: &Effect, future: BoxFuture<'static, Done>) -> Self {
        Self { key: effect.key(), kind: Kind::Plain, future }
    }

    pub(crate) fn model(effect: &Effect, streamed: Streamed, future: BoxFuture<'static, Done>) -> Self {
        Self { key: effect.key(), kind: Kind::Model(streamed), future }
    }

    pub(crate) fn call(effect: &Effect, cancel: CancellationToken, future: BoxFuture<'static, Done>) -> Self {
        Self { key: effect.key(), kind: Kind::Call(cancel), future }
    }

    fn over(self, done: Done) -> Next {
        match (self.kind, &done) {
            (Kind::Stopping, _) => Next::LeftBehind(done),
            (Kind::Model(streamed), Done::Model(_, _, Err(_))) => Next::Finished(done, streamed.text()),
            (Kind::Plain | Kind::Model(_) | Kind::Call(_), _) => Next::Finished(done, String::new()),
        }
    }
}

/// What happens next to what is under way.
pub(crate) enum Next {
    /// An effect ended as it was owed. Where it is a model call that failed: after this had been streamed.
    Finished(Done, String),
    /// A call ended after it had been told to stop.
    LeftBehind(Done),
    /// A call asks something.
    Asks(Box<Asking>),
}

/// What a driver has under way.
#[derive(Default)]
pub(crate) struct Underway {
    /// Few at a time, so they are looked through and all polled together.
    effects: Vec<Started>,
    pub(crate) written: Written,
    pub(crate) offering: Option<Offering>,
    pub(crate) elicited: Elicited,
    handed_back: Option<(AttemptKey, String)>,
    pub(crate) keeper: Keeper,
}

impl Underway {
    pub(crate) fn is_running(&self, effect: &Effect) -> bool {
        let key = effect.key();
        self.effects.iter().any(|started| started.key == key && !matches!(started.kind, Kind::Stopping))
    }

    /// Whether a call was told to stop and has not ended yet.
    pub(crate) fn is_stopping(&self) -> bool {
        self.effects.iter().any(|started| matches!(started.kind, Kind::Stopping))
    }

    pub(crate) fn start(&mut self, started: Started) {
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
                Kind::Plain => false,
                Kind::Model(streamed) => {
                    if let EffectKey::CallModel(attempt) = started.key {
                        *handed_back = Some((attempt, streamed.text()));
                    }
                    false
                }
                Kind::Call(cancel) => {
                    cancel.cancel();
                    started.kind = Kind::Stopping;
                    true
                }
                Kind::Stopping => true,
            }
        });
    }

    /// What an aborted model call had streamed.
    pub(crate) fn hand_back(&mut self, attempt: AttemptKey) -> String {
        self.handed_back.take().filter(|(of, _)| *of == attempt).map(|(_, text)| text).unwrap_or_default()
    }

    /// Waits for the first effect to end or to ask something; for ever where there is none.
    pub(crate) fn next(&mut self) -> impl Future<Output = Next> {
        std::future::poll_fn(|context| self.poll_next(context))
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Next> {
        for place in 0..self.effects.len() {
            if let Poll::Ready(done) = self.effects[place].future.as_mut().poll(context) {
                return Poll::Ready(self.effects.remove(place).over(done));
            }
        }
        // Only calls ask.
        if self.effects.iter().any(|started| matches!(started.kind, Kind::Call(_) | Kind::Stopping)) {
            return self.elicited.poll_next(context).map(Next::Asks);
        }
        Poll::Pending
    }
}
