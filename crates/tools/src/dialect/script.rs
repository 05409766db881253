//! A fenced block of Python or shell is a call of `run_command`: its text becomes the command line.
//!
//! Shell is the command line itself, so that rules about commands see what it runs. Python becomes the argument of an
//! interpreter, quoted as one word of the shell: whoever is asked sees all of it, and is offered a rule for exactly this line.

use serde_json::{Value, json};
use windlass_vocab::{Json, ReplyCall, ToolName};

use super::here_document::missing_end;
use super::malformed_call::MalformedCall;
use super::opening::CallForm;
use super::python_command::{python_command, python_script};
use super::script_imports::with_imports;
use super::script_language::ScriptLanguage;
use crate::RUN_COMMAND;

/// Where a server should stop: where the model begins to invent the result. The end of the block would also end an answer
/// that shows one.
pub(super) const STOP: &str = "\nResult of the script:\n";
/// The words behind a fence that say what its block is.
const TAGS: &[(&str, ScriptLanguage)] = &[
    ("python", ScriptLanguage::Python),
    ("python3", ScriptLanguage::Python),
    ("py", ScriptLanguage::Python),
    ("sh", ScriptLanguage::Shell),
    ("bash", ScriptLanguage::Shell),
    ("shell", ScriptLanguage::Shell),
];
/// What a script is told where the sandbox kept it from something.
const CONFINED: &str = "[A script has no network, and writes only in the workspace.]";
const READ_ONLY: &str = "[The workspace is read-only here: answer, and change nothing.]";
/// The longest line behind a fence.
const LONGEST_TAG: usize = 40;

/// Whether a fence opens a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptOpening {
    /// No.
    No,
    /// Undecided until more text arrives.
    More,
    /// Yes: it begins at this distance from the end of the marks.
    Yes { kind: CallForm, body: usize },
}

/// Checks whether `behind`, the text after the marks of a fence, begins with the name of a language that can be run.
pub(super) fn find_script(behind: &str, indent: usize) -> ScriptOpening {
    let line = behind.as_bytes().iter().take(LONGEST_TAG).position(|byte| *byte == b'\n');
    let word = line.map_or(behind, |end| &behind[..end]).trim_start().to_ascii_lowercase();
    let first = word.split_whitespace().next().unwrap_or_default();
    let Some(end) = line else {
        let is_whole = word.len() > first.len();
        let may_be = |tag: &str| if is_whole { tag == first } else { tag.starts_with(first) };
        let undecided = behind.len() < LONGEST_TAG && TAGS.iter().any(|(tag, _)| may_be(tag));
        return if undecided { ScriptOpening::More } else { ScriptOpening::No };
    };
    match TAGS.iter().find(|(tag, _)| *tag == first) {
        Some((_, language)) => {
            ScriptOpening::Yes { kind: CallForm::Script { language: *language, indent }, body: end + 1 }
        }
        None => ScriptOpening::No,
    }
}

/// Returns the call that runs a script; `None` if there is nothing to run. A script in shell that ends within the text it
/// writes would be run and would write half of it, without an error.
pub(super) fn call(language: ScriptLanguage, indent: usize, text: &str) -> Option<Result<ReplyCall, MalformedCall>> {
    let lines = text.lines().map(|line| {
        let spaces = line.bytes().take(indent).take_while(|byte| *byte == b' ').count();
        &line[spaces..]
    });
    let script = lines.collect::<Vec<_>>().join("\n");
    let script = script.trim_end();
    if !has_statement(script) {
        return None;
    }
    let mut mended = None;
    let command = match (language, missing_end(script)) {
        (ScriptLanguage::Python, _) => {
            let whole = with_imports(script);
            mended = whole.as_ref().map(|_| script.to_owned());
            python_command(whole.as_deref().unwrap_or(script))
        }
        (ScriptLanguage::Shell, Some(word)) => return Some(Err(cut_by_fence(&word))),
        (ScriptLanguage::Shell, None) => script.to_owned(),
    };
    let arguments = json!({ "command": command }).to_string();
    Some(Ok(ReplyCall { provider_id: None, name: RUN_COMMAND.to_owned(), arguments, mended }))
}

/// Whether a script has more than comments: a model that is done writes `# Nothing is left to do`.
fn has_statement(script: &str) -> bool {
    script.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The fault of a script that ends within a here-document.
fn cut_by_fence(word: &str) -> MalformedCall {
    MalformedCall::parse(format!(
        "the block ends before the line {word} that ends the text after <<{word}. Where that text holds ```, begin and end \
         the block with a longer fence: ````sh and ````."
    ))
}

/// Returns a call as the model should have written it.
pub(super) fn written(name: &str, arguments: &Json) -> String {
    let value = arguments.to_value();
    let Some(command) = value.get("command").and_then(Value::as_str).filter(|_| is_script_tool(name)) else {
        return format!("({name} was called with {})", arguments.as_str());
    };
    let (tag, script) = match python_script(command) {
        Some(script) => ("python", script),
        None => ("sh", command.to_owned()),
    };
    // A longer fence than any in the script.
    let marks = script.lines().map(|line| line.trim_start().bytes().take_while(|byte| *byte == b'`').count()).max();
    let fence = "`".repeat(marks.unwrap_or(0).max(2) + 1);
    format!("{fence}{tag}\n{script}\n{fence}")
}

/// Whether this is the name of the tool that runs scripts.
pub(super) fn is_script_tool(name: &str) -> bool {
    name == RUN_COMMAND
        || name.strip_suffix(RUN_COMMAND).is_some_and(|server| server.trim_end_matches(['.', '_']) == ToolName::LOCAL)
}

/// Returns the result of a command in words for whoever wrote it as a script: a script can't set the arguments of the tool
/// that the notes about the sandbox speak of.
pub(super) fn result_text(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for line in lines.iter_mut().rev().take_while(|line| line.starts_with('[') && line.ends_with(']')) {
        if line.starts_with("[The sandbox ") {
            *line = if line.contains("read-only") { READ_ONLY } else { CONFINED };
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
