//! The heads and rows of the sessions that this process wrote, as it left them. Only a cache that saves reading
//! rows: whether a head is still current is read in the transaction that appends.

use std::cell::RefCell;
use std::collections::HashMap;

use windlass_vocab::SessionId;

use crate::projections::SessionFold;
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
    /// The session's row after the batch that ends in `head`, if known.
    pub(super) fn row(&self, session: SessionId, head: Head) -> Option<SessionFold> {
        self.0.borrow().get(&session).filter(|tail| tail.head == head)?.row.clone()
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
