//! The loop's reactions to a model that makes no progress.

use windlass_vocab::{Nudge, NudgeCause, Nudged, ToolWithheld};

use crate::harmless::{TEXT, short_line};
use crate::refused_call::withheld_cause;

/// `nudged the model: the reply was empty`.
pub(crate) fn nudged(nudge: &Nudged) -> String {
    // The cause says enough about a reply, except why it has no call: the evidence says that.
    let no_call = nudge.why == NudgeCause::Reply(Nudge::NoToolCall);
    let is_told = (matches!(nudge.why, NudgeCause::Reply(_)) && !no_call) || nudge.evidence.is_empty();
    let why = if is_told { cause(nudge.why) } else { &nudge.evidence };
    format!("nudged the model: {}", short_line(why, TEXT))
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
        NudgeCause::ContextFull => "the model's window is full",
    }
}

/// `run_command is withheld: it failed in several turns in a row`.
pub(crate) fn withheld(withheld: &ToolWithheld) -> String {
    format!("{} is withheld: {}", withheld.tool.display_name(), withheld_cause(withheld.cause))
}
