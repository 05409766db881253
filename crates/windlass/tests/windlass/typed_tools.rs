//! Typed tools in an agent: what the model sees, what runs, what asks, how a crash is handled (W1).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass::{
    Agent, Builder, CallContext, Data, EndReason, Event, Function, PolicyPatch, Record, ToolArgs, ToolError, TypedTool,
    Verification, typed,
};
use windlass_testkit::{FaultKind, ModelServer, Script, ScriptStep};
use windlass_tools::{Mode, Permissions};
use windlass_vocab::Outcome;

fn serve(steps: impl IntoIterator<Item = ScriptStep>) -> ModelServer {
    ModelServer::start(Script::of(steps)).expect("a server")
}

fn builder(server: &ModelServer) -> Builder {
    Agent::builder().base_url(server.base_url()).model("scripted").in_memory()
}

/// Returns the tool results in the last request to the model.
fn results(server: &ModelServer) -> Vec<String> {
    let body = server.requests().last().expect("a request").body.clone();
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

#[derive(Default)]
struct Counter(AtomicU32);

#[derive(Deserialize, JsonSchema)]
struct By {
    by: u32,
}

fn add() -> Function<Counter> {
    Function::new("add", "Adds to the counter.", |counter: Arc<Counter>, args: By| async move {
        let sum = counter.0.fetch_add(args.by, Ordering::SeqCst) + args.by;
        Data(json!({"sum": sum}))
    })
}

// proves W1
#[tokio::test]
async fn a_closure_works_with_what_the_agent_has_and_runs_without_asking() {
    let server = serve([
        ScriptStep::call("app__add", json!({"by": 2})),
        ScriptStep::call("app__add", json!({"by": "three"})),
        ScriptStep::call("add", json!({"by": 3})),
        ScriptStep::say("five"),
    ]);
    let agent = builder(&server).deps(Counter::default()).tool(add()).build().expect("built");
    assert_eq!(agent.session("s").run("Add 2 and 3.").await.expect("an answer"), "five");
    assert_eq!(agent.deps().0.load(Ordering::SeqCst), 5);
    let results = results(&server);
    assert_eq!((results[0].as_str(), results[2].as_str()), (r#"{"sum":2}"#, r#"{"sum":5}"#));
    assert!(results[1].contains("/by") && results[1].contains("integer"), "{}", results[1]);
}

fn strictly(builder: Builder<Counter>) -> Builder<Counter> {
    builder.permissions(Permissions { mode: Mode::Strict, ..Permissions::default() })
}

// proves W1, T8
#[tokio::test]
async fn a_tool_is_held_to_rules_and_to_what_it_says_of_itself() {
    type With = fn(Builder<Counter>) -> Builder<Counter>;
    let cases: [(&str, Function<Counter>, With, &str); 4] = [
        ("denied by rule", add(), |builder| builder.deny("app.add"), "the rule `app.add` forbids it"),
        ("asks first", add().ask_first(), |builder| builder, "nobody is there"),
        ("strict", add(), strictly, "nobody is there"),
        ("allowed by rule", add(), |builder| strictly(builder).allow("app.add"), r#"{"sum":2}"#),
    ];
    for (name, tool, with, want) in cases {
        let server = serve([ScriptStep::call("app__add", json!({"by": 2})), ScriptStep::say("so be it")]);
        let builder = with(builder(&server).deps(Counter::default()).tool(tool));
        builder.build().expect("built").session("s").run_full("go").await.expect("ended");
        assert!(results(&server)[0].contains(want), "{name}: {:?}", results(&server));
    }
}

// proves W1
#[tokio::test]
async fn every_preset_offers_the_tools_of_the_program() {
    for preset in windlass_machine::PRESETS {
        let server = serve([ScriptStep::say("hello").finish("content_filter")]);
        let agent = builder(&server).preset(preset).deps(Counter::default()).tool(add()).build().expect("built");
        agent.session("s").run_full("go").await.expect("ended");
        let request = server.requests()[0].body.clone();
        let offered = request["tools"].as_array().cloned().unwrap_or_default();
        let is_it = |tool: &Value| tool["function"]["name"] == "app__add";
        // If calls are text, the tools are described as text too.
        let explained = request["messages"][0]["content"].as_str().is_some_and(|text| text.contains("tool_name add"));
        assert!(offered.iter().any(is_it) || explained, "{preset}: {request:?}");
    }
}

/// Says what the counter stands at.
#[derive(Deserialize, JsonSchema, ToolArgs)]
#[tool(read_only, tags("reading", "counting"))]
struct Reading {}

impl TypedTool for Reading {
    type Deps = Counter;
    type Answer = String;

    async fn run(self, counter: Arc<Counter>, _: CallContext) -> Result<String, ToolError> {
        Ok(counter.0.load(Ordering::SeqCst).to_string())
    }
}

// proves W1, T2
#[tokio::test]
async fn a_run_that_names_tags_is_offered_the_tools_that_have_one_of_them() {
    let reset = || Function::plain("reset", "Sets the counter back.", async |(): ()| "0").tags(["core"]);
    let all = ["app__add", "app__reading", "app__reset"];
    for (wanted, want) in [
        (vec![], all.to_vec()),
        (vec!["counting"], all.to_vec()),
        (vec!["reading"], vec!["app__reading", "app__reset"]),
        (vec!["other"], vec!["app__reset"]),
    ] {
        let server = serve([ScriptStep::say("so be it")]);
        let tags = wanted.iter().copied().map(str::to_owned).collect();
        let builder = builder(&server).policy(PolicyPatch { tags: Some(tags), ..PolicyPatch::default() });
        let builder = builder.deps(Counter::default());
        let agent = builder.tool(add().tags(["counting"])).tool(typed::<Reading>()).tool(reset()).build();
        agent.expect("built").session("s").run_full("go").await.expect("ended");
        let request = server.requests()[0].body.clone();
        let offered = request["tools"].as_array().cloned().unwrap_or_default();
        let names = offered.iter().filter_map(|tool| tool["function"]["name"].as_str());
        let mut names: Vec<&str> = names.filter(|name| name.starts_with("app__")).collect();
        names.sort_unstable();
        assert_eq!(names, want, "{wanted:?}");
    }
}

// proves W1, T7
#[tokio::test]
async fn a_tool_has_its_own_time_limit() {
    let server = serve([ScriptStep::call("app__wait", json!({})), ScriptStep::say("too slow")]);
    let wait = Function::plain("wait", "Waits for ever.", |(): ()| std::future::pending::<()>());
    let agent = builder(&server).tool(wait.timeout(Duration::from_millis(20))).build().expect("built");
    agent.session("s").run_full("go").await.expect("ended");
    assert!(results(&server)[0].contains("Not done within 0.02 s"), "{:?}", results(&server));
}

async fn breaks() -> &'static str {
    panic!("oh")
}

// proves W1, T5
#[tokio::test]
async fn a_panic_of_a_tool_is_an_answer() {
    let server = serve([ScriptStep::call("app__break", json!({})), ScriptStep::say("it broke")]);
    let broken = Function::plain("break", "Breaks.", |(): ()| breaks());
    let ended = builder(&server).tool(broken).build().expect("built").session("s").run_full("go").await.expect("ended");
    assert_eq!(ended.reason, EndReason::Completed);
    assert!(results(&server)[0].contains("oh"), "{:?}", results(&server));
}

/// Sends a letter.
#[derive(Deserialize, JsonSchema, ToolArgs)]
#[tool(name = "post.send", verifiable)]
struct Send {
    to: String,
}

/// A post office whose calls never return.
#[derive(Default)]
struct Post {
    sent: AtomicU32,
}

impl TypedTool for Send {
    type Deps = Arc<Post>;
    type Answer = String;

    async fn run(self, post: Arc<Arc<Post>>, context: CallContext) -> Result<String, ToolError> {
        post.sent.fetch_add(1, Ordering::SeqCst);
        (context.progress)("sent");
        std::future::pending().await
    }

    async fn verify(self, post: Arc<Arc<Post>>, _: CallContext) -> Verification {
        match post.sent.load(Ordering::SeqCst) {
            0 => Verification::NotDone,
            _ => Verification::Done(Outcome::ok(format!("the letter to {} is on its way", self.to))),
        }
    }
}

// proves W1, J4
#[tokio::test]
async fn a_call_cut_short_is_asked_whether_it_took_place() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = serve([ScriptStep::call("post__send", json!({"to": "Ada"})), ScriptStep::say("sent")]);
    let post = Arc::new(Post::default());
    let agent = || {
        let builder = builder(&server).data_dir(dir.path()).deps(Arc::clone(&post));
        builder.tool(typed::<Send>()).build().expect("built")
    };
    let mut running = agent().session("s").start("Write to Ada.").await.expect("started");
    while let Some(event) = running.next().await {
        if matches!(&event, Event::Delta(_)) && post.sent.load(Ordering::SeqCst) == 1 {
            break;
        }
    }
    running.session().clone().close().await;
    drop(running);
    let running = agent().session("s").resume().await.expect("opened").expect("a run that is open");
    assert_eq!(running.answer().await.expect("an answer"), "sent");
    assert_eq!(post.sent.load(Ordering::SeqCst), 1, "nothing was done twice");
    assert_eq!(results(&server), ["the letter to Ada is on its way"]);
    assert!(agent().session("s").resume().await.expect("opened").is_none(), "nothing is left to take up");
    assert!(agent().session("other").resume().await.expect("looked up").is_none());
}

// proves W1, L8
#[tokio::test]
async fn a_deadline_ends_a_run() {
    let server = serve([ScriptStep::say("late").fault(FaultKind::Delay { ms: 3_600_000 })]);
    let agent = builder(&server).deadline(Duration::from_millis(50)).build().expect("built");
    let ended = agent.session("s").run_full("go").await.expect("ended");
    assert_eq!(ended.reason, EndReason::Cancelled);
}

// proves W1, L8
#[tokio::test]
async fn a_run_is_stopped_from_anywhere() {
    let server = serve([ScriptStep::say("late").fault(FaultKind::Delay { ms: 3_600_000 })]);
    let mut running = builder(&server).build().expect("built").session("s").start("go").await.expect("started");
    let session = running.session().clone();
    while let Some(event) = running.next().await {
        if matches!(&event, Event::Record(envelope) if matches!(envelope.record, Record::TurnStarted(_))) {
            let session = session.clone();
            tokio::spawn(async move { session.stop(windlass_vocab::StopBy::Person).await });
        }
    }
    assert_eq!(running.ended().await.expect("ended").reason, EndReason::Cancelled);
}

// proves W1
#[test]
fn a_tool_that_can_not_be_offered_is_said_when_the_agent_is_built() {
    let builder = || Agent::builder().in_memory().model("m").base_url("http://127.0.0.1:1/v1").deps(Counter::default());
    let twice = builder().tool(add()).tool(add()).build().expect_err("refused").to_string();
    assert!(twice.contains("already a tool `app.add`"), "{twice}");
    let named = Function::plain("two words", "Has no good name.", |(): ()| async {});
    let named = builder().tool(named).build().expect_err("refused").to_string();
    assert!(named.contains("app.two words"), "{named}");
    let list = Function::plain("list", "Takes a list.", |_: Vec<u32>| async {});
    let list = builder().tool(list).build().expect_err("refused").to_string();
    assert!(list.contains("`type` must be `object`"), "{list}");
}
