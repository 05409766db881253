//! The scripted tools, by themselves and behind a registry.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use windlass_testkit::{CountingTool, ToolBehaviour, counts, executions};
use windlass_tools::{CallContext, Registry, Tool, Verification};
use windlass_vocab::{EffectClass, Json, OutcomeKind, SessionId, ToolName, ToolSource};

fn context(effect: &str) -> CallContext {
    CallContext { effect_id: effect.into(), ..CallContext::detached(SessionId(uuid::Uuid::nil())) }
}

async fn outcome(dir: &Path, behaviour: ToolBehaviour, cancel: CancellationToken) -> OutcomeKind {
    let mut registry = Registry::new();
    registry.add(Arc::new(CountingTool::new("t", EffectClass::Once, dir).behaving(behaviour))).unwrap();
    let offer = registry.offer(&[ToolSource::Mcp].into_iter().collect());
    let context = CallContext { cancel, ..context("e1") };
    offer.run(&ToolName::from("scripted.t"), context, &Json::empty_object(), Duration::from_secs(60)).await.kind
}

#[tokio::test]
async fn every_execution_is_counted_by_its_effect() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (
        CountingTool::new("a", EffectClass::Once, dir.path()),
        CountingTool::new("b", EffectClass::ReadOnly, dir.path()),
    );
    assert_eq!(executions(dir.path(), "a").unwrap(), []);
    for effect in ["e1", "e2", "e2"] {
        assert_eq!(a.run(context(effect), json!({"n": 1})).await.text, r#"a did {"n":1}"#);
    }
    b.run(context("e3"), json!({})).await;
    assert_eq!(executions(dir.path(), "a").unwrap(), ["e1".into(), "e2".into(), "e2".into()]);
    let counts = counts(dir.path()).unwrap();
    assert_eq!(counts["a"].values().copied().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(counts["b"][&"e3".into()], 1);
}

#[tokio::test]
async fn a_call_is_verified_by_what_is_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let tool = CountingTool::new("a", EffectClass::Verifiable, dir.path());
    assert_eq!(tool.verify(context("e1"), json!({})).await, Verification::NotDone);
    let done = tool.run(context("e1"), json!({})).await;
    assert_eq!(tool.verify(context("e1"), json!({})).await, Verification::Done(done));
    assert_eq!(tool.verify(context("e2"), json!({})).await, Verification::NotDone);
}

#[tokio::test]
async fn nothing_is_counted_before_the_call_is_polled() {
    let dir = tempfile::tempdir().unwrap();
    drop(CountingTool::new("a", EffectClass::Once, dir.path()).run(context("e1"), json!({})));
    assert_eq!(executions(dir.path(), "a").unwrap(), []);
}

#[tokio::test]
async fn each_behaviour_comes_out_as_it_says_and_is_counted() {
    for (behaviour, kind) in [
        (ToolBehaviour::Succeeds, OutcomeKind::Ok),
        (ToolBehaviour::Fails, OutcomeKind::ToolError),
        (ToolBehaviour::Breaks, OutcomeKind::InfrastructureError),
        (ToolBehaviour::Panics, OutcomeKind::InfrastructureError),
    ] {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(outcome(dir.path(), behaviour, CancellationToken::new()).await, kind);
        assert_eq!(executions(dir.path(), "t").unwrap().len(), 1, "{behaviour:?}");
    }
}

#[tokio::test]
async fn a_tool_that_never_ends_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    let stop = async {
        while executions(dir.path(), "t").unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (kind, ()) = tokio::join!(outcome(dir.path(), ToolBehaviour::UntilCancelled, cancel.clone()), stop);
    assert_eq!(kind, OutcomeKind::Cancelled);
}
