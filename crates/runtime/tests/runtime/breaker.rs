//! A model that fails again and again is left alone for a minute, and the next of the chain answers at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use windlass_machine::preset;
use windlass_provider::Model;
use windlass_runtime::{AgentSettings, Breakers, Clock, Hub, Instructions, Services, Session, SessionChoice};
use windlass_store::{MemoryStore, SessionLog as _};
use windlass_testkit::{AfterSteps, FaultKind, Scene, Script, ScriptStep, ScriptedModel};
use windlass_tools::{Permissions, Registry, Secrets};
use windlass_vocab::{
    Attendance, EndReason, Event, FailureCause, MessageId, ModelName, NextAttempt, Policy, Record, Retry, Timestamp,
};

/// How often the first model must be given up before it is left alone.
const FAILURES: usize = 3;
/// How long it is left alone, in milliseconds.
const OPEN_MS: i64 = 60_000;

/// A clock that the test sets; waits take no time.
#[derive(Debug, Default)]
struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    fn real(&self, _: Duration) -> Duration {
        Duration::ZERO
    }
}

fn agent(tries: u32) -> AgentSettings {
    let usual = preset("default").expect("a preset");
    AgentSettings {
        name: "test".into(),
        policy: Policy { retry: Retry { tries, ..usual.retry }, ..usual },
        models: ["first", "second"].map(windlass_vocab::RunModel::named).to_vec(),
        role_chains: std::collections::BTreeMap::new(),
        instructions: Instructions::default(),
        permissions: Arc::new(Permissions::default()),
        deadline_ms: None,
        attendance: Attendance::Unattended,
        output: None,
    }
}

fn any(step: ScriptStep) -> ScriptedModel {
    let scene = Scene::when("", [step]).then(AfterSteps::RepeatLast);
    ScriptedModel::new(Script { scenes: vec![scene], ..Script::default() })
}

/// Sends a message and returns the answer of its run.
async fn answer(session: &Session, number: usize) -> String {
    let mut events = session.events();
    session.send(MessageId(number.to_string()), "go").await.expect("sent");
    loop {
        if let Event::Record(envelope) = events.next().await.expect("the session is open")
            && let Record::RunEnded(ended) = &envelope.record
        {
            assert_eq!(ended.reason, EndReason::Completed);
            return ended.answer.clone();
        }
    }
}

// proves M2
#[tokio::test]
async fn after_three_failures_a_turn_starts_with_the_next_model_until_a_minute_is_over() {
    for tries in [1, 2] {
        let out = FaultKind::Status { code: 503, body: None, retry_after: None };
        let calls = FAILURES * tries;
        let first = any(ScriptStep::say("back").fault(out.times(u32::try_from(calls).expect("few"))));
        let second = any(ScriptStep::say("here"));
        let models = [("first", &first), ("second", &second)];
        let models = models.map(|(name, model)| (ModelName::from(name), Arc::new(model.clone()) as Arc<dyn Model>));
        let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(SetClock::default()));
        let hub = Hub::new(Services {
            store: Arc::clone(&store) as _,
            models: Arc::new(HashMap::from(models)),
            registry: Registry::new(),
            secrets: Arc::new(Secrets::default()),
            breakers: Breakers::default(),
            spending: windlass_store::SpendingCounter::default(),
            context_sources: Vec::new(),
            clock: Arc::clone(&clock) as _,
            guard_locks: None,
            workspace: None,
        });
        let opening = SessionChoice { owner: "me".into(), key: "k".into(), workspace: None };
        let session = hub.open(opening, agent(u32::try_from(tries).expect("few"))).await.expect("opened");
        for number in 0..FAILURES {
            assert_eq!(answer(&session, number).await, "here", "tries: {tries}");
        }
        assert_eq!(first.heard_requests().len(), calls, "it was tried as often as the policy says");
        // Two more runs, the last of them right before the minute is over.
        for (number, at) in [(FAILURES, 1), (FAILURES + 1, OPEN_MS - 1)] {
            clock.0.store(at, Ordering::SeqCst);
            assert_eq!(answer(&session, number).await, "here", "tries: {tries}");
        }
        assert_eq!(first.heard_requests().len(), calls, "it was left alone");
        clock.0.store(OPEN_MS, Ordering::SeqCst);
        assert_eq!(answer(&session, FAILURES + 2).await, "back", "tries: {tries}");
        assert_eq!((first.heard_requests().len(), second.heard_requests().len()), (calls + 1, FAILURES + 2));

        let id = store.find("me", "k").await.expect("a store").expect("a session");
        let records = store.read(id, 0).await.expect("a store").into_iter().map(|envelope| envelope.record);
        let failed = records.filter_map(|record| match record {
            Record::AttemptFailed(failed) => {
                let goes_on = matches!(failed.next, NextAttempt::Model { .. });
                Some((failed.failure.cause, goes_on))
            }
            _ => None,
        });
        let skipped = (Some(FailureCause::NotCalled), true);
        let given_up = (1..=tries).map(|number| (None, number == tries));
        let mut expected: Vec<_> = (0..FAILURES).flat_map(|_| given_up.clone()).collect();
        expected.extend([skipped, skipped]);
        assert_eq!(failed.collect::<Vec<_>>(), expected, "tries: {tries}");
    }
}
