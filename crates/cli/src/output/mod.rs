//! The output of `windlass run`. Only the answer goes to standard output, once, at the end: not before is it certain
//! to be the answer. Progress goes to standard error, a line per event; below the line of an edit that needed no
//! approval are the changed lines. With `--json` every event is a line of standard output, and nothing else is.
//!
//! If the reader closes standard output (`| head`), that is not an error: nothing more is printed.

pub(crate) mod advice;
mod broken_json;
mod editable_text;
mod live;
mod progress;
pub(crate) mod setting_words;
mod spent;
pub(crate) mod undone;
mod waiting;
pub(crate) mod wording;

use std::io::{self, Write};
use std::time::{Duration, Instant};

use windlass_narrate::{
    RunEndWords, answer_of, changed_unasked, changes_line, claims_too_much, duration, left_unchanged, lost_files,
};
pub use windlass_narrate::{harmless_codes, harmless_json, harmless_line, harmless_lines, short_line};
use windlass_vocab::{Event, Record, RunEnded};

pub(crate) use self::broken_json::broken_json;
pub(crate) use self::editable_text::{EditableText, without_stand_ins};
pub(crate) use self::live::{StatusLines, ThrottledProgress};
pub use self::progress::RunProgress;
pub(crate) use self::spent::spent;
pub(crate) use self::wording::{command_for, model_command_for, quoted, same_folders};

/// What a stream is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamTarget {
    /// A screen: no invisible characters and no control codes may reach it.
    Terminal,
    /// A file or a program, whose content may later reach a screen: gets the text unchanged, without control codes.
    Piped,
}

/// How a run is displayed.
#[derive(Debug)]
pub enum RunView<Out: Write, Err: Write> {
    /// The answer at the end, progress before.
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
    /// Shows an event. Returns an error if standard output can't be written (a full disk).
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        match self {
            Self::Answer { progress, .. } => {
                progress.event(event, Instant::now());
                Ok(())
            }
            Self::Json { out, .. } => {
                let line = harmless_json(serde_json::to_string(event)?) + "\n";
                unless_closed(out.write_all(line.as_bytes()).and_then(|()| out.flush()))
            }
        }
    }

    /// Tells what the run has been waiting for, if it is time to; called once a second or so.
    pub fn tick(&mut self, now: Instant) {
        match self {
            Self::Answer { progress, .. } => progress.tick(now),
            Self::Json { .. } => {}
        }
    }

    /// Registers a record from before the first event, so that the line of a call's result can name the call.
    pub fn recall(&mut self, record: &Record) {
        match self {
            Self::Answer { progress, .. } => progress.recall(record),
            Self::Json { .. } => {}
        }
    }

    /// Returns the view for a reader who did not take part: with messages, questions and answers.
    #[must_use]
    pub fn for_onlookers(self) -> Self {
        match self {
            Self::Answer { out, stream, progress } => Self::Answer { out, stream, progress: progress.for_onlookers() },
            json @ Self::Json { .. } => json,
        }
    }

    /// Whether events are printed for programs.
    pub fn is_json(&self) -> bool {
        matches!(self, Self::Json { .. })
    }

    /// Tells the person something about the run.
    pub fn notice(&mut self, text: &str) {
        let line = format!("windlass: {text}");
        match self {
            Self::Answer { progress, .. } => progress.line(&line),
            Self::Json { err, .. } => {
                // If standard error is closed, nobody reads the line.
                let _ = writeln!(err, "{}", harmless_line(&line));
            }
        }
    }

    /// Shows how the run ended.
    pub fn ended(&mut self, ended: &RunEnded) -> io::Result<()> {
        if let Some(words) = RunEndWords::of(ended) {
            // Below the notice stands the command that goes on, with the flag that helps.
            let text = match self {
                Self::Answer { .. } => advice::with_failure_remedy(words.advised(""), ended),
                Self::Json { .. } => advice::end_words(&words, ended),
            };
            self.notice(&text);
        }
        match (&mut *self, answer_of(ended)) {
            (Self::Answer { out, stream, .. }, Some(text)) => unless_closed(write_answer(out, *stream, text))?,
            (Self::Answer { .. }, None) | (Self::Json { .. }, _) => {}
        }
        self.changes(ended);
        Ok(())
    }

    /// Tells what the run really changed: a person at a terminal in any case, others where the answer claims more or a file
    /// is as it was that the request asks to be changed, or scripts changed files unasked. The events tell programs, and
    /// whoever started them is told of what is lost.
    fn changes(&mut self, ended: &RunEnded) {
        let Some(line) = changes_line(ended).filter(|_| !self.is_json() || lost_files(ended)) else { return };
        if claims_too_much(ended) || left_unchanged(ended) || changed_unasked(ended) {
            self.notice(&line);
        } else if let Self::Answer { progress, .. } = self {
            progress.footer(&format!("windlass: {line}"));
        }
    }
}

impl<Out: Write, Err: Write> RunView<Out, Err> {
    /// Tells a person at a terminal what a run used and cost, and how long they waited for it.
    pub fn spent(&mut self, ended: &RunEnded, took: Duration) {
        if let Self::Answer { progress, .. } = self
            && ended.usage.calls > 0
        {
            let took = duration(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
            progress.footer(&format!("windlass: {}, {took}", spent(&ended.usage, ended.cost)));
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

/// Ignores a closed pipe: the reader needs no more output.
fn unless_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Ok(()) | Err(_) => result,
    }
}

#[cfg(test)]
mod tests;
