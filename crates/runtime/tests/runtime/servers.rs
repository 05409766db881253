//! Tools of servers that connect and disconnect: a prompt never waits for one, and its tools are not lost.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Bomb, End, World};
use serde_json::{Value, json};
use tokio::sync::watch;
use windlass_machine::preset;
use windlass_testkit::{Script, ScriptStep, ScriptedModel};
use windlass_tools::{BoxFuture, CallContext, ServerStage, Tool, ToolServers};
use windlass_vocab::{
    Answer, Attendance, Dialect, EffectClass, Elicitation, ElicitationKind, EndReason, Json, Outcome, OutcomeKind,
    Pause, Policy, QuestionOption, Record, ToolName, ToolSpec,
};

/// The state of the server `hub`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Is {
    Asleep,
    Starting,
    Up,
    Missing,
}

/// One server, `hub`, that is up when the test says so.
pub(crate) struct Hub {
    pub(crate) is: watch::Sender<Is>,
    /// Its tools at the last connection, and now.
    remembered: Vec<&'static str>,
    pub(crate) has: Mutex<Vec<&'static str>>,
    pub(crate) said: Mutex<Vec<String>>,
    /// How often it was woken while it was not up, and how often it was waited for.
    pub(crate) woken: AtomicUsize,
    pub(crate) waited_for: AtomicUsize,
}

impl Hub {
    pub(crate) fn down(remembered: &[&'static str]) -> Arc<Self> {
        Arc::new(Self {
            is: watch::channel(Is::Asleep).0,
            remembered: remembered.to_vec(),
            has: Mutex::new(vec!["echo", "asks", "pauses"]),
            said: Mutex::default(),
            woken: AtomicUsize::default(),
            waited_for: AtomicUsize::default(),
        })
    }

    /// Another process finds it in the same state, but not running.
    pub(crate) fn restarted(&self) {
        self.is.send_replace(Is::Asleep);
    }
}

struct HubTool {
    spec: ToolSpec,
    hub: Arc<Hub>,
}

impl Tool for HubTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run(&self, context: CallContext, _: Value) -> BoxFuture<'static, Outcome> {
        let (hub, name) = (Arc::clone(&self.hub), self.spec.name.bare().to_owned());
        Box::pin(async move {
            let asks = Elicitation {
                key: "name".into(),
                from: "hub".into(),
                message: "Which name?".into(),
                wants: ElicitationKind::Form { schema: Json::empty_object() },
            };
            let answer = match (name.as_str(), &context.resumed) {
                ("pauses", None) => {
                    let pause = Pause { state: Json::parse("[7]").unwrap(), asks: vec![asks] };
                    return Outcome::paused(pause);
                }
                ("pauses", Some(resumed)) => format!("{} {:?}", resumed.state.as_str(), resumed.answers[0].1.option),
                ("asks", _) => format!("{:?}", (context.ask)(asks).await.option),
                (other, _) => other.to_owned(),
            };
            hub.said.lock().unwrap().push(answer.clone());
            Outcome::ok(answer)
        })
    }
}

/// The servers as the registry sees them.
struct Servers(Arc<Hub>);

impl ToolServers for Servers {
    fn wake(&self) {
        self.0.is.send_if_modified(|is| match is {
            Is::Asleep | Is::Missing => {
                self.0.woken.fetch_add(1, Ordering::SeqCst);
                *is = Is::Starting;
                true
            }
            Is::Starting | Is::Up => false,
        });
    }

    fn names(&self) -> Vec<String> {
        vec!["hub".into(), "prod".into()]
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let up = *self.0.is.borrow() == Is::Up;
        let names: Vec<&str> = if up { self.0.has.lock().unwrap().clone() } else { self.0.remembered.clone() };
        let tool = |name: &str| -> Arc<dyn Tool> {
            let spec = ToolSpec {
                name: ToolName(format!("hub.{name}")),
                wire_name: String::new(),
                description: "It echoes.".into(),
                schema: Json::from(&json!({"type": "object"})),
                effect: EffectClass::ReadOnly,
                ending: None,
                repeatable: false,
                reads_files: false,
                tags: ["web".to_owned()].into(),
            };
            Arc::new(HubTool { spec, hub: Arc::clone(&self.0) })
        };
        names.into_iter().map(tool).collect()
    }

    fn stages(&self) -> BTreeMap<String, ServerStage> {
        let limit = Duration::from_secs(30);
        let stage = match (*self.0.is.borrow(), self.0.remembered.is_empty()) {
            (Is::Asleep, _) => return BTreeMap::new(),
            (Is::Starting, true) => ServerStage::Awaited { limit },
            (Is::Starting, false) => ServerStage::Remembered { limit },
            (Is::Up, _) => ServerStage::Listed,
            (Is::Missing, _) => ServerStage::Missed { reason: "did not say who it is within 30 s".into() },
        };
        BTreeMap::from([("hub".to_owned(), stage)])
    }

    fn settled(&self, _: Vec<String>) -> BoxFuture<'static, ()> {
        self.0.waited_for.fetch_add(1, Ordering::SeqCst);
        let mut is = self.0.is.subscribe();
        Box::pin(async move {
            let _ = is.wait_for(|is| *is != Is::Starting).await;
        })
    }
}

pub(crate) fn world(policy: Policy, hub: &Arc<Hub>, attendance: Attendance, steps: Vec<ScriptStep>) -> World {
    let mut world = World::new(policy, ScriptedModel::new(Script::of(steps)), attendance);
    world.servers = Some(Arc::new(Servers(Arc::clone(hub))));
    world
}

/// Returns the default preset without a wait before the first turn.
pub(crate) fn default() -> Policy {
    Policy { server_wait_ms: 0, ..preset("default").unwrap() }
}

pub(crate) fn offers(world: &World) -> Vec<Vec<String>> {
    let names = |specs: &[ToolSpec]| {
        let of_hub = specs.iter().filter(|spec| spec.name.server() == "hub" || spec.name.bare().starts_with("wait"));
        of_hub.map(|spec| spec.wire_name.clone()).collect()
    };
    let pinned = world.records().into_iter().filter_map(|record| match record {
        Record::ContextPinned(pinned) => pinned.context.map(|context| names(&context.offer)),
        _ => None,
    });
    pinned.collect()
}

pub(crate) fn outcomes(world: &World) -> Vec<(OutcomeKind, String)> {
    let finished = world.records().into_iter().filter_map(|record| match record {
        Record::CallFinished(finished) => Some((finished.outcome, finished.text)),
        _ => None,
    });
    finished.collect()
}

pub(crate) async fn run(world: &World) -> EndReason {
    match world.process(&Bomb::at(None)).await {
        End::Ended(ended) => ended.reason,
        End::Crashed => panic!("it crashed"),
    }
}

/// Runs with a server that is up only once the model has been called: nothing waited for it before.
pub(crate) async fn run_while_it_comes_up(world: &World, hub: &Hub) -> EndReason {
    let comes_up = async {
        while world.model.heard_requests().is_empty() {
            tokio::task::yield_now().await;
        }
        hub.is.send_replace(Is::Up);
    };
    tokio::join!(run(world), comes_up).0
}

// proves P2
#[tokio::test]
async fn a_prompt_waits_for_no_server_and_the_model_may() {
    let hub = Hub::down(&[]);
    let steps = vec![
        ScriptStep::call("wait_for_servers", json!({})),
        ScriptStep::call("hub__echo", json!({})),
        ScriptStep::say("done"),
    ];
    let world = world(default(), &hub, Attendance::Unattended, steps);
    let reason = run_while_it_comes_up(&world, &hub).await;
    assert_eq!(reason, EndReason::Completed);
    assert_eq!(offers(&world), [vec!["wait_for_servers"], vec!["hub__asks", "hub__echo", "hub__pauses"]]);
    assert_eq!(outcomes(&world)[0].1, "hub is there, with 3 tools.");
    assert_eq!(outcomes(&world)[1], (OutcomeKind::Ok, "echo".into()));
}

// proves P2
#[tokio::test]
async fn a_call_that_names_a_server_on_its_way_waits_for_it() {
    let hub = Hub::down(&[]);
    let world = world(
        default(),
        &hub,
        Attendance::Unattended,
        vec![ScriptStep::call("hub__echo", json!({})), ScriptStep::say("done")],
    );
    let reason = run_while_it_comes_up(&world, &hub).await;
    assert_eq!(reason, EndReason::Completed);
    assert_eq!(outcomes(&world), [(OutcomeKind::Ok, "echo".to_owned())]);
}

// proves P2, T4: however the call is written
#[tokio::test]
async fn a_call_in_any_dialect_waits_for_the_server_it_names() {
    let block = "<tool><server_name>hub</server_name><tool_name>echo</tool_name><arguments>{}</arguments></tool>";
    for (dialect, text) in [
        (Dialect::ToolBlock, block),
        (Dialect::Bracket, "[hub.echo()]"),
        (Dialect::Lines, "Tool: hub.echo\nArguments: {}"),
        (Dialect::BareJson, r#"{"name": "hub.echo", "arguments": {}}"#),
        (Dialect::BareJson, r#"{"name": "hub__echo", "arguments": {}}"#),
    ] {
        let hub = Hub::down(&[]);
        let policy = Policy { dialects: vec![dialect], ..default() };
        let world = world(policy, &hub, Attendance::Unattended, vec![ScriptStep::say(text), ScriptStep::say("done")]);
        let reason = run_while_it_comes_up(&world, &hub).await;
        assert_eq!(reason, EndReason::Completed, "{text}");
        assert_eq!(outcomes(&world), [(OutcomeKind::Ok, "echo".to_owned())], "{text}");
    }
}

// proves P2, T5: a call does not become an answer because its server connected without that tool
#[tokio::test]
async fn a_call_of_an_awaited_server_that_does_not_have_the_tool_is_told_so() {
    let hub = Hub::down(&[]);
    let policy = Policy { dialects: vec![Dialect::BareJson], ..default() };
    let steps = vec![ScriptStep::say(r#"{"name": "hub.manufacture", "arguments": {}}"#), ScriptStep::say("done")];
    let world = world(policy, &hub, Attendance::Unattended, steps);
    let reason = run_while_it_comes_up(&world, &hub).await;
    assert_eq!(reason, EndReason::Completed);
    let outcomes = outcomes(&world);
    assert!(
        matches!(&outcomes[..], [(OutcomeKind::Unknown, told)] if told.contains("hub.manufacture")),
        "{outcomes:?}"
    );
}

// proves P2, M6
#[tokio::test]
async fn tools_remembered_from_last_time_are_offered_before_their_server_is_up() {
    let hub = Hub::down(&["echo"]);
    let world = world(
        default(),
        &hub,
        Attendance::Unattended,
        vec![ScriptStep::call("hub__echo", json!({})), ScriptStep::say("done")],
    );
    assert_eq!(run(&world).await, EndReason::Completed);
    assert_eq!(offers(&world), [vec!["hub__echo"]]);
    assert_eq!(outcomes(&world), [(OutcomeKind::Ok, "echo".to_owned())]);
}

// proves T3, T4: in any syntax, a call that names an unavailable server runs on no other
#[tokio::test]
async fn a_call_of_a_server_that_is_not_available_is_told_so_and_runs_nowhere() {
    let block = "<tool><server_name>prod</server_name><tool_name>echo</tool_name><arguments>{}</arguments></tool>";
    for (dialect, step) in [
        (Dialect::Native, ScriptStep::call("prod__echo", json!({}))),
        (Dialect::Native, ScriptStep::call("prod.echo", json!({}))),
        (Dialect::ToolBlock, ScriptStep::say(block)),
        (Dialect::Bracket, ScriptStep::say("[prod.echo()]")),
        (Dialect::Lines, ScriptStep::say("Tool: prod.echo\nArguments: {}")),
        (Dialect::BareJson, ScriptStep::say(r#"{"name": "prod__echo", "arguments": {}}"#)),
    ] {
        let hub = Hub::down(&["echo"]);
        let policy = Policy { dialects: vec![dialect], ..default() };
        let world = world(policy, &hub, Attendance::Unattended, vec![step, ScriptStep::say("done")]);
        assert_eq!(run(&world).await, EndReason::Completed, "{dialect:?}");
        let outcomes = outcomes(&world);
        let [(OutcomeKind::Unknown, told)] = &outcomes[..] else { panic!("{dialect:?}: {outcomes:?}") };
        assert!(told.contains("the server `prod` is not available"), "{dialect:?}: {told}");
        assert!(told.contains("`hub__echo`"), "{dialect:?}: {told}");
        assert!(hub.said.lock().unwrap().is_empty());
    }
}

// proves P4
#[tokio::test]
async fn a_call_hears_the_answer_to_what_it_asks_whether_it_waits_or_pauses() {
    let hub = Hub::down(&["asks", "pauses"]);
    let steps = vec![
        ScriptStep::call("hub__asks", json!({})),
        ScriptStep::call("hub__pauses", json!({})),
        ScriptStep::say("done"),
    ];
    let attended = world(default(), &hub, Attendance::Attended, steps.clone());
    assert_eq!(run(&attended).await, EndReason::Completed);
    // The test's person declines questions that it does not know.
    assert_eq!(*hub.said.lock().unwrap(), ["No", "[7] No"]);

    hub.said.lock().unwrap().clear();
    let alone = world(default(), &hub, Attendance::Unattended, steps);
    assert_eq!(run(&alone).await, EndReason::Completed);
    assert_eq!(*hub.said.lock().unwrap(), ["Dismiss", "[7] Dismiss"]);
}

// proves P4, J3
#[tokio::test]
async fn a_paused_call_is_asked_about_again_by_the_next_process() {
    let hub = Hub::down(&["pauses"]);
    let world = world(
        default(),
        &hub,
        Attendance::Attended,
        vec![ScriptStep::call("hub__pauses", json!({})), ScriptStep::say("done")],
    );
    let session = world.open(&Bomb::at(None)).await.unwrap();
    session.send("m".into(), "go").await.unwrap();
    let windlass_runtime::SessionActivity::Waiting(first) = session.settled().await else { panic!("it waits") };
    session.close().await;

    let session = world.open(&Bomb::at(None)).await.unwrap();
    let windlass_runtime::SessionActivity::Waiting(again) = session.settled().await else { panic!("it waits") };
    assert_eq!(first, again);
    let answer = Answer::with(QuestionOption::Submit, Json::empty_object());
    assert!(session.answer(again[0].question, answer).await.unwrap());
    assert_eq!(session.settled().await, windlass_runtime::SessionActivity::Idle);
    assert_eq!(*hub.said.lock().unwrap(), ["[7] Submit"]);
}

// proves T2
#[tokio::test]
async fn tags_choose_hidden_tools_go_last_and_are_refused_when_called() {
    let hub = Hub::down(&["echo", "asks"]);
    let policy =
        Policy { tags: ["web".to_owned()].into(), hidden: ["hub.asks".to_owned()].into(), ..preset("task").unwrap() };
    let steps = vec![
        ScriptStep::call("hub__asks", json!({})),
        ScriptStep::call("scripted__read", json!({})),
        ScriptStep::call("task_completion", json!({"result": "done"})),
    ];
    let world = world(policy, &hub, Attendance::Unattended, steps);
    assert_eq!(run(&world).await, EndReason::Completed);
    assert_eq!(offers(&world), [vec!["hub__echo"]], "what has another tag is not offered");
    let outcomes = outcomes(&world);
    assert_eq!(outcomes[0].0, OutcomeKind::Denied, "{outcomes:?}");
    assert!(outcomes[0].1.contains("not available here"), "{outcomes:?}");
    assert_eq!(outcomes[1].0, OutcomeKind::Unknown, "{outcomes:?}");
    assert!(hub.said.lock().unwrap().is_empty());
}
