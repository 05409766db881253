//! The fold of a journal. `Control` is what deciding needs and stays small; `Book` is what was said
//! and grows. Both are written by `apply` alone.

use windlass_vocab::{Record, SessionId};

use crate::book::Book;
use crate::control::Control;

/// Everything a journal says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The session folded.
    pub session: SessionId,
    /// Where the loop stands.
    pub control: Control,
    /// What was said.
    pub book: Book,
}

impl State {
    /// Before the first record.
    #[must_use]
    pub fn new(session: SessionId) -> Self {
        Self { session, control: Control::default(), book: Book::default() }
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

/// Folds one record in. The only writer of `State`.
pub fn apply(state: &mut State, record: &Record) {
    state.control.apply(record);
    state.book.apply(record);
}
