//! Images on every wire: one that is attached to a message, and one that a result brings (C9).

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use windlass::{Agent, Function, Prompt, RunErrorReason, TextWithImages};
use windlass_provider::{Abilities, Ability, HttpClient, HttpConfig, HttpModel, Model, ModelConfig};
use windlass_testkit::{ModelServer, Script, ScriptStep, SdkJudge};

use super::{WIRES, WireCase};

/// The header of a PNG of 2 × `height` pixels, and its base64.
fn png(height: u8) -> Vec<u8> {
    [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &[0, 0, 0, 2, 0, 0, 0, height, 8, 2, 0, 0, 0]].concat()
}

const PHOTO: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAA=";
const CHART: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAA=";

/// A folder with a chart to read and a photo to attach.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("work")).expect("a folder");
    fs::write(folder.path().join("photo.png"), png(1)).expect("written");
    fs::write(folder.path().join("work/chart.png"), png(2)).expect("written");
    folder
}

fn script() -> Script {
    let read = ScriptStep::call("read_file", json!({"path": "chart.png"}));
    Script::of([read.and_call("list_directory", json!({"path": "."})), ScriptStep::say("A chart.")])
}

/// The model of a wire that sees or not.
fn model(case: &WireCase, server: &ModelServer, images: Ability) -> Arc<dyn Model> {
    let usual = (case.settings)(&server.base_url(), case.model);
    let config = ModelConfig { abilities: Abilities { images, ..usual.abilities }, ..usual };
    let http = HttpClient::new(HttpConfig::default()).expect("a client");
    Arc::new(HttpModel::new(config, &http).expect("a model"))
}

/// The bodies that a run sends, with a model that sees or not.
async fn bodies(case: &WireCase, images: Ability) -> Vec<Value> {
    let (folder, server) = (folder(), ModelServer::start(script()).expect("a server"));
    let model = model(case, &server, images);
    let builder = Agent::builder().custom_model("seeing", model).workspace(folder.path().join("work")).in_memory();
    let agent = builder.deny("run_command").build().expect("built");
    let message = Prompt::new("What is it?").attach(folder.path().join("photo.png"));
    assert_eq!(agent.run(message).await.expect("an answer"), "A chart.");
    assert_eq!(server.refused(), Vec::<String>::new(), "{:?}", case.wire);
    server.requests().into_iter().map(|request| request.body).collect()
}

// proves M1, C9, T6: requests with images are requests by the SDKs' own types
#[tokio::test]
async fn images_of_messages_and_results_reach_a_model_that_sees_on_every_wire() {
    let judge = SdkJudge::installed(env!("CARGO_TARGET_TMPDIR"));
    for case in &WIRES {
        let bodies = bodies(case, Ability::Yes).await;
        let [first, second] = &bodies[..] else { panic!("two requests") };
        let counts = |body: &Value| (body.to_string().matches(PHOTO).count(), body.to_string().matches(CHART).count());
        assert_eq!((counts(first), counts(second)), ((1, 0), (1, 1)), "{:?}", case.wire);
        if let Some(judge) = &judge {
            let objections = judge.objections(case.sdk, &bodies).expect("the SDK judges");
            assert_eq!(objections, [None, None], "{:?} {second}", case.wire);
        }
    }
}

// proves C9
#[tokio::test]
async fn a_model_that_can_not_see_is_told_of_each_image() {
    for case in &WIRES {
        let bodies = bodies(case, Ability::No).await;
        let all = bodies[1].to_string();
        assert!(!all.contains(PHOTO) && !all.contains(CHART), "{:?}", case.wire);
        for name in ["photo.png, 2 × 1", "chart.png, 2 × 2"] {
            assert!(all.contains(&format!("[image {name}, 29 bytes: this model can't see images]")), "{all}");
        }
    }
}

// proves C9, T6: a program's own tool answers with an image; a file that is none is an error that the model reads
#[tokio::test]
async fn an_image_of_a_program_s_own_tool_reaches_a_model_that_sees() {
    for case in &WIRES {
        for (file, images, expected, absent) in [
            (png(2), Ability::Yes, CHART, "can't see images"),
            (png(2), Ability::No, "[image chart.png, 2 × 2, 29 bytes: this model can't see images]", CHART),
            (b"words".to_vec(), Ability::Yes, "`chart.png` is not a PNG, JPEG, GIF or WebP image", "[image"),
        ] {
            let script = Script::of([ScriptStep::call("draw", json!({})), ScriptStep::say("A chart.")]);
            let server = ModelServer::start(script).expect("a server");
            let draw = Function::plain("draw", "Draws a chart.", move |(): ()| {
                let answer = TextWithImages::new("Drawn.").image("chart.png", file.clone());
                async { answer }
            });
            let builder = Agent::builder().custom_model("m", model(case, &server, images)).tool(draw).in_memory();
            assert_eq!(builder.build().expect("built").run("draw").await.expect("an answer"), "A chart.");
            let sent = server.requests()[1].body.to_string();
            assert!(sent.contains(expected) && !sent.contains(absent), "{:?}: {sent}", case.wire);
            assert_eq!(server.refused(), Vec::<String>::new(), "{:?}", case.wire);
        }
    }
}

// proves C9: nothing is sent
#[tokio::test]
async fn a_file_that_can_not_be_attached_is_an_error_with_its_reason() {
    let server = ModelServer::start(script()).expect("a server");
    let agent = WIRES[0].builder(&server).in_memory().build().expect("built");
    let error = agent.run(Prompt::new("Look.").attach("no/such.png")).await.expect_err("no such file");
    assert!(matches!(error.reason, RunErrorReason::Unattached { .. }), "{error:?}");
    assert_eq!(error.to_string(), "no/such.png can't be attached: there is no such file");
    assert_eq!(server.count(), 0);
}
