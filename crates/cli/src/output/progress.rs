//! Progress on standard error: one line per finished call, retry, nudge or question, and on a terminal one live line
//! with the wait status or the model's newest words. The narrator writes the texts.

use std::io::Write;
use std::time::{Duration, Instant};

use windlass_narrate::{Activity, Detail, LineSpeaker, NarratedLine, Narrator, Tone, harmless_line, short_line};
use windlass_vocab::{Delta, DeltaBody, Envelope, Event, ModelRole, NextAttempt, Record};

use super::StreamTarget;
use super::advice::with_remedies;
use super::live::{LineWeight, StatusLines};
use super::waiting::PendingWaits;

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
    /// The call whose arguments the model is writing, in words.
    written_call: String,
    /// What the run waits for.
    waits: PendingWaits,
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
            written_call: "writing a call".to_owned(),
            waits: PendingWaits::default(),
            repeated: None,
        }
    }

    /// Returns the progress for a reader who did not take part: with messages, questions and answers.
    #[must_use]
    pub fn for_onlookers(self) -> Self {
        Self { audience: Audience::LooksOn, ..self }
    }

    /// Shows an event that came at `now`, if the narrator has a line for it.
    pub fn event(&mut self, event: &Event, now: Instant) {
        match event {
            Event::Record(envelope) => {
                self.make_room(&envelope.record);
                self.end_waits(&envelope.record);
            }
            Event::Delta(delta) => self.show_words(delta, now),
        }
        for line in with_remedies(self.narrator.event(event)) {
            self.print_narrated(&line, now);
        }
        if let Event::Record(envelope) = event {
            self.begin_wait(envelope, now);
        }
    }

    /// Tells what the run has been waiting for: in the live line, or now and then in a line of its own.
    pub fn tick(&mut self, now: Instant) {
        match self.lines.stream() {
            StreamTarget::Terminal => {
                if let Some(text) = self.waits.live(now).filter(|_| self.words.is_empty()) {
                    self.lines.show(&short_line(&text, LIVE));
                }
            }
            StreamTarget::Piped => {
                if let Some(text) = self.waits.due_line(now) {
                    self.print(LineWeight::Plain, &text);
                }
            }
        }
    }

    /// Registers an earlier record: a requested call's line is printed with the result.
    pub fn recall(&mut self, record: &Record) {
        self.narrator.recall(record);
    }

    /// Prints one line.
    pub fn line(&mut self, text: &str) {
        self.print(LineWeight::Plain, text);
    }

    /// Prints a quiet line below the answer, on a terminal only: what is piped stays as it was.
    pub fn footer(&mut self, text: &str) {
        if self.lines.stream() == StreamTarget::Terminal {
            self.print(LineWeight::Dim, text);
        }
    }

    /// Clears the live line when the reply ends; a question begins on an empty line.
    fn make_room(&mut self, record: &Record) {
        if matches!(record, Record::ModelReplied(_) | Record::QuestionAsked(_) | Record::RunEnded(_)) {
            self.erase_live();
        }
        if matches!(record, Record::QuestionAsked(_) | Record::RunEnded(_)) {
            self.print_repeats();
        }
    }

    /// Ends the waits that a record ends. Its lines may begin others.
    fn end_waits(&mut self, record: &Record) {
        if matches!(record, Record::ModelReplied(_) | Record::QuestionAsked(_) | Record::RunEnded(_)) {
            self.waits.clear();
        }
        if let Record::CallFinished(finished) = record {
            self.waits.end_call(finished.call);
        }
    }

    /// Begins the wait that follows a record, beyond those that its lines name.
    fn begin_wait(&mut self, envelope: &Envelope, now: Instant) {
        if let Record::AttemptFailed(failed) = &envelope.record
            && failed.role != ModelRole::Title
            && let NextAttempt::Retry { at } = failed.next
        {
            let wait = Duration::from_millis(at.ms_since(envelope.at));
            self.waits.begin_retry(wait, self.narrator.retry_problem().to_owned(), now);
        }
        if matches!(envelope.record, Record::QuestionAsked(_)) && self.audience == Audience::LooksOn {
            self.waits.begin(&Activity::Person.to_string(), now);
        }
    }

    fn print_narrated(&mut self, line: &NarratedLine, now: Instant) {
        match line.tone {
            Tone::Passing => self.show_status(line, now),
            Tone::Delay => {
                self.show_status(line, now);
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

    fn show_words(&mut self, delta: &Delta, now: Instant) {
        // The output of a running call belongs to no attempt.
        let in_reply = delta.attempt > 0;
        let text = match &delta.body {
            DeltaBody::ThinkingDelta { .. } => return self.show_activity(&Activity::Thinking.to_string(), now),
            DeltaBody::CallDelta { name, .. } if in_reply => {
                if let Some(name) = name {
                    self.written_call = format!("writing a call of {}", harmless_line(name));
                }
                let text = self.written_call.clone();
                return self.show_activity(&text, now);
            }
            DeltaBody::TextDelta { text } | DeltaBody::CallDelta { text, .. } => text,
            DeltaBody::Cleared {} => return self.erase_live(),
            DeltaBody::ThinkingStarted {}
            | DeltaBody::ThinkingEnded {}
            | DeltaBody::Waiting { .. }
            | DeltaBody::SourceLeftOut { .. } => return,
        };
        if in_reply {
            self.waits.keep_or_begin(&Activity::Answering.to_string(), now);
        }
        if self.lines.stream() == StreamTarget::Terminal {
            self.words.push_str(&harmless_line(text));
            if let Some((start, _)) = self.words.char_indices().rev().nth(LIVE - 1) {
                self.words.drain(..start);
            }
            self.lines.show(&self.words);
        }
    }

    /// Shows what the model does whose words are no text for the person: its thoughts, the arguments of a call.
    fn show_activity(&mut self, text: &str, now: Instant) {
        self.waits.keep_or_begin(text, now);
        self.words.clear();
        if self.lines.stream() == StreamTarget::Terminal
            && let Some(text) = self.waits.live(now)
        {
            self.lines.show(&short_line(&text, LIVE));
        }
    }

    /// Shows the wait status: without it a slow model looks like a hanging process.
    fn show_status(&mut self, line: &NarratedLine, now: Instant) {
        self.words.clear();
        match line.call {
            Some(call) => self.waits.begin_call(call, &line.text, now),
            None => self.waits.begin(&line.text, now),
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
