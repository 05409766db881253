//! The journal of a simulated session, of any length: what the store would have of it.
//!
//! The protocol: [`SimulatedJournal::open`], then [`ask`](SimulatedJournal::ask), any number of turns, and an answer, any
//! number of times; the batches go into a store at once.

use anyhow::Result;
use windlass_machine::{Fact, State, apply};
use windlass_store::{Batch, Entry, Head, SealedBatch, Writer};
use windlass_vocab::{RunId, SessionId, Timestamp};

use crate::conversation::{answer, message, opened, pinned, records, reply, result};
use crate::followers::now_us;

/// The journal of a simulated session.
#[derive(Debug)]
pub struct SimulatedJournal {
    state: State,
    writer: Writer,
    messages: u64,
    /// When all of it happened: a server archives what is old.
    now: Timestamp,
    /// Its batches.
    pub batches: Vec<SealedBatch>,
}

impl SimulatedJournal {
    /// Begins the session with this number.
    pub fn open(number: u32) -> Result<Self> {
        let state = State::new(format!("01890000-0000-7000-8000-{number:012}").parse()?);
        let writer = Writer::new(state.session, Head::default(), 1);
        let now = Timestamp(i64::try_from(now_us() / 1_000)?);
        let mut journal = Self { state, writer, messages: 0, now, batches: Vec::new() };
        journal.take(opened(&format!("simulated-{number}")))?;
        Ok(journal)
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.state.session
    }

    /// How many records there are.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.writer.head.seq
    }

    /// A message of a person, up to the first request.
    pub fn ask(&mut self) -> Result<()> {
        self.messages += 1;
        self.take(message(self.messages, None)?)?;
        self.take(pinned())
    }

    /// A reply with a call, and the result of the call.
    pub fn turn(&mut self) -> Result<()> {
        self.take(reply(&self.state)?)?;
        self.take(result(&self.state)?)
    }

    /// The last reply of the run.
    pub fn answer(&mut self, text: &str) -> Result<()> {
        self.take(answer(&self.state, text)?)
    }

    fn take(&mut self, fact: Fact) -> Result<()> {
        let records = records(&self.state, fact);
        records.iter().for_each(|record| apply(&mut self.state, record));
        let run = u32::try_from(self.messages).ok().filter(|messages| *messages > 0).map(RunId);
        let entries = records.into_iter().map(|record| Entry { run, ..Entry::new(record) }).collect();
        let sealed = self.writer.seal(Batch { at: self.now, entries, ..Batch::default() })?;
        self.batches.push(sealed);
        Ok(())
    }
}
