//! What the server works with: models, tool servers, rules. Read only: settings are the operator's.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use windlass_mcp::{ConnectionState, ServerState};
use windlass_setup::agent::learned_chain;
use windlass_setup::models::DEMO;
use windlass_setup::session_agent::AgentPurpose;
use windlass_setup::settings::{SettingOrigin, Sourced};
use windlass_tools::Rule;

use crate::access::SignedIn;
use crate::error::ApiError;
use crate::state::HttpServer;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChainListing {
    models: Vec<ListedModelOfChain>,
}

/// A model that new runs call, in the order they are tried.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedModelOfChain {
    name: String,
    server: String,
    /// How many tokens it reads, if that is known.
    #[schema(required)]
    window: Option<u64>,
    /// Whether new runs call it first.
    in_use: bool,
}

/// The models of new runs, in the order they are tried
#[utoipa::path(
    get,
    path = "/api/models",
    tag = "server",
    responses((status = 200, description = "The chain", body = ChainListing))
)]
pub(crate) async fn models(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
) -> Result<Json<ChainListing>, ApiError> {
    let built = state.agent(&caller, None, AgentPurpose::Say).await?;
    let chain = learned_chain(&built.setup, &built.model);
    let mut models: Vec<ListedModelOfChain> = chain
        .into_iter()
        .enumerate()
        .map(|(place, model)| ListedModelOfChain {
            in_use: place == 0,
            name: model.name.as_str().to_owned(),
            server: model.base_url,
            window: model.figures.window.or(model.declared.window),
        })
        .collect();
    // The demo model is what answers until there is one.
    models.retain(|model| model.name != DEMO);
    Ok(Json(ChainListing { models }))
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolServerListing {
    servers: Vec<ListedToolServer>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedToolServer {
    name: String,
    state: &'static str,
    tools: usize,
    /// Why it is not connected.
    #[schema(required)]
    reason: Option<String>,
}

impl From<ServerState> for ListedToolServer {
    fn from(server: ServerState) -> Self {
        let state = match server.state {
            ConnectionState::Disabled => "disabled",
            ConnectionState::Idle => "idle",
            ConnectionState::Connecting => "connecting",
            ConnectionState::Connected => "connected",
            ConnectionState::Restarting => "restarting",
            ConnectionState::NeedsAuth => "needs_login",
            ConnectionState::Failed => "failed",
            ConnectionState::Closed => "closed",
        };
        Self { name: server.name.to_string(), state, tools: server.tools.len(), reason: server.last_error }
    }
}

/// The tool servers of new sessions
#[utoipa::path(
    get,
    path = "/api/servers",
    tag = "server",
    responses((status = 200, description = "The servers", body = ToolServerListing))
)]
pub(crate) async fn servers(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
) -> Result<Json<ToolServerListing>, ApiError> {
    let built = state.agent(&caller, None, AgentPurpose::Say).await?;
    let states = built.setup.servers.known().map(|servers| servers.states()).unwrap_or_default();
    Ok(Json(ToolServerListing { servers: states.into_iter().map(Into::into).collect() }))
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SettingsInUse {
    model: String,
    preset: String,
    mode: &'static str,
    sandbox: String,
    rules: RulesInUse,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RulesInUse {
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
}

/// What new sessions work with
#[utoipa::path(
    get,
    path = "/api/settings",
    tag = "server",
    responses((status = 200, description = "The settings", body = SettingsInUse))
)]
pub(crate) async fn settings(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
) -> Result<Json<SettingsInUse>, ApiError> {
    let built = state.agent(&caller, None, AgentPurpose::Say).await?;
    let settings = &built.setup.settings;
    // What the caller allowed by their answers is listed by itself.
    let mut configured = settings.permissions.allow.clone();
    configured.retain(|rule| rule.origin != SettingOrigin::Session);
    let texts = |rules: &[Sourced<Rule>]| rules.iter().map(|rule| rule.value.to_string()).collect();
    Ok(Json(SettingsInUse {
        model: built.model.as_str().to_owned(),
        preset: settings.policy.preset.clone(),
        mode: settings.permissions.mode.value.as_str(),
        sandbox: settings.sandbox.mode.value.as_str().to_owned(),
        rules: RulesInUse {
            allow: texts(&configured),
            ask: texts(&settings.permissions.ask),
            deny: texts(&settings.permissions.deny),
        },
    }))
}
