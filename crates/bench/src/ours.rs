//! Windlass as measured: through the facade, with one tool that does nothing.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, ensure};
use serde_json::Value;
use windlass::door::AwaitedEnd;
use windlass::{Agent, EndReason, PolicyPatch, RunEnded, Session, Tool};
use windlass_provider::WireKind;
use windlass_runtime::Interest;
use windlass_store::{Durability, SqliteOptions};
use windlass_tools::{BoxFuture, CallContext};
use windlass_vocab::{EffectClass, Json, MessageId, Outcome, ToolName, ToolSpec};

/// The tool's name on the wire.
pub const TOOL: &str = "bench__haul";

/// The message of the person.
const PROMPT: &str = "Haul.";

/// More turns than any figure needs.
const TURN_CAP: u32 = 10_000;

/// A tool that does nothing.
struct NoOpTool(ToolSpec);

/// The specification of the tool that the model gets.
#[must_use]
pub fn tool_spec() -> ToolSpec {
    ToolSpec {
        name: ToolName("bench.haul".to_owned()),
        wire_name: TOOL.to_owned(),
        description: "Hauls.".into(),
        schema: Json::from(&serde_json::json!({"type": "object", "properties": {"n": {"type": "string"}}})),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    }
}

impl Tool for NoOpTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run(&self, _: CallContext, _: Value) -> BoxFuture<'static, Outcome> {
        Box::pin(std::future::ready(Outcome::ok("hauled")))
    }
}

/// Builds an agent whose journals are in `dir`.
pub fn agent(base_url: &str, dir: &Path, durability: Durability) -> Result<Agent> {
    agent_over(WireKind::Chat, base_url, dir, durability)
}

/// Builds an agent whose model speaks this wire.
pub fn agent_over(wire: WireKind, base_url: &str, dir: &Path, durability: Durability) -> Result<Agent> {
    let agent = Agent::builder()
        .base_url(base_url)
        .wire(wire)
        .model("scripted")
        .data_dir(dir)
        .sqlite(SqliteOptions { durability, ..SqliteOptions::default() })
        .policy(PolicyPatch { turn_cap: Some(TURN_CAP), ..PolicyPatch::default() })
        .tool(Arc::new(NoOpTool(tool_spec())))
        .build()?;
    Ok(agent)
}

/// Makes one run in a new session, from opening to closing.
pub async fn run(agent: &Agent, key: &str) -> Result<()> {
    whole(&agent.session(key).run_full(PROMPT).await?)
}

/// Makes one run in a new session, which stays open.
pub async fn run_open(agent: &Agent, key: &str) -> Result<Session> {
    let opening = agent.open_and_send(key, MessageId("bench".to_owned()), PROMPT, Interest::Runs);
    let (session, mut events, awaited) = opening.await?;
    whole(&agent.follow(&session, &mut events, awaited, |_| {}).await?)?;
    Ok(session)
}

/// Makes one run in an open session.
pub async fn run_in(agent: &Agent, session: &Session) -> Result<()> {
    let message_id = MessageId("bench".to_owned());
    let mut events = session.runs();
    let awaited = AwaitedEnd::after(session.send(message_id.clone(), PROMPT).await?, message_id);
    whole(&agent.follow(session, &mut events, awaited, |_| {}).await?)
}

/// Fails if a run did not complete, because then its work was not measured.
fn whole(ended: &RunEnded) -> Result<()> {
    ensure!(ended.reason == EndReason::Completed, "a run ended as {:?}: {:?}", ended.reason, ended.failure);
    Ok(())
}
