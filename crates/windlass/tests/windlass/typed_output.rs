//! Typed output against a scripted server: requested, validated, sent back, limited (L10).

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass::{Agent, BuildError, Builder, EndReason, Function, PolicyPatch, Record, RunErrorReason};
use windlass_testkit::{FaultKind, ModelServer, Script, ScriptStep, conversation};
use windlass_vocab::{MessageId, NudgeCause};

/// A day, and how warm it gets.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Day {
    /// The day's name.
    day: String,
    warmest: Celsius,
}

/// Not below absolute zero.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
struct Celsius(f64);

impl TryFrom<f64> for Celsius {
    type Error = String;

    fn try_from(degrees: f64) -> Result<Self, String> {
        if degrees < -273.15 { Err(format!("{degrees} is below absolute zero")) } else { Ok(Self(degrees)) }
    }
}

const GOOD: &str = r#"{"day": "Monday", "warmest": 21.5}"#;

fn monday() -> Day {
    Day { day: "Monday".into(), warmest: Celsius(21.5) }
}

fn serve(steps: impl IntoIterator<Item = ScriptStep>) -> ModelServer {
    ModelServer::start(Script::of(steps)).expect("a server")
}

fn builder(server: &ModelServer) -> Builder {
    Agent::builder().base_url(server.base_url()).model("scripted").in_memory()
}

/// Returns the text of the last message of the `n`-th request, from 0.
fn last_words(server: &ModelServer, n: usize) -> String {
    let body = server.requests()[n].body.clone();
    conversation(&body).last().expect("one")["content"].as_str().expect("text").to_owned()
}

async fn records(agent: &Agent<(), Day>, key: &str) -> Vec<Record> {
    let store = agent.hub().store();
    let session = store.find("local", key).await.expect("a store").expect("a session");
    store.read(session, 0).await.expect("records").into_iter().map(|envelope| envelope.record).collect()
}

// proves L10
#[tokio::test]
async fn the_schema_goes_with_the_request_and_stands_in_the_prefix() {
    let server = serve([ScriptStep::say(GOOD)]);
    let agent = builder(&server).output::<Day>().build().expect("built");
    assert_eq!(agent.session("s").run("Monday?").await.expect("an output"), monday());
    let body = &server.requests()[0].body;
    let format = &body["response_format"];
    assert_eq!((&format["type"], &format["json_schema"]["name"]), (&json!("json_schema"), &json!("Day")));
    assert_eq!(format["json_schema"]["schema"]["properties"]["day"]["description"], "The day's name.");
    let prefix = body["messages"][0]["content"].as_str().expect("text");
    assert!(prefix.contains("The day's name.") && prefix.contains("JSON Schema"), "{prefix}");
}

// proves L10, C1
#[tokio::test]
async fn the_prefix_is_the_same_in_every_turn() {
    let server = serve([ScriptStep::say("Well."), ScriptStep::say("{}"), ScriptStep::say(GOOD)]);
    let agent = builder(&server).output::<Day>().build().expect("built");
    agent.session("s").run("Monday?").await.expect("an output");
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    for pair in requests.windows(2) {
        let of = |n: usize| conversation(&pair[n].body);
        assert!(of(1).starts_with(of(0)), "what was sent is sent again as it was");
    }
}

// proves L10
#[tokio::test]
async fn what_the_type_itself_refuses_is_sent_back_too() {
    let server = serve([ScriptStep::say(r#"{"day": "Monday", "warmest": -300}"#), ScriptStep::say(GOOD)]);
    let agent = builder(&server).output::<Day>().build().expect("built");
    assert_eq!(agent.session("s").run("Monday?").await.expect("an output"), monday());
    assert!(last_words(&server, 1).contains("-300 is below absolute zero"), "{}", last_words(&server, 1));
}

// proves L10
#[tokio::test]
async fn a_model_that_never_fits_fails_the_run_with_what_was_wrong() {
    let server = serve((0..3).map(|_| ScriptStep::say(r#"{"day": 1}"#)));
    let agent = builder(&server).output::<Day>().build().expect("built");
    let ended = agent.session("s").run_full("Monday?").await.expect("ended");
    assert_eq!((ended.reason, ended.turns), (EndReason::Failed, 3));
    let error = agent.answer(&ended).expect_err("no output");
    assert!(matches!(error, RunErrorReason::Failed { .. }), "{error:?}");
    assert!(error.to_string().contains("\"warmest\" is a required property"), "{error}");
}

// proves L10
#[tokio::test]
async fn the_number_of_corrections_is_a_row_of_the_policy() {
    let server = serve([ScriptStep::say("no")]);
    let patch = PolicyPatch { output_corrections: Some(0), ..PolicyPatch::default() };
    let agent = builder(&server).policy(patch).output::<Day>().build().expect("built");
    assert!(agent.session("s").run("Monday?").await.is_err());
    let started = records(&agent, "s").await.into_iter().find_map(|record| match record {
        Record::RunStarted(started) => Some(started),
        _ => None,
    });
    let started = started.expect("a run");
    assert_eq!((started.policy.output_corrections, started.output.expect("a schema").name), (0, "Day".into()));
}

// proves L10
#[tokio::test]
async fn tools_can_be_called_on_the_way_to_an_output() {
    let steps = [
        ScriptStep::call("app__warmest", json!({})),
        ScriptStep::say("It is warm."),
        ScriptStep::say("```json\n{\"day\": 1}\n```"),
        ScriptStep::say(GOOD),
    ];
    let server = serve(steps);
    let warmest = Function::plain("warmest", "Says how warm it gets on Monday.", |(): ()| async { "21.5" });
    let agent = builder(&server).tool(warmest.read_only()).output::<Day>().build().expect("built");
    assert_eq!(agent.session("s").run("Monday?").await.expect("an output"), monday());
    let sent = |n: usize| server.requests()[n].body.get("response_format").is_some();
    // Some servers force every reply into the schema, so it is sent only where no tool may be called.
    assert_eq!([0, 1, 2, 3].map(sent), [false, false, false, true]);
    assert_eq!(server.requests()[3].body["tool_choice"], "none");
}

fn durable(server: &ModelServer, dir: &Path) -> Builder {
    builder(server).data_dir(dir)
}

/// Delays the step by an hour, once.
fn slow(step: ScriptStep) -> ScriptStep {
    step.fault(FaultKind::Delay { ms: 3_600_000 }.times(1))
}

/// Runs until an answer that does not fit was sent back, then drops the agent while the model works on the next one.
async fn interrupted(server: &ModelServer, dir: &Path) {
    let agent = durable(server, dir).output::<Day>().build().expect("built");
    let session = agent.open("s").await.expect("opened");
    session.send(MessageId("m".into()), "Monday?").await.expect("sent");
    while server.count() < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    session.close().await;
}

// proves L10, J3
#[tokio::test]
async fn a_correction_cut_short_goes_on_where_it_was() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = serve([ScriptStep::say("Well."), slow(ScriptStep::say(GOOD))]);
    interrupted(&server, dir.path()).await;
    let agent = durable(&server, dir.path()).output::<Day>().build().expect("built");
    let ended = agent.session("s").once("m").run_full("Monday?").await.expect("ended");
    assert_eq!(agent.answer(&ended).expect("an output"), monday());
    let records = records(&agent, "s").await;
    let nudged = |record: &&Record| matches!(record, Record::Nudged(nudged) if nudged.why == NudgeCause::Misfit);
    assert_eq!(records.iter().filter(nudged).count(), 1, "it was sent back once");
    assert!(records.iter().any(|record| matches!(record, Record::RunResumed(_))));
}

// proves L10, J3
#[tokio::test]
async fn an_agent_without_the_type_holds_the_run_to_the_schema_it_began_with() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = serve([ScriptStep::say("Well."), slow(ScriptStep::say(r#"{"day": 1}"#)), ScriptStep::say(GOOD)]);
    interrupted(&server, dir.path()).await;
    let plain = durable(&server, dir.path()).build().expect("built");
    let ended = plain.session("s").once("m").run_full("Monday?").await.expect("ended");
    assert_eq!((ended.reason, ended.turns), (EndReason::Completed, 3));
    assert_eq!(ended.output.expect("an output").as_str(), GOOD);
}

// proves L10, X1
#[tokio::test]
async fn what_is_wrong_with_an_output_tells_no_secret() {
    let server =
        serve([ScriptStep::say(r#"{"day": "Monday", "warmest": "sk-0123456789abcdef"}"#), ScriptStep::say(GOOD)]);
    let secret = [("weather".to_owned(), "sk-0123456789abcdef".to_owned())];
    let agent = builder(&server).secrets(secret).output::<Day>().build().expect("built");
    agent.session("s").run("Monday?").await.expect("an output");
    assert!(!format!("{:?}", records(&agent, "s").await).contains("sk-0123456789abcdef"));
    assert!(!last_words(&server, 1).contains("sk-0123456789abcdef"), "{}", last_words(&server, 1));
}

// proves L10
#[tokio::test]
async fn an_output_need_not_be_an_object() {
    let server = serve([ScriptStep::say("[1, \"two\"]"), ScriptStep::say("[1, 2]")]);
    let agent = builder(&server).output::<Vec<u32>>().build().expect("built");
    assert_eq!(agent.session("s").run("Count.").await.expect("an output"), [1, 2]);
    assert!(server.requests()[0].body.get("response_format").is_none(), "the wire takes objects only");
}

// proves L10
#[tokio::test]
async fn words_are_an_output_only_of_a_run_that_is_done() {
    let server = serve([ScriptStep::say("Warm.")]);
    let agent = builder(&server).build().expect("built");
    assert_eq!(agent.session("s").run("Monday?").await.expect("words"), "Warm.");
    let filtered = serve([ScriptStep::say("no").finish("content_filter")]);
    let error = builder(&filtered).build().expect("built").session("s").run("Monday?").await.expect_err("withheld");
    assert!(matches!(error.reason, RunErrorReason::Failed { .. }), "{error}");
}

// proves L10
#[test]
fn an_output_and_runs_that_end_by_a_tool_exclude_each_other() {
    let builder = Agent::builder().in_memory().model("m").base_url("http://127.0.0.1:1/v1").preset("task");
    let error = builder.output::<Day>().build().expect_err("refused");
    assert!(matches!(error, BuildError::OutputByTool), "{error:?}");
}
