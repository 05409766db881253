//! Questions answered by a handler of the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use windlass::{Agent, Builder, Function, QuestionAnswer, QuestionAsked, QuestionOption, Record, RunErrorReason};
use windlass_testkit::{ModelServer, Script, ScriptStep, conversation};

fn server() -> ModelServer {
    ModelServer::start(Script::of([ScriptStep::call("app__fire", json!({})), ScriptStep::say("Done.")]))
        .expect("a server")
}

fn builder(server: &ModelServer) -> Builder {
    let fire = Function::plain("fire", "Fires the gun.", |(): ()| async { "bang" });
    Agent::builder().base_url(server.base_url()).model("scripted").in_memory().tool(fire.ask_first())
}

/// Returns the result of the call that needed approval.
fn result(server: &ModelServer) -> String {
    conversation(&server.requests()[1].body).last().expect("one")["content"].to_string()
}

// proves T8
#[tokio::test]
async fn a_handler_says_yes_or_no_and_why() {
    for (answer, want) in [
        (QuestionOption::Once.into(), "bang"),
        (QuestionOption::No.into(), "not"),
        (QuestionAnswer { reason: Some("the fleet is ours".into()), ..QuestionOption::No.into() }, "the fleet is ours"),
    ] {
        let server = server();
        let handler = move |question: QuestionAsked| {
            assert!(question.preview.is_some_and(|preview| preview.title.contains("fire")));
            std::future::ready(answer.clone())
        };
        let agent = builder(&server).on_question(handler).build().expect("built");
        assert_eq!(agent.run("Fire!").await.expect("an answer"), "Done.");
        assert!(result(&server).contains(want), "{want}: {}", result(&server));
    }
}

// proves T8
#[tokio::test]
async fn an_answer_that_is_not_on_offer_leaves_the_run_waiting() {
    let server = server();
    let agent = builder(&server).on_question(async |_| QuestionOption::RunAgain).build().expect("built");
    let error = agent.run("Fire!").await.expect_err("no answer");
    assert!(matches!(error.reason, RunErrorReason::Waiting(_)), "{error:?}");
    assert!(error.to_string().contains("fire"), "{error}");
}

// proves L8
#[tokio::test]
async fn a_handler_that_never_answers_does_not_outlive_its_run() {
    let server = server();
    let handler = |_| std::future::pending::<QuestionOption>();
    let agent = builder(&server).on_question(handler).deadline(Duration::from_millis(200)).build().expect("built");
    let error = agent.run("Fire!").await.expect_err("no answer");
    assert!(matches!(error.reason, RunErrorReason::Cancelled), "{error:?}");
}

// proves E1: events continue while a person thinks, and nobody is asked twice
#[tokio::test]
async fn a_run_that_is_followed_asks_once_though_its_events_are_read_one_by_one() {
    let (server, asked, go) = (server(), Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
    let (counted, waited) = (Arc::clone(&asked), Arc::clone(&go));
    let handler = move |_: QuestionAsked| {
        let (counted, waited) = (Arc::clone(&counted), Arc::clone(&waited));
        async move {
            counted.fetch_add(1, Ordering::SeqCst);
            waited.notified().await;
            QuestionOption::Once
        }
    };
    let agent = builder(&server).on_question(handler).build().expect("built");
    let mut running = agent.start("Fire!").await.expect("started");
    let mut finished = 0;
    loop {
        // Each future is dropped before the person has answered, repeatedly.
        match tokio::time::timeout(Duration::from_millis(20), running.next()).await {
            Ok(Some(windlass::Event::Record(envelope))) => {
                finished += u32::from(matches!(envelope.record, Record::CallFinished(_)));
            }
            Ok(Some(windlass::Event::Delta(_))) => {}
            Ok(None) => break,
            Err(_) => go.notify_one(),
        }
    }
    assert_eq!((running.answer().await.expect("an answer").as_str(), finished), ("Done.", 1));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}
