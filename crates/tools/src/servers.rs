//! Servers whose tools come and go (P2), and how a run waits for one.
//!
//! The protocol: code that begins or resumes a run `wake`s the servers. A server that was never listed
//! before is *awaited*: the offer then has [`WaitForServers`], by which the model itself decides whether
//! its job is worth the wait. A server's tools join the offer at the turn boundary after the server is
//! [`ServerStage::Listed`].

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Json, Outcome, ToolName, ToolSpec, Wait, WaitFor};

use crate::{BoxFuture, CallContext, Tool};

/// The full name of [`WaitForServers`].
pub(crate) const WAIT_FOR_SERVERS: &str = "local.wait_for_servers";

/// How long a wait may take before it is reported to a person.
const NOTICE_AFTER: Duration = Duration::from_millis(1_500);

/// Servers whose tools come and go: MCP servers.
pub trait ToolServers: Send + Sync {
    /// Starts connecting servers that are not connected, and returns at once. Retries servers that could not
    /// be connected before.
    fn wake(&self);

    /// Returns the names of all servers, also of those that are disabled, failed or not agreed to: a call that
    /// names one of them is meant for no other.
    fn names(&self) -> Vec<String>;

    /// Returns the tools known now: those of connected servers, and those remembered from last time.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// Returns the stage of each server that was woken.
    fn stages(&self) -> BTreeMap<String, ServerStage>;

    /// Returns the servers being connected whose tools are not known yet.
    fn awaited(&self) -> Vec<String> {
        let stages = self.stages().into_iter();
        stages.filter(|(_, stage)| matches!(stage, ServerStage::Awaited { .. })).map(|(server, _)| server).collect()
    }

    /// Resolves when each of these servers is connected or given up.
    fn settled(&self, servers: Vec<String>) -> BoxFuture<'static, ()>;
}

/// The connection stage of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStage {
    /// It is connecting, and its tools are unknown: it was never listed before.
    Awaited {
        /// How long connecting may take.
        limit: Duration,
    },
    /// It is connecting; its tools are known from last time.
    Remembered {
        /// How long connecting may take.
        limit: Duration,
    },
    /// It is connected and has listed its tools.
    Listed,
    /// It could not be connected; the next wake retries it.
    Missed {
        /// Why, worded to continue a sentence that begins with the server.
        reason: String,
    },
}

impl ServerStage {
    /// Returns how long connecting may take, if it is connecting.
    #[must_use]
    pub fn limit(&self) -> Option<Duration> {
        match self {
            Self::Awaited { limit } | Self::Remembered { limit } => Some(*limit),
            Self::Listed | Self::Missed { .. } => None,
        }
    }
}

/// Describes a wait for these servers, with the longest of their limits.
#[must_use]
pub fn wait_for(servers: Vec<String>, stages: &BTreeMap<String, ServerStage>) -> Wait {
    let limits = servers.iter().filter_map(|server| stages.get(server)?.limit());
    let limit_ms = limits.max().map_or(0, |limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
    Wait { what: WaitFor::Servers(servers), limit_ms }
}

/// Runs `work`; calls `notify` once if it takes longer than `NOTICE_AFTER`.
pub async fn with_wait_notice<T>(work: impl Future<Output = T>, notify: impl FnOnce()) -> T {
    let mut work = pin!(work);
    tokio::select! {
        biased;
        done = &mut work => return done,
        () = tokio::time::sleep(NOTICE_AFTER) => notify(),
    }
    work.await
}

/// Waits for servers that are being connected for the first time.
pub(crate) struct WaitForServers {
    spec: ToolSpec,
    servers: Arc<dyn ToolServers>,
    awaited: Vec<String>,
}

impl WaitForServers {
    pub(crate) fn new(servers: Arc<dyn ToolServers>, awaited: &BTreeSet<String>) -> Self {
        let awaited: Vec<String> = awaited.iter().cloned().collect();
        let description = include_str!("servers.md").trim().replace("{servers}", &awaited.join(", "));
        let spec = ToolSpec {
            name: ToolName::from(WAIT_FOR_SERVERS),
            wire_name: "wait_for_servers".into(),
            description: description.into(),
            schema: Json::from(&json!({"type": "object", "properties": {}, "additionalProperties": false})),
            effect: EffectClass::ReadOnly,
            ending: None,
            repeatable: true,
            reads_files: false,
            tags: BTreeSet::new(),
        };
        Self { spec, servers, awaited }
    }
}

impl Tool for WaitForServers {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run(&self, context: CallContext, _: Value) -> BoxFuture<'static, Outcome> {
        let (servers, awaited) = (Arc::clone(&self.servers), self.awaited.clone());
        let settled = servers.settled(awaited.clone());
        Box::pin(async move {
            let wait = wait_for(awaited.clone(), &servers.stages());
            with_wait_notice(settled, || (context.waits)(wait)).await;
            let (tools, stages) = (servers.tools(), servers.stages());
            let lines = awaited.iter().map(|server| {
                let count = tools.iter().filter(|tool| tool.spec().name.server() == server).count();
                match (stages.get(server), count) {
                    (Some(ServerStage::Missed { reason }), _) => {
                        format!("{server} is not available in this run: it {reason}. Go on without it.")
                    }
                    (None, _) => format!("{server} is not available: go on without it."),
                    (Some(_), 0) => format!("{server} is there, without a tool: go on without it."),
                    (Some(_), 1) => format!("{server} is there, with one tool."),
                    (Some(_), count) => format!("{server} is there, with {count} tools."),
                }
            });
            let lines: Vec<String> = lines.collect();
            Outcome::ok(if lines.is_empty() {
                "No server is being connected any more.".into()
            } else {
                lines.join("\n")
            })
        })
    }

    /// Each server's own limit ends the wait.
    fn timeout(&self) -> Option<Duration> {
        Some(Duration::from_secs(300))
    }
}
