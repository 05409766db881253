//! The error of `run`: never an error text as an answer, always the reason, the text so far and the session.

use std::time::Duration;

use serde_json::json;
use windlass::{Agent, Builder, EndReason, Function, PolicyPatch, RunError, RunErrorReason, RunLimit};
use windlass_testkit::{AfterSteps, FaultKind, ModelServer, Scene, Script, ScriptStep};
use windlass_vocab::{Attendance, TurnCapAction};

fn serve(steps: impl IntoIterator<Item = ScriptStep>) -> ModelServer {
    ModelServer::start(Script::of(steps)).expect("a server")
}

fn builder(server: &ModelServer) -> Builder {
    Agent::builder().base_url(server.base_url()).model("scripted").in_memory()
}

/// A reply with text and a call.
fn saying(text: &str, step: ScriptStep) -> ScriptStep {
    ScriptStep { text: text.to_owned(), ..step }
}

async fn error(builder: Builder) -> RunError {
    builder.build().expect("built").session("s").run("go").await.expect_err("no answer")
}

fn look() -> Function {
    Function::plain("look", "Looks around.", |(): ()| async { "fog" }).repeatable()
}

// proves L3, M3
#[tokio::test]
async fn a_failed_run_is_an_error_with_what_was_said_before() {
    let refused = ScriptStep::say("").fault(FaultKind::status(401));
    let server = serve([saying("I look around.", ScriptStep::call("app__look", json!({}))), refused]);
    let error = error(builder(&server).tool(look())).await;
    let RunErrorReason::Failed { message, failure, .. } = &error.reason else { panic!("{error:?}") };
    assert_eq!(failure.as_ref().and_then(|failure| failure.status), Some(401));
    assert_eq!((error.text.as_str(), error.session.as_str()), ("I look around.", "s"));
    assert_eq!(error.to_string(), format!("the run failed: {message}"));
}

// proves L5
#[tokio::test]
async fn a_run_at_its_cap_is_an_error_with_what_was_said() {
    let call = saying("Still fog.", ScriptStep::call("app__look", json!({})));
    let scene = Scene { steps: vec![call], then: AfterSteps::RepeatLast, ..Scene::default() };
    for (at_cap, limit, text) in [
        (TurnCapAction::Fail, RunLimit::Turns, "Still fog."),
        (TurnCapAction::WrapUp, RunLimit::Unfinished, "I found nothing."),
    ] {
        let script =
            Script::default().scene(Scene::without_tools([ScriptStep::say("I found nothing.")])).scene(scene.clone());
        let server = ModelServer::start(script).expect("a server");
        let patch = PolicyPatch { turn_cap: Some(2), at_cap: Some(at_cap), ..PolicyPatch::default() };
        let error = error(builder(&server).tool(look()).policy(patch)).await;
        assert!(matches!(error.reason, RunErrorReason::Capped(capped) if capped == limit), "{error:?}");
        assert_eq!(error.text, text);
    }
}

// proves L8
#[tokio::test]
async fn a_cancelled_run_is_an_error_that_names_its_session() {
    let late = ScriptStep::say("late").fault(FaultKind::Delay { ms: 3_600_000 });
    let server = serve([saying("One moment.", ScriptStep::call("app__look", json!({}))), late]);
    let agent = builder(&server).tool(look()).deadline(Duration::from_millis(300)).build().expect("built");
    let error = agent.run("go").await.expect_err("no answer");
    assert!(matches!(error.reason, RunErrorReason::Cancelled), "{error:?}");
    assert_eq!(error.text, "One moment.");
    let store = agent.hub().store();
    assert!(store.find("local", &error.session).await.expect("read").is_some());
}

// proves T8, J3
#[tokio::test]
async fn a_run_that_waits_is_an_error_and_goes_on_when_it_is_resumed() {
    let server = serve([saying("May I?", ScriptStep::call("app__look", json!({}))), ScriptStep::say("Fog.")]);
    let agent = builder(&server).tool(look().ask_first()).attendance(Attendance::Attended).build().expect("built");
    let error = agent.run("go").await.expect_err("no answer");
    let RunErrorReason::Waiting(questions) = &error.reason else { panic!("{error:?}") };
    assert_eq!((questions.len(), error.text.as_str()), (1, "May I?"));
    let running = agent.session(&error.session).resume().await.expect("opened").expect("a run that is open");
    let session = running.session().clone();
    let question = session.wait_for_person().await;
    let windlass_runtime::SessionActivity::Waiting(questions) = question else { panic!("{question:?}") };
    let yes = windlass::QuestionOption::Once.into();
    assert!(session.answer(questions[0].question, yes).await.expect("answered"));
    assert_eq!(running.answer().await.expect("an answer"), "Fog.");
}

// proves L3
#[tokio::test]
async fn the_whole_end_is_there_for_whoever_wants_it() {
    let server = serve([ScriptStep::say("").fault(FaultKind::status(401))]);
    let agent = builder(&server).build().expect("built");
    let ended = agent.run_full("go").await.expect("ended");
    assert_eq!((ended.reason, ended.turns), (EndReason::Failed, 1));
    assert!(matches!(agent.answer(&ended), Err(RunErrorReason::Failed { .. })));
}

// proves J1
#[tokio::test]
async fn each_run_without_a_session_has_one_of_its_own() {
    let server = serve([ScriptStep::say("Aye.")]);
    let agent = builder(&server).build().expect("built");
    for _ in 0..2 {
        assert_eq!(agent.run("Hello?").await.expect("an answer"), "Aye.");
    }
    assert_eq!(agent.hub().store().sessions("local").await.expect("listed").len(), 2);
}

// proves W1: the text of an error is the text of its own run
#[tokio::test]
async fn an_error_has_no_text_of_another_run() {
    let looks = saying("Let me look.", ScriptStep::call("app__look", json!({})));
    let server = serve([looks, ScriptStep::say("All is well.")]);
    let one_turn = PolicyPatch { turn_cap: Some(1), at_cap: Some(TurnCapAction::Fail), ..PolicyPatch::default() };
    let agent = builder(&server).tool(look()).policy(one_turn).build().expect("built");
    let first = agent.session("notes").once("1").run("go").await.expect_err("no answer");
    assert_eq!(first.text, "Let me look.");
    assert_eq!(agent.session("notes").run("again").await.expect("an answer"), "All is well.");
    let same = agent.session("notes").once("1").run("go").await.expect_err("no answer");
    assert_eq!(same.text, "Let me look.", "not the text of the newest run");
}
