//! The prompt between runs: a line editor with history, completion and hints. A message may span several lines.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hint, Hinter};
use rustyline::history::{DefaultHistory, History as _};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Context, Editor, Event, EventContext,
    EventHandler, Helper, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
};

use super::complete;
use super::console::dimmed;
use crate::output::without_stand_ins;
use crate::screen::Colour;

/// A message longer than this is not kept in the history.
const KEPT: usize = 10_000;
/// Most messages kept in the history.
const MOST: usize = 2_000;

/// The result of a prompt.
#[derive(Debug)]
pub(crate) enum PromptLine {
    /// The entered line.
    Text(String),
    /// Ctrl-C on an empty line.
    Interrupted,
    /// Ctrl-D on an empty line, or the end of the terminal.
    Ended,
}

/// The line editor.
pub(crate) struct LineEditor {
    editor: Editor<LineCompletion, DefaultHistory>,
    history: PathBuf,
}

/// Where paths are completed, and how hints are styled.
pub(crate) struct LineCompletion {
    pub(crate) workspace: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) colour: Colour,
}

impl LineEditor {
    /// Creates an editor whose history is a file in the data folder.
    pub(crate) fn new(completion: LineCompletion, data_dir: &Path) -> rustyline::Result<Self> {
        let colour = match completion.colour {
            Colour::None => ColorMode::Disabled,
            Colour::Ansi => ColorMode::Enabled,
        };
        let config = Config::builder()
            .max_history_size(MOST)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .color_mode(colour)
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(completion));
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
        editor.bind_sequence(KeyEvent::ctrl('J'), Cmd::Newline);
        editor.bind_sequence(KeyEvent::ctrl('C'), EventHandler::Conditional(Box::new(ClearLineFirst)));
        let history = data_dir.join("history");
        // The file does not exist at first, and an unreadable history is not worth stopping for.
        let _ = editor.load_history(&history);
        Ok(Self { editor, history })
    }

    /// Reads a line that starts with the text typed before: left and right of the cursor.
    pub(crate) fn read(
        &mut self,
        prompt: &(String, String),
        begun: &(String, String),
    ) -> rustyline::Result<PromptLine> {
        match self.editor.readline_with_initial(prompt, (&begun.0, &begun.1)) {
            Ok(line) => Ok(PromptLine::Text(line)),
            Err(ReadlineError::Interrupted) => Ok(PromptLine::Interrupted),
            Err(ReadlineError::Eof) => Ok(PromptLine::Ended),
            Err(error) => Err(error),
        }
    }

    /// Adds a line to the history; one that begins with a blank is not kept.
    pub(crate) fn keep(&mut self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() || line.len() > KEPT {
            return;
        }
        // A history that can't be written is not worth stopping for.
        if self.editor.add_history_entry(line).unwrap_or(false) {
            let _ = self.editor.history_mut().append(&self.history);
        }
    }
}

/// Ctrl-C clears the line; on an empty line the editor's default applies.
struct ClearLineFirst;

impl ConditionalEventHandler for ClearLineFirst {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        (!context.line().is_empty()).then_some(Cmd::Kill(Movement::WholeBuffer))
    }
}

/// Replaces each backslash at the end of a line by a plain line break.
pub(crate) fn joined(line: &str) -> String {
    line.replace("\\\n", "\n")
}

impl Helper for LineCompletion {}

impl Validator for LineCompletion {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let backslashes = context.input().chars().rev().take_while(|c| *c == '\\').count();
        Ok(if backslashes % 2 == 1 { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for LineCompletion {
    type Candidate = Pair;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (begin, found) = complete::complete(&self.workspace, self.home.as_deref(), line, cursor);
        let pair = |text: String| Pair { display: text.clone(), replacement: text };
        Ok((begin, found.into_iter().map(pair).collect()))
    }
}

/// A hint after the cursor. The right arrow inserts it only if it is literal text, not an argument placeholder.
pub(crate) struct Suggestion(String);

impl Hint for Suggestion {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        (!self.0.contains('[')).then_some(&self.0)
    }
}

impl Hinter for LineCompletion {
    type Hint = Suggestion;

    fn hint(&self, line: &str, cursor: usize, _: &Context<'_>) -> Option<Suggestion> {
        complete::hint(line, cursor).map(Suggestion)
    }
}

impl Highlighter for LineCompletion {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        without_stand_ins(line)
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(dimmed(hint, self.colour))
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn a_backslash_at_the_end_of_a_line_breaks_it() {
        assert_eq!(joined("one\\\ntwo\nthree\\x"), "one\ntwo\nthree\\x");
    }
}
