//! The heads and rows of the sessions that this process wrote, as it left them. Only a cache that saves reads: the
//! statement that inserts a batch decides whether a head is still current.

use std::cell::RefCell;
use std::collections::HashMap;

use windlass_vocab::SessionId;

use crate::projections::{SessionFold, project};
use crate::{Head, SealedBatch};

/// More sessions than a process has open.
const MOST: usize = 16_384;

/// The ends of journals, by session.
#[derive(Default)]
pub(super) struct Tails(RefCell<HashMap<SessionId, JournalTail>>);

struct JournalTail {
    head: Head,
    /// The session's row, if it was read.
    row: Option<SessionFold>,
}

impl Tails {
    /// Whether this batch follows the last one written here and does not change the session's row.
    pub(super) fn is_plain(&self, sealed: &SealedBatch) -> bool {
        let tails = self.0.borrow();
        let Some(tail) = tails.get(&sealed.session).filter(|tail| tail.head == sealed.expected) else { return false };
        let reads = sealed.envelopes.iter().any(|envelope| SessionFold::reads(&envelope.record));
        !reads || tail.row.as_ref().is_some_and(|row| leaves_alone(row, sealed))
    }

    /// The session's row after the batch that ends in `head`, if known.
    pub(super) fn row(&self, session: SessionId, head: Head) -> Option<SessionFold> {
        self.0.borrow().get(&session).filter(|tail| tail.head == head)?.row.clone()
    }

    /// Notes a batch that did not change the row.
    pub(super) fn move_on(&self, sealed: &SealedBatch) {
        if let Some(tail) = self.0.borrow_mut().get_mut(&sealed.session) {
            tail.head = sealed.head;
        }
    }

    /// Notes a batch, and the row if it was read.
    pub(super) fn remember(&self, sealed: &SealedBatch, row: Option<SessionFold>) {
        let mut tails = self.0.borrow_mut();
        if tails.len() >= MOST {
            tails.clear();
        }
        let known = tails.remove(&sealed.session).filter(|tail| tail.head == sealed.expected).and_then(|tail| tail.row);
        tails.insert(sealed.session, JournalTail { head: sealed.head, row: row.or(known) });
    }

    /// Clears the cache, after a failed write or a removal.
    pub(super) fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}

fn leaves_alone(row: &SessionFold, sealed: &SealedBatch) -> bool {
    let records = sealed.envelopes.iter().map(AsRef::as_ref);
    project(Some(row.clone()), records).as_ref() == Some(row)
}
