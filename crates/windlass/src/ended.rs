//! Finds how a run ended, by reading its session's journal backwards.

use std::collections::HashMap;
use std::sync::Arc;

use windlass_runtime::SendOutcome;
use windlass_store::{ReverseRecords, Store, StoreError};
use windlass_vocab::{Envelope, MessageId, RunEnded, RunId, RunMilestone, SessionId};

/// Which run's end is awaited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AwaitedEnd {
    /// The end of this run.
    Run(RunId),
    /// The end of the run that takes this message, or of the newest retry of that run.
    Message(MessageId),
}

impl AwaitedEnd {
    /// Returns the run whose end is awaited, once it is known.
    pub(crate) fn run(&self) -> Option<RunId> {
        match self {
            Self::Run(run) => Some(*run),
            Self::Message(_) => None,
        }
    }

    /// Returns what to await after a message was sent.
    #[must_use]
    pub fn after(sent: SendOutcome, message: MessageId) -> Self {
        match sent {
            SendOutcome::TakenUp(run) | SendOutcome::Known(run) => Self::Run(run),
            SendOutcome::Queued => Self::Message(message),
        }
    }
}

/// Returns the awaited end and its record, if the journal contains it. Once the run of an awaited message is known,
/// `awaited` is set to that run.
pub async fn end_awaited(
    store: &dyn Store,
    session: SessionId,
    awaited: &mut AwaitedEnd,
) -> Result<Option<(Arc<Envelope>, RunEnded)>, StoreError> {
    let mut records = ReverseRecords::new(store, session);
    let mut passed = PassedRecords::default();
    while let Some(envelope) = records.next().await? {
        match &*awaited {
            AwaitedEnd::Run(run) => match passage(&envelope, *run) {
                RunPassage::End(ended) => return Ok(Some((Arc::new(envelope), *ended))),
                RunPassage::Start => return Ok(None),
                RunPassage::Other => {}
            },
            AwaitedEnd::Message(id) if is_message(&envelope, id) => {
                // The message joined an open run, or began one in the same batch.
                let Some(run) = envelope.run.or(passed.begun) else { return Ok(None) };
                let run = passed.newest_try(run);
                *awaited = AwaitedEnd::Run(run);
                return Ok(passed.ends.remove(&run));
            }
            AwaitedEnd::Message(_) => passed.note(envelope),
        }
    }
    Ok(None)
}

/// What a record is to a run.
enum RunPassage {
    Start,
    End(Box<RunEnded>),
    Other,
}

fn passage(envelope: &Envelope, run: RunId) -> RunPassage {
    match envelope.record.milestone() {
        Some(RunMilestone::Ended(ended)) if envelope.run == Some(run) => RunPassage::End(Box::new(ended.clone())),
        Some(RunMilestone::Started(started)) if started.run == run => RunPassage::Start,
        Some(
            RunMilestone::Ended(_)
            | RunMilestone::Started(_)
            | RunMilestone::Accepted(_)
            | RunMilestone::Resumed(_)
            | RunMilestone::Turn(_)
            | RunMilestone::Replied(_),
        )
        | None => RunPassage::Other,
    }
}

/// Whether the record takes up this message.
fn is_message(envelope: &Envelope, id: &MessageId) -> bool {
    matches!(envelope.record.milestone(), Some(RunMilestone::Accepted(accepted)) if accepted.message_id == *id)
}

/// What the backward scan has passed so far.
#[derive(Default)]
struct PassedRecords {
    ends: HashMap<RunId, (Arc<Envelope>, RunEnded)>,
    /// Maps each retried run to its retry.
    tries: HashMap<RunId, RunId>,
    /// The run that began right after the current record.
    begun: Option<RunId>,
}

impl PassedRecords {
    fn note(&mut self, envelope: Envelope) {
        self.begun = None;
        match envelope.record.milestone() {
            Some(RunMilestone::Started(started)) => {
                self.begun = Some(started.run);
                self.tries.extend(started.retry_of.map(|of| (of, started.run)));
            }
            Some(RunMilestone::Ended(ended)) => {
                let (ended, run) = (ended.clone(), envelope.run);
                self.ends.extend(run.map(|run| (run, (Arc::new(envelope), ended))));
            }
            Some(
                RunMilestone::Accepted(_) | RunMilestone::Resumed(_) | RunMilestone::Turn(_) | RunMilestone::Replied(_),
            )
            | None => {}
        }
    }

    fn newest_try(&self, first: RunId) -> RunId {
        std::iter::successors(Some(first), |run| self.tries.get(run).copied()).last().unwrap_or(first)
    }
}
