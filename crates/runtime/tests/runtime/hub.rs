//! The hub: one driver for each session; opening it again joins it.

use crate::support::{Bomb, World};
use futures_util::future::join;
use windlass_machine::preset;
use windlass_runtime::{FollowedEvent, Hub, Session, SessionActivity};
use windlass_store::Ownership as _;
use windlass_testkit::{BodyPoint, FaultKind, Script, ScriptStep, ScriptedModel};
use windlass_vocab::{Attendance, Delta, DeltaBody, Event, Policy, Record, SessionId, StopBy, StreamIdle};

fn world(steps: impl IntoIterator<Item = ScriptStep>) -> World {
    let patient = StreamIdle { first_ms: 3_600_000, next_ms: 3_600_000 };
    let policy = Policy { stream_idle: patient, ..preset("default").expect("a preset") };
    World::new(policy, ScriptedModel::new(Script::of(steps)), Attendance::Unattended)
}

async fn open(world: &World, hub: &Hub) -> Session {
    hub.open(World::opening(), world.agent()).await.expect("opened")
}

/// Returns a reply that stalls after its first words.
fn stalls(text: &str) -> ScriptStep {
    ScriptStep::say(text).fault(FaultKind::Idle { after: BodyPoint::Events(2) }.times(u32::MAX))
}

/// What a follower saw of a run: the numbers of its records, the text that streamed meanwhile, and its answer.
struct Seen {
    seqs: Vec<u64>,
    text: String,
    answer: String,
}

/// Follows a session from a record on until the end of its run.
async fn followed_to_the_end(hub: &Hub, session: SessionId, after: u64) -> Seen {
    let (mut follow, mut seqs, mut text) = (hub.follow(session, after), Vec::new(), String::new());
    loop {
        let FollowedEvent::Event(event) = follow.next().await.expect("followed") else { continue };
        match event.event() {
            Event::Record(record) => {
                seqs.push(record.seq);
                if let Record::RunEnded(ended) = &record.record {
                    return Seen { seqs, text, answer: ended.answer.clone() };
                }
            }
            Event::Delta(delta) => {
                if let DeltaBody::TextDelta { text: more } = &delta.body {
                    text.push_str(more);
                }
            }
        }
    }
}

// proves J5: opening a session that is live here joins it
#[tokio::test]
async fn a_session_that_is_opened_twice_has_one_driver() {
    let world = world([ScriptStep::say("Done.")]);
    let hub = world.hub(&Bomb::at(None));
    let (one, other) = join(open(&world, &hub), open(&world, &hub)).await;
    assert_eq!(one.id(), other.id());
    one.send("m".into(), "go").await.expect("sent");
    assert_eq!(followed_to_the_end(&hub, other.id(), 0).await.answer, "Done.");
    let leases = world.records().iter().filter(|record| matches!(record, Record::LeaseTaken(_))).count();
    assert_eq!(leases, 1, "nobody took it over");
}

// proves J5: the driver lives as long as anybody has a handle, and ends with the last
#[tokio::test]
async fn who_closes_a_session_does_not_close_it_for_others() {
    let world = world([ScriptStep::say("Done.")]);
    let hub = world.hub(&Bomb::at(None));
    let (one, other) = (open(&world, &hub).await, open(&world, &hub).await);
    let id = one.id();
    one.close().await;
    assert!(world.store.is_claimed(id).await.expect("asked"));
    other.send("m".into(), "go").await.expect("it is still open");
    assert_eq!(other.settled().await, SessionActivity::Idle);
    other.close().await;
    assert!(!world.store.is_claimed(id).await.expect("asked"));
}

// proves E1: a late joiner gets the turn's text from its first letter
#[tokio::test]
async fn who_joins_in_mid_turn_is_given_the_text_so_far() {
    let world = world([stalls("These words came before anybody looked and no more will follow")]);
    let hub = world.hub(&Bomb::at(None));
    let session = open(&world, &hub).await;
    let mut events = session.events();
    session.send("m".into(), "go").await.expect("sent");
    let first = loop {
        match events.next().await.expect("open") {
            Event::Delta(Delta { body: DeltaBody::TextDelta { text }, .. }) => break text,
            Event::Delta(_) | Event::Record(_) => {}
        }
    };
    let late = followed_to_the_end(&hub, session.id(), 0);
    let stop = async {
        tokio::task::yield_now().await;
        session.stop(StopBy::Person).await.expect("stopped")
    };
    let (Seen { seqs, text, .. }, _) = join(late, stop).await;
    assert!(text.starts_with(&first), "{text:?} begins with {first:?}");
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

// proves E1: another process's records are followed, and nothing is repeated when the session moves here
#[tokio::test]
async fn a_session_is_followed_wherever_it_is_driven() {
    let world = world([ScriptStep::say("There."), ScriptStep::say("Here.")]);
    let (here, there) = (world.hub(&Bomb::at(None)), world.hub(&Bomb::at(None)));
    let session = open(&world, &there).await;
    let id = session.id();
    session.send("a".into(), "go").await.expect("sent");
    let first = followed_to_the_end(&here, id, 0).await.seqs;
    session.close().await;
    let session = open(&world, &here).await;
    session.send("b".into(), "go on").await.expect("sent");
    let second = followed_to_the_end(&here, id, first.len() as u64).await;
    assert_eq!(second.answer, "Here.");
    let all: Vec<u64> = first.into_iter().chain(second.seqs).collect();
    assert_eq!(all, (1..=world.records().len() as u64).collect::<Vec<_>>());
}

// proves J5: a closed hub has no live session, even if handles exist; open runs continue elsewhere
#[tokio::test]
async fn a_closed_hub_lets_go_of_every_session() {
    let world = world([stalls("Unfinished, and it will stay so for now")]);
    let hub = world.hub(&Bomb::at(None));
    let session = open(&world, &hub).await;
    session.send("m".into(), "go").await.expect("sent");
    hub.close_all().await;
    assert!(!world.store.is_claimed(session.id()).await.expect("asked"));
    assert!(session.send("n".into(), "more").await.is_err());
    assert!(!world.records().iter().any(|record| matches!(record, Record::RunEnded(_))));
}

// proves E2: thinking has a start and an end, before the text or the call that follows it
#[tokio::test]
async fn thinking_has_a_start_and_an_end() {
    let steps = [
        ScriptStep::call("scripted__read", serde_json::json!({"label": "x"})).thinking("I look first."),
        ScriptStep::say("Done.").thinking("That was all."),
        ScriptStep::say("No need to think."),
    ];
    let world = world(steps);
    let hub = world.hub(&Bomb::at(None));
    let session = open(&world, &hub).await;
    let mut events = session.events();
    let mut seen: Vec<(u32, &str, String)> = Vec::new();
    for message in ["a", "b"] {
        session.send(message.into(), "go").await.expect("sent");
        loop {
            let Delta { turn, body, .. } = match events.next().await.expect("open") {
                Event::Delta(delta) => delta,
                Event::Record(record) if matches!(record.record, Record::RunEnded(_)) => break,
                Event::Record(_) => continue,
            };
            let (kind, text) = match body {
                DeltaBody::ThinkingStarted {} => ("start", String::new()),
                DeltaBody::ThinkingEnded {} => ("end", String::new()),
                DeltaBody::ThinkingDelta { text } => ("thinks", text),
                DeltaBody::TextDelta { text } => ("says", text),
                // The progress of a running call belongs to no attempt.
                DeltaBody::CallDelta { name: Some(name), .. } => ("calls", name),
                DeltaBody::CallDelta { .. }
                | DeltaBody::Cleared {}
                | DeltaBody::Waiting { .. }
                | DeltaBody::SourceLeftOut { .. } => continue,
            };
            match seen.last_mut() {
                Some((of, last, known)) if (*of, *last) == (turn.0, kind) => known.push_str(&text),
                Some(_) | None => seen.push((turn.0, kind, text)),
            }
        }
    }
    let thought = |turn, text: &str| [(turn, "start", ""), (turn, "thinks", text), (turn, "end", "")].map(owned);
    let expected: Vec<_> = thought(1, "I look first.")
        .into_iter()
        .chain([owned((1, "calls", "scripted__read"))])
        .chain(thought(2, "That was all."))
        .chain([owned((2, "says", "Done.")), owned((1, "says", "No need to think."))])
        .collect();
    assert_eq!(seen, expected);
}

fn owned((turn, kind, text): (u32, &'static str, &str)) -> (u32, &'static str, String) {
    (turn, kind, text.to_owned())
}
