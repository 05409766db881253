//! The fold of a journal. `LoopState` is what deciding needs and stays small; `Transcript` is what was said
//! and grows. Both are written by `apply` alone.

use windlass_vocab::{Record, SessionId};

use crate::control::LoopState;
use crate::transcript::Transcript;

/// Everything a journal says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The session folded.
    pub session: SessionId,
    /// Where the loop stands.
    pub control: LoopState,
    /// What was said.
    pub transcript: Transcript,
}

impl State {
    /// Before the first record.
    #[must_use]
    pub fn new(session: SessionId) -> Self {
        Self { session, control: LoopState::default(), transcript: Transcript::default() }
    }

    /// The state after these records.
    #[must_use]
    pub fn fold<'a>(session: SessionId, records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut state = Self::new(session);
        for record in records {
            apply(&mut state, record);
        }
        state
    }
}

/// Folds one record in. The only writer of `State`, but for [`apply_decided`], which does the same.
pub fn apply(state: &mut State, record: &Record) {
    state.control.apply(record);
    state.transcript.apply(record);
}

/// Folds in all records of a batch that was decided on this very state. Deciding has applied them to its
/// copy of where the loop stands; that copy takes its place, so that nothing is folded twice.
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

/// Where the loop stands after a batch that was decided and not applied yet.
#[derive(Clone, Debug)]
pub struct DecidedState(pub(crate) Box<LoopState>);
