//! The fold of a journal. `LoopState` is what `decide` needs and stays small; `Transcript` holds the conversation and
//! grows. Only `apply` writes to them.

use windlass_vocab::{Record, SessionId};

use crate::control::LoopState;
use crate::transcript::Transcript;

/// The state that a journal folds to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The session.
    pub session: SessionId,
    /// The state of the loop.
    pub control: LoopState,
    /// The conversation.
    pub transcript: Transcript,
}

impl State {
    /// Returns the state before the first record.
    #[must_use]
    pub fn new(session: SessionId) -> Self {
        Self { session, control: LoopState::default(), transcript: Transcript::default() }
    }

    /// Returns the state after these records.
    #[must_use]
    pub fn fold<'a>(session: SessionId, records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut state = Self::new(session);
        for record in records {
            apply(&mut state, record);
        }
        state
    }
}

/// Applies one record. The only writer of `State`, besides [`apply_decided`], which has the same effect.
pub fn apply(state: &mut State, record: &Record) {
    state.control.apply(record);
    state.transcript.apply(record);
}

/// Applies all records of a batch that was decided on this very state. `decide_for` has applied them to its copy of the
/// loop state; that copy replaces the old one, so that nothing is applied twice.
pub fn apply_decided<'a>(state: &mut State, after: DecidedState, records: impl IntoIterator<Item = &'a Record>) {
    #[cfg(debug_assertions)]
    let mut folded = state.control.clone();
    for record in records {
        #[cfg(debug_assertions)]
        folded.apply(record);
        state.transcript.apply(record);
    }
    state.control = *after.0;
    #[cfg(debug_assertions)]
    debug_assert_eq!(folded, state.control, "a batch was decided on another state");
}

/// The state of the loop after a batch that was decided but not applied yet.
#[derive(Clone, Debug)]
pub struct DecidedState(pub(crate) Box<LoopState>);
