//! Calls written as text, end to end: the wire, the history, the stream, the fallback (T4).

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use windlass_machine::preset;
use windlass_provider::{HttpClient, HttpConfig, HttpModel, Model, ModelConfig};
use windlass_runtime::{AgentSettings, Breakers, Hub, Instructions, ScaledClock, Services, Session, SessionChoice};
use windlass_store::{MemoryStore, SessionLog as _};
use windlass_testkit::{
    CountFrom, CountingTool, FaultKind, ModelServer, ReplyPace, Scene, Script, ScriptStep, WriteSplit, conversation,
};
use windlass_tools::{Permissions, Registry, Secrets, ending_tools};
use windlass_vocab::{
    Attendance, DeltaBody, Dialect, EffectClass, EndReason, Event, MaxTokens, MessageId, NextAttempt, OutcomeKind,
    Policy, Record, Retry, RunEnded, RunModel, Sampling,
};

struct World {
    server: ModelServer,
    store: Arc<MemoryStore>,
    dir: tempfile::TempDir,
    policy: Policy,
    /// The models of the chain.
    models: Vec<RunModel>,
    /// The server of the models after the first, where they have one of their own.
    second: Option<ModelServer>,
}

/// The outcome of one message.
struct Told {
    ended: RunEnded,
    /// All text that was displayed.
    shown: String,
    /// The calls that were displayed as they streamed: names and arguments.
    calls: Vec<(String, String)>,
}

impl World {
    fn new(policy: Policy, steps: Vec<ScriptStep>) -> Self {
        // Every event is a separate write of a few characters: blocks arrive in many pieces.
        let pace = ReplyPace { writes: WriteSplit::Events, delta_chars: 3, ..ReplyPace::default() };
        let server = ModelServer::start(Script::of(steps).pace(pace)).expect("a server");
        let (store, dir) = (Arc::new(MemoryStore::new()), tempfile::tempdir().expect("a folder"));
        Self { server, store, dir, policy, models: vec![RunModel::named("scripted")], second: None }
    }

    /// The same with models that write calls in dialects of their own.
    fn with_models(self, models: &[(&str, Dialect)]) -> Self {
        let model = |(name, dialect): &(&str, Dialect)| RunModel { dialect: Some(*dialect), ..RunModel::named(*name) };
        Self { models: models.iter().map(model).collect(), ..self }
    }

    async fn open(&self) -> Session {
        let mut registry = Registry::new();
        registry.add(Arc::new(CountingTool::new("read", EffectClass::ReadOnly, self.dir.path()))).expect("a tool");
        for tool in ending_tools() {
            registry.add(tool).expect("a tool");
        }
        let http = HttpClient::new(HttpConfig::default()).expect("a client");
        let model = |model: &RunModel| {
            let server = self.second.as_ref().filter(|_| model.name != self.models[0].name).unwrap_or(&self.server);
            let config = ModelConfig::chat(server.base_url(), model.name.as_str());
            let served: Arc<dyn Model> = Arc::new(HttpModel::new(config, &http).expect("a model"));
            (model.name.clone(), served)
        };
        let hub = Hub::new(Services {
            store: self.store.clone(),
            models: Arc::new(self.models.iter().map(model).collect::<HashMap<_, _>>()),
            registry,
            secrets: Arc::new(Secrets::default()),
            clock: Arc::new(ScaledClock::new(1_000)),
            breakers: Breakers::default(),
            spending: windlass_store::SpendingCounter::default(),
            guard_locks: None,
            context_sources: Vec::new(),
            workspace: None,
        });
        let agent = AgentSettings {
            name: "test".into(),
            policy: self.policy.clone(),
            models: self.models.clone(),
            role_chains: std::collections::BTreeMap::new(),
            instructions: Instructions::default(),
            permissions: Arc::new(Permissions {
                allow: vec!["scripted.read".parse().expect("a rule")],
                ..Permissions::default()
            }),
            deadline_ms: None,
            attendance: Attendance::Unattended,
            output: None,
        };
        let opening = SessionChoice { owner: "me".into(), key: "k".into(), workspace: None };
        hub.open(opening, agent).await.expect("opened")
    }

    async fn tell(&self, session: &Session, text: &str) -> Told {
        let mut events = session.events();
        session.send(MessageId(text.to_owned()), text).await.expect("sent");
        let (mut shown, mut calls) = (String::new(), Vec::new());
        loop {
            match events.next().await.expect("the session is open") {
                Event::Delta(delta) => match delta.body {
                    DeltaBody::TextDelta { text } => shown.push_str(&text),
                    DeltaBody::CallDelta { name: Some(name), text, .. } => calls.push((name, text)),
                    _ => {}
                },
                Event::Record(envelope) => {
                    if let Record::RunEnded(ended) = &envelope.record {
                        return Told { ended: ended.clone(), shown, calls };
                    }
                }
            }
        }
    }

    async fn records(&self) -> Vec<Record> {
        let session = self.store.find("me", "k").await.expect("a store").expect("a session");
        self.store.read(session, 0).await.expect("a store").into_iter().map(|envelope| envelope.record).collect()
    }

    fn bodies(&self) -> Vec<Value> {
        assert_eq!(self.server.refused(), Vec::<String>::new());
        self.server.requests().into_iter().map(|request| request.body).collect()
    }
}

fn policy(name: &str) -> Policy {
    preset(name).expect("a preset")
}

fn contents(body: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    conversation(body).iter().map(|message| (text(&message["role"]), text(&message["content"]))).collect()
}

// proves T4, L6, C1, M6
#[tokio::test]
async fn the_task_preset_does_a_job_in_tool_blocks_over_a_wire_that_knows_no_tools() {
    let first = "I look.\n\n<tool>\n<server_name>scripted</server_name>\n<tool_name>read</tool_name>\n\
                 <arguments><n>1</n></arguments>\n";
    let world = World::new(
        policy("task"),
        vec![
            // From a server that stopped at the stop sequence.
            ScriptStep::say(first),
            // From a server that continued and invented a result.
            ScriptStep::say(format!(
                "{}\n<tool_result>made up</tool_result>\nAll fine.",
                ScriptStep::block("scripted", "read", &json!({"n": 2})).text
            )),
            ScriptStep::say("I am done, I think."),
            ScriptStep::block("local", "task_completion", &json!({"result": "All done."})),
        ],
    );
    let session = world.open().await;
    let told = world.tell(&session, "go").await;
    assert_eq!((told.ended.reason, told.ended.answer.as_str()), (EndReason::Completed, "All done."));
    assert_eq!(told.shown, "I look.I am done, I think.", "no part of a block is ever shown");
    assert_eq!(told.calls[0], ("scripted.read".to_owned(), r#"{"n":"1"}"#.to_owned()));
    assert_eq!(told.calls.len(), 3);

    let bodies = world.bodies();
    for body in &bodies {
        assert_eq!((&body["tools"], &body["tool_choice"]), (&Value::Null, &Value::Null));
        assert_eq!(body["stop"], json!(["</tool>"]));
        let (role, system) = contents(body).remove(0);
        assert_eq!(role, "system");
        assert!(system.contains("<server_name>SERVER</server_name>") && system.contains("tool_name read"), "{system}");
    }
    let last = contents(&bodies[3]);
    for (before, after) in bodies.iter().zip(&bodies[1..]) {
        let before = contents(before);
        assert_eq!(before, contents(after)[..before.len()], "what was sent stays as it was");
    }
    assert!(last[2].1.starts_with("I look.\n\n<tool>") && last[2].1.ends_with("</tool>"), "{last:?}");
    assert!(
        last[3].0 == "user" && last[3].1.starts_with("<tool_result name=\"scripted.read\" outcome=\"ok\">"),
        "{last:?}"
    );
    assert!(!last[4].1.contains("made up"), "{last:?}");
    assert!(last[7].1.contains("contained no tool call"), "{last:?}");
}

// proves T4, M2, M6
#[tokio::test]
async fn a_small_model_does_a_job_in_tags_whatever_the_preset_says() {
    let world = World::new(
        policy("default"),
        vec![
            // From a server that stopped at the stop sequence.
            ScriptStep::say("I look.\n\n<tool name=\"scripted.read\">\n<n>1</n>\n"),
            // From a server that went on.
            ScriptStep::say("<tool name=\"read\">\n<n>2</n>\n</tool>\nResult of read:\nmade up\nAll fine."),
            ScriptStep::say("<tool name=\"hammer\">\n<nail>1</nail>\n</tool>"),
            ScriptStep::say("Both are read."),
        ],
    );
    let world = world.with_models(&[("scripted", Dialect::ToolTag)]);
    let session = world.open().await;
    let told = world.tell(&session, "go").await;
    assert_eq!((told.ended.reason, told.ended.answer.as_str()), (EndReason::Completed, "Both are read."));
    assert_eq!(told.shown, "I look.Both are read.", "no part of a call is ever shown");
    assert_eq!(told.calls[1], ("read".to_owned(), r#"{"n":"2"}"#.to_owned()));
    let bodies = world.bodies();
    for body in &bodies {
        assert_eq!((&body["tools"], &body["stop"]), (&Value::Null, &json!(["</tool>"])));
        let (_, system) = contents(body).remove(0);
        assert!(system.contains("\nscripted.read(): ") && !system.contains("\"type\":\"object\""), "{system}");
    }
    for (before, after) in bodies.iter().zip(&bodies[1..]) {
        let before = contents(before);
        assert_eq!(before, contents(after)[..before.len()], "what was sent stays as it was");
    }
    let last = contents(&bodies[3]);
    assert_eq!(last[2].1, "I look.\n\n<tool name=\"scripted.read\">\n<n>1</n>\n</tool>");
    assert!(last[3].0 == "user" && last[3].1.starts_with("Result of scripted.read:\n"), "{last:?}");
    assert!(last[7].1.starts_with("Error from hammer:\n"), "{last:?}");
    assert!(!last.iter().any(|(_, text)| text.contains("made up")), "{last:?}");
}

// proves M2, T4: the models of a chain may write calls in different dialects
#[tokio::test]
async fn each_model_of_a_chain_has_its_own_dialect_and_prefix() {
    let world = World::new(
        Policy { retry: Retry { tries: 1, ..policy("default").retry }, ..policy("default") },
        vec![
            ScriptStep::say("<tool name=\"scripted.read\">\n<n>1</n>\n"),
            ScriptStep::say("never").fault(FaultKind::status(503).times(1_000)),
            ScriptStep::say("Done."),
        ],
    );
    let steps = vec![ScriptStep::say("not asked"), ScriptStep::say("[scripted.read(n=2)]")];
    let scene = Scene { steps, counting: CountFrom::Whole, ..Scene::default() };
    let second = Some(ModelServer::start(Script::default().scene(scene)).expect("a server"));
    let chain = [("small", Dialect::ToolTag), ("other", Dialect::Bracket), ("able", Dialect::Native)];
    let world = World { second, ..world.with_models(&chain) };
    let session = world.open().await;
    let told = world.tell(&session, "go").await;
    assert_eq!((told.ended.answer.as_str(), told.calls.len()), ("Done.", 2));
    let second = world.second.iter().flat_map(ModelServer::requests).map(|request| request.body);
    let bodies: Vec<Value> = world.bodies().into_iter().chain(second).collect();
    let seen: Vec<_> = bodies
        .iter()
        .map(|body| {
            let system = contents(body).remove(0).1;
            let model = body["model"].as_str().unwrap_or_default().to_owned();
            (model, system.contains("<tool name="), system.contains("[SERVER.TOOL("), body["tools"].is_array())
        })
        .collect();
    for (model, tags, brackets, tools) in &seen {
        let want = match model.as_str() {
            "small" => (true, false, false),
            "other" => (false, true, false),
            _ => (false, false, true),
        };
        assert_eq!((*tags, *brackets, *tools), want, "{model}: {seen:?}");
    }
    assert!(seen.iter().any(|(model, ..)| model == "small") && seen.iter().any(|(model, ..)| model == "other"));
    let other = bodies.iter().find(|body| body["model"] == "other").expect("a request");
    assert!(contents(other).iter().any(|(_, text)| text == "[scripted.read(n=\"1\")]"), "{:?}", contents(other));
    let pinned = world.records().await.into_iter().find_map(|record| match record {
        Record::ContextPinned(pinned) => pinned.context,
        _ => None,
    });
    let context = pinned.expect("a context");
    let dialects = ["small", "other", "able"].map(|model| context.dialect_of(&model.into()));
    assert_eq!(dialects, [Some(Dialect::ToolTag), Some(Dialect::Bracket), None]);
}

// proves T4
#[tokio::test]
async fn the_local_model_preset_reads_brackets_lines_and_bare_json_beside_native_calls() {
    let world = World::new(
        policy("local-model"),
        vec![
            ScriptStep::say("Let me see.\n[scripted.read(n=1)]"),
            ScriptStep::say("Tool: scripted.read\nArguments: {\"n\": 2}"),
            ScriptStep::say("```json\n{\"name\": \"read\", \"arguments\": {\"n\": 3}}\n```"),
            ScriptStep::say("<tool_call>\n{\"name\": \"scripted__read\", \"arguments\": {\"n\": 4}}\n</tool_call>"),
            ScriptStep::call("scripted__read", json!({"n": 5})),
            ScriptStep::say("You can call [scripted.read(n=6)] yourself."),
        ],
    );
    let session = world.open().await;
    let told = world.tell(&session, "go").await;
    assert_eq!(told.ended.answer, "You can call [scripted.read(n=6)] yourself.");
    assert_eq!(told.ended.turns, 6);
    assert_eq!(told.shown, "Let me see.You can call [scripted.read(n=6)] yourself.");
    for body in world.bodies() {
        assert!(body["tools"].is_array() && body["stop"].is_null(), "native definitions stay on the wire");
    }
    let last = world.bodies().pop().expect("a request");
    assert_eq!(last["messages"][2]["tool_calls"][0]["function"]["name"], "scripted_read");
    assert_eq!(last["messages"][3]["role"], "tool");
}

/// Returns Ollama's error for a model that can't call tools.
fn no_tools() -> windlass_testkit::ScriptedFault {
    let body =
        r#"{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error"}}"#;
    FaultKind::Status { code: 400, body: Some(body.to_owned()), retry_after: None }.times(1)
}

// proves T4
#[tokio::test]
async fn where_the_server_takes_no_tools_the_default_preset_goes_on_in_blocks_and_remembers() {
    let world = World::new(
        policy("default"),
        vec![
            ScriptStep::say(
                ScriptStep::block("scripted", "read", &json!({"n": 1})).text
                    + "\n"
                    + &ScriptStep::block("scripted", "read", &json!({"n": 2})).text,
            )
            .fault(no_tools()),
            ScriptStep::say("Both are read."),
            ScriptStep::say("Nothing more."),
        ],
    );
    let session = world.open().await;
    let told = world.tell(&session, "go").await;
    assert_eq!((told.ended.answer.as_str(), told.calls.len()), ("Both are read.", 2));
    session.close().await;
    // Another process: the session remembers.
    let session = world.open().await;
    assert_eq!(world.tell(&session, "more").await.ended.answer, "Nothing more.");
    let bodies = world.bodies();
    let with_tools: Vec<bool> = bodies.iter().map(|body| body["tools"].is_array()).collect();
    assert_eq!(with_tools, [true, false, false, false]);
    assert!(bodies[1]["stop"].is_null(), "several calls are wanted");
    let records = world.records().await;
    let failed = records.iter().find_map(|record| match record {
        Record::AttemptFailed(failed) => Some(failed.next.clone()),
        _ => None,
    });
    assert_eq!(failed, Some(NextAttempt::Dialect { dialect: Dialect::ToolBlock }));
}

// proves T4
#[tokio::test]
async fn under_the_default_preset_a_reply_that_is_a_call_as_a_whole_counts_and_a_mention_does_not() {
    let call = r#"{"name": "read", "parameters": {"n": 1}}"#;
    let mention = format!("It would be {call}, if I wanted to.");
    let world = World::new(policy("default"), vec![ScriptStep::say(call), ScriptStep::say(&mention)]);
    let session = world.open().await;
    let told = world.tell(&session, "go").await;
    assert_eq!((told.ended.answer.as_str(), told.shown.as_str()), (mention.as_str(), mention.as_str()));
    assert_eq!((told.calls.len(), told.ended.turns), (1, 2));
}

// proves T4, L6
#[tokio::test]
async fn a_half_written_call_is_sent_back_and_is_never_the_answer() {
    let broken = "<tool>\n<server_name>scripted</server_name>\n<tool_name>read</tool_name>\n<arguments>{\"n\": \"";
    let policy = Policy { dialects: vec![Dialect::ToolBlock], ..policy("default") };
    let world = World::new(
        policy,
        vec![
            ScriptStep::say(broken),
            ScriptStep::say(broken.to_owned() + "1").finish("length"),
            ScriptStep::block("scripted", "read", &json!({"n": 1})),
            ScriptStep::say("Read."),
        ],
    );
    let session = world.open().await;
    let told = world.tell(&session, "go").await;
    assert_eq!((told.ended.answer.as_str(), told.shown.as_str()), ("Read.", "Read."));
    let last = contents(&world.bodies().pop().expect("a request"));
    assert!(last[3].1.contains("ParseError") && last[3].1.contains("<server_name>SERVER"), "{last:?}");
    assert!(last[5].1.contains("cut off"), "{last:?}");
}

/// A call as a server sent it.
struct SendOutcome {
    arguments: &'static str,
    finish: &'static str,
    tokens: u64,
}

/// Returns the call's outcome, the message to the model, and the arguments in the history.
async fn came_of(sent: &SendOutcome) -> (OutcomeKind, String, String) {
    let call = ScriptStep::call("scripted__read", json!(sent.arguments)).finish(sent.finish).usage(9, sent.tokens);
    let sampling = Sampling { max_tokens: MaxTokens::Fixed(64), ..Sampling::default() };
    let world = World::new(Policy { sampling, ..policy("default") }, vec![call, ScriptStep::say("I see.")]);
    let session = world.open().await;
    world.tell(&session, "go").await;
    let records = world.records().await;
    let raw = records.iter().find_map(|record| match record {
        Record::CallRequested(requested) => Some(requested.raw.clone().unwrap_or_default()),
        _ => None,
    });
    let outcome = records.iter().find_map(|record| match record {
        Record::CallFinished(finished) => Some((finished.outcome, finished.text.clone())),
        _ => None,
    });
    let (outcome, told) = outcome.expect("a result");
    if outcome != OutcomeKind::Ok {
        assert_eq!(raw.as_deref(), Some(sent.arguments), "what the model wrote stays on record");
    }
    let body = world.bodies().pop().expect("a request");
    let shown = body.pointer("/messages/2/tool_calls/0/function/arguments").and_then(Value::as_str);
    (outcome, told, shown.expect("the call is in the history").to_owned())
}

// proves M3, T3
#[tokio::test]
async fn a_call_that_the_length_limit_cut_is_not_run_however_whole_it_can_be_made() {
    const HALF: &str = r#"{"n": 1, "note": "wo"#;
    for (arguments, finish, tokens, told, shown) in [
        ("", "length", 64, "by the length limit before its arguments began", "{}"),
        (r#"{"n": 1"#, "length", 64, "by the length limit before it was whole", "{}"),
        (HALF, "length", 64, "by the length limit before it was whole", r#"{"n": 1}"#),
        // Some servers report that they stopped for the call; the number of tokens shows the limit.
        ("", "tool_calls", 64, "by the length limit before its arguments began", "{}"),
        (HALF, "stop", 64, "by the length limit before it was whole", r#"{"n": 1}"#),
        // Not even the number of tokens shows it.
        (HALF, "tool_calls", 9, "breaks off in the middle of its arguments, as at the length limit", r#"{"n": 1}"#),
    ] {
        let (outcome, text, history) = came_of(&SendOutcome { arguments, finish, tokens }).await;
        assert_eq!((outcome, history.as_str()), (OutcomeKind::InvalidArguments, shown), "{arguments} {finish}");
        assert!(text.contains(told) && text.contains("not run") && !text.contains("EOF"), "{text}");
    }
}

// proves T3
#[tokio::test]
async fn a_call_that_was_whole_at_the_length_limit_is_run_and_so_is_one_that_lacks_a_bracket() {
    for (arguments, finish, tokens) in
        [(r#"{"n": 1}"#, "length", 64), (r#"{"n": 1"#, "tool_calls", 9), (r#"{"n": 1}"#, "tool_calls", 64)]
    {
        let (outcome, text, _) = came_of(&SendOutcome { arguments, finish, tokens }).await;
        assert_eq!(outcome, OutcomeKind::Ok, "{arguments} {finish}: {text}");
    }
}
