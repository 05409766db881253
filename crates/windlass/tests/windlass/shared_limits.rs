//! Limits that several runs share, each in a store of its own, as two processes have (M7).

use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass::{Agent, EndReason, Function, PolicyPatch, RunEnded};
use windlass_testkit::{AfterSteps, ModelServer, Scene, Script, ScriptStep};

/// The tokens that a turn uses.
const TURN: u64 = 1_050;
const LIMIT: u64 = 20_000;

#[derive(Deserialize, JsonSchema)]
struct NotedLine {
    n: String,
}

/// A model that works on and on.
fn endless() -> ModelServer {
    let step = ScriptStep::call("note", json!({"n": "$STEP"})).usage(1_000, 50);
    let scene = Scene { steps: vec![step], then: AfterSteps::RepeatLast, ..Scene::default() };
    ModelServer::start(Script::default().scene(scene)).expect("a server")
}

fn agent(server: &ModelServer, data: &Path, name: &str, patch: PolicyPatch) -> Agent {
    let note =
        Function::new(
            "note",
            "Notes a line.",
            |_: Arc<()>, line: NotedLine| async move { format!("noted {}", line.n) },
        );
    let builder = Agent::builder().base_url(server.base_url()).model("scripted").name(name).data_dir(data).tool(note);
    builder.policy(patch).build().expect("built")
}

fn day() -> PolicyPatch {
    PolicyPatch { day_token_limit: Some(std::num::NonZeroU64::new(LIMIT)), ..PolicyPatch::default() }
}

fn of_agent() -> PolicyPatch {
    PolicyPatch { agent_token_limit: Some(std::num::NonZeroU64::new(LIMIT)), ..PolicyPatch::default() }
}

fn tokens(ended: &RunEnded) -> u64 {
    ended.usage.input + ended.usage.output
}

async fn both(one: &Agent, other: &Agent) -> [RunEnded; 2] {
    let (one, other) = (one.session("one"), other.session("other"));
    let (one, other) = tokio::join!(one.run_full("go"), other.run_full("go"));
    [one.expect("ended"), other.expect("ended")]
}

// proves M7: two runs at once exceed the limit of a day by a turn each at most
#[tokio::test]
async fn two_runs_at_once_keep_within_a_shared_limit() {
    for (patch, row) in [(day(), "day_token_limit"), (of_agent(), "agent_token_limit")] {
        let (server, dir) = (endless(), tempfile::tempdir().expect("a folder"));
        let one = agent(&server, dir.path(), "worker", patch.clone());
        let other = agent(&server, dir.path(), "worker", patch);
        let ended = both(&one, &other).await;
        let spent: u64 = ended.iter().map(tokens).sum();
        assert!(ended.iter().all(|ended| ended.reason == EndReason::BudgetSpent), "{ended:?}");
        assert!(ended.iter().all(|ended| ended.answer.contains(row)), "{ended:?}");
        assert!(spent <= LIMIT + 2 * TURN, "{row}: {spent}");
        assert!(spent > LIMIT / 2, "{row}: {spent} is far from the limit");
    }
}

// proves M7: what another agent spends does not count for this one
#[tokio::test]
async fn two_agents_have_a_limit_each() {
    let (server, dir) = (endless(), tempfile::tempdir().expect("a folder"));
    let (one, other) = (agent(&server, dir.path(), "one", of_agent()), agent(&server, dir.path(), "other", of_agent()));
    for ended in both(&one, &other).await {
        // Together more than the limit: they don't share it.
        assert!(tokens(&ended) > LIMIT * 3 / 4, "{ended:?}");
    }
}
