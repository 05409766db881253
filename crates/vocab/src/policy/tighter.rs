//! Which way each row of a policy is tightened (X2): whether `new` holds a run at least as closely as `own` does. A
//! project that nobody has trusted may set a row in that direction alone.

use std::collections::BTreeSet;

use super::{Dialect, OutsideText, Parallel, Planning, ResultCap, Retry, StreamIdle, TurnCapAction, UnfinishedCall};

/// A limit: lower.
pub(super) fn at_most<T: PartialOrd>(own: &T, new: &T) -> bool {
    new <= own
}

/// What may be used or done: less of it.
pub(super) fn fewer<T: Ord>(own: &BTreeSet<T>, new: &BTreeSet<T>) -> bool {
    new.is_subset(own)
}

/// What watches or takes away: more of it.
pub(super) fn more<T: Ord>(own: &BTreeSet<T>, new: &BTreeSet<T>) -> bool {
    new.is_superset(own)
}

/// The person's own matter: neither way is tighter.
pub(super) fn never<T>(_: &T, _: &T) -> bool {
    false
}

/// How a model speaks, which allows nothing.
pub(super) fn free<T>(_: &T, _: &T) -> bool {
    true
}

/// A limit that may be absent: any is lower than none.
pub(super) fn limit<T: PartialOrd>(own: &Option<T>, new: &Option<T>) -> bool {
    match (own, new) {
        (Some(own), Some(new)) => new <= own,
        (None, _) => true,
        (Some(_), None) => false,
    }
}

/// The tags of what is offered, where none means all.
pub(super) fn tags(own: &BTreeSet<String>, new: &BTreeSet<String>) -> bool {
    own.is_empty() || !new.is_empty() && new.is_subset(own)
}

/// The ways in which text is read as a call: fewer, in the same order.
pub(super) fn dialects(own: &[Dialect], new: &[Dialect]) -> bool {
    let mut rest = own.iter();
    new.iter().all(|dialect| rest.any(|known| known == dialect))
}

pub(super) fn at_cap(own: &TurnCapAction, new: &TurnCapAction) -> bool {
    let calls = |at_cap: &TurnCapAction| match at_cap {
        TurnCapAction::Fail => 0,
        TurnCapAction::WrapUp => 1,
    };
    calls(new) <= calls(own)
}

pub(super) fn retry(own: &Retry, new: &Retry) -> bool {
    new.tries <= own.tries && new.ceiling_ms <= own.ceiling_ms && new.first_wait_ms >= own.first_wait_ms
}

pub(super) fn parallel(own: &Parallel, new: &Parallel) -> bool {
    let at_once = |parallel: &Parallel| match parallel {
        Parallel::Off => 0,
        Parallel::Safe => 1,
        Parallel::On => 2,
    };
    at_once(new) <= at_once(own)
}

pub(super) fn stream_idle(own: &StreamIdle, new: &StreamIdle) -> bool {
    new.first_ms <= own.first_ms && new.next_ms <= own.next_ms
}

pub(super) fn result_cap(own: &ResultCap, new: &ResultCap) -> bool {
    new.chars <= own.chars
}

/// What may run again of itself, what asks first, what never does.
pub(super) fn unfinished_call(own: &UnfinishedCall, new: &UnfinishedCall) -> bool {
    let caution = |row: &UnfinishedCall| match row {
        UnfinishedCall::RunAgain => 0,
        UnfinishedCall::AskOrInterrupt => 1,
        UnfinishedCall::Ask => 2,
        UnfinishedCall::Interrupt => 3,
    };
    caution(new) >= caution(own)
}

/// Asking is tighter than not asking.
pub(super) fn outside_text(own: &OutsideText, new: &OutsideText) -> bool {
    match (own, new) {
        (OutsideText::Ask, OutsideText::Ignore) => false,
        (OutsideText::Ask | OutsideText::Ignore, OutsideText::Ask) | (OutsideText::Ignore, OutsideText::Ignore) => true,
    }
}

pub(super) fn planning(own: &Planning, new: &Planning) -> bool {
    let calls = |planning: &Planning| match planning {
        Planning::No => 0,
        Planning::Optional => 1,
    };
    calls(new) <= calls(own)
}
