//! Sends a command to a session that another process drives: leaves it in the store for that process and waits for the
//! outcome.

use std::time::Duration;

use uuid::Uuid;
use windlass_store::{Addressee, CommandState, SentCommand, Store, StoreError};
use windlass_tools::Secrets;
use windlass_vocab::{
    AnsweredBy, CommandId, Control, ControlOutcome, Envelope, QuestionId, Record, SessionChanged, SessionEdit,
    SessionId, StopBy, Timestamp,
};

use crate::clock::{Clock as _, SystemClock};
use crate::scrub::scrub_answer;

/// How long the owner may take to notice the command. A running owner polls four times a second.
const TO_NOTICE_MS: u64 = 10_000;

/// How long the owner may take to execute the command after that.
const TO_DO_MS: u64 = 20_000;

/// How often the sender polls for the outcome.
const LOOK: Duration = Duration::from_millis(40);

/// The result of sending a command to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlDelivery {
    /// The session executed it, with this outcome.
    Done(ControlOutcome),
    /// No process has the session open.
    NobodyThere,
    /// The process that had the session released it or died before it reported an outcome, and the journal shows no
    /// trace of the command.
    OwnerLeft,
    /// The process that has the session does not react; the command was withdrawn.
    NoAnswer,
    /// The process took the command and has not reported an outcome yet.
    StillAtIt,
}

/// To how many owners in turn a command is sent, if each loses the session before it answers.
const OWNERS: u32 = 3;

/// Leaves a command for the process that drives the session, and waits until it reports the outcome. Secrets in the
/// person's text are replaced before it is stored.
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
        // Another process took the session over meanwhile: send the command to that one.
        if delivered != ControlDelivery::OwnerLeft || owners == OWNERS || !store.is_claimed(session).await? {
            return Ok(delivered);
        }
        owners += 1;
    }
}

/// Leaves a stop for the process that drives the session, without waiting for what becomes of it.
pub(crate) async fn leave_stop(store: &dyn Store, session: SessionId, at: Timestamp) -> Result<(), StoreError> {
    let id = CommandId(Uuid::now_v7().to_string());
    let sent = SentCommand { id, control: Control::Stop {}, at, expires: at.plus_ms(TO_NOTICE_MS) };
    store.send_command(session, sent).await.map(drop)
}

/// Sends it to the process that has the session now.
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
    // One last check of the outcome; after the withdrawal nobody can take the command.
    match store.withdraw_command(&id).await? {
        CommandState::Settled(outcome) => Ok(ControlDelivery::Done(outcome)),
        CommandState::Waiting | CommandState::Taken | CommandState::Gone => match waited {
            // It may have been executed all the same: the journal decides.
            WaitOutcome::OwnerLeft => {
                let records = store.read(session, before).await?;
                Ok(recorded(&records, control).map_or(ControlDelivery::OwnerLeft, ControlDelivery::Done))
            }
            WaitOutcome::Unnoticed => Ok(ControlDelivery::NoAnswer),
            WaitOutcome::Settled | WaitOutcome::Unsettled => Ok(ControlDelivery::StillAtIt),
        },
    }
}

/// How the wait for an outcome ended.
enum WaitOutcome {
    Settled,
    Unnoticed,
    Unsettled,
    OwnerLeft,
}

async fn outcome(store: &dyn Store, session: SessionId, epoch: u64, id: &CommandId) -> Result<WaitOutcome, StoreError> {
    let begun = SystemClock.now();
    loop {
        // In this order, because an owner reports its outcomes before it releases the session.
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

/// Returns the command without secrets, because it is stored for a while.
fn scrubbed(secrets: &Secrets, control: Control) -> Control {
    match control {
        Control::Stop {} => control,
        Control::Answer { question, mut answer } => {
            scrub_answer(secrets, &mut answer);
            Control::Answer { question, answer }
        }
        Control::Edit { edit: SessionEdit::Title(title) } => {
            Control::Edit { edit: SessionEdit::Title(secrets.scrub(&title).into_owned()) }
        }
        Control::Edit {
            edit:
                SessionEdit::Pin | SessionEdit::Unpin | SessionEdit::Archive | SessionEdit::Unarchive | SessionEdit::Compact,
        } => control,
    }
}

/// Returns the outcome of the command according to the records since it was sent.
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
        Control::Edit { edit } => {
            let wanted = Record::from(SessionChanged::from(edit.clone()));
            records.any(|record| *record == wanted).then_some(ControlOutcome::Edited {})
        }
    }
}
