//! The official SDK judges the requests for typed output (L10).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass::{Agent, Function, ResponseFormat};
use windlass_testkit::{ModelServer, Script, ScriptStep, SdkJudge, SdkWire};

/// A place, with what is optional, nested, repeated and chosen.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Place {
    /// Its name.
    name: String,
    height: Option<f64>,
    kind: PlaceKind,
    near: Vec<Place>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
enum PlaceKind {
    Harbour,
    Strait { width: u32 },
}

/// Where to look.
#[derive(Deserialize, JsonSchema)]
struct Spot {
    at: String,
}

const GOOD: &str = r#"{"name": "Dover", "height": null, "kind": {"Strait": {"width": 33}}, "near": []}"#;

async fn bodies(when: ResponseFormat) -> Vec<Value> {
    let steps = [ScriptStep::call("depth", json!({"at": "Dover"})), ScriptStep::say("{}"), ScriptStep::say(GOOD)];
    let server = ModelServer::start(Script::of(steps)).expect("a server");
    let depth = Function::new("depth", "Tells how deep the water is.", |_: Arc<()>, spot: Spot| async move {
        format!("30 m at {}", spot.at)
    });
    let agent = Agent::builder()
        .base_url(server.base_url())
        .model("scripted")
        .in_memory()
        .tool(depth)
        .output::<Place>()
        .response_format(when)
        .build()
        .expect("built");
    let place = agent.session("s").run("Where is it deep?").await.expect("an output");
    let dover = Place { name: "Dover".into(), height: None, kind: PlaceKind::Strait { width: 33 }, near: Vec::new() };
    assert_eq!(place, dover);
    server.requests().into_iter().map(|request| request.body).collect()
}

// proves L10, M1
#[tokio::test]
async fn requests_for_typed_output_are_requests_by_the_sdks_own_types() {
    let Some(judge) = SdkJudge::installed(env!("CARGO_TARGET_TMPDIR")) else { return };
    let mut sent = Vec::new();
    for when in [ResponseFormat::Always, ResponseFormat::WithoutTools, ResponseFormat::Never] {
        sent.extend(bodies(when).await);
    }
    assert_eq!(sent.len(), 9, "a call, a correction and an output each");
    assert!(sent.iter().any(|body| body["response_format"].is_object() && body["tools"].is_array()));
    let objections = judge.objections(SdkWire::Chat, &sent).expect("the SDK judges");
    for (body, objection) in sent.iter().zip(objections) {
        assert_eq!(objection, None, "{body}");
    }
}
