//! The reminders: short, because every turn pays for them.

use windlass_machine::{ChangeStage, RequestProgress};
use windlass_tools::RUN_COMMAND;
use windlass_vocab::{Dialect, RunChanges, Timestamp, ToolSpec, TurnMode};

/// Returns what the model can't know of the day it is asked on.
pub(super) fn environment(now: Timestamp) -> String {
    let time = now.to_string();
    format!("Today is {} (UTC).", time.split('T').next().unwrap_or(&time))
}

/// Returns the advice to use tools; where none can be called, to claim nothing that only a tool could have done.
pub(super) fn tools(mode: TurnMode, offer: &[ToolSpec]) -> String {
    let can_call = match mode {
        TurnMode::Tools => !offer.is_empty(),
        TurnMode::Talk
        | TurnMode::WrapUp
        | TurnMode::Summary
        | TurnMode::Title
        | TurnMode::Plan
        | TurnMode::Synthesis
        | TurnMode::Route => false,
    };
    if can_call {
        "Use the tools rather than guess what they can find out.".to_owned()
    } else {
        "You can't call tools in this turn: say what you don't know, and claim no work that was not done.".to_owned()
    }
}

/// How much of a request is repeated, in characters.
const REQUEST_CHARS: usize = 500;
/// How many paths of a kind are named.
const NAMED: usize = 10;

/// Returns the request again, for models that lose sight of it behind results, and what is done of it.
pub(super) fn request(request: &str, progress: Option<&RequestProgress>, dialect: Option<Dialect>) -> String {
    let start: String = request.chars().take(REQUEST_CHARS).collect();
    let next = if dialect == Some(Dialect::Script) { "script" } else { "call" };
    let done = progress.map(|progress| done_so_far(&progress.done)).unwrap_or_default();
    let order = progress.map_or_else(|| open_order(next), |progress| next_order(progress, dialect, next));
    format!("The request was: {start}\n{done}{order}")
}

/// Returns what to do next, where the records do not show how far the request is done.
fn open_order(next: &str) -> String {
    format!("If all of it is done, answer in plain words. If not, write the next {next}.")
}

/// The same for a model that writes scripts. One script mostly does all of it, and a second one undoes it or does more.
fn order_after_script(progress: &RequestProgress) -> String {
    if progress.done.has_changes() {
        "If that is what it asks for, answer now in plain words, without a script. Only if a part of it is missing, write a \
         script for that part."
            .to_owned()
    } else if progress.may_be_answered {
        "Answer it now in plain words, from what was printed, without a script. Only if that does not answer it, write another \
         script."
            .to_owned()
    } else {
        open_order("script")
    }
}

/// Returns what to do next.
fn next_order(progress: &RequestProgress, dialect: Option<Dialect>, next: &str) -> String {
    match &progress.stage {
        ChangeStage::NotAsked | ChangeStage::Unclear if dialect == Some(Dialect::Script) => {
            order_after_script(progress)
        }
        ChangeStage::NotAsked | ChangeStage::Unclear => open_order(next),
        ChangeStage::Nothing { to_rewrite } if dialect == Some(Dialect::Script) => match &to_rewrite[..] {
            [path] => format!(
                "No file is changed yet. Write a script that opens {path}, changes its text and writes it back."
            ),
            [] | [..] => "No file is changed yet. Write a script that does all of it.".to_owned(),
        },
        ChangeStage::Nothing { .. } => format!("No file is changed yet. Write the next {next}."),
        ChangeStage::Begun { left } if left.is_empty() => format!(
            "No file that the request names is left. Unless something is wrong in them, answer now in plain words, without a \
             {next}."
        ),
        ChangeStage::Begun { left } => format!("Not changed yet: {}. Write the next {next}.", first_of(left)),
    }
}

/// Returns what was done to files, in a line.
fn done_so_far(changes: &RunChanges) -> String {
    let moved: Vec<String> = changes.moved.iter().map(|moved| format!("{} to {}", moved.from, moved.to)).collect();
    let kinds = [
        ("created", &changes.created),
        ("changed", &changes.changed),
        ("deleted", &changes.deleted),
        ("moved", &moved),
    ];
    let lists = kinds.iter().filter(|(_, paths)| !paths.is_empty());
    let lists: Vec<String> = lists.map(|(kind, paths)| format!("{kind} {}", first_of(paths))).collect();
    if lists.is_empty() { String::new() } else { format!("Done so far: {}.\n", lists.join("; ")) }
}

/// Returns the first of these paths, and how many more there are.
fn first_of(paths: &[String]) -> String {
    let named = paths.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Returns how to name files, where tools work with them.
pub(super) fn file_links(offer: &[ToolSpec]) -> Option<String> {
    let text = "Name files by their path in the workspace, with the line where it helps: src/main.rs:12.";
    offer.iter().any(|tool| tool.reads_files).then(|| text.to_owned())
}

/// Returns the platform, where commands can be run on it.
pub(super) fn platform(offer: &[ToolSpec], platform: &str) -> Option<String> {
    let runs_commands = |tool: &ToolSpec| tool.name.is_local() && tool.name.bare() == RUN_COMMAND;
    offer.iter().any(runs_commands).then(|| format!("Commands run on {platform}."))
}
