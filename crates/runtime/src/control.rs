//! Commands that other processes left for the sessions this one drives. One task for all of them looks for some, as
//! long as any session is live, and gives each to its session the way a handle here would.

use std::sync::{Arc, Weak};
use std::time::Duration;

use windlass_store::{AddressedCommand, ReverseRecords, Store, StoreError, TakenCommand};
use windlass_vocab::{Control, ControlOutcome, QuestionId, Record, SessionId, StopBy};

use crate::clock::{Clock as _, SystemClock};
use crate::closed::SessionClosed;
use crate::live::{LiveSessions, LookAgain};
use crate::services::Services;
use crate::session::Session;

/// How often it is looked for commands. A person who stops a run does not notice a quarter of a second.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Looks for commands while there are live sessions. It keeps neither the store nor a session alive.
pub(crate) async fn poll_commands(services: Weak<Services>, live: LiveSessions) {
    while live.next_look(LOOK_EVERY).await == LookAgain::Again {
        let Some(services) = services.upgrade() else { continue };
        // A store that can't be read ends its sessions by itself; the next look may succeed.
        let Ok(found) = services.store.commands(SystemClock.now()).await else { continue };
        for command in found {
            if live.epoch(command.session) == Some(command.epoch) {
                take(&services, &live, command).await;
            }
        }
    }
}

/// Takes a command and has it done. A session that takes its time over it holds up no other.
async fn take(services: &Arc<Services>, live: &LiveSessions, command: AddressedCommand) {
    // Whether an error took it is not known, and it must not be done twice.
    if let Ok(TakenCommand::Yes) = services.store.take_command(&command.id).await {
        tokio::spawn(deliver(Arc::clone(services), live.clone(), command));
    }
}

async fn deliver(services: Arc<Services>, live: LiveSessions, command: AddressedCommand) {
    let AddressedCommand { id, session, epoch, control } = command;
    let Some(session) = live.visit(session, epoch, &services.store) else { return };
    // Where it is closed meanwhile, the sender finds that out by itself.
    if let Ok(Ok(outcome)) = perform(&session, control).await {
        let _ = services.store.settle_command(&id, outcome).await;
    }
}

/// Does what is asked, and says what became of it.
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

/// Why an answer was not taken, by what the journal says of its question.
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
