//! Executes a command on a session that this process drives.

use windlass_store::{ReverseRecords, Store, StoreError};
use windlass_vocab::{Control, ControlOutcome, QuestionId, Record, SessionId, StopBy};

use crate::closed::SessionClosed;
use crate::session::Session;

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
        Control::Edit { edit } => session.edit(edit).await.map(|()| ControlOutcome::Edited {}),
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
