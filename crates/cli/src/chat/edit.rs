//! Edits the arguments of a call before it runs: in `$VISUAL` or `$EDITOR` if set, else at the prompt. Arguments that
//! the tool does not accept are reported and can be corrected. A person who empties the text, or returns a refused
//! text unchanged, has given up and is asked the question again. An edited call does not run at once: its preview is
//! shown and needs approval.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};

use serde_json::{Map, Value};
use windlass_vocab::{Json, QuestionAsked, QuestionKind};

use super::chat_session::{ChatSession, EditedCall};
use super::line::{PromptLine, joined};
use super::terminal::Terminal;
use crate::error::CommandError;
use crate::output::{EditableText, broken_json, harmless_line, harmless_lines};

/// Printed before the line editor's prompt, where the first Ctrl-C only clears the line.
const LEAVING: &str = "Enter shows it as it would run; Ctrl-C twice leaves it as it was\n";

/// Lets the person edit the call's current arguments. Returns `None` if they gave up.
pub(crate) async fn edit_call(
    terminal: &mut Terminal,
    talk: &impl ChatSession,
    asked: &QuestionAsked,
    before: Option<Json>,
) -> Result<Option<EditedCall>, CommandError> {
    let QuestionKind::Approval { call } = asked.kind else { return Ok(None) };
    let Some(request) = talk.call_request(call).await? else { return Ok(None) };
    let arguments = before.unwrap_or_else(|| request.arguments.clone());
    let form = EditFormat::of(&arguments);
    let mut text = form.text(&arguments);
    let mut tried = EditAttempt::Nothing;
    loop {
        let Some(written) = write(terminal, talk, &text).await? else { return Ok(None) };
        if tried.is_given_up(&text, &written) {
            terminal.console.print_dimmed("nothing is changed\n")?;
            return Ok(None);
        }
        let checked = match form.arguments(&written) {
            Ok(arguments) => talk.check_edit(&request, arguments).await,
            Err(problem) => Err(problem),
        };
        match checked {
            Ok(edit) => return Ok(Some(edit)),
            Err(problem) => {
                let problem = harmless_lines(&problem);
                terminal.console.print(&format!("{problem}\n"))?;
                text = written;
                tried = EditAttempt::Refused;
            }
        }
    }
}

/// Whether the edited text was refused before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EditAttempt {
    Nothing,
    Refused,
}

impl EditAttempt {
    /// Also true for a refused text returned unchanged: an editor script could return it again forever.
    fn is_given_up(self, given: &str, written: &str) -> bool {
        written.trim().is_empty() || (self == Self::Refused && written == given)
    }
}

/// Name of the argument that holds a command line.
const COMMAND: &str = "command";

/// In which form arguments are presented for editing.
#[derive(Debug, PartialEq, Eq)]
enum EditFormat {
    /// The text of one member, with the other members kept aside: the only member, or the command line.
    Member(String, Map<String, Value>),
    /// All members, as JSON.
    Whole,
}

impl EditFormat {
    fn of(arguments: &Json) -> Self {
        let Value::Object(mut members) = arguments.to_value() else { return Self::Whole };
        let only = members.keys().next().filter(|_| members.len() == 1).cloned();
        let name = if members.contains_key(COMMAND) { Some(COMMAND.to_owned()) } else { only };
        match name.and_then(|name| members.remove_entry(&name)) {
            Some((name, Value::String(_))) => Self::Member(name, members),
            Some(_) | None => Self::Whole,
        }
    }

    fn text(&self, arguments: &Json) -> String {
        let value = arguments.to_value();
        match self {
            Self::Member(name, _) => value[name].as_str().unwrap_or_default().to_owned(),
            Self::Whole => serde_json::to_string_pretty(&value).unwrap_or_else(|_| arguments.as_str().to_owned()),
        }
    }

    fn arguments(&self, text: &str) -> Result<Json, String> {
        match self {
            Self::Member(name, others) => {
                let mut members = others.clone();
                members.insert(name.clone(), Value::String(text.trim_end().to_owned()));
                Ok(Json::from(&Value::Object(members)))
            }
            Self::Whole => Json::parse(text.trim())
                .map_err(|error| format!("this is not JSON: {}", broken_json(text.trim(), &error))),
        }
    }
}

/// Lets the person edit the text. Returns `None` if they cancel.
async fn write(terminal: &mut Terminal, talk: &impl ChatSession, text: &str) -> Result<Option<String>, CommandError> {
    let env = talk.env();
    let program = env.raw("VISUAL").or_else(|| env.raw("EDITOR")).and_then(|program| program.to_str());
    if let Some(program) = program {
        terminal.end_typing()?;
        let written = in_editor(terminal, program, text, talk.data_dir());
        terminal.begin_typing()?;
        match written {
            Ok(EditorOutcome::Written(written)) => return Ok(Some(written)),
            Ok(EditorOutcome::Failed(status)) => {
                let program = harmless_line(program);
                terminal.console.print_dimmed(&format!("{program} failed ({status}): nothing is changed\n"))?;
                return Ok(None);
            }
            Err(error) => terminal.console.print(&format!("{program}: {error}\n"))?,
        }
    }
    terminal.console.print_dimmed(LEAVING)?;
    terminal.end_typing()?;
    let editable_text = EditableText::of(text);
    let line = terminal.line("edit: ", (editable_text.text().to_owned(), String::new())).await;
    terminal.begin_typing()?;
    Ok(match line? {
        PromptLine::Text(line) => Some(terminal.pastes.put_back(&joined(&editable_text.put_back(&line)))),
        PromptLine::Interrupted | PromptLine::Ended => None,
    })
}

/// How an editor exited.
enum EditorOutcome {
    Written(String),
    Failed(ExitStatus),
}

fn in_editor(terminal: &mut Terminal, program: &str, text: &str, folder: &Path) -> std::io::Result<EditorOutcome> {
    let path = folder.join(format!("edit-{}.json", uuid::Uuid::now_v7().simple()));
    let mut file = std::fs::File::options().write(true).create_new(true).mode(0o600).open(&path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| {
        // The variable may contain arguments, with shell quoting.
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{program} \"$1\""), "sh"]).arg(&path);
        let left = terminal.lend(command)?;
        if left.success() {
            std::fs::read_to_string(&path).map(EditorOutcome::Written)
        } else {
            Ok(EditorOutcome::Failed(left))
        }
    });
    let _ = std::fs::remove_file(&path);
    written
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_vocab::Json;

    use super::{EditAttempt, EditFormat};

    // proves T8: an editor that fails or returns nothing usable ends the editing
    #[test]
    fn emptied_or_refused_and_unchanged_is_given_up() {
        assert!(EditAttempt::Nothing.is_given_up("ls", " \n"));
        assert!(EditAttempt::Refused.is_given_up("{}", "{}"));
        assert!(!EditAttempt::Nothing.is_given_up("ls", "ls"), "run as it is");
        assert!(!EditAttempt::Refused.is_given_up("{}", "{\"a\": 1}"));
    }

    // proves T8: edit and run
    #[test]
    fn a_single_text_and_a_command_line_are_edited_as_they_are_and_anything_else_as_json() {
        let command = Json::from(&json!({"command": "ls -l"}));
        let form = EditFormat::of(&command);
        assert_eq!(
            (form.text(&command).as_str(), &form),
            ("ls -l", &EditFormat::Member("command".into(), serde_json::Map::new()))
        );
        assert_eq!(form.arguments("ls \"a\"\n"), Ok(Json::from(&json!({"command": "ls \"a\""}))));
        let long = Json::from(&json!({"command": "ls", "network": true, "timeout_seconds": 5}));
        let form = EditFormat::of(&long);
        assert_eq!(form.text(&long), "ls");
        let edited = form.arguments("id").expect("a command line");
        assert_eq!(edited.to_value(), json!({"command": "id", "network": true, "timeout_seconds": 5}));
        for arguments in [json!({}), json!({"a": 1}), json!({"a": "x", "b": "y"})] {
            let arguments = Json::from(&arguments);
            let form = EditFormat::of(&arguments);
            assert_eq!(form, EditFormat::Whole);
            assert_eq!(form.arguments(&form.text(&arguments)).unwrap().to_value(), arguments.to_value());
            assert!(form.arguments("{\"a\": ").unwrap_err().starts_with("this is not JSON"));
        }
    }
}
