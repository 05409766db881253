//! What `windlass run` shows. The answer alone goes to standard output, once, at the end: only then
//! is it certain to be the answer. Everything on the way goes to standard error, a line each; below that of
//! an edit that nobody was asked about stands what it changed. With
//! `--json` every event is a line of standard output, and nothing else is.
//!
//! Standard output closed by its reader (`| head`) is not an error: nothing more is shown.

pub(crate) mod advice;
mod broken_json;
mod editable_text;
mod live;
mod progress;
pub(crate) mod undone;
pub(crate) mod wording;

use std::io::{self, Write};

use windlass_narrate::{RunEndWords, answer_of};
pub use windlass_narrate::{harmless_codes, harmless_json, harmless_line, harmless_lines, short_line};
use windlass_vocab::{CallRequested, Event, RunEnded};

pub(crate) use self::broken_json::broken_json;
pub(crate) use self::editable_text::{EditableText, without_stand_ins};
pub(crate) use self::live::{StatusLines, ThrottledProgress};
pub use self::progress::RunProgress;
pub(crate) use self::wording::{command_for, quoted, same_folders};

/// What a stream is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamTarget {
    /// A screen: nothing that can't be seen may reach it, nor anything that steers it.
    Terminal,
    /// A file or a program, which may end on a screen: gets the text as it is, without control codes.
    Piped,
}

/// How a run is shown.
#[derive(Debug)]
pub enum RunView<Out: Write, Err: Write> {
    /// The answer at the end, progress on the way.
    Answer {
        /// Standard output.
        out: Out,
        /// What it is connected to.
        stream: StreamTarget,
        /// Standard error.
        progress: RunProgress<Err>,
    },
    /// Every event.
    Json {
        /// Standard output.
        out: Out,
        /// Standard error, for how the run ended.
        err: Err,
    },
}

impl<Out: Write, Err: Write> RunView<Out, Err> {
    /// Shows an event. An error means that standard output takes nothing more (a full disk).
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        match self {
            Self::Answer { progress, .. } => {
                progress.event(event);
                Ok(())
            }
            Self::Json { out, .. } => {
                let line = harmless_json(serde_json::to_string(event)?) + "\n";
                unless_closed(out.write_all(line.as_bytes()).and_then(|()| out.flush()))
            }
        }
    }

    /// Takes in a call that was asked for before the first event, so that its end can name it.
    pub fn recall(&mut self, call: &CallRequested) {
        match self {
            Self::Answer { progress, .. } => progress.recall(call),
            Self::Json { .. } => {}
        }
    }

    /// The same view for whoever was not there: with what was said, asked and answered.
    #[must_use]
    pub fn for_onlookers(self) -> Self {
        match self {
            Self::Answer { out, stream, progress } => Self::Answer { out, stream, progress: progress.for_onlookers() },
            json @ Self::Json { .. } => json,
        }
    }

    /// Tells the person something they should know beside the run.
    pub fn notice(&mut self, text: &str) {
        let line = format!("windlass: {text}");
        match self {
            Self::Answer { progress, .. } => progress.line(&line),
            Self::Json { err, .. } => {
                // Nobody is left to tell when standard error is gone.
                let _ = writeln!(err, "{}", harmless_line(&line));
            }
        }
    }

    /// Shows how the run ended.
    pub fn ended(&mut self, ended: &RunEnded) -> io::Result<()> {
        if let Some(words) = RunEndWords::of(ended) {
            self.notice(&advice::end_words(&words, ended));
        }
        match (self, answer_of(ended)) {
            (Self::Answer { out, stream, .. }, Some(text)) => unless_closed(write_answer(out, *stream, text)),
            (Self::Answer { .. }, None) | (Self::Json { .. }, _) => Ok(()),
        }
    }
}

fn write_answer(out: &mut impl Write, stream: StreamTarget, text: &str) -> io::Result<()> {
    match stream {
        StreamTarget::Terminal => out.write_all(harmless_lines(text).as_bytes())?,
        StreamTarget::Piped => out.write_all(harmless_codes(text).as_bytes())?,
    }
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// A reader that went away has seen enough.
fn unless_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Ok(()) | Err(_) => result,
    }
}

#[cfg(test)]
mod tests;
