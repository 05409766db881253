//! Several agents in a web server: each has its own sessions, and requests that name the same session continue it.
//!
//! ```text
//! curl -d "The Anna is in." http://127.0.0.1:PORT/pilot/harbour
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use windlass::{Agent, Builder, RunErrorReason};

type Agents = Arc<BTreeMap<&'static str, Agent>>;

/// Builds an agent with its own sessions.
fn agent(name: &'static str, system: &str) -> anyhow::Result<(&'static str, Agent)> {
    Ok((name, Builder::from_env()?.owner(name).system(system).build()?))
}

async fn say(
    State(agents): State<Agents>,
    Path((agent, session)): Path<(String, String)>,
    prompt: String,
) -> Result<String, (StatusCode, String)> {
    let agent = agents.get(agent.as_str()).ok_or((StatusCode::NOT_FOUND, "no such agent".to_owned()))?;
    agent.session(session).run(&prompt).await.map_err(|error| match &error.reason {
        RunErrorReason::Capped(_) => (StatusCode::GATEWAY_TIMEOUT, error.text),
        _ => (StatusCode::BAD_GATEWAY, error.to_string()),
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let agents = BTreeMap::from([
        agent("pilot", "You are a harbour pilot. Answer in one sentence.")?,
        agent("cook", "You are a ship's cook. Answer with a recipe.")?,
    ]);
    let app = Router::new().route("/{agent}/{session}", post(say)).with_state(Arc::new(agents));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}
