//! A model that fails again and again is left alone, and the next of the chain answers at once.

use std::collections::HashMap;
use std::sync::Arc;

use windlass_machine::preset;
use windlass_provider::Model;
use windlass_runtime::{AgentSettings, Breakers, Hub, Instructions, Services, SessionChoice, SystemClock};
use windlass_store::{MemoryStore, SessionLog as _};
use windlass_testkit::{AfterSteps, FaultKind, Scene, Script, ScriptStep, ScriptedModel};
use windlass_tools::{Permissions, Registry, Secrets};
use windlass_vocab::{Attendance, EndReason, Event, FailureCause, MessageId, ModelName, Policy, Record, Retry};

const RUNS: usize = 5;

fn agent() -> AgentSettings {
    let usual = preset("default").expect("a preset");
    AgentSettings {
        name: "test".into(),
        policy: Policy { retry: Retry { tries: 1, ..usual.retry }, ..usual },
        models: ["first", "second"].map(windlass_vocab::RunModel::named).to_vec(),
        role_chains: std::collections::BTreeMap::new(),
        instructions: Instructions::default(),
        permissions: Arc::new(Permissions::default()),
        deadline_ms: None,
        attendance: Attendance::Unattended,
        output: None,
    }
}

// proves M2
#[tokio::test]
async fn after_three_failures_a_turn_starts_with_the_next_model_of_the_chain() {
    let out = FaultKind::Status { code: 503, body: None, retry_after: None };
    let any = |step: ScriptStep| Script {
        scenes: vec![Scene::when("", [step]).then(AfterSteps::RepeatLast)],
        ..Script::default()
    };
    let first = ScriptedModel::new(any(ScriptStep::say("never").fault(out.times(100))));
    let second = ScriptedModel::new(any(ScriptStep::say("here")));
    let models = [("first", &first), ("second", &second)];
    let models = models.map(|(name, model)| (ModelName::from(name), Arc::new(model.clone()) as Arc<dyn Model>));
    let store = Arc::new(MemoryStore::new());
    let hub = Hub::new(Services {
        store: Arc::clone(&store) as _,
        models: Arc::new(HashMap::from(models)),
        registry: Registry::new(),
        secrets: Arc::new(Secrets::default()),
        breakers: Breakers::default(),
        spending: windlass_store::SpendingCounter::default(),
        clock: Arc::new(SystemClock),
        guard_locks: None,
        workspace: None,
    });
    let opening = SessionChoice { owner: "me".into(), key: "k".into(), workspace: None };
    let session = hub.open(opening, agent()).await.expect("opened");
    for number in 0..RUNS {
        let mut events = session.events();
        session.send(MessageId(number.to_string()), "go").await.expect("sent");
        let ended = loop {
            if let Event::Record(envelope) = events.next().await.expect("the session is open")
                && let Record::RunEnded(ended) = &envelope.record
            {
                break ended.clone();
            }
        };
        assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Completed, "here"));
    }
    assert_eq!((first.heard_requests().len(), second.heard_requests().len()), (3, RUNS));
    let id = store.find("me", "k").await.expect("a store").expect("a session");
    let records = store.read(id, 0).await.expect("a store").into_iter().map(|envelope| envelope.record);
    let causes = records.filter_map(|record| match record {
        Record::AttemptFailed(failed) => Some(failed.failure.cause),
        _ => None,
    });
    let skipped = Some(FailureCause::NotCalled);
    assert_eq!(causes.collect::<Vec<_>>(), [None, None, None, skipped, skipped]);
}
