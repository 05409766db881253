//! Ends the run of a session that no process has open, in the journal alone: nothing of the run is resumed or executed.

use windlass_machine::{Effect, Fact, State, child_report, outstanding, report_without_child};
use windlass_store::{Store, StoreError};
use windlass_tools::Secrets;
use windlass_vocab::{EndReason, Record, SessionId, StopBy, Usage, child_key};

use crate::claimed_journal::ClaimedJournal;
use crate::clock::Clock;
use crate::live::LiveSessions;
use crate::opening::OpenError;
use crate::plan_steps::HELD_ELSEWHERE;
use crate::send_control::leave_stop;
use crate::session::StopOutcome;

/// Stops the open run of a session as a person's stop does, and drops its waiting messages. Fails with
/// [`StoreError::Busy`] where a process has the session open.
pub async fn stop_abandoned(
    store: &dyn Store,
    secrets: &Secrets,
    clock: &dyn Clock,
    session: SessionId,
) -> Result<StopOutcome, OpenError> {
    let mut journal = ClaimedJournal::claim(store, secrets, clock, session).await?;
    let dropped = store.drop_waiting(session).await?;
    let Some(run) = &journal.state.control.run else { return Ok(StopOutcome { runs: 0, dropped }) };
    let unseen = run.dropped_by(StopBy::Person).len();
    journal.begin().await?;
    journal.record(Fact::Stopped(StopBy::Person)).await?;
    let mut last = None;
    for effect in outstanding(&journal.state) {
        last = last.or(last_fact(store, secrets, clock, &journal.state, effect).await?);
    }
    if let Some(fact) = last {
        journal.record(fact).await?;
    }
    Ok(StopOutcome { runs: 1, dropped: dropped + unseen })
}

impl LiveSessions {
    /// Like [`stop_abandoned`]; whoever opens the session in this process meanwhile waits, instead of finding it claimed.
    pub async fn stop_abandoned(
        &self,
        store: &dyn Store,
        secrets: &Secrets,
        clock: &dyn Clock,
        session: SessionId,
    ) -> Result<StopOutcome, OpenError> {
        let _turn = self.turn(session).await;
        stop_abandoned(store, secrets, clock, session).await
    }
}

/// Returns the fact that a stopped run still waits for, if it waits for this effect.
async fn last_fact(
    store: &dyn Store,
    secrets: &Secrets,
    clock: &dyn Clock,
    state: &State,
    effect: Effect,
) -> Result<Option<Fact>, OpenError> {
    match effect {
        // What a model call had streamed died with its process.
        Effect::HandBack(attempt) => {
            Ok(Some(Fact::HandedBack { attempt, text: String::new(), usage: Usage::default() }))
        }
        // The child session that worked on a step is stopped with its parent.
        Effect::RunStep { child, .. } => {
            let owner = state.control.opened.as_ref().map(|opened| opened.owner.as_str()).unwrap_or_default();
            let key = child_key(state.session, child);
            let Some(session) = store.find(owner, &key).await? else {
                return Ok(Some(Fact::StepReported(report_without_child(child, EndReason::Cancelled, ""))));
            };
            match Box::pin(stop_abandoned(store, secrets, clock, session)).await {
                Ok(_) => {}
                // A stop does not wait for another process.
                Err(OpenError::Store(StoreError::Busy { .. })) => {
                    leave_stop(store, session, clock.now()).await?;
                    let report = report_without_child(child, EndReason::Cancelled, HELD_ELSEWHERE);
                    return Ok(Some(Fact::StepReported(report)));
                }
                Err(error) => return Err(error),
            }
            let records = store.read(session, 0).await?;
            let records: Vec<Record> = records.into_iter().map(|envelope| envelope.record).collect();
            let report = child_report(child, session, &records);
            let report = report.unwrap_or_else(|| report_without_child(child, EndReason::Cancelled, ""));
            Ok(Some(Fact::StepReported(report)))
        }
        Effect::Pin(_)
        | Effect::CallModel { .. }
        | Effect::CheckPermission { .. }
        | Effect::VerifyCall { .. }
        | Effect::TakeSnapshot { .. }
        | Effect::RunCall { .. }
        | Effect::Restore(_)
        | Effect::Ask(_)
        | Effect::Receive => Ok(None),
    }
}
