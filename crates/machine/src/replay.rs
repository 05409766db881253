//! Decides a journal again (J8): reconstructs each batch's input from its first record and decides it on the state
//! before. The same loop gives the same records; the first difference is reported, unless it is in wording alone.
//!
//! Records that a fork copied are decided as in the session that wrote them, because ids and waits derive from the
//! session's id.

use windlass_vocab::{Envelope, NewerRecord, Origin, Record, SessionId, Timestamp};

use crate::causing_fact::causing_fact;
use crate::fact::Input;
use crate::machine::decide;
use crate::state::{State, apply};
use crate::wording::is_same_fact;

/// The outcome of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayOutcome {
    /// Every batch was decided as it was recorded.
    Same {
        /// Number of batches.
        batches: u64,
    },
    /// A batch was decided differently.
    Differs(Box<Difference>),
    /// The replay stopped at a record of a kind that this binary does not know.
    Unknown {
        /// Its `seq`.
        seq: u64,
        /// Its kind.
        kind: String,
    },
}

/// The first record that is decided differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The `seq` of the first record of its batch.
    pub batch: u64,
    /// Its own `seq`.
    pub seq: u64,
    /// The record in the journal; `None` when more was decided than recorded.
    pub recorded: Option<Record>,
    /// The record decided now; `None` when less is decided than was recorded.
    pub decided: Option<Record>,
}

/// Decides the whole journal of `session` again.
#[must_use]
pub fn replay(session: SessionId, journal: &[Envelope]) -> ReplayOutcome {
    let mut state = State::new(session);
    let mut batches = 0;
    for batch in journal.chunk_by(|_, next| next.batch.0 > 0) {
        if let Some(NewerRecord { seq, kind, .. }) = NewerRecord::first(batch) {
            return ReplayOutcome::Unknown { seq, kind };
        }
        let (first, at) = batch.first().map(|first| (first.seq, first.at)).unwrap_or_default();
        state = State { session: writer(&state, session, first), ..state };
        let recorded: Vec<Record> = batch.iter().map(|envelope| envelope.record.clone()).collect();
        if let Some(difference) = first_difference(first, &recorded, &decide_again(&state, at, &recorded)) {
            return ReplayOutcome::Differs(Box::new(difference));
        }
        recorded.iter().for_each(|record| apply(&mut state, record));
        batches += 1;
    }
    ReplayOutcome::Same { batches }
}

/// Decides the input of `batch` again; empty where this binary knows no such input.
#[must_use]
pub fn decide_again(state: &State, at: Timestamp, batch: &[Record]) -> Vec<Record> {
    causing_fact(state, batch).map(|fact| decide(state, Input { at, fact })).unwrap_or_default()
}

/// Returns the session in which the record `seq` was written.
fn writer(state: &State, session: SessionId, seq: u64) -> SessionId {
    let origins = state.control.opened.as_ref().map(|opened| opened.forked_from.as_slice()).unwrap_or_default();
    let wrote = |origin: &&Origin| seq <= origin.seq;
    origins.iter().find(wrote).map_or(session, |origin| origin.session)
}

fn first_difference(batch: u64, recorded: &[Record], decided: &[Record]) -> Option<Difference> {
    let longer = recorded.len().max(decided.len());
    let same = |index: usize| match (recorded.get(index), decided.get(index)) {
        (Some(recorded), Some(decided)) => is_same_fact(recorded, decided),
        (Some(_), None) | (None, Some(_)) | (None, None) => false,
    };
    let index = (0..longer).find(|index| !same(*index))?;
    Some(Difference {
        batch,
        seq: batch + index as u64,
        recorded: recorded.get(index).cloned(),
        decided: decided.get(index).cloned(),
    })
}
