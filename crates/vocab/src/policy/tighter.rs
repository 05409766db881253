//! For each row of a policy, whether the value `new` restricts a run at least as much as the value `own` (X2). A
//! project that nobody has trusted may only set values for which this is true.

use std::collections::BTreeSet;

use super::{
    Dialect, IntentRouter, OutsideText, Overview, Parallel, Planning, ResultCap, Retrieve, Retry, StreamIdle, Titles,
    TurnCapAction, UnaskedChanges, UnfinishedCall,
};

/// Limits: a lower one is tighter.
pub(super) fn at_most<T: PartialOrd>(own: &T, new: &T) -> bool {
    new <= own
}

/// Things that a run may use or do: a subset is tighter.
pub(super) fn fewer<T: Ord>(own: &BTreeSet<T>, new: &BTreeSet<T>) -> bool {
    new.is_subset(own)
}

/// Guards and restrictions: a superset is tighter.
pub(super) fn more<T: Ord>(own: &BTreeSet<T>, new: &BTreeSet<T>) -> bool {
    new.is_superset(own)
}

/// Rows that are up to the person: no other value is tighter.
pub(super) fn never<T>(_: &T, _: &T) -> bool {
    false
}

/// Rows that only affect the model's replies: any value may be set, because it permits nothing more.
pub(super) fn free<T>(_: &T, _: &T) -> bool {
    true
}

/// Limits that may be absent: any limit is tighter than none.
pub(super) fn limit<T: PartialOrd>(own: &Option<T>, new: &Option<T>) -> bool {
    match (own, new) {
        (Some(own), Some(new)) => new <= own,
        (None, _) => true,
        (Some(_), None) => false,
    }
}

/// Tags of the offered tools, where an empty set means all tools.
pub(super) fn tags(own: &BTreeSet<String>, new: &BTreeSet<String>) -> bool {
    own.is_empty() || !new.is_empty() && new.is_subset(own)
}

/// Dialects in which text is parsed as a call: fewer of them, in the same order, is tighter.
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

/// By caution: running again unasked is the least cautious, then asking, then never running again.
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

/// Asking is tighter than not asking.
pub(super) fn unasked_changes(own: &UnaskedChanges, new: &UnaskedChanges) -> bool {
    match (own, new) {
        (UnaskedChanges::Ask, UnaskedChanges::Allow) => false,
        (UnaskedChanges::Ask | UnaskedChanges::Allow, UnaskedChanges::Ask)
        | (UnaskedChanges::Allow, UnaskedChanges::Allow) => true,
    }
}

/// A title costs a model call.
pub(super) fn titles(own: &Titles, new: &Titles) -> bool {
    match (own, new) {
        (Titles::Off, Titles::Model) => false,
        (Titles::Off | Titles::Model, Titles::Off) | (Titles::Model, Titles::Model) => true,
    }
}

/// A router costs a model call.
pub(super) fn router(own: &IntentRouter, new: &IntentRouter) -> bool {
    match (own, new) {
        (IntentRouter::Off, IntentRouter::Model) => false,
        (IntentRouter::Off | IntentRouter::Model, IntentRouter::Off) | (IntentRouter::Model, IntentRouter::Model) => {
            true
        }
    }
}

pub(super) fn planning(own: &Planning, new: &Planning) -> bool {
    let calls = |planning: &Planning| match planning {
        Planning::No => 0,
        Planning::Optional => 1,
        Planning::Always => 2,
    };
    calls(new) <= calls(own)
}

/// Fewer sources send less to the model.
pub(super) fn overview(own: &Overview, new: &Overview) -> bool {
    let shown = |overview: &Overview| match overview {
        Overview::Off => 0,
        Overview::TextCalls => 1,
        Overview::On => 2,
    };
    shown(new) <= shown(own)
}

pub(super) fn retrieve(own: &Retrieve, new: &Retrieve) -> bool {
    let sources = |retrieve: &Retrieve| match retrieve {
        Retrieve::Off => 0,
        Retrieve::Own => 1,
        Retrieve::Workspace => 2,
    };
    sources(new) <= sources(own)
}
