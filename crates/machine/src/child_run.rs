//! The run of a child session that carries out a step (S3): under which policy it runs, and what it reports.

use std::num::NonZeroU64;

use windlass_vocab::{
    Attachment, CallId, ChildReported, Dollars, EndReason, EndsBy, IntentRouter, Overview, Planning, Policy, Record,
    RunEnded, SessionId, SpendingLimit, TextOrigin, Timestamp, Titles,
};

use crate::state::State;

/// Returns the policy of a child that starts at this time: the run's own, without a router, a plan and a title, and with what is
/// left of its limits (M7). Limits that all sessions share are left as they are: they count the child by themselves.
#[must_use]
pub fn child_policy(state: &State, at: Timestamp) -> Option<Policy> {
    let run = state.control.run.as_ref()?;
    let mut policy = Policy { planning: Planning::No, titles: Titles::Off, ..run.policy().clone() };
    // Its message names the whole job, by which its reply must not be judged, and has the text of its file.
    if policy.ends_by == EndsBy::JudgedText {
        policy.ends_by = EndsBy::Text;
    }
    (policy.overview, policy.router) = (Overview::Off, IntentRouter::Off);
    for limit in SpendingLimit::ALL {
        let Some(left) = state.control.left_of(run, limit, at) else { continue };
        let count = NonZeroU64::new(left.max(1));
        match limit {
            SpendingLimit::RunCost => policy.run_cost_limit = Some(Dollars::of_nano(left)),
            SpendingLimit::SessionCost => policy.session_cost_limit = Some(Dollars::of_nano(left)),
            SpendingLimit::RunTokens => policy.run_token_limit = count,
            SpendingLimit::SessionTokens => policy.session_token_limit = count,
            SpendingLimit::RunTime => policy.run_time_limit_ms = count,
            SpendingLimit::DayCost
            | SpendingLimit::DayTokens
            | SpendingLimit::AgentCost
            | SpendingLimit::AgentTokens => {}
        }
    }
    Some(policy)
}

/// Returns what a child session reports, by its records; `None` while its run is open.
#[must_use]
pub fn child_report(child: CallId, session: SessionId, records: &[Record]) -> Option<ChildReported> {
    let state = State::fold(session, records);
    if state.control.run.is_some() {
        return None;
    }
    let (_, ended) = state.control.last.as_ref()?;
    let RunEnded { reason, answer, usage, changes, .. } = ended.as_ref().clone();
    let changed = changes.iter().flat_map(|changes| changes.paths()).map(str::to_owned).collect();
    let (origins, spent) = (unchecked_origins(records), state.control.spending);
    Some(ChildReported { child, session: Some(session), reason, answer, changed, origins, usage, spent })
}

/// The most origins that a report names.
const ORIGINS: usize = 8;

/// Returns where text came from that a session was shown and nobody has checked, each once (X4).
fn unchecked_origins(records: &[Record]) -> Vec<TextOrigin> {
    let mut origins: Vec<TextOrigin> = Vec::new();
    let mut add = |origin: Option<&TextOrigin>| {
        if let Some(origin) = origin.filter(|origin| !origins.contains(origin) && origins.len() < ORIGINS) {
            origins.push(origin.clone());
        }
    };
    for record in records {
        match record {
            Record::MessageAccepted(accepted) => accepted.attachments.iter().for_each(|attachment| match attachment {
                Attachment::Text(text) => add(text.origin.as_ref()),
                Attachment::Image(_) => {}
            }),
            Record::ContextPinned(pinned) => {
                pinned.overview.iter().flat_map(|overview| &overview.files).for_each(|file| add(file.origin.as_ref()));
            }
            Record::CallFinished(finished) => add(finished.origin.as_ref()),
            _ => {}
        }
    }
    origins
}

/// Returns the report of a child that was never started, or that can't be opened.
#[must_use]
pub fn report_without_child(child: CallId, reason: EndReason, why: &str) -> ChildReported {
    ChildReported {
        child,
        session: None,
        reason,
        answer: why.to_owned(),
        changed: Vec::new(),
        origins: Vec::new(),
        usage: windlass_vocab::Usage::default(),
        spent: windlass_vocab::Spending::default(),
    }
}
