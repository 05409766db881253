//! Progress on standard error: one line per finished call, retry, nudge or question, and on a terminal one live line
//! with the wait status or the model's newest words. The narrator writes the texts.

use std::io::Write;
use std::time::{Duration, Instant};

use windlass_narrate::{
    Activity, Detail, LineSpeaker, NarratedLine, Narrator, Tone, harmless_line, problem_of_attempt, short_line,
};
use windlass_vocab::{CallRequested, Delta, DeltaBody, Envelope, Event, NextAttempt, Record};

use super::StreamTarget;
use super::advice::with_remedies;
use super::live::{LineWeight, StatusLines};
use super::waiting::AwaitedThings;

/// Most characters of the live line.
const LIVE: usize = 70;

/// Who reads the progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Audience {
    /// The person who started the run: their message is displayed above, and other code asks the questions.
    TakesPart,
    /// A reader who did not take part: sees messages and questions too.
    LooksOn,
}

/// Writes progress. Write errors are ignored, and the run continues.
#[derive(Debug)]
pub struct RunProgress<W: Write> {
    lines: StatusLines<W>,
    narrator: Narrator,
    audience: Audience,
    /// The end of the text that the model is writing.
    words: String,
    /// What the run waits for.
    awaited: AwaitedThings,
    /// The last quiet line, while nothing else is printed, and how often it was repeated.
    repeated: Option<(String, u32)>,
}

impl<W: Write> RunProgress<W> {
    /// Creates progress output to `out`, for the person who started the run.
    pub fn new(out: W, stream: StreamTarget) -> Self {
        Self {
            lines: StatusLines::new(out, stream),
            narrator: Narrator::new(Detail::Brief),
            audience: Audience::TakesPart,
            words: String::new(),
            awaited: AwaitedThings::default(),
            repeated: None,
        }
    }

    /// Returns the progress for a reader who did not take part: with messages, questions and answers.
    #[must_use]
    pub fn for_onlookers(self) -> Self {
        Self { audience: Audience::LooksOn, ..self }
    }

    /// Shows an event, if the narrator has a line for it.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Record(envelope) => self.make_room(&envelope.record),
            Event::Delta(delta) => self.show_words(delta),
        }
        for line in with_remedies(self.narrator.event(event)) {
            self.tell(&line);
        }
        if let Event::Record(envelope) = event {
            self.await_next(envelope);
        }
    }

    /// Tells what the run has been waiting for: in the live line, or now and then in a line of its own.
    pub fn tick(&mut self, now: Instant) {
        match self.lines.stream() {
            StreamTarget::Terminal => {
                if let Some(text) = self.awaited.live(now).filter(|_| self.words.is_empty()) {
                    self.lines.show(&short_line(&text, LIVE));
                }
            }
            StreamTarget::Piped => {
                if let Some(text) = self.awaited.due_line(now) {
                    self.print(LineWeight::Plain, &text);
                }
            }
        }
    }

    /// Registers a requested call; its line is printed with the result.
    pub fn recall(&mut self, call: &CallRequested) {
        self.narrator.recall(call);
    }

    /// Prints one line.
    pub fn line(&mut self, text: &str) {
        self.print(LineWeight::Plain, text);
    }

    /// Clears the live line when the reply ends; a question begins on an empty line.
    fn make_room(&mut self, record: &Record) {
        if matches!(record, Record::ModelReplied(_) | Record::QuestionAsked(_) | Record::RunEnded(_)) {
            self.erase_live();
            self.awaited.clear();
        }
        if let Record::CallFinished(finished) = record {
            self.awaited.end_call(finished.call);
        }
        if matches!(record, Record::QuestionAsked(_) | Record::RunEnded(_)) {
            self.print_repeats();
        }
    }

    /// Notes what follows a record that says so itself, beyond its line.
    fn await_next(&mut self, envelope: &Envelope) {
        match (&envelope.record, self.audience) {
            (Record::AttemptFailed(failed), _) => {
                if let NextAttempt::Retry { at } = failed.next {
                    let wait = Duration::from_millis(at.ms_since(envelope.at));
                    self.awaited.begin_retry(wait, problem_of_attempt(failed));
                }
            }
            (Record::QuestionAsked(_), Audience::LooksOn) => self.awaited.begin(&Activity::Person.to_string()),
            _ => {}
        }
    }

    fn tell(&mut self, line: &NarratedLine) {
        match line.tone {
            Tone::Passing => self.show_status(line),
            Tone::Delay => {
                self.show_status(line);
                // A pipe has no live line that would show the waiting time.
                if self.lines.stream() == StreamTarget::Piped {
                    self.print(LineWeight::Plain, &line.text);
                }
            }
            Tone::Quiet => self.print_once(&line.text),
            Tone::Plain | Tone::Failure => self.print(LineWeight::Plain, &line.to_string()),
            Tone::Added | Tone::Removed | Tone::Note => self.print(LineWeight::Plain, &format!("  {}", line.text)),
            Tone::Said | Tone::Question | Tone::Answer => match self.audience {
                Audience::TakesPart => {}
                Audience::LooksOn => self.quote(line),
            },
            Tone::Bookkeeping | Tone::Step(_) => {}
        }
    }

    /// Prints a message, a question or an answer after a mark.
    fn quote(&mut self, line: &NarratedLine) {
        let mark = match (line.tone, line.by) {
            (Tone::Question, _) => "?",
            (_, LineSpeaker::Person) => ">",
            (_, LineSpeaker::Model | LineSpeaker::Tool | LineSpeaker::Windlass) => {
                return self.line(&format!("({})", line.text));
            }
        };
        for text in line.text.lines() {
            self.line(&format!("{mark} {text}"));
        }
    }

    /// Prints a line once and counts its repetitions: a model that only talks may be nudged a hundred times.
    fn print_once(&mut self, line: &str) {
        match &mut self.repeated {
            Some((shown, again)) if shown == line => *again += 1,
            Some(_) | None => {
                self.print(LineWeight::Dim, line);
                self.repeated = Some((line.to_owned(), 0));
            }
        }
    }

    fn print_repeats(&mut self) {
        if let Some((_, again @ 1..)) = self.repeated.take() {
            let times = if again == 1 { "once more".to_owned() } else { format!("{again} times more") };
            self.print(LineWeight::Dim, &format!("the same {times}"));
        }
    }

    fn show_words(&mut self, delta: &Delta) {
        let text = match &delta.body {
            DeltaBody::TextDelta { text } | DeltaBody::ThinkingDelta { text } | DeltaBody::CallDelta { text, .. } => {
                text
            }
            DeltaBody::Cleared {} => return self.erase_live(),
            DeltaBody::ThinkingStarted {} | DeltaBody::ThinkingEnded {} | DeltaBody::Waiting { .. } => return,
        };
        // The output of a running call belongs to no attempt.
        if delta.attempt > 0 {
            self.awaited.keep_or_begin(&Activity::Answering.to_string());
        }
        if self.lines.stream() == StreamTarget::Terminal {
            self.words.push_str(&harmless_line(text));
            if let Some((start, _)) = self.words.char_indices().rev().nth(LIVE - 1) {
                self.words.drain(..start);
            }
            self.lines.show(&self.words);
        }
    }

    /// Shows the wait status: without it a slow model looks like a hanging process.
    fn show_status(&mut self, line: &NarratedLine) {
        self.words.clear();
        match line.call {
            Some(call) => self.awaited.begin_call(call, &line.text),
            None => self.awaited.begin(&line.text),
        }
        self.lines.show(&short_line(&line.text, LIVE));
    }

    fn erase_live(&mut self) {
        self.words.clear();
        self.lines.erase();
    }

    fn print(&mut self, weight: LineWeight, text: &str) {
        self.print_repeats();
        self.words.clear();
        self.lines.print(weight, text);
    }
}
