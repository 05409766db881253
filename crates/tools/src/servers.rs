//! Servers whose tools come and go (P2), and how a run waits for one without holding up its prompt.
//!
//! The protocol: a run's pin `wake`s the servers and offers what they are known to have, at once. A
//! server never seen before is `awaited`: the offer then has [`WaitForServers`], by which the model
//! itself decides whether its job is worth the wait, and what the server brings joins the offer at the
//! next turn.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Json, Outcome, ToolName, ToolSpec};

use crate::{BoxFuture, CallContext, Tool};

/// Servers whose tools come and go: MCP servers.
pub trait ToolServers: Send + Sync {
    /// Begins to connect whatever is not connected, and returns at once.
    fn wake(&self);

    /// The names of all of them, also of those that are disabled, failed or not agreed to: a call that
    /// names one of them is meant for no other.
    fn names(&self) -> Vec<String>;

    /// The tools known now: those of connected servers, and those remembered from last time.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// The servers being connected whose tools are not known yet.
    fn awaited(&self) -> Vec<String>;

    /// Resolves when each of these is connected or given up.
    fn settled(&self, servers: Vec<String>) -> BoxFuture<'static, ()>;
}

/// Waits for servers that are being connected for the first time.
pub(crate) struct WaitForServers {
    spec: ToolSpec,
    servers: Arc<dyn ToolServers>,
    awaited: Vec<String>,
}

impl WaitForServers {
    pub(crate) fn new(servers: Arc<dyn ToolServers>, awaited: Vec<String>) -> Self {
        let description = include_str!("servers.md").trim().replace("{servers}", &awaited.join(", "));
        let spec = ToolSpec {
            name: ToolName::from("local.wait_for_servers"),
            wire_name: "wait_for_servers".into(),
            description,
            schema: Json::from(&json!({"type": "object", "properties": {}, "additionalProperties": false})),
            effect: EffectClass::ReadOnly,
            ending: None,
            repeatable: true,
            tags: std::collections::BTreeSet::new(),
        };
        Self { spec, servers, awaited }
    }
}

impl Tool for WaitForServers {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run(&self, _: CallContext, _: Value) -> BoxFuture<'static, Outcome> {
        let (servers, awaited) = (Arc::clone(&self.servers), self.awaited.clone());
        let settled = servers.settled(awaited.clone());
        Box::pin(async move {
            settled.await;
            let tools = servers.tools();
            let lines = awaited.iter().map(|server| {
                let count = tools.iter().filter(|tool| tool.spec().name.server() == server).count();
                match count {
                    0 => format!("{server} is not available: go on without it."),
                    1 => format!("{server} is there, with one tool."),
                    count => format!("{server} is there, with {count} tools."),
                }
            });
            Outcome::ok(lines.collect::<Vec<_>>().join("\n"))
        })
    }

    /// Each server has a limit of its own, which is what ends the wait.
    fn timeout(&self) -> Option<Duration> {
        Some(Duration::from_secs(300))
    }
}
