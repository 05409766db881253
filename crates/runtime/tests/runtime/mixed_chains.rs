//! A chain of a model that can call tools and one that can't: each is sent the conversation in its own form, also after
//! a failover in the middle of a run and in another process.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;
use windlass_machine::{ReplayOutcome, preset, replay};
use windlass_provider::{HttpClient, HttpConfig, HttpModel, Model, ModelConfig};
use windlass_runtime::{
    AgentSettings, Breakers, FirstMessage, Hub, Instructions, Interest, ScaledClock, Services, SessionActivity,
    SessionChoice,
};
use windlass_store::{MemoryStore, SessionLog as _};
use windlass_testkit::{
    AfterSteps, CountFrom, CountingTool, FaultKind, ModelServer, Scene, SceneCondition, Script, ScriptStep,
    ToolCalling, counts,
};
use windlass_tools::{Permissions, Registry, Secrets};
use windlass_vocab::{
    Attendance, Dialect, EffectClass, Envelope, MessageId, ModelName, NextAttempt, Policy, Record, Retry, RunModel,
};

use crate::support::{Bomb, Crashing, Point, Side};

/// Which of the two models can't call tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Toolless {
    First,
    Second,
}

/// The steps of a model that can call tools.
fn native(steps: Vec<ScriptStep>) -> Script {
    Script::default().scene(Scene { steps, counting: CountFrom::Whole, ..Scene::default() })
}

/// The steps of a model whose server refuses every request with tools.
fn toolless(steps: Vec<ScriptStep>) -> Script {
    let body = r#"{"error":{"message":"gemma does not support tools","type":"api_error"}}"#;
    let refusal = FaultKind::Status { code: 400, body: Some(body.to_owned()), retry_after: None };
    let offered = SceneCondition { tools: Some(ToolCalling::Offered), ..SceneCondition::default() };
    let refuses =
        Scene { when: offered, steps: vec![ScriptStep::say("never").fault(refusal.times(1_000))], ..Scene::default() };
    Script::default().scene(refuses.then(AfterSteps::RepeatLast)).scene(Scene {
        steps,
        counting: CountFrom::Whole,
        ..Scene::default()
    })
}

/// What outlives every process.
struct World {
    servers: [ModelServer; 2],
    store: Arc<MemoryStore>,
    dir: tempfile::TempDir,
}

impl World {
    /// The first model answers the first and the third turn and is down in between; then the second one answers.
    fn new(toolless_one: Toolless) -> Self {
        let down = || ScriptStep::say("never").fault(FaultKind::status(503).times(1_000));
        let call = |one: Toolless, n: u32| {
            if one == toolless_one {
                ScriptStep::block("scripted", "read", &json!({"n": n}))
            } else {
                ScriptStep::call("scripted__read", json!({"n": n}))
            }
        };
        let script = |one: Toolless, steps| if one == toolless_one { toolless(steps) } else { native(steps) };
        let unasked = || ScriptStep::say("not asked");
        let first = vec![call(Toolless::First, 1), down(), call(Toolless::First, 3), down(), ScriptStep::say("More.")];
        let second = vec![unasked(), call(Toolless::Second, 2), unasked(), ScriptStep::say("Done.")];
        let start = |script| ModelServer::start(script).expect("a server");
        Self {
            servers: [start(script(Toolless::First, first)), start(script(Toolless::Second, second))],
            store: Arc::new(MemoryStore::new()),
            dir: tempfile::tempdir().expect("a folder"),
        }
    }

    fn hub(&self, bomb: &Arc<Bomb>) -> Hub {
        let mut registry = Registry::new();
        registry.add(Arc::new(CountingTool::new("read", EffectClass::ReadOnly, self.dir.path()))).expect("a tool");
        let http = HttpClient::new(HttpConfig::default()).expect("a client");
        let model = |name: &str, server: &ModelServer| {
            let config = ModelConfig::chat(server.base_url(), "scripted");
            let model: Arc<dyn Model> = Arc::new(HttpModel::new(config, &http).expect("a model"));
            (ModelName::from(name), model)
        };
        let [first, second] = &self.servers;
        Hub::new(Services {
            store: Arc::new(Crashing { inner: Arc::clone(&self.store), bomb: Arc::clone(bomb) }),
            models: Arc::new(HashMap::from([model("first", first), model("second", second)])),
            registry,
            secrets: Arc::new(Secrets::default()),
            clock: Arc::new(ScaledClock::new(1_000)),
            breakers: Breakers::default(),
            spending: windlass_store::SpendingCounter::default(),
            context_sources: Vec::new(),
            guard_locks: None,
            workspace: None,
        })
    }

    fn agent() -> AgentSettings {
        let usual = preset("default").expect("a preset");
        let allow = vec!["scripted.read".parse().expect("a rule")];
        AgentSettings {
            name: "test".into(),
            policy: Policy { retry: Retry { tries: 1, ..usual.retry }, ..usual },
            models: ["first", "second"].map(RunModel::named).to_vec(),
            role_chains: BTreeMap::new(),
            instructions: Instructions::default(),
            permissions: Arc::new(Permissions { allow, ..Permissions::default() }),
            deadline_ms: None,
            attendance: Attendance::Unattended,
            output: None,
        }
    }

    /// Runs one process, until the run of this message has ended or the bomb goes off.
    async fn process(&self, bomb: &Arc<Bomb>, text: &str) {
        let choice = SessionChoice { owner: "me".into(), key: "k".into(), workspace: None };
        let words = FirstMessage { message_id: MessageId(text.to_owned()), message: text.into() };
        let opened = self.hub(bomb).open_saying(choice, Self::agent(), words, Interest::Runs).await;
        let Ok((session, ..)) = opened else { return };
        let ended = async {
            loop {
                match session.settled().await {
                    SessionActivity::Idle | SessionActivity::Closed(_) => return,
                    SessionActivity::Working | SessionActivity::Waiting(_) => {}
                }
            }
        };
        tokio::select! {
            () = ended => {}
            () = bomb.went_off.notified() => {}
        }
        session.close().await;
    }

    async fn envelopes(&self) -> Vec<Envelope> {
        let session = self.store.find("me", "k").await.expect("a store").expect("a session");
        self.store.read(session, 0).await.expect("a store")
    }

    /// Asserts that each model got the whole conversation in its own form, that what it was sent once stayed as it was
    /// byte for byte, and that every request was legal.
    fn assert_forms(&self, toolless_one: Toolless, context: &str) {
        for (server, one) in self.servers.iter().zip([Toolless::First, Toolless::Second]) {
            assert_eq!(server.refused(), Vec::<String>::new(), "{context}");
            let requests = server.requests();
            assert!(!requests.is_empty(), "{context}");
            let textual = one == toolless_one;
            // Only the first request to a server that takes no tools offers it some; a crash may repeat it.
            let mut told: Vec<_> =
                requests.iter().filter(|request| !textual || request.body["tools"].is_null()).collect();
            assert!(!told.is_empty(), "{context}");
            told.sort_by_key(|request| request.messages);
            for request in &told {
                let body = String::from_utf8_lossy(&request.raw);
                assert_eq!(request.body["tools"].is_array(), !textual, "{context}: {body}");
                assert!(!(textual && body.contains("tool_calls")), "{context}: {body}");
                assert!(textual || !body.contains("<tool_result"), "{context}: {body}");
            }
            for pair in told.windows(2) {
                let [before, after] = [&pair[0].raw, &pair[1].raw].map(|raw| String::from_utf8_lossy(raw));
                let stable = before.rsplit_once(r#"{"role":"user","content":"<reminder>"#).expect("a tail").0;
                assert!(after.starts_with(stable), "{context}:\n{before}\n{after}");
            }
        }
    }
}

fn answers(envelopes: &[Envelope]) -> Vec<String> {
    let answer = |envelope: &Envelope| match &envelope.record {
        Record::RunEnded(ended) => Some(ended.answer.clone()),
        _ => None,
    };
    envelopes.iter().filter_map(answer).collect()
}

// proves T4, M2, M6, J10
#[tokio::test]
async fn a_model_without_tools_leaves_the_others_of_its_chain_their_own_calls() {
    for toolless_one in [Toolless::First, Toolless::Second] {
        let world = World::new(toolless_one);
        let context = format!("{toolless_one:?}");
        world.process(&Bomb::at(None), "go").await;
        // Another process goes on with what the session knows.
        world.process(&Bomb::at(None), "more").await;
        let envelopes = world.envelopes().await;
        assert_eq!(answers(&envelopes), ["Done.", "More."], "{context}");
        world.assert_forms(toolless_one, &context);
        let (name, place) = match toolless_one {
            Toolless::First => ("first", 0),
            Toolless::Second => ("second", 1),
        };
        let refused: Vec<_> = envelopes
            .iter()
            .filter_map(|envelope| match &envelope.record {
                Record::AttemptFailed(failed) => Some((failed.model.as_str(), failed.next.clone())),
                _ => None,
            })
            .filter(|(_, next)| matches!(next, NextAttempt::Dialect { .. }))
            .collect();
        assert_eq!(refused, [(name, NextAttempt::Dialect { dialect: Dialect::ToolBlock })], "{context}");
        let offered = world.servers[place].requests().iter().filter(|request| request.body["tools"].is_array()).count();
        assert_eq!(offered, 1, "{context}: it is not offered tools again");
        assert!(matches!(replay(envelopes[0].session, &envelopes), ReplayOutcome::Same { .. }), "{context}");
    }
}

// proves J3, T4, M2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mixed_chain_that_is_killed_at_any_write_goes_on_in_both_forms() {
    for toolless_one in [Toolless::First, Toolless::Second] {
        let undisturbed = World::new(toolless_one);
        let bomb = Bomb::at(None);
        undisturbed.process(&bomb, "go").await;
        let appends = bomb.appends.load(Ordering::SeqCst);
        assert!(appends > 8, "{appends}");
        for (n, side) in (1..=appends).flat_map(|n| [(n, Side::Before), (n, Side::After)]) {
            let world = World::new(toolless_one);
            let context = format!("{toolless_one:?} dying {side:?} write {n}");
            let bomb = Bomb::at(Some(Point::Append(side, n)));
            world.process(&bomb, "go").await;
            assert!(bomb.has_gone_off(), "{context}");
            world.process(&Bomb::at(None), "go").await;
            assert_eq!(answers(&world.envelopes().await), ["Done."], "{context}");
            world.assert_forms(toolless_one, &context);
            let ran = counts(world.dir.path()).expect("a folder");
            assert_eq!(ran.values().flatten().count(), 3, "{context}: {ran:?}");
        }
    }
}
