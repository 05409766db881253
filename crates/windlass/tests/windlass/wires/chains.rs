//! A chain over two wires: when the first model fails the second goes on, and the first again after it. Both are sent the
//! same conversation, each as its wire writes it, and neither the other's reasoning.

use serde_json::json;
use windlass::{Agent, PolicyPatch};
use windlass_testkit::{FaultKind, ModelServer, RecordedRequest, Script, ScriptStep};
use windlass_vocab::{Reasoning, Retry};

use super::{WIRES, WireCase, story};

/// Four turns; the first model fails in the second.
fn steps(thoughts: &str) -> [ScriptStep; 4] {
    let call = |text: &str, n: &str| ScriptStep::say(text).thinking(thoughts).and_call("note", json!({"n": n}));
    let two = call("First.", "1").and_call("note", json!({"n": "1b"}));
    [two, call("Second.", "2"), call("", "3"), ScriptStep::say("Done.").thinking(thoughts)]
}

pub(super) struct ChainedRun {
    pub(super) first: Vec<RecordedRequest>,
    pub(super) second: Vec<RecordedRequest>,
    story: Vec<String>,
}

/// Runs the chain of these two wires.
pub(super) async fn chained(first: &WireCase, second: &WireCase) -> ChainedRun {
    let mut failing = steps("thoughts of the first");
    failing[1] = failing[1].clone().fault(FaultKind::status(500).times(1));
    let server = ModelServer::start(Script::of(failing)).expect("a server");
    let fallback = ModelServer::start(Script::of(steps("thoughts of the second"))).expect("a server");
    let name = format!("{}#{}", fallback.base_url(), second.model);
    let policy = PolicyPatch {
        retry: Some(Retry { tries: 1, first_wait_ms: 1, ceiling_ms: 1 }),
        // A model with a budget to think must not be asked to in the middle of another's calls.
        reasoning: Some(Reasoning::High),
        ..PolicyPatch::default()
    };
    let builder = first.builder(&server).fallback_model(&name).named_model(name.as_str(), second.http_model(&fallback));
    let agent: Agent = builder.in_memory().policy(policy).build().expect("built");
    let story = story(&agent, "go").await.iter().map(|line| line.replace(&name, "the second")).collect();
    let pair = (first.wire, second.wire);
    assert_eq!((server.refused(), fallback.refused()), (Vec::new(), Vec::new()), "{pair:?}");
    ChainedRun { first: server.requests(), second: fallback.requests(), story }
}

fn text(request: &RecordedRequest) -> String {
    String::from_utf8(request.raw.clone()).expect("text")
}

/// The steps of the script whose sealed reasoning is in a request.
fn sealed(request: &RecordedRequest) -> Vec<usize> {
    (0..4).filter(|number| text(request).contains(&format!("\"sealed-0-{number}\""))).collect()
}

fn seals(case: &WireCase, steps: &[usize]) -> Vec<usize> {
    if case.wire == windlass::WireKind::Chat { Vec::new() } else { steps.to_vec() }
}

// proves M2, M5, J10
#[tokio::test]
async fn another_wire_goes_on_and_reasoning_stays_with_its_maker() {
    for first in &WIRES {
        for second in WIRES.iter().filter(|second| second.wire != first.wire) {
            let pair = (first.wire, second.wire);
            let run = chained(first, second).await;
            let expected = [
                "attempt 1 replied",
                "transient 500, on with the second",
                "attempt 2 replied",
                "attempt 1 replied",
                "attempt 1 replied",
                "Completed: Done.",
            ];
            assert_eq!(run.story, expected, "{pair:?}");
            // The second was asked once, with the first's calls and results and none of its reasoning.
            assert_eq!((run.first.len(), run.second.len()), (4, 1), "{pair:?}");
            let other = &run.second[0];
            assert_eq!(sealed(other), Vec::<usize>::new(), "{pair:?}");
            assert!(!text(other).contains("thoughts of"), "{pair:?}");
            assert!(text(other).contains("noted 1b") && text(other).contains("First."), "{pair:?}");
            // The first is given back its own reasoning, and not the second's.
            let of_first: Vec<Vec<usize>> = run.first.iter().map(sealed).collect();
            let own = [seals(first, &[]), seals(first, &[0]), seals(first, &[0]), seals(first, &[0, 2])];
            assert_eq!(of_first, own, "{pair:?}");
            let last = text(&run.first[3]);
            assert!(!last.contains("thoughts of the second") && last.contains("Second."), "{pair:?}");
        }
    }
}
