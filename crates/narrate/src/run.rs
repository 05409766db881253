//! Texts for records about a run as a whole, except its end.

use windlass_vocab::{
    CallId, CallSettled, CancelAsked, Compacted, CompactionMethod, ContextPinned, Intent, RunStarted, Settlement,
    StopBy, TurnMode, TurnStarted,
};

use crate::count::counted;
use crate::harmless::{TEXT, short_line};

/// Text for a run that another process resumed.
pub(crate) const RESUMED: &str = "going on with an unfinished run";

pub(crate) fn started(started: &RunStarted) -> String {
    let models: Vec<&str> = started.chain.iter().map(|model| model.as_str()).collect();
    format!("run {} begins under {} with {}", started.run, started.policy.preset, models.join(", "))
}

/// Names the servers that did not connect in time; the run continues without them.
pub(crate) fn without_servers(pinned: &ContextPinned) -> Option<String> {
    let awaited = pinned.context.iter().flat_map(|context| &context.awaited);
    let names: Vec<&str> = awaited.map(String::as_str).collect();
    let line = format!("going on without the tools of {}: not started yet", names.join(", "));
    (!names.is_empty()).then(|| short_line(&line, TEXT))
}

/// Returns what was pinned for the run.
pub(crate) fn pinned(pinned: &ContextPinned) -> String {
    let offer = match &pinned.context {
        None => "as in the run before".to_owned(),
        Some(context) => counted(context.offer.len(), "tool is offered", "tools are offered"),
    };
    let left_out = pinned.context.as_ref().map_or(0, |context| usize::try_from(context.left_out).unwrap_or_default());
    let left_out = (left_out > 0).then(|| format!("{left_out} more can be looked for"));
    let joined: Vec<&str> = pinned.joined.iter().map(String::as_str).collect();
    let joined = (!joined.is_empty()).then(|| format!("those of {} joined", joined.join(", ")));
    [Some(offer), left_out, joined, without_servers(pinned)].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Returns what a router found of a request.
pub(crate) const fn routed(intent: Intent) -> &'static str {
    match intent {
        Intent::Direct => "no tools are needed: none are offered",
        Intent::Agent => "tools may be needed",
    }
}

/// Returns the number of a turn, and what it sends where that was measured.
pub(crate) fn turn(started: &TurnStarted) -> String {
    let what = match started.mode {
        TurnMode::Tools | TurnMode::Talk | TurnMode::WrapUp => "",
        TurnMode::Summary => ", for a summary",
        TurnMode::Title => ", for a title",
        TurnMode::Plan => ", for a plan",
        TurnMode::Synthesis => ", for the answer",
        TurnMode::Route => ", for whether tools are needed",
    };
    let Some(budget) = &started.budget else { return format!("turn {}{what}", started.turn) };
    let left = budget.remaining.map(|tokens| format!(", {tokens} left")).unwrap_or_default();
    format!("turn {}{what}: about {} tokens are sent{left}", started.turn, budget.used())
}

pub(crate) const fn compacted(compacted: &Compacted) -> &'static str {
    match compacted.method {
        CompactionMethod::Pruned => "near the model's limit: the oldest turns are no longer sent",
        CompactionMethod::Shrunk if compacted.result_chars.is_none() => "a line is sent in place of each image",
        CompactionMethod::Shrunk => "near the model's limit: older results are sent shortened",
        CompactionMethod::Summarised => "a summary is sent in place of the oldest turns",
        CompactionMethod::Plain => "a plain summary is sent in place of the oldest turns: no model wrote one",
        CompactionMethod::Restored => "what was left out is sent again",
    }
}

pub(crate) const fn cancel_asked(asked: &CancelAsked) -> &'static str {
    match asked.by {
        StopBy::Person => "stopping",
        StopBy::Deadline => "stopping: the deadline is reached",
        StopBy::Fork => "forked here; what was open is ended",
    }
}

/// Returns the settlement of a call that a crash cut short; `call` is its display name.
pub(crate) fn settled(settled: &CallSettled, call: &str) -> String {
    let what = match settled.settlement {
        Settlement::RunAgain => "it is run again",
        Settlement::Verify => "its tool is asked whether it took place",
        Settlement::Interrupt => "it is taken as interrupted",
        Settlement::Ask => "somebody has to say what now",
    };
    format!("{call} was cut short by a crash: {what}")
}

/// Returns a name for a call of which only the number is known.
pub(crate) fn numbered(call: CallId) -> String {
    format!("call {call}")
}
