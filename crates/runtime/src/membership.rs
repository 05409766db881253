//! Counts who has a session open: each opener counts once, however often it clones its handle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many openers have the session open. Once it reaches 0 the driver ends, and nobody can join any more.
#[derive(Clone, Debug)]
pub(crate) struct OpenCount(Arc<AtomicUsize>);

/// One opener of the session.
#[derive(Debug)]
pub(crate) struct Membership {
    members: OpenCount,
    has_left: AtomicBool,
}

/// Whether other openers remain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherMembers {
    Remain,
    None,
}

impl OpenCount {
    /// Returns the membership of the first opener.
    pub(crate) fn first() -> Membership {
        Membership { members: Self(Arc::new(AtomicUsize::new(1))), has_left: AtomicBool::new(false) }
    }

    /// Adds an opener; `None` where the last one has left.
    pub(crate) fn join(&self) -> Option<Membership> {
        let one_more = |members: usize| (members > 0).then_some(members + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).ok()?;
        Some(Membership { members: self.clone(), has_left: AtomicBool::new(false) })
    }

    /// Returns a membership that does not count: it does not keep the session open.
    pub(crate) fn visit(&self) -> Membership {
        Membership { members: self.clone(), has_left: AtomicBool::new(true) }
    }
}

impl Membership {
    pub(crate) fn members(&self) -> &OpenCount {
        &self.members
    }

    /// Leaves; repeated calls count once.
    pub(crate) fn leave(&self) -> OtherMembers {
        if !self.has_left.swap(true, Ordering::AcqRel) {
            self.members.0.fetch_sub(1, Ordering::AcqRel);
        }
        if self.members.0.load(Ordering::Acquire) == 0 { OtherMembers::None } else { OtherMembers::Remain }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.leave();
    }
}
