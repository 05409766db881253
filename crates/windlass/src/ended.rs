//! How a run ended, found from the end of its session's journal.

use std::collections::HashMap;
use std::sync::Arc;

use windlass_runtime::SendOutcome;
use windlass_store::{ReverseRecords, Store, StoreError};
use windlass_vocab::{Envelope, MessageId, Record, RunEnded, RunId, SessionId};

/// Which run's end is awaited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AwaitedEnd {
    /// This one's.
    Run(RunId),
    /// That of the run that takes this message up, or of the newest retry of that run.
    Message(MessageId),
}

impl AwaitedEnd {
    /// What is awaited once a message was sent.
    #[must_use]
    pub fn after(sent: SendOutcome, message: MessageId) -> Self {
        match sent {
            SendOutcome::TakenUp(run) | SendOutcome::Known(run) => Self::Run(run),
            SendOutcome::Queued => Self::Message(message),
        }
    }
}

/// The end that is awaited, if the session's journal has it, and its record. Once the run that a message
/// belongs to is known, that run is what is awaited.
pub async fn end_awaited(
    store: &dyn Store,
    session: SessionId,
    awaited: &mut AwaitedEnd,
) -> Result<Option<(Arc<Envelope>, RunEnded)>, StoreError> {
    let mut records = ReverseRecords::new(store, session);
    let mut passed = PassedRecords::default();
    while let Some(envelope) = records.next().await? {
        match (&envelope.record, &*awaited) {
            (Record::RunEnded(ended), AwaitedEnd::Run(run)) if envelope.run == Some(*run) => {
                let ended = ended.clone();
                return Ok(Some((Arc::new(envelope), ended)));
            }
            (Record::RunStarted(started), AwaitedEnd::Run(run)) if started.run == *run => return Ok(None),
            (Record::MessageAccepted(accepted), AwaitedEnd::Message(id)) if accepted.message_id == *id => {
                // It joined the run that was open, or began one in the same batch.
                let Some(run) = envelope.run.or(passed.begun) else { return Ok(None) };
                let run = passed.newest_try(run);
                *awaited = AwaitedEnd::Run(run);
                return Ok(passed.ends.remove(&run));
            }
            (_, AwaitedEnd::Run(_)) => {}
            (_, AwaitedEnd::Message(_)) => passed.note(envelope),
        }
    }
    Ok(None)
}

/// What was passed on the way from the end.
#[derive(Default)]
struct PassedRecords {
    ends: HashMap<RunId, (Arc<Envelope>, RunEnded)>,
    /// The next try of each run that was tried again.
    tries: HashMap<RunId, RunId>,
    /// The run that began right after the record looked at.
    begun: Option<RunId>,
}

impl PassedRecords {
    fn note(&mut self, envelope: Envelope) {
        self.begun = None;
        match (&envelope.record, envelope.run) {
            (Record::RunStarted(started), _) => {
                self.begun = Some(started.run);
                self.tries.extend(started.retry_of.map(|of| (of, started.run)));
            }
            (Record::RunEnded(ended), Some(run)) => {
                let ended = ended.clone();
                self.ends.insert(run, (Arc::new(envelope), ended));
            }
            _ => {}
        }
    }

    fn newest_try(&self, first: RunId) -> RunId {
        std::iter::successors(Some(first), |run| self.tries.get(run).copied()).last().unwrap_or(first)
    }
}
