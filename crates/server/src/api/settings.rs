//! What the server works with: models, tool servers, rules. Settings are the operator's; a tool server can be tried again.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use windlass::door::ResolvedModel;
use windlass_mcp::{ConnectionState, ServerState};
use windlass_runtime::ModelHealth;
use windlass_setup::agent::learned_chain;
use windlass_setup::models::DEMO;
use windlass_setup::models::questions::{ModelReach, reach};
use windlass_setup::settings::{SettingOrigin, Sourced};
use windlass_tools::Rule;

use super::Named;
use crate::access::{Caller, CallerRole, SignedIn};
use crate::error::{ApiError, ErrorKind};
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
    /// How its calls went lately.
    health: HealthWord,
    /// Until when it is not called, as long as another model of the chain can be; for `resting`.
    #[schema(required, format = "date-time")]
    resting_until: Option<String>,
    /// Whether its server answers now; `null` where it was not asked.
    #[schema(required)]
    reachable: Option<bool>,
}

/// How a model's calls went lately.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HealthWord {
    /// The last one was answered, or there was none.
    Fine,
    /// The last one was given up.
    Failing,
    /// Three in a row were given up.
    Resting,
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
    let built = state.shown_agent(&caller).await?;
    let mut chain = learned_chain(&built.setup, &built.model);
    // The demo model is what answers until there is one.
    chain.retain(|model| model.name.as_str() != DEMO);
    let reached = reach(&chain, &state.agents.http).await;
    let models = chain.into_iter().zip(reached).enumerate();
    let models = models.map(|(place, (model, reach))| listed_model(&state, place, model, reach)).collect();
    Ok(Json(ChainListing { models }))
}

fn listed_model(state: &HttpServer, place: usize, model: ResolvedModel, reach: ModelReach) -> ListedModelOfChain {
    let (health, until) = match state.live().breakers().health(&model.name, state.clock.now()) {
        ModelHealth::Fine => (HealthWord::Fine, None),
        ModelHealth::Failing => (HealthWord::Failing, None),
        ModelHealth::Resting(until) => (HealthWord::Resting, Some(until)),
    };
    ListedModelOfChain {
        in_use: place == 0,
        name: model.name.as_str().to_owned(),
        server: model.base_url,
        window: model.figures.window.or(model.declared.window),
        health,
        resting_until: until.map(|until| until.to_string()),
        reachable: match reach {
            ModelReach::Answers => Some(true),
            ModelReach::Silent => Some(false),
            ModelReach::NotAsked => None,
        },
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolServerListing {
    servers: Vec<ListedToolServer>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedToolServer {
    name: String,
    state: ServerWord,
    tools: usize,
    /// Why it is not connected.
    #[schema(required)]
    reason: Option<String>,
    /// The last lines that it wrote to standard error, for an admin: they can be about anybody's calls.
    log_tail: Vec<String>,
}

/// The state of a tool server.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ServerWord {
    Disabled,
    Idle,
    Connecting,
    Connected,
    Restarting,
    NeedsLogin,
    Failed,
    Closed,
    /// A project's file names it, and nobody has agreed to it yet.
    WaitingForConsent,
}

impl ListedToolServer {
    fn shown_to(caller: &Caller, server: ServerState) -> Self {
        let state = match server.state {
            ConnectionState::Disabled => ServerWord::Disabled,
            ConnectionState::Idle => ServerWord::Idle,
            ConnectionState::Connecting => ServerWord::Connecting,
            ConnectionState::Connected => ServerWord::Connected,
            ConnectionState::Restarting => ServerWord::Restarting,
            ConnectionState::NeedsAuth => ServerWord::NeedsLogin,
            ConnectionState::Failed => ServerWord::Failed,
            ConnectionState::Closed => ServerWord::Closed,
        };
        Self {
            name: server.name.to_string(),
            state,
            tools: server.tools.len(),
            reason: server.last_error,
            log_tail: if caller.role == CallerRole::Admin { server.log_tail } else { Vec::new() },
        }
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
    let built = state.shown_agent(&caller).await?;
    let states = built.setup.servers.known().map(|servers| servers.states()).unwrap_or_default();
    let withheld = built.setup.servers.withheld().iter().map(|name| ListedToolServer {
        name: name.to_string(),
        state: ServerWord::WaitingForConsent,
        tools: 0,
        reason: None,
        log_tail: Vec::new(),
    });
    let listed = states.into_iter().map(|server| ListedToolServer::shown_to(&caller, server));
    Ok(Json(ToolServerListing { servers: listed.chain(withheld).collect() }))
}

/// The tool server that the address names.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "it only describes the address")]
struct ToolServerInAddress {
    /// Its name, as listed.
    #[param(example = "time")]
    name: String,
}

/// Connects a tool server again; answered once it is connected or has failed
#[utoipa::path(
    post,
    path = "/api/servers/{name}/retry",
    tag = "server",
    params(ToolServerInAddress),
    responses((status = 200, description = "The server as it is then", body = ListedToolServer))
)]
pub(crate) async fn retry_server(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(name): Named<String>,
) -> Result<Json<ListedToolServer>, ApiError> {
    let built = state.shown_agent(&caller).await?;
    let unknown = || {
        ApiError::new(ErrorKind::NotFound, "there is no such tool server")
            .hint("GET /api/servers lists those there are")
    };
    let servers = built.setup.servers.servers().ok_or_else(unknown)?;
    let known = servers.states().into_iter().find(|known| known.name.to_string() == name).ok_or_else(unknown)?;
    // Why it could not be connected is part of its state.
    let _ = servers.connect(&known.name).await;
    let now = servers.states().into_iter().find(|now| now.name == known.name).unwrap_or(known);
    Ok(Json(ListedToolServer::shown_to(&caller, now)))
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
    let built = state.shown_agent(&caller).await?;
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
