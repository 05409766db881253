//! Ends the run of a session that no process has open, in the journal alone: nothing of the run is resumed or executed.

use windlass_machine::{Effect, Fact, State, outstanding};
use windlass_store::{Batch, Store, Writer};
use windlass_tools::Secrets;
use windlass_vocab::{NewerRecord, SessionId, StopBy, Usage};

use crate::clock::Clock;
use crate::opening::{OpenError, lease_taken, nonce};
use crate::session::StopOutcome;
use crate::session_writer::SessionWriter;

/// Stops the open run of a session as a person's stop does, and drops its waiting messages. Fails with
/// [`windlass_store::StoreError::Busy`] where a process has the session open.
pub async fn stop_abandoned(
    store: &dyn Store,
    secrets: &Secrets,
    clock: &dyn Clock,
    session: SessionId,
) -> Result<StopOutcome, OpenError> {
    let lease = store.claim(session).await?;
    let records = store.read(session, 0).await?;
    if let Some(NewerRecord { seq, kind, before }) = NewerRecord::first(&records) {
        return Err(OpenError::Newer { seq, kind, before });
    }
    let mut state = State::fold(session, records.iter().map(|envelope| &envelope.record));
    let mut writer = Writer::new(session, lease.head(), nonce());
    let dropped = store.drop_waiting(session).await?;
    let Some(run) = &state.control.run else { return Ok(StopOutcome { runs: 0, dropped }) };
    let unseen = run.dropped_by(StopBy::Person).len();
    for fact in [Fact::LeaseTaken(lease_taken(lease.epoch())), Fact::Stopped(StopBy::Person)] {
        let session_writer = SessionWriter { store, secrets, clock, state: &mut state, writer: &mut writer };
        session_writer.step(fact, Batch::default()).await?;
    }
    // What a model call had streamed died with its process.
    let handed_back = outstanding(&state).into_iter().find_map(|effect| match effect {
        Effect::HandBack(attempt) => Some(Fact::HandedBack { attempt, text: String::new(), usage: Usage::default() }),
        Effect::Pin(_)
        | Effect::CallModel { .. }
        | Effect::CheckPermission { .. }
        | Effect::VerifyCall { .. }
        | Effect::TakeSnapshot { .. }
        | Effect::RunCall { .. }
        | Effect::Restore(_)
        | Effect::Ask(_)
        | Effect::Receive => None,
    });
    if let Some(fact) = handed_back {
        let session_writer = SessionWriter { store, secrets, clock, state: &mut state, writer: &mut writer };
        session_writer.step(fact, Batch::default()).await?;
    }
    Ok(StopOutcome { runs: 1, dropped: dropped + unseen })
}
