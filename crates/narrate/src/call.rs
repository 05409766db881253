//! A call as a person watches it: one line that begins with the call's main argument, and the lines changed by an edit
//! that needed no approval.

use serde_json::{Map, Value};
use windlass_tools::diff::{self, DiffLimits};
use windlass_tools::sandbox_notes;
use windlass_vocab::{CallFinished, CallRequested, Json, OutcomeKind, ToolName, Verdict};

use crate::harmless::short_line;
use crate::line::{NarratedLine, Tone};

/// Most characters of the main argument, and of all others together, if there is room.
const ARGUMENTS: usize = 100;
/// Least characters for the other arguments, so that a command's network and sandbox use is not cut off.
const OTHER_ARGUMENTS: usize = 40;
/// Most lines of a change that are shown, and most characters of each.
const CHANGED_LINES: usize = 20;
const CHANGED_COLUMNS: usize = 200;

/// Main arguments in order of preference; the first one present begins the line, without its name.
const LEADING: [&str; 6] = ["command", "pattern", "query", "url", "path", "from"];

/// The tool whose results report on the sandbox.
const RUN_COMMAND: &str = "run_command";

/// Returns the tool's display name: without the server's name for built-in tools.
pub(crate) fn tool_name(call: &CallRequested) -> &str {
    call.tool.as_ref().map_or(call.name.as_str(), ToolName::display_name)
}

/// A call without a result yet.
#[derive(Clone, Debug)]
pub(crate) struct CallInProgress {
    tool: String,
    line: String,
    changes: Vec<NarratedLine>,
}

impl CallInProgress {
    pub(crate) fn of(call: &CallRequested) -> Self {
        let tool = tool_name(call).to_owned();
        Self { line: call_line(&tool, &call.arguments), changes: unasked_changes(call), tool }
    }

    /// Applies arguments that a person edited; they have seen the change, so it is not shown again.
    pub(crate) fn edit(&mut self, arguments: &Json) {
        self.line = call_line(&self.tool, arguments);
        self.changes.clear();
    }

    /// `write_file src/main.rs (12 lines)`.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// Returns the lines below the call's own line after it ended: the lines it changed without approval, which begin
    /// with `+`, `-` or a blank, and notes about the sandbox.
    pub(crate) fn below(self, finished: &CallFinished) -> Vec<NarratedLine> {
        let mut lines = if finished.outcome == OutcomeKind::Ok { self.changes } else { Vec::new() };
        if self.tool == RUN_COMMAND {
            let notes = sandbox_notes(&finished.text).into_iter();
            lines.extend(notes.map(|note| NarratedLine::new(Tone::Note, short_line(note, CHANGED_COLUMNS))));
        }
        lines.into_iter().map(|line| line.about(finished.call)).collect()
    }
}

/// `read_file src/main.rs (offset=3)`; `docs.search (q=words)` for a call without a main argument.
pub(crate) fn call_line(tool: &str, arguments: &Json) -> String {
    call_line_in(ARGUMENTS, tool, arguments)
}

/// Returns a call as one line, with at most `room` characters of the main argument, and as many of all others: a long
/// command does not hide that it ran outside the sandbox.
#[must_use]
pub fn call_line_in(room: usize, tool: &str, arguments: &Json) -> String {
    let tool = short_line(tool, ARGUMENTS);
    let mut members = match arguments.to_value() {
        Value::Object(members) => members,
        other => return format!("{tool} {}", short_line(&other.to_string(), room)),
    };
    let lead = leading(&mut members, room).map(|text| format!(" {text}")).unwrap_or_default();
    let rest: Vec<String> = members.iter().filter_map(|(name, value)| argument(&tool, name, value)).collect();
    match rest.as_slice() {
        [] => format!("{tool}{lead}"),
        rest => format!("{tool}{lead} ({})", short_line(&rest.join(", "), room.max(OTHER_ARGUMENTS))),
    }
}

/// Removes the main argument from the arguments and returns it: for a move, source and target.
fn leading(members: &mut Map<String, Value>, room: usize) -> Option<String> {
    let name = LEADING.into_iter().find(|name| members.get(*name).is_some_and(Value::is_string))?;
    let mut take = |name: &str| match members.remove(name) {
        Some(Value::String(text)) => Some(short_line(&text, room)),
        Some(other) => Some(short_line(&other.to_string(), room)),
        None => None,
    };
    let lead = take(name)?;
    let to = if name == "from" { take("to") } else { None };
    Some(to.map_or_else(|| lead.clone(), |to| format!("{lead} to {to}")))
}

/// `offset=3`. A command's sandbox use is put in words; file content is reduced to its length; the texts of an edit
/// are left out, because its diff is shown.
fn argument(tool: &str, name: &str, value: &Value) -> Option<String> {
    match (tool, name, value) {
        ("write_file", "content", Value::String(text)) | ("append_file", "text", Value::String(text)) => {
            Some(match text.lines().count() {
                1 => "1 line".to_owned(),
                lines => format!("{lines} lines"),
            })
        }
        ("edit_file", "old_text" | "new_text", _) | ("run_command", "network", Value::Bool(false)) => None,
        ("run_command", "network", Value::Bool(true)) => Some("with the network".to_owned()),
        ("run_command", "sandbox", Value::String(off)) if off == "off" => Some("outside the sandbox".to_owned()),
        (_, _, Value::String(text)) => Some(format!("{name}={}", short_line(text, ARGUMENTS))),
        (_, _, Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Some(format!("{name}={value}"))
        }
    }
}

/// Returns the diff of an edit that was allowed, or the lines it added; if a person is asked, the question shows them.
fn unasked_changes(call: &CallRequested) -> Vec<NarratedLine> {
    if call.verdict != Verdict::Allow {
        return Vec::new();
    }
    let arguments = call.arguments.to_value();
    let changed = match tool_name(call) {
        "edit_file" => arguments["old_text"].as_str().zip(arguments["new_text"].as_str()),
        "append_file" => arguments["text"].as_str().map(|text| ("", text)),
        _ => None,
    };
    let Some((old, new)) = changed else { return Vec::new() };
    let whole = diff::unified(old, new, "", DiffLimits { columns: CHANGED_COLUMNS, ..DiffLimits::WHOLE });
    // The diff's header names the file, as the line above does; its position in the file is not known here.
    let is_change = |line: &&str| !line.starts_with("@@ ") && !line.starts_with('\\');
    let changed: Vec<&str> = whole.lines().skip(2).filter(is_change).collect();
    let mut lines: Vec<NarratedLine> = changed.iter().take(CHANGED_LINES).map(|line| changed_line(line)).collect();
    match changed.len().saturating_sub(CHANGED_LINES) {
        0 => {}
        1 => lines.push(NarratedLine::new(Tone::Note, "… 1 more line")),
        more => lines.push(NarratedLine::new(Tone::Note, format!("… {more} more lines"))),
    }
    lines
}

fn changed_line(line: &str) -> NarratedLine {
    let tone = match line.as_bytes().first() {
        Some(b'+') => Tone::Added,
        Some(b'-') => Tone::Removed,
        Some(_) | None => Tone::Note,
    };
    NarratedLine::new(tone, line.replace('\t', "    "))
}

#[cfg(test)]
mod tests {
    use windlass_vocab::Json;

    use super::call_line;

    // proves T8: the line shows a call's main argument, however long the other arguments are
    #[test]
    fn a_call_leads_with_what_it_is_about() {
        let long = "x".repeat(200);
        for (tool, arguments, line) in [
            (
                "write_file",
                r#"{"content":"a\nb\n","path":"src/main.rs"}"#.to_owned(),
                "write_file src/main.rs (2 lines)",
            ),
            ("write_file", format!(r#"{{"content":"{long}","path":"a"}}"#), "write_file a (1 line)"),
            ("append_file", r#"{"path":"a","text":"x\ny"}"#.into(), "append_file a (2 lines)"),
            ("delete_file", r#"{"path":"a"}"#.into(), "delete_file a"),
            ("edit_file", r#"{"new_text":"b","old_text":"a","path":"f"}"#.into(), "edit_file f"),
            ("read_file", r#"{"limit":9,"offset":3,"path":"f"}"#.into(), "read_file f (limit=9, offset=3)"),
            ("run_command", r#"{"command":"ls\nid","network":true}"#.into(), "run_command ls id (with the network)"),
            ("run_command", r#"{"command":"id","sandbox":"off"}"#.into(), "run_command id (outside the sandbox)"),
            ("move_file", r#"{"from":"a","to":"b"}"#.into(), "move_file a to b"),
            ("search_files", r#"{"path":"src","pattern":"needle"}"#.into(), "search_files needle (path=src)"),
            ("fetch_url", r#"{"raw":true,"url":"https://a.b/"}"#.into(), "fetch_url https://a.b/ (raw=true)"),
            ("docs.search", r#"{"q":"words"}"#.into(), "docs.search (q=words)"),
            ("list_directory", "{}".into(), "list_directory"),
            ("odd", "[1]".into(), "odd [1]"),
        ] {
            assert_eq!(call_line(tool, &Json::parse(&arguments).expect("JSON")), line);
        }
    }
}
