//! Images that a tool server returns, in a chain of a model that sees and one that does not (C9, T6).

use serde_json::{Value, json};
use windlass_testkit::mcp::{FakeTool, McpHttpServer, McpScript, ToolAction};
use windlass_testkit::{FaultKind, ModelServer, RecordedRequest, Script, ScriptStep};

use crate::support::Bench;

/// The beginning of a PNG of 2 × 1 pixels, in base64.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAA=";

/// A tool server whose tool returns an image.
fn painter() -> McpHttpServer {
    let result = json!({"content": [
        {"type": "text", "text": "The chart:"},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
    ]});
    McpHttpServer::start(McpScript::with([FakeTool::new("chart", ToolAction::Result(result))])).expect("a server")
}

/// The first model of the chain, which is down in the second turn.
fn first() -> Script {
    let down = ScriptStep::say("").fault(FaultKind::status(503).times(100));
    Script::of([ScriptStep::call("hub__chart", json!({})), down, ScriptStep::say("A chart.")])
}

/// The second one, which goes on in the second turn.
fn second() -> Script {
    let look = ScriptStep::call("list_directory", json!({"path": "."}));
    Script::of([ScriptStep::say("not asked"), look, ScriptStep::say("not asked")])
}

/// Whether a request has the image itself, and whether it has the sentence that stands for it.
fn shown(request: &RecordedRequest) -> (bool, bool) {
    let text = request.body.to_string();
    (text.contains(PNG), text.contains("2 × 1, 29 bytes: this model can't see images]"))
}

// proves C9, T6, M2: the switch in the middle of a run degrades the image to text, and the way back shows it again
#[test]
fn an_image_of_a_tool_server_is_shown_to_the_model_that_sees_and_told_to_the_one_that_does_not() {
    for sees in [[true, false], [false, true]] {
        let (bench, spare, hub) = (Bench::new(first()), ModelServer::start(second()).expect("a server"), painter());
        let [one, other] = sees;
        let settings = format!(
            "[models.scripted]\nimages = {one}\n[models.spare]\nmodel = '{}#m'\nimages = {other}\n\
             [mcpServers.hub]\nurl = '{}'\n",
            spare.base_url(),
            hub.url()
        );
        let folder = bench.dir.path().join(".config/windlass");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("windlass.toml"), settings).expect("written");
        let line = ["run", "draw", "--session", "s", "--preset", "local-model", "--model", "scripted,spare"];
        let ran = bench.run(&[&line[..], &["--allow", "hub.chart"]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "A chart.\n"), "{sees:?}: {}", ran.stderr);
        let (of_first, of_spare) = (bench.server.requests(), spare.requests());
        // What each was sent after the image came: the first before it failed and after, the other in between.
        assert_eq!(shown(&of_first[1]), (one, !one), "{sees:?}: the image is there");
        assert_eq!(of_spare.iter().map(shown).collect::<Vec<_>>(), [(other, !other)], "{sees:?}: the switch");
        assert_eq!(shown(of_first.last().expect("a request")), (one, !one), "{sees:?}: and back");
        let journal = bench.journal("s");
        assert!(journal.iter().all(|record| !record.to_string().contains("iVBORw0")), "an image is in a record");
        let models: Vec<&Value> = journal
            .iter()
            .filter(|record| record["kind"] == "ModelReplied")
            .map(|record| &record["body"]["model"])
            .collect();
        assert_eq!(models, ["scripted", "spare", "scripted"], "{sees:?}");
        bench.assert_whole("images");
    }
}
