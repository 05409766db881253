//! The narrator: events in, lines out, with a small memory.

use windlass_vocab::{CallId, Delta, DeltaBody, Event, Record, Timestamp};

use crate::line::{NarratedLine, Tone};
use crate::memory::NarratorMemory;
use crate::wait::{source_left_out, waiting};
use crate::{brief, full};

/// How much detail the lines have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// For a person who watches: a short line for each thing that happens, none for internal records.
    Brief,
    /// For a later reader: every record, in full.
    Full,
}

/// Turns the events of one session into lines.
#[derive(Debug)]
pub struct Narrator {
    detail: Detail,
    memory: Box<NarratorMemory>,
}

impl Narrator {
    /// Creates a narrator at the beginning of a session, or of the displayed part of it.
    #[must_use]
    pub fn new(detail: Detail) -> Self {
        Self { detail, memory: Box::default() }
    }

    /// Returns the lines of an event.
    pub fn event(&mut self, event: &Event) -> Vec<NarratedLine> {
        match event {
            Event::Record(envelope) => self.record(&envelope.record, envelope.at),
            Event::Delta(delta) => delta_line(delta).into_iter().collect(),
        }
    }

    /// Returns the lines of a record that was written at this time.
    pub fn record(&mut self, record: &Record, at: Timestamp) -> Vec<NarratedLine> {
        let lines = match self.detail {
            Detail::Brief => brief::lines(&mut self.memory, record, at),
            Detail::Full => full::lines(&self.memory, record, at),
        };
        self.memory.take_in(record);
        lines
    }

    /// Takes in a record from before the first event without a line, so that later lines can name its call and say how
    /// a question about it was answered.
    pub fn recall(&mut self, record: &Record) {
        self.memory.take_in(record);
    }

    /// Forgets all calls: another run is displayed now, perhaps of another session.
    pub fn forget_calls(&mut self) {
        self.memory.forget_calls();
    }

    /// Returns why the last attempt failed that is tried again, and which try follows.
    #[must_use]
    pub fn retry_problem(&self) -> &str {
        self.memory.last_retry.problem_and_try()
    }

    /// Returns a call's display name: `read_file src/main.rs`, or its number once it has ended.
    #[must_use]
    pub fn call_name(&self, call: CallId) -> String {
        self.memory.name(call)
    }
}

/// Returns the line of a delta. Streamed text has none: the door displays it itself.
fn delta_line(delta: &Delta) -> Option<NarratedLine> {
    match &delta.body {
        DeltaBody::Waiting { call, wait } => {
            Some(NarratedLine { call: *call, ..NarratedLine::new(Tone::Delay, waiting(wait)) })
        }
        DeltaBody::SourceLeftOut { source, why } => Some(NarratedLine::new(Tone::Quiet, source_left_out(source, why))),
        DeltaBody::TextDelta { .. }
        | DeltaBody::ThinkingStarted {}
        | DeltaBody::ThinkingEnded {}
        | DeltaBody::ThinkingDelta { .. }
        | DeltaBody::CallDelta { .. }
        | DeltaBody::Cleared {} => None,
    }
}
