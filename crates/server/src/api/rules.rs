//! What the caller allowed for good: kept in the store when they answered "always", for the folder in which they saw the
//! call. The operator's own settings are no part of it, and what those deny or ask about still is.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use windlass_store::{
    AllowedRule, ForgetOutcome, KeepOutcome, KeptRule, ReverseRecords, SessionRow, StoreError, UserRuleId,
};
use windlass_tools::{Rule, contains_placeholder};
use windlass_vocab::{QuestionId, Record};

use super::Named;
use crate::access::{Caller, SignedIn};
use crate::document::shapes::RuleInAddress;
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// The rules of the caller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RuleListing {
    rules: Vec<RuleRow>,
}

/// A rule as listed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RuleRow {
    id: u64,
    rule: String,
    /// The folder in which it holds.
    folder: String,
    allowed: String,
}

impl From<KeptRule> for RuleRow {
    fn from(kept: KeptRule) -> Self {
        let AllowedRule { folder, rule, at, .. } = kept.allowed;
        Self { id: kept.id.0, rule, folder, allowed: at.to_string() }
    }
}

/// What you allowed for good by your answers
#[utoipa::path(
    get,
    path = "/api/rules",
    tag = "server",
    operation_id = "list_rules",
    responses((status = 200, description = "The rules, the oldest first", body = RuleListing))
)]
pub(crate) async fn list(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
) -> Result<Json<RuleListing>, ApiError> {
    let rules = state.store().rules_of(&caller.user).await?;
    Ok(Json(RuleListing { rules: rules.into_iter().map(Into::into).collect() }))
}

/// Takes back what you allowed for good: it is asked about again, from the next run on
#[utoipa::path(
    delete,
    path = "/api/rules/{rule}",
    tag = "server",
    params(RuleInAddress),
    responses((status = 204, description = "The rule is gone"))
)]
pub(crate) async fn forget(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(rule): Named<u64>,
) -> Result<StatusCode, ApiError> {
    match state.store().forget_rule(&caller.user, UserRuleId(rule)).await? {
        ForgetOutcome::Forgotten => Ok(StatusCode::NO_CONTENT),
        ForgetOutcome::NotThere => {
            Err(ApiError::new(ErrorKind::NotFound, "you have no such rule").hint("GET /api/rules lists your rules"))
        }
    }
}

/// Whether an "always" was kept beyond the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AlwaysOutcome {
    /// It holds in all sessions of the caller in this folder.
    Kept,
    /// It holds for this session only: the session is somebody else's, its rule names a secret, there are too many, or it
    /// could not be stored.
    SessionOnly,
}

/// Keeps the rule of a question that the caller has answered with "always": the very rule they were shown. The answer counts
/// already, so a fault here is no fault of the request.
pub(crate) async fn keep(state: &HttpServer, caller: &Caller, row: &SessionRow, question: QuestionId) -> AlwaysOutcome {
    store(state, caller, row, question).await.unwrap_or_else(|error| {
        tracing::error!(%error, "a rule can't be kept");
        AlwaysOutcome::SessionOnly
    })
}

async fn store(
    state: &HttpServer,
    caller: &Caller,
    row: &SessionRow,
    question: QuestionId,
) -> Result<AlwaysOutcome, StoreError> {
    // What an admin allows in a session of another must not widen what all sessions of that user may do.
    let Some(folder) = row.workspace.clone().filter(|_| row.owner == caller.user) else {
        return Ok(AlwaysOutcome::SessionOnly);
    };
    let shown = ReverseRecords::new(state.store().as_ref(), row.session).find_map(|envelope| match envelope.record {
        Record::QuestionAsked(asked) if asked.question == question => Some(asked.preview.and_then(|shown| shown.rule)),
        _ => None,
    });
    let rule = shown.await?.flatten();
    let Some(rule) = rule.filter(|rule| !contains_placeholder(rule) && rule.parse::<Rule>().is_ok()) else {
        return Ok(AlwaysOutcome::SessionOnly);
    };
    let allowed = AllowedRule { user: caller.user.clone(), folder, rule, at: state.clock.now() };
    Ok(match state.store().keep_rule(allowed).await? {
        KeepOutcome::Kept(_) => AlwaysOutcome::Kept,
        KeepOutcome::TooMany => AlwaysOutcome::SessionOnly,
    })
}
