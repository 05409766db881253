//! What model calls used and cost (M7).

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use windlass::door::is_on_this_machine;
use windlass_store::{Charge, charges};
use windlass_vocab::{NanoMoney, Timestamp};

use super::Asked;
use crate::access::SignedIn;
use crate::error::ApiError;
use crate::state::HttpServer;

/// The length of a day, in milliseconds.
const DAY_MS: u64 = 86_400_000;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageQuery {
    #[serde(default)]
    #[param(inline)]
    by: UsageBy,
    /// The first day that counts, in UTC; absent means the first there is.
    #[param(format = "date", value_type = Option<String>)]
    from: Option<UsageDay>,
    /// The last day that counts, in UTC; absent means today.
    #[param(format = "date", value_type = Option<String>)]
    to: Option<UsageDay>,
}

/// A day in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UsageDay(Timestamp);

impl<'de> Deserialize<'de> for UsageDay {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let midnight = format!("{text}T00:00:00.000Z").parse();
        midnight.map(Self).map_err(|_| serde::de::Error::custom(format!("`{text}` is not a day like 2026-11-18")))
    }
}

impl UsageQuery {
    fn has(&self, charge: &Charge) -> bool {
        let ended = self.to.is_some_and(|UsageDay(to)| charge.at >= to.plus_ms(DAY_MS));
        self.from.is_none_or(|UsageDay(from)| charge.at >= from) && !ended
    }
}

/// What the sums are made by.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UsageBy {
    #[default]
    Day,
    Model,
    Session,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageTable {
    rows: Vec<UsageLine>,
}

#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct UsageLine {
    name: String,
    calls: u64,
    tokens_in: u64,
    tokens_out: u64,
    /// In billionths of a dollar; calls without a known price are left out.
    cost_nanos: i64,
    /// Calls whose price is not known.
    unpriced_calls: u64,
}

impl UsageLine {
    fn add(&mut self, charge: &Charge) {
        self.calls += 1;
        self.tokens_in = self.tokens_in.saturating_add(charge.usage.input);
        self.tokens_out = self.tokens_out.saturating_add(charge.usage.output);
        let is_free = || charge.server.as_deref().is_some_and(is_on_this_machine);
        match charge.cost.or_else(|| is_free().then_some(NanoMoney(0))) {
            Some(NanoMoney(nanos)) => self.cost_nanos = self.cost_nanos.saturating_add(nanos),
            None => self.unpriced_calls += 1,
        }
    }
}

/// What the caller's model calls used and cost
#[utoipa::path(
    get,
    path = "/api/usage",
    tag = "server",
    params(UsageQuery),
    responses((status = 200, description = "The sums", body = UsageTable))
)]
pub(crate) async fn usage(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Asked(query): Asked<UsageQuery>,
) -> Result<Json<UsageTable>, ApiError> {
    let mut sums: BTreeMap<String, UsageLine> = BTreeMap::new();
    let since = query.from.map_or(Timestamp(0), |UsageDay(from)| from);
    let all = charges(state.store().as_ref(), &caller.user, since).await?.charges;
    for charge in all.into_iter().filter(|charge| query.has(charge)) {
        let name = match query.by {
            UsageBy::Day => charge.at.to_string().chars().take(10).collect(),
            UsageBy::Model => charge.model.as_str().to_owned(),
            UsageBy::Session => charge.session.to_string(),
        };
        sums.entry(name).or_default().add(&charge);
    }
    let rows = sums.into_iter().map(|(name, line)| UsageLine { name, ..line }).collect();
    Ok(Json(UsageTable { rows }))
}
