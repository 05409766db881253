//! Windlass without its features: few packages, and still a working agent.

use std::collections::BTreeSet;
use std::process::Command;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass::{Agent, Function};
use windlass_testkit::{ModelServer, Script, ScriptStep};

/// The most packages that a library user without any feature builds.
const MOST_PACKAGES: usize = 119;

// proves W1
#[test]
fn without_features_it_is_under_120_packages() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments =
        ["tree", "-p", "windlass", "--no-default-features", "-e", "normal", "--prefix", "none", "--offline"];
    let output = Command::new(cargo).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let packages: BTreeSet<&str> = text.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    assert!(packages.len() > 50, "{packages:?}");
    assert!(packages.len() <= MOST_PACKAGES, "{}: {packages:?}", packages.len());
}

/// A ship as a harbour book has it.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Ship {
    name: String,
    masts: Option<u8>,
    rig: Rig,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Rig {
    Square,
    Other(String),
}

// proves T3, L10: every build checks arguments and outputs, and reports errors that a model can fix
#[tokio::test]
async fn tools_files_and_outputs_work_in_every_build() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("book"), "Anna, three masts").expect("written");
    let server = ModelServer::start(Script::of([
        ScriptStep::call("read_file", json!({"path": "book"})),
        ScriptStep::call("app__enter", json!({"name": "Anna", "masts": 300, "rig": "square"})),
        ScriptStep::call("app__enter", json!({"name": "Anna", "masts": 3, "rig": {"other": "barque"}})),
        ScriptStep::say(r#"{"name": "Anna", "masts": "three", "rig": "square"}"#),
        ScriptStep::say(r#"{"name": "Anna", "masts": 3, "rig": "square"}"#),
    ]))
    .expect("a server");
    let enter = Function::plain("enter", "Enters a ship.", |ship: Ship| async move { format!("{ship:?}") });
    let agent = Agent::builder().model(server.base_url()).in_memory().workspace(dir.path()).tool(enter);
    let ship = agent
        .deny("run_command")
        .output::<Ship>()
        .build()
        .expect("built")
        .run("Enter the Anna.")
        .await
        .expect("a ship");
    assert_eq!(ship, Ship { name: "Anna".into(), masts: Some(3), rig: Rig::Square });
    let told = server.requests().last().expect("a request").body["messages"].to_string();
    for part in ["three masts", "/masts: the value is greater than the maximum of 255", "barque", "- /masts"] {
        assert!(told.contains(part), "{part} is not in: {told}");
    }
}
