//! The loop's reactions to a model that makes no progress.

use windlass_vocab::{Nudge, NudgeCause, Nudged, ReplyFault, ToolWithheld};

use crate::harmless::{TEXT, short_line};
use crate::refused_call::withheld_cause;

/// `nudged the model: the reply was empty`.
pub(crate) fn nudged(nudge: &Nudged) -> String {
    if let Some(fault) = nudge.faults.first() {
        return format!("nudged the model: {}", short_line(&fault_words(fault), TEXT));
    }
    // The cause says enough about a reply, except why it has no call: the evidence says that.
    let no_call = nudge.why == NudgeCause::Reply(Nudge::NoToolCall);
    let cause_suffices = (matches!(nudge.why, NudgeCause::Reply(_)) && !no_call) || nudge.evidence.is_empty();
    let why = if cause_suffices { cause(nudge.why) } else { &nudge.evidence };
    format!("nudged the model: {}", short_line(why, TEXT))
}

/// Returns what the judge found wrong with a reply.
fn fault_words(fault: &ReplyFault) -> String {
    match fault {
        ReplyFault::NoCall { files } if files.is_empty() => "a change was asked for, and no call was made".to_owned(),
        ReplyFault::NoCall { files } => format!("it did not look at {}", files.join(", ")),
        ReplyFault::NotWritten { files } => format!("it did not write {}", files.join(", ")),
        ReplyFault::NotComputed {} => "it gave a figure without computing it".to_owned(),
        ReplyFault::CallsFailed {} => "it answered although all its calls failed".to_owned(),
        ReplyFault::NothingChanged {} => "a change was asked for, and it made none".to_owned(),
        ReplyFault::NotChanged { files } => format!("it did not change {}", files.join(", ")),
        ReplyFault::Untouched { files } => format!("it did nothing with {}", files.join(", ")),
        ReplyFault::Repeated {} => "it wrote the same script again".to_owned(),
        ReplyFault::StepsOpen { steps } => format!("steps of its plan are open: {}", steps.join("; ")),
        ReplyFault::CallAsText {} => "it wrote a call as text".to_owned(),
        ReplyFault::StepAnnounced {} => "it announced a step and did not take it".to_owned(),
        ReplyFault::HandedBack {} => "it handed the work back".to_owned(),
    }
}

const fn cause(cause: NudgeCause) -> &'static str {
    match cause {
        NudgeCause::Reply(Nudge::Empty) => "the reply was empty",
        NudgeCause::Reply(Nudge::CutOff) => "the reply was cut off",
        NudgeCause::Reply(Nudge::Incomplete) => "the reply stopped half-way",
        NudgeCause::Reply(Nudge::Deflection) => "the reply handed the work back",
        NudgeCause::Reply(Nudge::NoToolCall) => "the reply called no tool",
        NudgeCause::ErrorTurns => "nothing but errors",
        NudgeCause::Cycle => "the model runs in circles",
        NudgeCause::TurnCap => "the turn cap is near",
        NudgeCause::Summarise => "empty replies in a row",
        NudgeCause::Halt => "asked to wrap up",
        NudgeCause::Misfit => "the answer did not fit its schema",
        NudgeCause::Withheld => "a tool was withheld",
        NudgeCause::PlanLeft => "the plan can't be carried on",
        NudgeCause::ContextFull => "the model's window is full",
    }
}

/// `run_command is withheld: it failed in several turns in a row`.
pub(crate) fn withheld(withheld: &ToolWithheld) -> String {
    format!("{} is withheld: {}", withheld.tool.display_name(), withheld_cause(withheld.cause))
}
