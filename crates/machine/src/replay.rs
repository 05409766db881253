//! Deciding a journal again (J8): each batch's input is read off its first record and decided on the
//! fold of all before it. The same loop gives the same records; the first that differ are named.
//!
//! What a fork took over is decided as the session that wrote it would: ids and waits derive from the
//! session's id.

use windlass_vocab::{Envelope, NewerRecord, Origin, Record, SessionId, Timestamp};

use crate::fact::Input;
use crate::machine::decide;
use crate::recall::recall;
use crate::state::{State, apply};

/// How deciding a journal again came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayOutcome {
    /// Every batch came out as it was recorded.
    Same {
        /// How many.
        batches: u64,
    },
    /// One did not.
    Differs(Box<Difference>),
    /// From here on nobody can tell: this binary does not know the record.
    Unknown {
        /// Its number.
        seq: u64,
        /// Its kind.
        kind: String,
    },
}

/// The first record that is decided differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The number of the first record of its batch.
    pub batch: u64,
    /// Its own number.
    pub seq: u64,
    /// What the journal has there; nothing when more was decided than recorded.
    pub recorded: Option<Record>,
    /// What is decided now; nothing when less is decided than was recorded.
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

/// What the input that `batch` answered means to this binary; nothing where it knows no such input.
#[must_use]
pub fn decide_again(state: &State, at: Timestamp, batch: &[Record]) -> Vec<Record> {
    recall(state, batch).map(|fact| decide(state, Input { at, fact })).unwrap_or_default()
}

/// The session that the record `seq` was written in.
fn writer(state: &State, session: SessionId, seq: u64) -> SessionId {
    let origins = state.control.opened.as_ref().map(|opened| opened.forked_from.as_slice()).unwrap_or_default();
    let wrote = |origin: &&Origin| seq <= origin.seq;
    origins.iter().find(wrote).map_or(session, |origin| origin.session)
}

fn first_difference(batch: u64, recorded: &[Record], decided: &[Record]) -> Option<Difference> {
    let longer = recorded.len().max(decided.len());
    let index = (0..longer).find(|index| recorded.get(*index) != decided.get(*index))?;
    Some(Difference {
        batch,
        seq: batch + index as u64,
        recorded: recorded.get(index).cloned(),
        decided: decided.get(index).cloned(),
    })
}
