//! The narrator: events in, lines out, with what little it has to remember.

use windlass_vocab::{CallId, CallRequested, Delta, DeltaBody, Event, Record, Timestamp};

use crate::line::{NarratedLine, Tone};
use crate::memory::NarratorMemory;
use crate::wait::waiting;
use crate::{brief, full};

/// How much is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// For whoever watches: a short line for each thing that happens, none for what only keeps the books.
    Brief,
    /// For whoever was not there: every record, whole.
    Full,
}

/// Turns what happens in one session into lines.
#[derive(Debug)]
pub struct Narrator {
    detail: Detail,
    memory: NarratorMemory,
}

impl Narrator {
    /// A narrator at the beginning of a session, or of what is shown of it.
    #[must_use]
    pub fn new(detail: Detail) -> Self {
        Self { detail, memory: NarratorMemory::default() }
    }

    /// What an event is worth.
    pub fn event(&mut self, event: &Event) -> Vec<NarratedLine> {
        match event {
            Event::Record(envelope) => self.record(&envelope.record, envelope.at),
            Event::Delta(delta) => delta_line(delta).into_iter().collect(),
        }
    }

    /// What a record that was written at this time is worth.
    pub fn record(&mut self, record: &Record, at: Timestamp) -> Vec<NarratedLine> {
        let lines = match self.detail {
            Detail::Brief => brief::lines(&mut self.memory, record, at),
            Detail::Full => full::lines(&self.memory, record, at),
        };
        self.memory.take_in(record);
        lines
    }

    /// Takes in a call that was asked for before the first event, so that what becomes of it can name it.
    pub fn recall(&mut self, call: &CallRequested) {
        self.memory.requested(call);
    }

    /// Forgets the calls it was told of: another run is shown now, perhaps of another session.
    pub fn forget_calls(&mut self) {
        self.memory.forget_calls();
    }

    /// What a call is called: `read_file src/main.rs`, or its number once it has ended.
    #[must_use]
    pub fn call_name(&self, call: CallId) -> String {
        self.memory.name(call)
    }
}

/// What a fragment is worth. Words as they come are no lines: whoever shows them draws them.
fn delta_line(delta: &Delta) -> Option<NarratedLine> {
    match &delta.body {
        DeltaBody::Waiting { call, wait } => {
            Some(NarratedLine { call: *call, ..NarratedLine::new(Tone::Delay, waiting(wait)) })
        }
        DeltaBody::TextDelta { .. }
        | DeltaBody::ThinkingStarted {}
        | DeltaBody::ThinkingEnded {}
        | DeltaBody::ThinkingDelta { .. }
        | DeltaBody::CallDelta { .. }
        | DeltaBody::Cleared {} => None,
    }
}
