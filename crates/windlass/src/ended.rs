//! How a run ended, found from the end of its session's journal.

use std::collections::HashMap;
use std::sync::Arc;

use windlass_runtime::Sent;
use windlass_store::{Backwards, Store, StoreError};
use windlass_vocab::{Envelope, MessageId, Record, RunEnded, RunId, SessionId};

/// Which run's end is awaited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// This one's.
    Run(RunId),
    /// That of the run that takes this message up, or of the newest retry of that run.
    Message(MessageId),
}

impl Awaited {
    /// What is awaited once a message was sent.
    #[must_use]
    pub fn after(sent: Sent, message: MessageId) -> Self {
        match sent {
            Sent::TakenUp(run) | Sent::Known(run) => Self::Run(run),
            Sent::Queued => Self::Message(message),
        }
    }
}

/// The end that is awaited, if the session's journal has it, and its record. Once the run that a message
/// belongs to is known, that run is what is awaited.
pub async fn end_awaited(
    store: &dyn Store,
    session: SessionId,
    awaited: &mut Awaited,
) -> Result<Option<(Arc<Envelope>, RunEnded)>, StoreError> {
    let mut records = Backwards::new(store, session);
    let mut passed = Passed::default();
    while let Some(envelope) = records.next().await? {
        match (&envelope.record, &*awaited) {
            (Record::RunEnded(ended), Awaited::Run(run)) if envelope.run == Some(*run) => {
                let ended = ended.clone();
                return Ok(Some((Arc::new(envelope), ended)));
            }
            (Record::RunStarted(started), Awaited::Run(run)) if started.run == *run => return Ok(None),
            (Record::MessageAccepted(accepted), Awaited::Message(id)) if accepted.message_id == *id => {
                // It joined the run that was open, or began one in the same batch.
                let Some(run) = envelope.run.or(passed.begun) else { return Ok(None) };
                let run = passed.newest_try(run);
                *awaited = Awaited::Run(run);
                return Ok(passed.ends.remove(&run));
            }
            (_, Awaited::Run(_)) => {}
            (_, Awaited::Message(_)) => passed.note(envelope),
        }
    }
    Ok(None)
}

/// What was passed on the way from the end.
#[derive(Default)]
struct Passed {
    ends: HashMap<RunId, (Arc<Envelope>, RunEnded)>,
    /// The next try of each run that was tried again.
    tries: HashMap<RunId, RunId>,
    /// The run that began right after the record looked at.
    begun: Option<RunId>,
}

impl Passed {
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
