//! Who has a session open: each opener, whatever number of handles it has made of the one it was given.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many have the session open. None, once the last has left: then its driver ends, and nobody can join it.
#[derive(Clone, Debug)]
pub(crate) struct OpenCount(Arc<AtomicUsize>);

/// One that has the session open.
#[derive(Debug)]
pub(crate) struct Membership {
    members: OpenCount,
    has_left: AtomicBool,
}

/// Whether anybody still has the session open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherMembers {
    Remain,
    None,
}

impl OpenCount {
    /// One that has a session open, the first.
    pub(crate) fn first() -> Membership {
        Membership { members: Self(Arc::new(AtomicUsize::new(1))), has_left: AtomicBool::new(false) }
    }

    /// One more; none where the last has left.
    pub(crate) fn join(&self) -> Option<Membership> {
        let one_more = |members: usize| (members > 0).then_some(members + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).ok()?;
        Some(Membership { members: self.clone(), has_left: AtomicBool::new(false) })
    }

    /// One that does not count: it keeps nobody's session open.
    pub(crate) fn visit(&self) -> Membership {
        Membership { members: self.clone(), has_left: AtomicBool::new(true) }
    }
}

impl Membership {
    pub(crate) fn members(&self) -> &OpenCount {
        &self.members
    }

    /// Leaves, once however often it is said.
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
