//! Asking something of a session that another process drives: the command is left in the store for it, and its outcome
//! is waited for.

use std::time::Duration;

use uuid::Uuid;
use windlass_store::{Addressee, CommandState, SentCommand, Store, StoreError};
use windlass_tools::Secrets;
use windlass_vocab::{AnsweredBy, CommandId, Control, ControlOutcome, Envelope, QuestionId, Record, SessionId, StopBy};

use crate::clock::{Clock as _, SystemClock};
use crate::scrub::scrub_answer;

/// How long the owner may take to notice the command. It looks four times a second, if it runs at all.
const TO_NOTICE_MS: u64 = 10_000;

/// How long it may take over it after that.
const TO_DO_MS: u64 = 20_000;

/// How often the sender looks.
const LOOK: Duration = Duration::from_millis(40);

/// What became of a command for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlDelivery {
    /// The session got it, and says this.
    Done(ControlOutcome),
    /// No process has the session.
    NobodyThere,
    /// The process that had it let go of it, or died, before it said anything, and the journal shows no trace of the
    /// command.
    OwnerLeft,
    /// The process that has it does not answer, and will not find the command any more.
    NoAnswer,
    /// It took the command and has not said what became of it.
    StillAtIt,
}

/// How many owners in a row a command is sent to, where each has the session taken from it before it answers.
const OWNERS: u32 = 3;

/// Leaves a command for the process that drives the session, and waits until it says what became of it. What the person
/// wrote is stored without secrets.
pub async fn send_control(
    store: &dyn Store,
    secrets: &Secrets,
    session: SessionId,
    control: Control,
) -> Result<ControlDelivery, StoreError> {
    let control = scrubbed(secrets, control);
    let mut owners = 1;
    loop {
        let delivered = send_once(store, session, &control).await?;
        // Another process took the session over meanwhile: it is the one to ask.
        if delivered != ControlDelivery::OwnerLeft || owners == OWNERS || !store.is_claimed(session).await? {
            return Ok(delivered);
        }
        owners += 1;
    }
}

/// Sends it to whoever has the session now.
async fn send_once(store: &dyn Store, session: SessionId, control: &Control) -> Result<ControlDelivery, StoreError> {
    let before = store.head(session).await?.seq;
    let at = SystemClock.now();
    let id = CommandId(Uuid::now_v7().to_string());
    let sent = SentCommand { id: id.clone(), control: control.clone(), at, expires: at.plus_ms(TO_NOTICE_MS) };
    let epoch = match store.send_command(session, sent).await? {
        Addressee::Owner { epoch } => epoch,
        Addressee::Nobody => return Ok(ControlDelivery::NobodyThere),
    };
    let waited = outcome(store, session, epoch, &id).await?;
    // One last look, after which nobody will take it.
    match store.withdraw_command(&id).await? {
        CommandState::Settled(outcome) => Ok(ControlDelivery::Done(outcome)),
        CommandState::Waiting | CommandState::Taken | CommandState::Gone => match waited {
            // It may have been done all the same: the journal is the truth.
            WaitOutcome::OwnerLeft => {
                let records = store.read(session, before).await?;
                Ok(recorded(&records, control).map_or(ControlDelivery::OwnerLeft, ControlDelivery::Done))
            }
            WaitOutcome::Unnoticed => Ok(ControlDelivery::NoAnswer),
            WaitOutcome::Settled | WaitOutcome::Unsettled => Ok(ControlDelivery::StillAtIt),
        },
    }
}

/// How waiting for an outcome ended.
enum WaitOutcome {
    Settled,
    Unnoticed,
    Unsettled,
    OwnerLeft,
}

async fn outcome(store: &dyn Store, session: SessionId, epoch: u64, id: &CommandId) -> Result<WaitOutcome, StoreError> {
    let begun = SystemClock.now();
    loop {
        // Looked at in this order: an owner that leaves has said before what it had to say.
        let left = !store.is_claimed(session).await? || store.head(session).await?.epoch != epoch;
        let waited = SystemClock.now().ms_since(begun);
        match store.command_state(id).await? {
            CommandState::Settled(_) => return Ok(WaitOutcome::Settled),
            CommandState::Waiting | CommandState::Gone | CommandState::Taken if left => {
                return Ok(WaitOutcome::OwnerLeft);
            }
            CommandState::Waiting | CommandState::Gone if waited >= TO_NOTICE_MS => return Ok(WaitOutcome::Unnoticed),
            CommandState::Taken if waited >= TO_NOTICE_MS + TO_DO_MS => return Ok(WaitOutcome::Unsettled),
            CommandState::Waiting | CommandState::Gone | CommandState::Taken => tokio::time::sleep(LOOK).await,
        }
    }
}

/// The command without secrets: it is stored for a while.
fn scrubbed(secrets: &Secrets, control: Control) -> Control {
    match control {
        Control::Stop {} => control,
        Control::Answer { question, mut answer } => {
            scrub_answer(secrets, &mut answer);
            Control::Answer { question, answer }
        }
    }
}

/// What the records since the command was sent say of it.
fn recorded(records: &[Envelope], control: &Control) -> Option<ControlOutcome> {
    let is_stopped = |record: &Record| matches!(record, Record::CancelAsked(asked) if asked.by == StopBy::Person);
    let is_answered = |record: &Record, wanted: QuestionId| {
        matches!(record, Record::QuestionAnswered(answered)
            if answered.question == wanted && answered.by == AnsweredBy::Person)
    };
    let mut records = records.iter().map(|envelope| &envelope.record);
    match control {
        Control::Stop {} => records.any(is_stopped).then_some(ControlOutcome::Stopped { runs: 1, dropped: 0 }),
        Control::Answer { question, .. } => {
            records.any(|record| is_answered(record, *question)).then_some(ControlOutcome::Answered {})
        }
    }
}
