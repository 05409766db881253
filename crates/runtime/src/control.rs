//! Handles commands that other processes left in the store for the sessions this process drives. One task polls for all
//! of them, as long as any session is live, and delivers each as a local handle would.

use std::sync::{Arc, Weak};
use std::time::Duration;

use windlass_store::{AddressedCommand, ReverseRecords, Store, StoreError, TakenCommand};
use windlass_vocab::{Control, ControlOutcome, QuestionId, Record, SessionId, StopBy};

use crate::clock::{Clock as _, SystemClock};
use crate::closed::SessionClosed;
use crate::live::{LiveSessions, PollNext};
use crate::services::Services;
use crate::session::Session;

/// How often the store is polled for commands. A person who stops a run does not notice a quarter of a second.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Polls for commands while there are live sessions. It keeps neither the store nor a session alive.
pub(crate) async fn poll_commands(services: Weak<Services>, live: LiveSessions) {
    while live.next_look(LOOK_EVERY).await == PollNext::Again {
        let Some(services) = services.upgrade() else { continue };
        // A store that can't be read ends its sessions itself; the next poll may succeed.
        let Ok(found) = services.store.commands(SystemClock.now()).await else { continue };
        for command in found {
            if live.epoch(command.session) == Some(command.epoch) {
                take(&services, &live, command).await;
            }
        }
    }
}

/// Takes a command and has it executed in a task of its own, so that a slow session does not delay the others.
async fn take(services: &Arc<Services>, live: &LiveSessions, command: AddressedCommand) {
    // After an error it is unknown whether the command was taken, and it must not be executed twice.
    if let Ok(TakenCommand::Yes) = services.store.take_command(&command.id).await {
        tokio::spawn(deliver(Arc::clone(services), live.clone(), command));
    }
}

async fn deliver(services: Arc<Services>, live: LiveSessions, command: AddressedCommand) {
    let AddressedCommand { id, session, epoch, control } = command;
    let Some(session) = live.visit(session, epoch, &services.store) else { return };
    // If the session was closed meanwhile, the sender detects that itself.
    if let Ok(Ok(outcome)) = perform(&session, control).await {
        let _ = services.store.settle_command(&id, outcome).await;
    }
}

/// Executes a command and returns its outcome.
pub(crate) async fn perform(
    session: &Session,
    control: Control,
) -> Result<Result<ControlOutcome, SessionClosed>, StoreError> {
    let done = match control {
        Control::Stop {} => session.stop(StopBy::Person).await.map(|stopped| ControlOutcome::Stopped {
            runs: stopped.runs,
            dropped: u64::try_from(stopped.dropped).unwrap_or(u64::MAX),
        }),
        Control::Answer { question, answer } => match session.answer(question, answer).await {
            Ok(true) => Ok(ControlOutcome::Answered {}),
            Ok(false) => Ok(why_not_taken(session.store.as_ref(), session.id, question).await?),
            Err(closed) => Err(closed),
        },
    };
    Ok(done)
}

/// Returns why an answer was not accepted, according to the journal.
async fn why_not_taken(
    store: &dyn Store,
    session: SessionId,
    question: QuestionId,
) -> Result<ControlOutcome, StoreError> {
    let mut asked = ControlOutcome::NotOffered {};
    let mut records = ReverseRecords::new(store, session);
    while let Some(envelope) = records.next().await? {
        match envelope.record {
            Record::QuestionAnswered(answered) if answered.question == question => {
                return Ok(ControlOutcome::AlreadyAnswered {});
            }
            Record::RunResumed(resumed) if resumed.withdrawn.iter().flatten().any(|gone| *gone == question) => break,
            Record::RunEnded(_) => asked = ControlOutcome::RunIsOver {},
            Record::QuestionAsked(known) if known.question == question => return Ok(asked),
            _ => {}
        }
    }
    Ok(ControlOutcome::NoSuchQuestion {})
}
