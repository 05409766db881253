//! Tests of a driver in states that are hard to reach through its handle.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use windlass_machine::{CallResult, Effect, Fact, OpenApprovals, State, preset};
use windlass_provider::{BoxFuture, Model};
use windlass_store::{Head, MemoryStore, Ownership as _, SessionLog as _, Writer};
use windlass_testkit::{CountingTool, Script, ScriptStep, ScriptedModel};
use windlass_tools::{Permissions, Registry, Secrets};
use windlass_vocab::{
    Attendance, CallId, EffectClass, MessageId, OutcomeKind, Parallel, Policy, Record, SessionId, SessionOpened,
};

use super::{Driver, EffectOutcome, EndedCall, StartedEffect};
use crate::live::LiveSessions;
use crate::opening::{ReadySession, SessionOpener, lease_taken};
use crate::session::DriverCommand;
use crate::{AgentSettings, Breakers, FirstMessage, Hub, Instructions, Services, Session, SystemClock};

/// Returns a hub whose model asks for two calls at once.
fn hub(store: &Arc<MemoryStore>) -> Hub {
    let mut registry = Registry::new();
    registry.add(Arc::new(CountingTool::new("read", EffectClass::ReadOnly, Path::new("")))).unwrap();
    let two =
        ScriptStep::call("scripted__read", json!({"label": "a"})).and_call("scripted__read", json!({"label": "b"}));
    let model: Arc<dyn Model> = Arc::new(ScriptedModel::new(Script::of([two])));
    Hub::new(Services {
        store: Arc::clone(store) as _,
        models: Arc::new(HashMap::from([("scripted".into(), model)])),
        registry,
        secrets: Arc::new(Secrets::default()),
        clock: Arc::new(SystemClock),
        breakers: Breakers::default(),
        spending: windlass_store::SpendingCounter::default(),
        guard_locks: None,
        context_sources: Vec::new(),
        workspace: None,
    })
}

fn agent() -> AgentSettings {
    let allow = vec!["scripted.read".parse().unwrap()];
    AgentSettings {
        name: "test".into(),
        policy: Policy { parallel: Parallel::On, ..preset("default").unwrap() },
        models: vec![windlass_vocab::RunModel::named("scripted")],
        role_chains: std::collections::BTreeMap::new(),
        instructions: Instructions::default(),
        permissions: Arc::new(Permissions { allow, ..Permissions::default() }),
        deadline_ms: None,
        attendance: Attendance::Unattended,
        output: None,
    }
}

fn owed_call(effect: &Effect) -> Option<CallId> {
    if let Effect::RunCall { request, .. } = effect { Some(request.call) } else { None }
}

/// Returns a driver with outstanding calls, none of them started.
async fn owing_calls(store: &Arc<MemoryStore>) -> (Driver, Session) {
    let id = SessionId(Uuid::now_v7());
    let lease = store.claim(id).await.unwrap();
    let writer = Writer::new(id, Head::default(), 7);
    let (hub, agent) = (hub(store), agent());
    let opener = SessionOpener {
        services: hub.services(),
        agent: &agent,
        approvals: OpenApprovals::CheckedAgain,
        interest: None,
        parent: None,
        live: &LiveSessions::default(),
    };
    let ReadySession { mut driver, session, .. } = opener.entered(State::new(id), writer, lease);
    let opened = SessionOpened {
        owner: "me".into(),
        key: "k".into(),
        workspace: None,
        parent: None,
        version: String::new(),
        forked_from: Vec::new(),
    };
    let words = FirstMessage { message_id: MessageId("m".into()), message: "go".into() };
    driver.begin(Fact::Opened(opened, lease_taken(1)), Some(&words)).await.unwrap();
    while !driver.owed.iter().any(|effect| owed_call(effect).is_some()) {
        driver.start_what_is_owed();
        let next = driver.running_effects.next().await;
        driver.go_on(next).await.unwrap();
    }
    (driver, session)
}

fn result_of(call: CallId) -> EffectOutcome {
    let finished = CallResult::new(OutcomeKind::Ok, "done");
    EffectOutcome::Call(EndedCall { fact: Fact::CallDone { call, finished }, blobs: Vec::new() })
}

// A call's result is recorded, although the session is being closed and another call is stopping
#[tokio::test]
async fn a_call_that_ends_while_another_is_stopping_has_its_result_recorded() {
    let store = Arc::new(MemoryStore::new());
    let (mut driver, session) = owing_calls(&store).await;
    let calls: Vec<(Effect, CallId)> =
        driver.owed.iter().filter_map(|effect| Some((effect.clone(), owed_call(effect)?))).collect();
    let [(to_stop, stopped), (to_end, ended)] = <[_; 2]>::try_from(calls).unwrap();
    let stopping: BoxFuture<'static, EffectOutcome> = Box::pin(async move {
        tokio::task::yield_now().await;
        result_of(stopped)
    });
    let ending: BoxFuture<'static, EffectOutcome> = Box::pin(std::future::ready(result_of(ended)));
    driver.running_effects.start(StartedEffect::call(&to_stop, CancellationToken::new(), stopping));
    driver.running_effects.start(StartedEffect::call(&to_end, CancellationToken::new(), ending));
    driver.running_effects.abort_all_but(&[to_end]);
    assert!(driver.running_effects.is_stopping());

    session.commands.try_send(Box::new(DriverCommand::Close)).ok().unwrap();
    Box::new(driver).drive().await;

    let finished = |record| match record {
        Record::CallFinished(finished) => Some(finished.call),
        _ => None,
    };
    let journal = store.read(session.id, 0).await.unwrap();
    let recorded: Vec<CallId> = journal.into_iter().filter_map(|envelope| finished(envelope.record)).collect();
    assert_eq!(recorded, [ended]);
}
