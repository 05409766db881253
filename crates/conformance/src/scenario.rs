//! The suite's description of a scenario: its name, and what a user would have configured or requested.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;
use windlass_mcp::{OAuth, ServerConfig, ServerTransport, TokenSubject};
use windlass_tools::Tool;

use crate::form;

/// The suite's own limit in the tests is a little longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The address of a client metadata document known to the suite's authorization servers.
const METADATA: &str = "https://conformance-test.local/client-metadata.json";

/// A scenario of the suite.
#[derive(Debug)]
pub(crate) struct Scenario {
    name: String,
    context: Context,
}

/// The data a scenario supplies to its client.
#[derive(Debug, Default, Deserialize)]
struct Context {
    client_id: Option<String>,
    client_secret: Option<String>,
    #[serde(default, rename = "toolCalls")]
    calls: Vec<ScenarioCall>,
}

#[derive(Debug, Deserialize)]
struct ScenarioCall {
    name: String,
    arguments: Value,
}

impl Scenario {
    pub(crate) fn from_environment() -> Result<Self> {
        let variable = |name: &str| std::env::var(format!("MCP_CONFORMANCE_{name}")).ok();
        let context = match variable("CONTEXT") {
            Some(text) => serde_json::from_str(&text).context("MCP_CONFORMANCE_CONTEXT can't be read")?,
            None => Context::default(),
        };
        Ok(Self { name: variable("SCENARIO").unwrap_or_default(), context })
    }

    /// Returns the configuration of the suite's server for this scenario.
    pub(crate) fn server(&self, url: &str) -> ServerConfig {
        let oauth = OAuth {
            client_id: self.context.client_id.clone(),
            client_secret: self.context.client_secret.clone(),
            client_metadata_url: Some(METADATA.into()),
            bearer: if self.name.starts_with("auth/client-credentials") {
                TokenSubject::Program
            } else {
                TokenSubject::Person
            },
            ..OAuth::default()
        };
        let reach = ServerTransport::Http { url: url.to_owned(), headers: Default::default(), oauth };
        ServerConfig { startup_timeout: PATIENCE, call_timeout: PATIENCE, ..ServerConfig::new(reach) }
    }

    /// Returns the calls to make with their arguments: those of the scenario, else every tool once.
    pub(crate) fn calls(&self, tools: &[Arc<dyn Tool>]) -> Result<Vec<(Arc<dyn Tool>, Value)>> {
        if self.context.calls.is_empty() {
            return tools.iter().map(|tool| Ok((Arc::clone(tool), form::arguments(tool.spec(), tools)?))).collect();
        }
        let wanted = self.context.calls.iter().map(|call| {
            let tool = tools.iter().find(|tool| tool.spec().name.bare() == call.name);
            let tool = tool.with_context(|| format!("the server does not list `{}`", call.name))?;
            Ok((Arc::clone(tool), call.arguments.clone()))
        });
        wanted.collect()
    }
}
