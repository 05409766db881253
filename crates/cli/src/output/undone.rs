//! Describes what an undo did, or why it did nothing.

use windlass_machine::{Conflict, Obstacle};
use windlass_narrate::{harmless_line, harmless_lines};
use windlass_runtime::{UndoConflict, UndoError, UndoReport};
use windlass_tools::shown_path;
use windlass_vocab::{Change, Coverage, FileState, ToolName, Undoable};

use super::advice::with_undo;

/// Returns a line for every path that was, or would be, restored.
pub(crate) fn restored(report: &UndoReport) -> String {
    report.restored.iter().filter_map(|(path, change)| line(report, path, change)).collect()
}

fn line(report: &UndoReport, path: &str, change: &Change) -> Option<String> {
    let source = |other: &Change| other.was.is_same_thing(&change.now) && !other.now.is_same_thing(&change.now);
    let target = |other: &Change| other.now.is_same_thing(&change.was);
    if !change.now.exists() && report.restored.values().any(target) {
        // The line of the move's target reports it.
        return None;
    }
    let moved = report.restored.iter().find(|(_, other)| source(other)).map(|(path, _)| path);
    let what = match (report.undo.is_some(), change.now.exists()) {
        (true, true) if moved.is_some() => "moved back",
        (true, true) => "restored",
        (true, false) => "removed",
        (false, true) if moved.is_some() => "would move back",
        (false, true) => "would restore",
        (false, false) => "would remove",
    };
    let from = moved.map(|path| format!(" from {}", shown_path(path))).unwrap_or_default();
    Some(harmless_line(&format!("{what} {}{from}", changed_path(path, change))) + "\n")
}

fn changed_path(path: &str, change: &Change) -> String {
    let is_folder = if change.now.exists() { change.now.is_folder() } else { change.was.is_folder() };
    let link = match &change.now {
        FileState::Link { target, .. } => format!(" -> {}", shown_path(target)),
        FileState::Absent | FileState::File { .. } | FileState::Folder { .. } | FileState::Unkept { .. } => {
            String::new()
        }
    };
    format!("{}{}{link}", shown_path(path), if is_folder { "/" } else { "" })
}

/// Returns what was undone, what was not, and how to reverse the undo.
pub(crate) fn summary(report: &UndoReport, again: impl FnOnce(&str) -> String) -> String {
    let what = undone_name(report.of, report.tool.as_ref());
    let in_part = if report.left_alone.is_empty() { "" } else { ", in part" };
    let mut lines = Vec::new();
    lines.push(match (report.undo, report.restored.is_empty()) {
        (_, true) if !report.left_alone.is_empty() => format!("nothing could be put back for {what}"),
        (_, true) => format!("no file had to be changed for {what}: all are as they were already"),
        (Some(_), false) => match report.of {
            Undoable::Call(_) => format!("undid {what}{in_part}"),
            Undoable::Undo(_) => format!("brought back what {what} took back{in_part}"),
        },
        (None, false) => format!("this would undo {what}; nothing was changed"),
    });
    for (path, why) in &report.left_alone {
        lines.push(format!("left as it is: {}: {why}", shown_path(path)));
    }
    match &report.coverage {
        Coverage::Full => {}
        Coverage::Partial { left_out } => lines.push(format!("not covered: {left_out}")),
        Coverage::None { why } => lines.push(format!("nothing was kept before it: {why}")),
    }
    lines.extend(report.unseen.iter().map(|unseen| format!("may have changed more: {unseen}")));
    if let [first, ..] = report.uncovered.as_slice() {
        let tools: Vec<String> = report.uncovered.iter().map(|(call, tool)| format!("{tool} ({call})")).collect();
        let which = if report.uncovered.len() > 5 {
            format!("{} calls since {}", report.uncovered.len(), first.0)
        } else {
            tools.join(", ")
        };
        lines.push(format!("can't be undone: {which}"));
    }
    if let Some(undo) = report.undo {
        let again = again(&undo.to_string());
        lines.push(match report.of {
            Undoable::Call(_) => format!("this is undo {undo}; bring it back with: {again}"),
            Undoable::Undo(_) => format!("this is undo {undo}; take it back again with: {again}"),
        });
        if !in_part.is_empty() {
            lines.push("what was left is tried again by doing that and then undoing once more".to_owned());
        }
    }
    harmless_lines(&(lines.join("\n") + "\n"))
}

fn undone_name(of: Undoable, tool: Option<&ToolName>) -> String {
    match (of, tool) {
        (Undoable::Call(call), Some(tool)) => format!("call {call}, {}", tool.bare()),
        (Undoable::Call(call), None) => format!("call {call}"),
        (Undoable::Undo(undo), Some(tool)) => format!("undo {undo} of {}", tool.bare()),
        (Undoable::Undo(undo), None) => format!("undo {undo}"),
    }
}

/// Returns why nothing was undone.
pub(crate) fn refusal_text(error: &UndoError, force: &str) -> String {
    let UndoError::Conflicts(conflicts) = error else { return with_undo(error) };
    let mut text = "nothing was undone:\n".to_owned();
    for conflict in conflicts.iter().take(SHOWN) {
        text.push_str(&conflict_text(conflict));
    }
    if conflicts.len() > SHOWN {
        text.push_str(&format!("and {} more files\n", conflicts.len() - SHOWN));
    }
    text.push_str(&advice(conflicts, force));
    harmless_lines(text.trim_end())
}

/// Returns advice on conflicts: `force` overrides some obstacles, but not all.
fn advice(conflicts: &[UndoConflict], force: &str) -> String {
    let has = |obstacle| conflicts.iter().any(|conflict| conflict.conflict.obstacle == obstacle);
    let given_way = if has(Obstacle::WouldBeLost) { "" } else { ", and that can be undone" };
    match (has(Obstacle::Blocked), conflicts.iter().all(|shown| shown.conflict.obstacle == Obstacle::Blocked)) {
        (true, true) => String::new(),
        (true, false) => format!("{force} puts the others back all the same{given_way}"),
        (false, _) => format!("{force} puts them back all the same{given_way}"),
    }
}

/// Most conflicts shown with their diffs.
const SHOWN: usize = 10;

fn conflict_text(shown: &UndoConflict) -> String {
    let path = shown_path(&shown.conflict.path);
    let why = match (shown.conflict.obstacle, shown.since) {
        (Obstacle::ChangedSince, Some(of)) => format!("was changed since by {} {of}; undo that first", of.kind()),
        (Obstacle::ChangedSince, None) => changed(&shown.conflict),
        (Obstacle::LeftUnknown, _) => "the call was cut short, so nobody knows who made it what it is".to_owned(),
        (Obstacle::WouldBeLost, _) => {
            "is not kept (too large, with a secret in it, or no regular file), so it could not be brought back"
                .to_owned()
        }
        (Obstacle::Blocked, _) if shown.conflict.now.is_folder() => {
            "a folder stands in its place now; move that away, then undo".to_owned()
        }
        (Obstacle::Blocked, _) => {
            "can't be reached now: a link was put on the way to it, and nothing is put back through one, or a folder on \
             the way can't be opened; mend that, then undo"
                .to_owned()
        }
    };
    format!("{path}: {why}. Putting it back means:\n{}", shown.diff)
}

/// Returns how the file differs from the state the call left. A text diff does not show permissions.
fn changed(conflict: &Conflict) -> String {
    let left = conflict.left.as_ref();
    match (left.and_then(FileState::mode), conflict.now.mode()) {
        (Some(was), Some(is)) if was != is => {
            let content = if left.and_then(FileState::blob) == conflict.now.blob() { "" } else { "was changed, and " };
            format!("{content}mode {was:04o} -> {is:04o} since")
        }
        (_, _) => "was changed since".to_owned(),
    }
}
