//! The outcome of a call.

use windlass_vocab::{CallFinished, CommandExit, OutcomeKind};

use crate::duration::duration;
use crate::harmless::{TEXT, short_line};
use crate::line::{NarratedCallEnd, Problem};

/// Returns the outcome displayed after a finished call. `refusal` says why it was denied or interrupted, if it was.
pub(crate) fn call_end(finished: &CallFinished, refusal: Option<&str>) -> NarratedCallEnd {
    let again = if finished.answered_from.is_some() { ", as before" } else { "" };
    let problem = outcome_problem(finished.outcome, finished.exit)
        .map(|word| Problem { word, detail: short_line(refusal.unwrap_or_else(|| telling_line(finished)), TEXT) });
    NarratedCallEnd { took: took(finished), again, problem }
}

/// Returns a call's duration; `None` for a call that was cancelled or interrupted without a measured time.
fn took(finished: &CallFinished) -> Option<String> {
    let cut_off = matches!(finished.outcome, OutcomeKind::Cancelled | OutcomeKind::Interrupted);
    (!cut_off || finished.took_ms > 0).then(|| duration(finished.took_ms))
}

/// Returns a word for an unsuccessful result. A command that failed is described by its exit code.
#[must_use]
pub fn outcome_problem(outcome: OutcomeKind, exit: Option<CommandExit>) -> Option<String> {
    let word = match outcome {
        OutcomeKind::Ok => return exit.filter(|exit| !exit.is_success()).map(exit_wording),
        OutcomeKind::ToolError => "error",
        OutcomeKind::NotFound => "not found",
        OutcomeKind::InfrastructureError => "broken",
        OutcomeKind::Unknown => "no such tool",
        OutcomeKind::InvalidArguments => "wrong arguments",
        OutcomeKind::Denied => "denied",
        OutcomeKind::Cancelled => "cancelled",
        OutcomeKind::TimedOut => "timed out",
        OutcomeKind::Interrupted => "interrupted",
    };
    Some(word.to_owned())
}

fn exit_wording(exit: CommandExit) -> String {
    match exit {
        CommandExit::Code(code) => format!("exit code {code}"),
        CommandExit::Signal(signal) => format!("killed by signal {signal}"),
    }
}

/// Returns the most informative line of a failed call's text.
fn telling_line(finished: &CallFinished) -> &str {
    let line = match finished.outcome {
        // The last lines of a command's result are notes on its exit code and the sandbox. The error is right above
        // them.
        OutcomeKind::Ok => {
            let is_note = |line: &&str| line.trim().is_empty() || line.starts_with('[') && line.ends_with(']');
            finished.text.trim_end().lines().rev().find(|line| !is_note(line))
        }
        OutcomeKind::ToolError
        | OutcomeKind::NotFound
        | OutcomeKind::InfrastructureError
        | OutcomeKind::Unknown
        | OutcomeKind::InvalidArguments
        | OutcomeKind::Denied
        | OutcomeKind::Cancelled
        | OutcomeKind::TimedOut
        | OutcomeKind::Interrupted => finished.text.trim().lines().next(),
    };
    line.unwrap_or_default()
}
