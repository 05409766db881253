//! Servers that connect late, change, or never connect: when a run waits for them, how its offer grows, and by which
//! offer the calls of a reply are resolved.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::servers::{Hub, Is, default, offers, outcomes, run, run_while_it_comes_up, world};
use crate::support::{Bomb, World};
use serde_json::json;
use windlass_machine::preset;
use windlass_runtime::Session;
use windlass_testkit::{FaultKind, ScriptStep};
use windlass_vocab::{
    Attendance, DeltaBody, Dialect, EndReason, Event, OutcomeKind, Policy, Record, RunEnded, StopBy, Wait, WaitFor,
};

/// Longer than any test.
const LONG_MS: u64 = u32::MAX as u64;

fn call(name: &str) -> ScriptStep {
    ScriptStep::call(name, json!({}))
}

/// Like `call`, by a slow model, so that something can happen meanwhile.
fn slow_call(name: &str) -> ScriptStep {
    call(name).fault(FaultKind::Delay { ms: 100 })
}

/// Returns a policy whose first turn waits until the servers are connected.
fn waiting() -> Policy {
    Policy { server_wait_ms: LONG_MS, ..default() }
}

fn unattended(policy: Policy, hub: &Arc<Hub>, steps: Vec<ScriptStep>) -> World {
    world(policy, hub, Attendance::Unattended, steps)
}

/// Waits until the server has been waited for this often.
async fn waited_for(hub: &Hub, times: usize) {
    while hub.waited_for.load(Ordering::SeqCst) < times {
        tokio::task::yield_now().await;
    }
}

/// Runs a process in which the server connects as soon as it has been waited for this often.
async fn run_and_come_up_at(world: &World, hub: &Hub, times: usize) -> EndReason {
    let comes_up = async {
        waited_for(hub, times).await;
        hub.is.send_replace(Is::Up);
    };
    tokio::join!(run(world), comes_up).0
}

/// Runs a process that dies as soon as it has waited for the server this often.
async fn die_in_wait(world: &World, hub: &Hub, times: usize) {
    let session = world.open(&Bomb::at(None)).await.unwrap();
    session.send("m".into(), "go").await.unwrap();
    waited_for(hub, times).await;
    session.close().await;
    hub.restarted();
}

fn ends(world: &World) -> Vec<RunEnded> {
    let ended = world.records().into_iter().filter_map(|record| match record {
        Record::RunEnded(ended) => Some(ended),
        _ => None,
    });
    ended.collect()
}

fn joined(world: &World) -> Vec<BTreeSet<String>> {
    let pinned = world.records().into_iter().filter_map(|record| match record {
        Record::ContextPinned(pinned) => Some(pinned.joined),
        _ => None,
    });
    pinned.collect()
}

async fn begun(world: &World) -> Session {
    let session = world.open(&Bomb::at(None)).await.unwrap();
    session.send("m".into(), "go").await.unwrap();
    session
}

// proves P2, L1: the tool `wait_for_servers` comes with the servers, not with the built-in tools
#[tokio::test]
async fn a_preset_with_nothing_but_server_tools_is_offered_the_wait() {
    let hub = Hub::down(&[]);
    let policy = Policy { server_wait_ms: 0, ..preset("durable-chat").unwrap() };
    let world = unattended(policy, &hub, vec![call("wait_for_servers"), call("hub__echo"), ScriptStep::say("done")]);
    assert_eq!(run_and_come_up_at(&world, &hub, 1).await, EndReason::Completed);
    assert_eq!(offers(&world), [vec!["wait_for_servers"], vec!["hub__asks", "hub__echo", "hub__pauses"]]);
    assert_eq!(outcomes(&world)[1], (OutcomeKind::Ok, "echo".into()));
}

// proves J3, P2: the wait is a call like any other, and is repeated
#[tokio::test]
async fn a_wait_for_servers_that_was_cut_short_really_waits_after_the_resume() {
    let hub = Hub::down(&[]);
    let world = unattended(default(), &hub, vec![call("wait_for_servers"), call("hub__echo"), ScriptStep::say("done")]);
    die_in_wait(&world, &hub, 1).await;
    assert_eq!(outcomes(&world), []);
    assert_eq!(run_and_come_up_at(&world, &hub, 2).await, EndReason::Completed);
    let told = [(OutcomeKind::Ok, "hub is there, with 3 tools.".to_owned()), (OutcomeKind::Ok, "echo".to_owned())];
    assert_eq!(outcomes(&world), told);
    assert_eq!(offers(&world), [vec!["wait_for_servers"], vec!["hub__asks", "hub__echo", "hub__pauses"]]);
}

// proves M6, P2: the remembered tools may not be all
#[tokio::test]
async fn tools_that_a_server_has_gained_join_once_at_the_first_boundary_after_it_is_there() {
    let hub = Hub::down(&["echo"]);
    *hub.has.lock().unwrap() = vec!["echo", "extra"];
    let steps = vec![slow_call("hub__echo"), slow_call("hub__extra"), call("hub__echo"), ScriptStep::say("done")];
    let world = unattended(default(), &hub, steps);
    let comes_up = async {
        while world.model.heard_requests().is_empty() {
            tokio::task::yield_now().await;
        }
        hub.is.send_replace(Is::Up);
        while world.model.heard_requests().len() < 2 {
            tokio::task::yield_now().await;
        }
        hub.has.lock().unwrap().push("more");
    };
    assert_eq!(tokio::join!(run(&world), comes_up).0, EndReason::Completed);
    assert_eq!(offers(&world), [vec!["hub__echo"], vec!["hub__echo", "hub__extra"]]);
    assert_eq!(joined(&world), [BTreeSet::new(), BTreeSet::from(["hub".to_owned()])]);
    assert_eq!(outcomes(&world)[1], (OutcomeKind::Ok, "extra".into()));
}

// proves M6, J3: once per run, whichever process drives it
#[tokio::test]
async fn a_server_that_has_joined_does_not_join_again_after_a_crash() {
    let hub = Hub::down(&["echo"]);
    *hub.has.lock().unwrap() = vec!["echo", "extra"];
    let never = ScriptStep::say("late").fault(FaultKind::Delay { ms: 3_600_000 });
    let world =
        unattended(default(), &hub, vec![slow_call("hub__echo"), never, call("hub__extra"), ScriptStep::say("done")]);
    let session = begun(&world).await;
    while world.model.heard_requests().is_empty() {
        tokio::task::yield_now().await;
    }
    hub.is.send_replace(Is::Up);
    while world.model.heard_requests().len() < 2 {
        tokio::task::yield_now().await;
    }
    session.close().await;
    hub.restarted();
    hub.has.lock().unwrap().push("more");
    hub.is.send_replace(Is::Up);
    assert_eq!(run(&world).await, EndReason::Completed);
    assert_eq!(offers(&world), [vec!["hub__echo"], vec!["hub__echo", "hub__extra"]]);
}

// proves J3, T2: a run that writes scripts, or talks, stays one after a crash, whatever server is connected by then
#[tokio::test]
async fn no_tool_of_a_server_joins_a_script_run_after_a_crash() {
    let hub = Hub::down(&["echo"]);
    hub.is.send_replace(Is::Up);
    let never = ScriptStep::say("late").fault(FaultKind::Delay { ms: 3_600_000 });
    let policy = Policy { dialects: vec![Dialect::Script], ..default() };
    // No tool of this world runs scripts, so nothing is offered.
    let world = unattended(policy, &hub, vec![never, ScriptStep::say("done")]);
    let session = begun(&world).await;
    while world.model.heard_requests().is_empty() {
        tokio::task::yield_now().await;
    }
    session.close().await;
    hub.restarted();
    hub.is.send_replace(Is::Up);
    assert_eq!(run(&world).await, EndReason::Completed);
    assert_eq!((offers(&world), joined(&world)), (vec![Vec::<String>::new()], vec![BTreeSet::new()]));
}

// proves T3, P2: a full name is neither taken for a misspelling of another tool nor unknown
#[tokio::test]
async fn a_tool_the_model_was_not_told_of_is_let_through_by_its_full_name() {
    for name in ["hub__echoes", "hub.echoes"] {
        let hub = Hub::down(&["echo"]);
        *hub.has.lock().unwrap() = vec!["echo", "echoes"];
        let world = unattended(default(), &hub, vec![call(name), ScriptStep::say("done")]);
        assert_eq!(run_while_it_comes_up(&world, &hub).await, EndReason::Completed);
        assert_eq!(outcomes(&world), [(OutcomeKind::Ok, "echoes".to_owned())], "{name}");
        assert_eq!(offers(&world), [vec!["hub__echo"], vec!["hub__echo", "hub__echoes"]], "{name}");
    }
}

// proves J3: a call that was accepted is run again, though no offer contains its tool
#[tokio::test]
async fn a_call_by_full_name_that_was_cut_short_waits_for_its_server_and_is_run_again() {
    let hub = Hub::down(&["asks"]);
    hub.is.send_replace(Is::Up);
    let world = world(default(), &hub, Attendance::Attended, vec![slow_call("hub.pauses"), ScriptStep::say("done")]);
    *hub.has.lock().unwrap() = vec!["asks"];
    // The model is offered only `asks`; `pauses` exists by the time it replies.
    let session = world.open(&Bomb::at(None)).await.unwrap();
    let mut events = session.events();
    session.send("m".into(), "go").await.unwrap();
    loop {
        match events.next().await.unwrap() {
            Event::Record(envelope) if envelope.record.kind() == "ContextPinned" => break,
            Event::Record(_) | Event::Delta(_) => {}
        }
    }
    hub.has.lock().unwrap().push("pauses");
    assert!(matches!(session.settled().await, windlass_runtime::SessionActivity::Waiting(_)), "it was run, and asks");
    session.close().await;
    hub.restarted();
    let comes_up = async {
        waited_for(&hub, 1).await;
        hub.is.send_replace(Is::Up);
    };
    assert_eq!(tokio::join!(run(&world), comes_up).0, EndReason::Completed);
    assert_eq!(outcomes(&world), [(OutcomeKind::Ok, "[7] No".to_owned())]);
}

// proves T2: one snapshot per model call, whatever happens while the model thinks
#[tokio::test]
async fn a_reply_is_judged_by_the_offer_it_was_made_under() {
    let hub = Hub::down(&[]);
    let world =
        unattended(default(), &hub, vec![slow_call("wait_for_servers"), call("hub__echo"), ScriptStep::say("done")]);
    assert_eq!(run_while_it_comes_up(&world, &hub).await, EndReason::Completed);
    assert_eq!(outcomes(&world)[0], (OutcomeKind::Ok, "hub is there, with 3 tools.".to_owned()));
    let at = |wanted: &str| world.records().iter().rposition(|record| record.kind() == wanted).unwrap();
    let first_reply = world.records().iter().position(|record| record.kind() == "ModelReplied").unwrap();
    assert!(at("ContextPinned") > first_reply, "an offer grows at turn boundaries alone");
}

// proves P2, E2
#[tokio::test]
async fn the_first_turn_of_an_unattended_run_waits_for_a_server_it_never_met_and_says_so() {
    let hub = Hub::down(&[]);
    let world = unattended(waiting(), &hub, vec![call("hub__echo"), ScriptStep::say("done")]);
    let session = world.open(&Bomb::at(None)).await.unwrap();
    let mut events = session.events();
    session.send("m".into(), "go").await.unwrap();
    let wait = loop {
        if let Event::Delta(delta) = events.next().await.unwrap()
            && let DeltaBody::Waiting { call: None, wait } = delta.body
        {
            break wait;
        }
    };
    assert_eq!(wait, Wait { what: WaitFor::Servers(vec!["hub".into()]), limit_ms: LONG_MS });
    assert_eq!(world.model.heard_requests().len(), 0, "nothing is asked before the tools are there");
    hub.is.send_replace(Is::Up);
    session.settled().await;
    assert_eq!(offers(&world), [vec!["hub__asks", "hub__echo", "hub__pauses"]]);
    assert_eq!(outcomes(&world), [(OutcomeKind::Ok, "echo".to_owned())]);
}

// proves P2: not forever, and not for servers whose tools are remembered
#[tokio::test]
async fn the_first_turn_waits_no_longer_than_it_may_and_not_for_what_is_remembered() {
    let hub = Hub::down(&[]);
    let world = unattended(Policy { server_wait_ms: 50, ..default() }, &hub, vec![ScriptStep::say("done")]);
    assert_eq!(run(&world).await, EndReason::Completed);
    assert_eq!(offers(&world), [vec!["wait_for_servers"]]);

    let hub = Hub::down(&["echo"]);
    let world = unattended(waiting(), &hub, vec![ScriptStep::say("done")]);
    assert_eq!(run(&world).await, EndReason::Completed);
    assert_eq!(hub.waited_for.load(Ordering::SeqCst), 0);
}

// proves L8, P2
#[tokio::test]
async fn a_stop_and_a_deadline_end_the_wait_before_the_first_turn() {
    let hub = Hub::down(&[]);
    let stopped = unattended(waiting(), &hub, vec![ScriptStep::say("done")]);
    let session = begun(&stopped).await;
    waited_for(&hub, 1).await;
    assert_eq!(session.stop(StopBy::Person).await.unwrap().runs, 1);
    session.settled().await;
    assert_eq!(ends(&stopped)[0].reason, EndReason::Cancelled);

    let hub = Hub::down(&[]);
    let mut late = unattended(waiting(), &hub, vec![ScriptStep::say("done")]);
    late.deadline_ms = Some(1_000);
    assert_eq!(run(&late).await, EndReason::Cancelled);
    assert_eq!(late.model.heard_requests().len(), 0);
}

// proves J3, P2
#[tokio::test]
async fn a_wait_before_the_first_turn_that_was_cut_short_begins_anew() {
    let hub = Hub::down(&[]);
    let world = unattended(waiting(), &hub, vec![call("hub__echo"), ScriptStep::say("done")]);
    die_in_wait(&world, &hub, 1).await;
    assert_eq!(run_and_come_up_at(&world, &hub, 2).await, EndReason::Completed);
    assert_eq!(offers(&world), [vec!["hub__asks", "hub__echo", "hub__pauses"]]);
}

// proves P2, T5: one chance per run, and another in the next
#[tokio::test]
async fn a_server_that_missed_its_start_is_not_waited_for_again_in_the_run() {
    let hub = Hub::down(&[]);
    let steps = vec![call("wait_for_servers"), call("wait_for_servers"), call("hub__echo"), ScriptStep::say("done")];
    let world = unattended(default(), &hub, [steps, vec![call("hub__echo"), ScriptStep::say("done")]].concat());
    let misses = async {
        waited_for(&hub, 1).await;
        hub.is.send_replace(Is::Missing);
    };
    let session = begun(&world).await;
    tokio::join!(session.settled(), misses);
    let first = outcomes(&world);
    let told = "hub is not available in this run: it did not say who it is within 30 s. Go on without it.";
    assert_eq!(first[0], (OutcomeKind::Ok, told.to_owned()));
    assert_eq!(first[1].0, OutcomeKind::Unknown, "it is not offered any more: {first:?}");
    assert_eq!(first[2].0, OutcomeKind::InfrastructureError, "{first:?}");
    assert!(first[2].1.contains("did not say who it is within 30 s"), "{first:?}");
    assert_eq!(hub.woken.load(Ordering::SeqCst), 1, "nothing wakes it in mid-run");

    let comes_up = async {
        while hub.woken.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
        }
        hub.is.send_replace(Is::Up);
    };
    session.send("n".into(), "again").await.unwrap();
    tokio::join!(session.settled(), comes_up);
    assert_eq!(outcomes(&world)[3], (OutcomeKind::Ok, "echo".to_owned()), "the next run tries it again");
}
