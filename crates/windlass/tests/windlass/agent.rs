//! The facade against a scripted server, used as by a program that embeds an agent.

use serde_json::json;
use windlass::door::{AwaitedEnd, FollowError};
use windlass::{Agent, BuildError, EndReason, Session};
use windlass_runtime::{Interest, SendOutcome, Subscription};
use windlass_testkit::{FaultKind, ModelServer, Script, ScriptStep};
use windlass_tools::GuardProgram;
use windlass_vocab::{MessageId, PolicyPatch, ToolSource};

fn agent(server: &ModelServer, dir: &std::path::Path) -> Agent {
    let work = dir.join("work");
    std::fs::create_dir_all(&work).expect("a folder");
    Agent::builder()
        .base_url(server.base_url())
        .model("scripted")
        .workspace(work)
        .deny("run_command")
        .data_dir(dir.join("data"))
        .build()
        .expect("built")
}

#[tokio::test]
async fn an_agent_does_a_job_with_files_in_a_few_lines() {
    // proves W1
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(Script::of([
        ScriptStep::call("write_file", json!({"path": "notes.md", "content": "hello\n"})),
        ScriptStep::call("read_file", json!({"path": "notes.md"})),
        ScriptStep::say("It says hello."),
    ]))
    .expect("a server");
    let ended =
        agent(&server, dir.path()).session("notes").run_full("Write hello and read it back.").await.expect("ended");
    assert_eq!((ended.reason, ended.answer.as_str(), ended.turns), (EndReason::Completed, "It says hello.", 3));
    assert_eq!(std::fs::read_to_string(dir.path().join("work/notes.md")).expect("written"), "hello\n");
    assert_eq!(server.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn the_same_message_id_gives_the_same_end_without_asking_the_model_again() {
    // proves J6
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(Script::of([ScriptStep::say("once")])).expect("a server");
    for _ in 0..2 {
        // A new agent each time, as a new process would have.
        let ended = agent(&server, dir.path()).session("s").once("m").run_full("go").await.expect("ended");
        assert_eq!(ended.answer, "once");
    }
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn an_agent_dropped_in_the_middle_goes_on_where_it_was() {
    // proves J3
    let dir = tempfile::tempdir().expect("a folder");
    let slow = ScriptStep::say("done").fault(FaultKind::Delay { ms: 3_600_000 }.times(1));
    let script = Script::of([ScriptStep::call("write_file", json!({"path": "a", "content": "x"})), slow]);
    let server = ModelServer::start(script).expect("a server");
    let first = agent(&server, dir.path());
    let session = first.open("s").await.expect("opened");
    session.send(MessageId("m".into()), "go").await.expect("sent");
    let mut events = session.events();
    // The second turn's model call hangs; the agent is dropped there.
    while server.count() < 2 {
        tokio::select! {
            _ = events.next() => {}
            () = tokio::time::sleep(std::time::Duration::from_millis(5)) => {}
        }
    }
    session.close().await;
    drop(first);
    let ended = agent(&server, dir.path()).session("s").once("m").run_full("go").await.expect("ended");
    assert_eq!((ended.reason, ended.turns), (EndReason::Completed, 2));
    assert_eq!(server.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn settings_are_laid_over_the_preset() {
    // proves L5
    let dir = tempfile::tempdir().expect("a folder");
    let call = ScriptStep::call("list_directory", json!({"path": "."}));
    let scene = windlass_testkit::Scene {
        steps: vec![call],
        then: windlass_testkit::AfterSteps::RepeatLast,
        ..Default::default()
    };
    let script = Script::default()
        .scene(windlass_testkit::Scene::without_tools([ScriptStep::say("That is all I did.")]))
        .scene(scene);
    let server = ModelServer::start(script).expect("a server");
    let agent = Agent::builder()
        .base_url(server.base_url())
        .model("scripted")
        .workspace(dir.path())
        .deny("run_command")
        .in_memory()
        .policy(PolicyPatch { turn_cap: Some(2), ..PolicyPatch::default() })
        .build()
        .expect("built");
    let ended = agent.session("s").run_full("go").await.expect("ended");
    assert_eq!((ended.reason, ended.answer.as_str(), ended.turns), (EndReason::Unfinished, "That is all I did.", 3));
}

#[test]
fn commands_without_a_guard_are_refused_when_the_agent_is_built() {
    // proves T7, W1
    let dir = tempfile::tempdir().expect("a folder");
    let builder = || Agent::builder().model("ollama:m").in_memory().workspace(dir.path());
    let refused = builder().build().map(|_| ()).expect_err("this program did not call init");
    assert!(matches!(refused, BuildError::NoCommandGuard), "{refused:?}");
    assert!(refused.to_string().contains("windlass::init"), "{refused}");
    let guard = GuardProgram { program: "/bin/false".into(), args: Vec::new() };
    builder().guard(guard).build().expect("with a guard");
    builder().deny("run_command").build().expect("without commands");
    assert!(builder().deny("run_command(rm *)").build().is_err(), "other commands would be offered");
    let only_servers = PolicyPatch { tools: Some([ToolSource::Mcp].into_iter().collect()), ..PolicyPatch::default() };
    builder().policy(only_servers).build().expect("no command is offered");
}

#[tokio::test]
async fn a_command_does_not_inherit_the_key_the_agent_was_given() {
    // proves X1
    let dir = tempfile::tempdir().expect("a folder");
    let call = ScriptStep::call("run_command", json!({"command": "true"}));
    let server = ModelServer::start(Script::of([call, ScriptStep::say("done")])).expect("a server");
    // A guard that only prints the environment it was started with.
    let shown = dir.path().join("environment");
    let args = vec!["-c".to_owned(), "/usr/bin/env > \"$0\"".to_owned(), shown.display().to_string()];
    // An environment variable of this program whose value serves as the key; it is declared secret in no other way.
    let key = std::env::var("CARGO_MANIFEST_DIR").expect("set where tests run");
    let agent = Agent::builder()
        .base_url(server.base_url())
        .model("scripted")
        .api_key(key)
        .in_memory()
        .workspace(dir.path())
        .allow("run_command")
        .guard(GuardProgram { program: "/bin/sh".into(), args })
        .build()
        .expect("built");
    agent.session("s").run_full("go").await.expect("ended");
    let environment = std::fs::read_to_string(shown).expect("the guard was started");
    let names: Vec<_> = environment.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert!(names.contains(&"WINDLASS_EFFECT_ID"), "{names:?}");
    assert!(!names.contains(&"CARGO_MANIFEST_DIR"), "{names:?}");
}

#[test]
fn what_is_missing_or_wrong_is_said() {
    let message = |builder: windlass::Builder| builder.build().expect_err("refused").to_string();
    assert!(message(Agent::builder()).contains("no model is named"));
    assert!(message(Agent::builder().model("m")).contains("no server is named"));
    let builder = || Agent::builder().in_memory().model("m").base_url("http://127.0.0.1:1/v1");
    assert!(message(builder().preset("nope")).contains("durable-chat"));
    assert!(message(builder().workspace("/nowhere/at/all")).contains("/nowhere/at/all"));
    assert!(message(builder().allow("run_command(")).contains("run_command("));
}

// proves W1: a server without a model's name is asked for its models, as at the command line
#[tokio::test]
async fn a_server_is_enough_where_it_has_one_model() {
    let server = ModelServer::start(Script::of([ScriptStep::say("Aye.")])).expect("a server");
    for builder in [Agent::builder().base_url(server.base_url()), Agent::builder().model(server.base_url())] {
        builder.in_memory().build().expect("built");
    }
    let agent = Agent::builder().in_memory().model(server.base_url()).build().expect("built");
    assert_eq!(agent.run("Hello?").await.expect("answered"), "Aye.");
    assert_eq!(server.refused(), Vec::<String>::new());
    let gone = Agent::builder().in_memory().base_url("http://127.0.0.1:1/v1").build().expect_err("refused").to_string();
    assert!(gone.starts_with("no model is named, and http://127.0.0.1:1/v1 does not settle"), "{gone}");
}

/// Opens a session with a run that hangs at the model and two messages that wait for its end.
async fn queue(agent: &Agent, server: &ModelServer) -> (Session, Subscription) {
    let (session, mut events) = agent.open_followed("s").await.expect("opened");
    for id in ["a", "b", "c"] {
        let sent = session.send(MessageId(id.into()), id).await.expect("sent");
        assert_eq!(sent == SendOutcome::Queued, id != "a");
    }
    while server.count() < 1 {
        tokio::select! {
            _ = events.next() => {}
            () = tokio::time::sleep(std::time::Duration::from_millis(5)) => {}
        }
    }
    (session, events)
}

fn queueing(server: &ModelServer) -> Agent {
    let steering = Some(windlass_vocab::Steering::Queue);
    Agent::builder()
        .base_url(server.base_url())
        .model("scripted")
        .in_memory()
        .policy(PolicyPatch { steering, ..PolicyPatch::default() })
        .build()
        .expect("built")
}

#[tokio::test]
async fn a_message_that_waits_is_answered_by_its_own_run() {
    // proves L7, J6
    let server = ModelServer::start(Script::of([
        ScriptStep::say("of a").fault(FaultKind::Delay { ms: 200 }),
        ScriptStep::say("of b"),
        ScriptStep::say("of c"),
    ]))
    .expect("a server");
    let agent = queueing(&server);
    let (session, mut events) = queue(&agent, &server).await;
    let third = AwaitedEnd::Message(MessageId("c".into()));
    let ended = agent.follow(&session, &mut events, third, |_| {}).await.expect("ended");
    assert_eq!(ended.answer, "of c");
    // The end can be found however late it is requested.
    for (id, answer) in [("a", "of a"), ("b", "of b"), ("c", "of c")] {
        let awaited = AwaitedEnd::Message(MessageId(id.into()));
        let ended = agent.follow(&session, &mut session.events(), awaited, |_| {}).await.expect("ended");
        assert_eq!(ended.answer, answer);
    }
}

#[tokio::test]
async fn who_comes_with_one_message_leaves_what_waits_behind_it_until_they_say_more() {
    // proves L7, J1
    let slow = ScriptStep::say("of a").fault(FaultKind::Delay { ms: 3_600_000 }.times(1));
    let script = Script::of([slow, ScriptStep::say("of b"), ScriptStep::say("of c"), ScriptStep::say("of d")]);
    let server = ModelServer::start(script).expect("a server");
    let agent = queueing(&server);
    let (session, _) = queue(&agent, &server).await;
    let (id, store) = (session.id(), agent.hub().store());
    session.close().await;
    let (first, fourth) = (MessageId("a".into()), MessageId("d".into()));
    let ended = agent.session("s").once("a").run_full("a").await.expect("ended");
    assert_eq!(ended.answer, "of a");
    assert_eq!(store.waiting(id).await.expect("read").len(), 2);
    assert_eq!(store.row(id).await.expect("read").expect("there").runs, 1, "nothing is begun that nobody follows");
    let (session, mut events, _) = agent.open_and_send("s", first, "a", Interest::Runs).await.expect("opened");
    assert_eq!(session.send(fourth.clone(), "d").await, Ok(SendOutcome::Queued), "nothing overtakes what waits");
    let ended = agent.follow(&session, &mut events, AwaitedEnd::Message(fourth), |_| {}).await.expect("ended");
    assert_eq!(ended.answer, "of d");
    assert!(store.waiting(id).await.expect("read").is_empty());
}

#[tokio::test]
async fn whoever_awaits_a_message_hears_that_it_was_dropped() {
    // proves L8
    let slow = ScriptStep::say("of a").fault(FaultKind::Delay { ms: 3_600_000 });
    let server = ModelServer::start(Script::of([slow])).expect("a server");
    let agent = queueing(&server);
    let (session, mut events) = queue(&agent, &server).await;
    let third = AwaitedEnd::Message(MessageId("c".into()));
    let (ended, stopped) =
        tokio::join!(agent.follow(&session, &mut events, third, |_| {}), session.stop(windlass_vocab::StopBy::Person));
    assert_eq!(stopped.expect("stopped").dropped, 2);
    assert!(matches!(ended, Err(FollowError::Dropped)), "{ended:?}");
}
