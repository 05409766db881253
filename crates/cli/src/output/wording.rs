//! What a person is told about records, in words. Shared by everything that shows a run as it goes.

use std::path::Path;

use windlass_sandbox::SandboxMode;
use windlass_setup::settings::{Mode, Origin, Place, Settings};
use windlass_vocab::{
    At, AttemptFailed, CallFinished, CallRequested, CancelAsked, CommandExit, Compacted, CompactionMethod, EndReason,
    Envelope, NextAttempt, Nudge, NudgeCause, Nudged, OutcomeKind, RunEnded, StopBy, ToolName, ToolWithheld, Wait,
    WaitFor,
};

use super::harmless::short_line;

/// Characters of names, and of any other text that is told in passing.
const NAMES: usize = 100;
pub(crate) const TEXT: usize = 200;

/// The tool as people name it: without its server where that is ours.
pub(crate) fn tool_name(call: &CallRequested) -> &str {
    call.tool.as_ref().map_or(call.name.as_str(), ToolName::familiar)
}

/// What is held less than usual, a line each: whoever starts a run knows it before anything happens (X3, T8).
pub(crate) fn loosened(settings: &Settings) -> Vec<&'static str> {
    let sandbox = match settings.sandbox.mode.value {
        SandboxMode::Off => Some("commands run without a sandbox"),
        SandboxMode::Workspace | SandboxMode::ReadOnly => None,
    };
    let mode = match settings.permissions.mode.value {
        Mode::Bypass => Some("calls run without asking (mode bypass)"),
        Mode::Default | Mode::Strict => None,
    };
    sandbox.into_iter().chain(mode).collect()
}

/// How many runs a stop ended, and how many messages it dropped (L8).
pub(crate) fn stopped_runs(runs: u32, dropped: usize) -> String {
    let runs = match runs {
        0 => "there is no run to stop",
        _ => "stopped 1 run",
    };
    let dropped = match dropped {
        0 => String::new(),
        1 => ", dropped 1 message that the model had not read".to_owned(),
        many => format!(", dropped {many} messages that the model had not read"),
    };
    format!("{runs}{dropped}")
}

/// A word as a shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_.:/@+".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The command that means a session of this place, as a shell reads it. `flags` begin with a space, where there are any.
pub(crate) fn command_for(verb: &str, key: &str, flags: &str, place: &Place) -> String {
    let data = match place.data_dir.origin {
        Origin::Flag(_) => same_folders(Some(&place.data_dir.value), None),
        // Whatever else said so will say so again.
        Origin::Variable(_)
        | Origin::Project(_)
        | Origin::ProjectServers(_)
        | Origin::User(_)
        | Origin::Default
        | Origin::Found
        | Origin::Session => String::new(),
    };
    let key = quoted(key);
    if key.starts_with('-') {
        return format!("windlass {verb}{flags}{data} -- {key}");
    }
    format!("windlass {verb} {key}{flags}{data}")
}

/// The flags with which another command means the same folders as this one, where they were given.
pub(crate) fn same_folders(data_dir: Option<&Path>, workspace: Option<&Path>) -> String {
    let flag = |name: &str, folder: Option<&Path>| {
        folder.map(|folder| format!(" {name} {}", quoted(&folder.to_string_lossy()))).unwrap_or_default()
    };
    flag("--data-dir", data_dir) + &flag("--workspace", workspace)
}

pub(crate) fn took(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 if ms % 1_000 >= 100 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        1_000..60_000 => format!("{} s", ms / 1_000),
        60_000.. => format!("{} min {} s", ms / 60_000, ms / 1_000 % 60),
    }
}

/// How long a call took, where its tool gave the result: one that was cut off from outside has no time of its own.
pub(crate) fn call_took(call: &CallFinished) -> Option<String> {
    let cut_off = matches!(call.outcome, OutcomeKind::Cancelled | OutcomeKind::Interrupted);
    (!cut_off || call.took_ms > 0).then(|| took(call.took_ms))
}

/// `waiting for the server git to start (up to 30 s)`.
pub(crate) fn waiting(wait: &Wait) -> String {
    let what = match &wait.what {
        WaitFor::Servers(servers) => match servers.as_slice() {
            [server] => format!("the server {} to start", short_line(server, NAMES)),
            servers => format!("the servers {} to start", short_line(&servers.join(", "), NAMES)),
        },
        WaitFor::Answer(tool) => short_line(tool.familiar(), NAMES),
    };
    format!("waiting for {what} (up to {})", took(wait.limit_ms))
}

/// What to call a result that is not a success. A command that failed by itself is called by its exit code.
pub(crate) fn problem(outcome: OutcomeKind, exit: Option<CommandExit>) -> Option<String> {
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

/// The problem of a call, and the one line of its text that says most about it.
pub(crate) fn problem_of(finished: &CallFinished) -> Option<(String, String)> {
    let problem = problem(finished.outcome, finished.exit)?;
    let line = match finished.outcome {
        // The last lines of a command's result are notes: its exit code, and what the sandbox has to do with it. Why it
        // failed stands right above.
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
    Some((problem, short_line(line.unwrap_or_default(), TEXT)))
}

/// What went wrong with an attempt, in few words.
pub(crate) fn attempt_problem(attempt: &AttemptFailed) -> String {
    let what = if attempt.failure.status == Some(429) { "rate limited" } else { &attempt.failure.message };
    short_line(what.trim_end_matches('.'), TEXT)
}

/// Why an attempt failed and what follows. Nothing where the end of the run says it all.
pub(crate) fn attempt_failed(attempt: &AttemptFailed, envelope: &Envelope) -> Option<String> {
    let next = match &attempt.next {
        NextAttempt::Retry { at } => format!("trying again in {}", took(at.ms_since(envelope.at))),
        NextAttempt::Model { model } => format!("trying {model} instead"),
        NextAttempt::Whole => "asking for the whole reply at once".into(),
        NextAttempt::Dialect { .. } => "going on with calls written as text".into(),
        NextAttempt::Shorter => "trying again with a shorter history".into(),
        NextAttempt::End => return (attempt.attempt > 1).then(|| format!("gave up after {} tries", attempt.attempt)),
    };
    Some(format!("{}; {next}", attempt_problem(attempt)))
}

/// The same of a retry, with the wait first: a live line is cut at its end.
pub(crate) fn retrying(attempt: &AttemptFailed, at: At, envelope: &Envelope) -> String {
    format!("trying again in {}: {}", took(at.ms_since(envelope.at)), attempt_problem(attempt))
}

pub(crate) fn nudged(nudge: &Nudged) -> String {
    // What is wrong with a reply says it all, but for why it has no call.
    let no_call = nudge.why == NudgeCause::Reply(Nudge::NoToolCall);
    let is_told = (matches!(nudge.why, NudgeCause::Reply(_)) && !no_call) || nudge.evidence.is_empty();
    let why = if is_told { nudge_cause(nudge.why) } else { &nudge.evidence };
    format!("nudged the model: {}", short_line(why, TEXT))
}

const fn nudge_cause(cause: NudgeCause) -> &'static str {
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
    }
}

pub(crate) fn withheld(tool: &ToolWithheld) -> String {
    format!("{} is withheld: {}", tool.tool, short_line(&tool.reason, TEXT))
}

pub(crate) const RESUMED: &str = "going on with an unfinished run";

pub(crate) const fn compacted(compacted: &Compacted) -> &'static str {
    match compacted.method {
        CompactionMethod::Pruned => "near the model's limit: the oldest turns are no longer sent",
        CompactionMethod::Shrunk => "near the model's limit: older results are sent shortened",
    }
}

pub(crate) const fn cancel_asked(asked: &CancelAsked) -> &'static str {
    match asked.by {
        StopBy::Person => "stopping",
        StopBy::Deadline => "stopping: the deadline is reached",
        StopBy::Fork => "forked here; what was open is ended",
    }
}

/// What an end answers.
pub(crate) fn answer(ended: &RunEnded) -> Option<&str> {
    match ended.reason {
        EndReason::Completed | EndReason::Asked | EndReason::Conversed | EndReason::Unfinished => Some(&ended.answer),
        EndReason::Cancelled | EndReason::TurnCap | EndReason::BudgetSpent | EndReason::Failed => None,
    }
}

/// Why there is no answer, or not a whole one, in few words.
pub(crate) const fn end_reason(ended: &RunEnded) -> Option<&'static str> {
    match ended.reason {
        EndReason::Completed | EndReason::Asked | EndReason::Conversed => None,
        EndReason::Unfinished if ended.cut_off => Some("the answer was cut off by the length limit"),
        EndReason::Unfinished => Some("the work is not finished"),
        EndReason::Cancelled if !ended.dropped.is_empty() => {
            Some("stopped; the model has not read what was said last, and will not")
        }
        EndReason::Cancelled => Some("stopped"),
        EndReason::TurnCap => Some("the run reached its turn cap (--max-turns raises it)"),
        EndReason::BudgetSpent => Some("the budget is spent"),
        EndReason::Failed => Some("the run failed"),
    }
}

/// The same with everything that is known of it.
pub(crate) fn explanation(ended: &RunEnded) -> Option<String> {
    if ended.reason == EndReason::Completed && ended.answer.trim().is_empty() {
        return Some("the model gave no answer".to_owned());
    }
    let reason = end_reason(ended)?;
    let detail = ended.failure.as_ref().map_or(ended.answer.as_str(), |failure| &failure.message);
    let whole = detail.is_empty() || ended.reason == EndReason::Unfinished;
    Some(if whole { reason.to_owned() } else { format!("{reason}: {detail}") })
}

/// What helps against an end like this, behind a blank; empty where nothing does.
pub(crate) const fn end_advice(reason: EndReason) -> &'static str {
    match reason {
        EndReason::TurnCap => " (--max-turns raises it)",
        EndReason::Completed
        | EndReason::Asked
        | EndReason::Conversed
        | EndReason::Unfinished
        | EndReason::Cancelled
        | EndReason::BudgetSpent
        | EndReason::Failed => "",
    }
}
