//! The calls of a run that were denied: a client that awaits the run learns what was not done, and what would allow it.

use serde::Serialize;
use windlass_narrate::{Detail, Narrator};
use windlass_store::{ReverseRecords, Store, StoreError};
use windlass_vocab::{CallId, Envelope, OutcomeKind, Record, Remedy, RunId, SessionId};

use crate::output::advice::for_call;

/// A call that was denied.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct DeniedCall {
    call: CallId,
    /// Its tool and arguments, on one line.
    what: String,
    /// Why it was denied.
    why: String,
    /// What a person could change so that such a call would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<Remedy>,
    /// How they would change it here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    advice: Vec<String>,
}

/// Returns the denied calls of a run, in order.
pub(super) async fn denied_calls(
    store: &dyn Store,
    session: SessionId,
    run: RunId,
) -> Result<Vec<DeniedCall>, StoreError> {
    let mut records = Vec::new();
    let mut journal = ReverseRecords::new(store, session);
    while let Some(envelope) = journal.next().await? {
        match envelope.run {
            Some(later) if later > run => {}
            Some(earlier) if earlier < run => break,
            Some(_) | None => records.push(envelope),
        }
    }
    Ok(denied_among(records.iter().rev()))
}

fn denied_among<'a>(records: impl Iterator<Item = &'a Envelope>) -> Vec<DeniedCall> {
    let mut narrator = Narrator::new(Detail::Brief);
    let mut denied = Vec::new();
    for envelope in records {
        let lines = narrator.record(&envelope.record, envelope.at);
        if let Record::CallFinished(finished) = &envelope.record
            && finished.outcome == OutcomeKind::Denied
            && let Some(line) = lines.into_iter().next()
        {
            let why = line.end.and_then(|end| end.problem).map(|problem| problem.detail).unwrap_or_default();
            let advice = line.remedy.iter().flat_map(for_call).collect();
            denied.push(DeniedCall { call: finished.call, what: line.text, why, remedy: line.remedy, advice });
        }
    }
    denied
}
