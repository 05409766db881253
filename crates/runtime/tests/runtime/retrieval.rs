//! Passages of an agent's own sources: when they are looked for, and what is said of a source that is left out.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use windlass_machine::preset;
use windlass_provider::{BoxFuture, Model, ModelRequest, Segments, Sink};
use windlass_runtime::{
    AgentSettings, Breakers, ContextSource, Hub, Instructions, Passage, Services, SessionChoice, SourceError,
    SystemClock,
};
use windlass_store::MemoryStore;
use windlass_testkit::{CountingTool, FaultKind, Script, ScriptStep, ScriptedModel};
use windlass_tools::{Permissions, Registry, Secrets};
use windlass_vocab::{
    Attendance, DeltaBody, EffectClass, Event, Failure, MessageId, Policy, Record, Reply, Retrieve, Retry,
};

/// A model that keeps the tails it is sent.
struct TailReader {
    inner: ScriptedModel,
    tails: Arc<Mutex<Vec<String>>>,
}

impl Model for TailReader {
    fn attempt(
        &self,
        request: &ModelRequest<'_>,
        segments: &mut Segments,
        sink: Sink,
    ) -> BoxFuture<'static, Result<Reply, Failure>> {
        self.tails.lock().unwrap().push(request.tail.to_owned());
        self.inner.attempt(request, segments, sink)
    }
}

/// A source that finds one passage, with the number of the search in it.
#[derive(Default)]
struct Counting(AtomicUsize);

impl ContextSource for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn find(&self, message: &str, _: usize) -> BoxFuture<'static, Result<Vec<Passage>, SourceError>> {
        let number = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        let text = format!("search {number} for {message} with sk-aaaabbbbccccdddd");
        Box::pin(async move { Ok(vec![Passage::new("notes:1-1", text, 1.0)]) })
    }
}

/// A source that never answers.
struct Silent;

impl ContextSource for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    fn find(&self, _: &str, _: usize) -> BoxFuture<'static, Result<Vec<Passage>, SourceError>> {
        Box::pin(std::future::pending())
    }
}

/// What three runs of the same session, of two turns each, have sent and said.
async fn runs(retrieve: Retrieve) -> (Vec<String>, Vec<Event>) {
    let fault = FaultKind::Status { code: 503, body: None, retry_after: None };
    let steps = [
        ScriptStep::call("scripted__read", json!({"label": "a"})).fault(fault.times(1)),
        ScriptStep::say("one"),
        ScriptStep::say("two"),
    ];
    let tails = Arc::new(Mutex::new(Vec::new()));
    let inner = ScriptedModel::new(Script::of(steps));
    let model: Arc<dyn Model> = Arc::new(TailReader { inner, tails: Arc::clone(&tails) });
    let mut registry = Registry::new();
    let dir = tempfile::tempdir().expect("a folder");
    registry.add(Arc::new(CountingTool::new("read", EffectClass::ReadOnly, dir.path()))).expect("a tool");
    let hub = Hub::new(Services {
        store: Arc::new(MemoryStore::new()),
        models: Arc::new(HashMap::from([("scripted".into(), model)])),
        registry,
        secrets: Arc::new(Secrets::new([("KEY", "sk-aaaabbbbccccdddd")])),
        breakers: Breakers::default(),
        spending: windlass_store::SpendingCounter::default(),
        clock: Arc::new(SystemClock),
        guard_locks: None,
        context_sources: vec![Arc::new(Counting::default()), Arc::new(Silent)],
        workspace: None,
    });
    let usual = preset("default").expect("a preset");
    let agent = AgentSettings {
        name: "test".into(),
        policy: Policy { retrieve, retry: Retry { first_wait_ms: 1, ..usual.retry }, ..usual },
        models: vec![windlass_vocab::RunModel::named("scripted")],
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
    let session = hub.open(opening, agent).await.expect("opened");
    let mut seen = Vec::new();
    for message in ["anchor", "chain"] {
        let mut events = session.events();
        session.send(MessageId(message.into()), message).await.expect("sent");
        loop {
            let event = events.next().await.expect("the session is open");
            let is_last = matches!(&event, Event::Record(envelope) if matches!(envelope.record, Record::RunEnded(_)));
            seen.push(event);
            if is_last {
                break;
            }
        }
    }
    let tails = tails.lock().unwrap().clone();
    (tails, seen)
}

// proves C10, X1: once for a turn, with the person's last message; a source that is late is said once in a run
#[tokio::test]
async fn passages_are_found_once_for_a_turn_and_a_late_source_is_said_once_in_a_run() {
    let (tails, events) = runs(Retrieve::Own).await;
    let passages: Vec<&str> =
        tails.iter().filter_map(|tail| tail.split_once("notes:1-1\n")).map(|(_, text)| text).collect();
    let found = |number: u32, message: &str| format!("| search {number} for {message} with ");
    let want = [found(1, "anchor"), found(1, "anchor"), found(2, "anchor"), found(3, "chain")];
    assert_eq!(passages.len(), want.len(), "{tails:?}");
    for (passage, want) in passages.iter().zip(want) {
        assert!(passage.starts_with(&want) && !passage.contains("sk-aaaa"), "{passage}, not {want}");
    }
    let left_out = events.iter().filter_map(|event| match event {
        Event::Delta(delta) => match &delta.body {
            DeltaBody::SourceLeftOut { source, why } => Some((delta.run.0, source.as_str(), why.as_str())),
            DeltaBody::TextDelta { .. }
            | DeltaBody::ThinkingStarted {}
            | DeltaBody::ThinkingEnded {}
            | DeltaBody::ThinkingDelta { .. }
            | DeltaBody::CallDelta { .. }
            | DeltaBody::Cleared {}
            | DeltaBody::Waiting { .. } => None,
        },
        Event::Record(_) => None,
    });
    let late = "it took longer than 200 ms";
    assert_eq!(left_out.collect::<Vec<_>>(), [(1, "silent", late), (2, "silent", late)]);
    let retrieved = events.iter().filter_map(|event| match event {
        Event::Record(envelope) => match &envelope.record {
            Record::ModelReplied(replied) => Some(replied.retrieved),
            _ => None,
        },
        Event::Delta(_) => None,
    });
    assert!(
        retrieved.clone().count() == 3 && retrieved.clone().all(|tokens| tokens > 20),
        "{:?}",
        retrieved.collect::<Vec<_>>()
    );
}

// proves C10
#[tokio::test]
async fn a_run_whose_policy_retrieves_nothing_asks_no_source() {
    let (tails, events) = runs(Retrieve::Off).await;
    assert!(tails.len() == 4 && tails.iter().all(|tail| !tail.contains("notes:1-1")), "{tails:?}");
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::Delta(delta) if matches!(delta.body, DeltaBody::SourceLeftOut { .. })))
    );
}
