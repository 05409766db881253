//! Agents as models: `windlass` is the agent of new sessions, `windlass/NAME` the one that a table `[agents.NAME]` of the
//! settings describes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::error::OpenAiError;
use crate::access::SignedIn;
use crate::api::Named;
use crate::document::OPENAI_TAG;
use crate::error::ApiError;
use crate::state::HttpServer;

/// The model that stands for the agent of new sessions.
const DEFAULT: &str = "windlass";

/// An agent in the list of models.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ListedAgent {
    id: String,
    object: &'static str,
    /// When it was made. Agents have no such date.
    created: u64,
    owned_by: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AgentListing {
    object: &'static str,
    data: Vec<ListedAgent>,
}

/// The agent that a request names as its model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedAgent {
    /// The model as the request named it.
    pub(super) model: String,
    /// The agent's name; `None` for the agent of new sessions.
    pub(super) agent: Option<String>,
}

fn listed(id: String) -> ListedAgent {
    ListedAgent { id, object: "model", created: 0, owned_by: "windlass" }
}

fn ids(state: &HttpServer) -> Result<Vec<String>, OpenAiError> {
    let names = state.agents.agent_names().map_err(ApiError::from)?;
    let named = names.into_iter().map(|name| format!("{DEFAULT}/{name}"));
    Ok(std::iter::once(DEFAULT.to_owned()).chain(named).collect())
}

/// Returns the agent that this model stands for.
pub(super) fn agent_of(state: &HttpServer, model: &str) -> Result<NamedAgent, OpenAiError> {
    let known = ids(state)?;
    if !known.iter().any(|id| id == model) {
        return Err(OpenAiError::no_model(model, &known));
    }
    let agent = model.strip_prefix(DEFAULT).and_then(|rest| rest.strip_prefix('/'));
    Ok(NamedAgent { model: model.to_owned(), agent: agent.map(str::to_owned) })
}

/// The agents, as OpenAI lists models
#[utoipa::path(
    get,
    path = "/v1/models",
    tag = OPENAI_TAG,
    operation_id = "openai_models",
    responses((status = 200, description = "The agents", body = AgentListing))
)]
pub(super) async fn list(
    State(state): State<Arc<HttpServer>>,
    SignedIn(_): SignedIn,
) -> Result<Json<AgentListing>, OpenAiError> {
    let data = ids(&state)?.into_iter().map(listed).collect();
    Ok(Json(AgentListing { object: "list", data }))
}

/// One agent, as OpenAI describes a model
#[utoipa::path(
    get,
    path = "/v1/models/{*id}",
    tag = OPENAI_TAG,
    operation_id = "openai_model",
    params(("id" = String, Path, description = "`windlass`, or `windlass/NAME`")),
    responses((status = 200, description = "The agent", body = ListedAgent))
)]
pub(super) async fn get(
    State(state): State<Arc<HttpServer>>,
    SignedIn(_): SignedIn,
    Named(id): Named<String>,
) -> Result<Json<ListedAgent>, OpenAiError> {
    let NamedAgent { model, .. } = agent_of(&state, &id)?;
    Ok(Json(listed(model)))
}
