//! How this process left the sessions it wrote: their heads and rows. Only the last writer of a session knows its
//! tail: whoever writes without knowing it rings the bell on the spool, and everybody who hears it forgets.

use std::cell::RefCell;
use std::collections::HashMap;

use windlass_vocab::SessionId;

use super::slip::Reach;
use crate::projections::{SessionFold, project};
use crate::{Head, Sealed};

/// More sessions than a process has open.
const MOST: usize = 16_384;

/// The ends of journals, by session.
#[derive(Default)]
pub(super) struct Tails(RefCell<HashMap<SessionId, Tail>>);

struct Tail {
    head: Head,
    /// The session's row, where it was looked at.
    row: Option<SessionFold>,
}

impl Tails {
    /// Where this batch follows what we wrote last: notes it, and gives what it changes. Not for one that
    /// gives the session another key, which others may have.
    pub(super) fn carry_on(&self, sealed: &Sealed) -> Option<Reach> {
        let mut tails = self.0.borrow_mut();
        let tail = tails.get_mut(&sealed.session).filter(|tail| tail.head == sealed.expected)?;
        let mut reach = Reach::Journal;
        if sealed.envelopes.iter().any(|envelope| SessionFold::reads(&envelope.record)) {
            let before = tail.row.as_ref()?;
            let after = project(Some(before.clone()), sealed.envelopes.iter().map(AsRef::as_ref))?;
            if after.row.key != before.row.key {
                return None;
            }
            if after != *before {
                reach = Reach::Row;
                tail.row = Some(after);
            }
        }
        tail.head = sealed.head;
        Some(reach)
    }

    /// Notes a batch, and the row where it was looked at.
    pub(super) fn remember(&self, sealed: &Sealed, row: Option<SessionFold>) {
        let mut tails = self.0.borrow_mut();
        if tails.len() >= MOST {
            tails.clear();
        }
        let known = tails.remove(&sealed.session).and_then(|tail| tail.row);
        tails.insert(sealed.session, Tail { head: sealed.head, row: row.or(known) });
    }

    /// Whether the end of a session is known.
    pub(super) fn know(&self, session: SessionId) -> bool {
        self.0.borrow().contains_key(&session)
    }

    /// The row of a session whose last record has this number, where it is known.
    pub(super) fn row(&self, session: SessionId, seq: u64) -> Option<SessionFold> {
        let tails = self.0.borrow();
        tails.get(&session).filter(|tail| tail.head.seq == seq)?.row.clone()
    }

    /// After anything that was not written, or was removed, or that another wrote into the database.
    pub(super) fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}
