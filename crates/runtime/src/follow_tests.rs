//! Tests that a follower of a session gets exactly its journal, whatever happens meanwhile.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use proptest::prelude::*;
use uuid::Uuid;
use windlass_machine::{Fact, OpenApprovals, preset};
use windlass_store::{MemoryStore, SessionLog as _, StoreError};
use windlass_tools::{Permissions, Registry, Secrets};
use windlass_vocab::{Attendance, Delta, DeltaBody, Event, RunId, SessionChanged, SessionId, Timestamp, TurnId};

use crate::feed::KEPT;
use crate::live::LiveSessions;
use crate::opening::{ReadySession, SessionChoice, SessionOpener};
use crate::{AgentSettings, Breakers, Clock, Follow, FollowedEvent, Instructions, Services, SystemClock};

fn agent() -> AgentSettings {
    AgentSettings {
        name: "test".into(),
        policy: preset("default").unwrap(),
        models: vec![windlass_vocab::RunModel::named("none")],
        role_chains: std::collections::BTreeMap::new(),
        instructions: Instructions::default(),
        permissions: Arc::new(Permissions::default()),
        deadline_ms: None,
        attendance: Attendance::Unattended,
        output: None,
    }
}

fn services(store: &Arc<MemoryStore>) -> Arc<Services> {
    Arc::new(Services {
        store: Arc::clone(store) as _,
        models: Arc::new(HashMap::new()),
        registry: Registry::new(),
        secrets: Arc::new(Secrets::default()),
        clock: Arc::new(SystemClock),
        breakers: Breakers::default(),
        spending: windlass_store::SpendingCounter::default(),
        guard_locks: None,
        context_sources: Vec::new(),
        workspace: None,
    })
}

/// Where a session is driven.
#[derive(Clone, Copy, Debug)]
enum DrivenBy {
    Here,
    InAnotherProcess,
}

#[derive(Clone, Debug)]
enum FollowStep {
    Append,
    /// The current attempt streams this many fragments.
    Stream(usize),
    /// The current attempt streams this many fragments of thinking.
    Think(usize),
    /// Another attempt replaces the current one.
    Clear,
    /// A follower starts at some record, given in thousandths of the journal.
    Follow(u64),
    /// A follower takes at most this many events.
    Take(prop::sample::Index, usize),
    /// A follower loses its connection and reconnects.
    Reconnect(prop::sample::Index),
    /// The driver ends and another one starts.
    Restart(DrivenBy),
    /// The driver ends and none follows.
    Leave,
}

fn step() -> impl Strategy<Value = FollowStep> {
    let place = prop_oneof![4 => Just(DrivenBy::Here), 1 => Just(DrivenBy::InAnotherProcess)];
    prop_oneof![
        6 => Just(FollowStep::Append),
        3 => (1..40usize).prop_map(FollowStep::Stream),
        1 => Just(FollowStep::Stream(KEPT + 3)),
        2 => (1..20usize).prop_map(FollowStep::Think),
        1 => Just(FollowStep::Clear),
        2 => (0..1000u64).prop_map(FollowStep::Follow),
        5 => (any::<prop::sample::Index>(), 1..30usize).prop_map(|(index, most)| FollowStep::Take(index, most)),
        1 => any::<prop::sample::Index>().prop_map(FollowStep::Reconnect),
        1 => place.prop_map(FollowStep::Restart),
        1 => Just(FollowStep::Leave),
    ]
}

/// A follower, and what it received.
struct TestFollower {
    follow: Follow,
    after: u64,
    records: Vec<u64>,
    /// The streamed text of each attempt, by its number.
    texts: HashMap<u32, String>,
    /// The thinking of each attempt, and whether it is still thinking.
    thoughts: HashMap<u32, (String, ThinkingSaid)>,
}

/// Whether a model was reported as thinking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ThinkingSaid {
    Yes,
    #[default]
    No,
}

impl TestFollower {
    fn note(&mut self, followed: &FollowedEvent) {
        let FollowedEvent::Event(event) = followed else { return };
        match event.event() {
            Event::Record(record) => self.records.push(record.seq),
            Event::Delta(Delta { attempt, offset, body: DeltaBody::TextDelta { text }, .. }) => {
                let known = self.texts.entry(*attempt).or_default();
                assert_eq!(*offset, known.len() as u64, "no gap in the text, and nothing twice");
                known.push_str(text);
            }
            Event::Delta(Delta { attempt, offset, body, .. }) => {
                let (known, thinks) = self.thoughts.entry(*attempt).or_default();
                match body {
                    DeltaBody::ThinkingStarted {} => {
                        assert_eq!((*offset, *thinks), (known.len() as u64, ThinkingSaid::No), "it starts once");
                        *thinks = ThinkingSaid::Yes;
                    }
                    DeltaBody::ThinkingEnded {} => {
                        assert_eq!((*offset, *thinks), (known.len() as u64, ThinkingSaid::Yes), "it ends once");
                        *thinks = ThinkingSaid::No;
                    }
                    DeltaBody::ThinkingDelta { text } => {
                        assert_eq!(
                            (*offset, *thinks),
                            (known.len() as u64, ThinkingSaid::Yes),
                            "in between, without a gap"
                        );
                        known.push_str(text);
                    }
                    DeltaBody::TextDelta { .. }
                    | DeltaBody::CallDelta { .. }
                    | DeltaBody::Cleared {}
                    | DeltaBody::Waiting { .. }
                    | DeltaBody::SourceLeftOut { .. } => {}
                }
            }
        }
    }

    /// Takes the available events.
    fn take(&mut self, most: usize) {
        for _ in 0..most {
            // Otherwise Tokio's cooperative budget makes a reader of many events yield.
            let next = tokio::task::unconstrained(self.follow.next());
            let Some(followed) = next.now_or_never() else { return };
            self.note(&followed.unwrap());
        }
    }
}

struct FollowWorld {
    store: Arc<MemoryStore>,
    services: Arc<Services>,
    live: LiveSessions,
    session: SessionId,
    driven: Option<ReadySession>,
    attempt: u32,
    streamed: String,
    thought: (String, ThinkingSaid),
    watchers: Vec<TestFollower>,
}

impl FollowWorld {
    async fn new() -> Self {
        let store = Arc::new(MemoryStore::new());
        let (services, live, session) = (services(&store), LiveSessions::default(), SessionId(Uuid::now_v7()));
        let opening = SessionChoice { owner: "me".into(), key: "k".into(), workspace: None };
        let agent = agent();
        let opener = SessionOpener {
            services: &services,
            agent: &agent,
            approvals: OpenApprovals::CheckedAgain,
            interest: None,
            parent: None,
            live: &live,
        };
        let mut entered = opener.create(session, &opening, None).await.unwrap();
        entered.driver.registration = Some(live.register(&entered.session, 1));
        let (attempt, streamed, thought, watchers) = (1, String::new(), (String::new(), ThinkingSaid::No), Vec::new());
        Self { store, services, live, session, driven: Some(entered), attempt, streamed, thought, watchers }
    }

    fn followed(&self, after: u64) -> Follow {
        let store = Arc::clone(&self.store) as _;
        Follow::among(&self.live, store, Arc::new(SystemClock), self.session, after)
    }

    fn follow(&mut self, after: u64) {
        let follow = self.followed(after);
        self.watchers.push(TestFollower {
            follow,
            after,
            records: Vec::new(),
            texts: HashMap::new(),
            thoughts: HashMap::new(),
        });
    }

    fn leave(&mut self) {
        if let Some(ReadySession { driver, .. }) = self.driven.take() {
            driver.end(crate::SessionClosed::Closed);
            self.next_attempt();
        }
    }

    fn next_attempt(&mut self) {
        self.attempt += 1;
        self.streamed.clear();
        self.thought = (String::new(), ThinkingSaid::No);
    }

    async fn head(&self) -> u64 {
        self.store.head(self.session).await.unwrap().seq
    }

    async fn do_it(&mut self, step: FollowStep) {
        match step {
            FollowStep::Append => {
                let title = SessionChanged { title: Some("t".into()), ..SessionChanged::default() };
                if let Some(ReadySession { driver, .. }) = &mut self.driven {
                    driver.step(Fact::Changed(title)).await.unwrap();
                }
            }
            FollowStep::Stream(fragments) if self.driven.is_some() => (0..fragments).for_each(|_| self.stream("ab ")),
            FollowStep::Think(fragments) if self.driven.is_some() => (0..fragments).for_each(|_| self.think("hm ")),
            FollowStep::Clear => {
                self.publish(DeltaBody::Cleared {});
                self.next_attempt();
            }
            FollowStep::Follow(thousandths) => {
                let after = self.head().await * thousandths / 1000;
                self.follow(after);
            }
            FollowStep::Take(index, most) if !self.watchers.is_empty() => index.get_mut(&mut self.watchers).take(most),
            FollowStep::Reconnect(index) if !self.watchers.is_empty() => {
                let position = index.get(&self.watchers).follow.position();
                let again = self.followed(position);
                let watcher = index.get_mut(&mut self.watchers);
                watcher.follow = again;
                // A new connection gets the attempt's text from its beginning.
                watcher.texts.clear();
                watcher.thoughts.clear();
            }
            FollowStep::Stream(_) | FollowStep::Think(_) | FollowStep::Take(..) | FollowStep::Reconnect(_) => {}
            FollowStep::Leave => self.leave(),
            FollowStep::Restart(place) => {
                self.leave();
                let agent = agent();
                let opener = SessionOpener {
                    services: &self.services,
                    agent: &agent,
                    approvals: OpenApprovals::CheckedAgain,
                    interest: None,
                    parent: None,
                    live: &self.live,
                };
                let mut entered = opener.take_over(self.session).await.unwrap();
                if matches!(place, DrivenBy::Here) {
                    entered.driver.registration = Some(self.live.register(&entered.session, 1));
                }
                self.driven = Some(entered);
            }
        }
    }

    fn think(&mut self, text: &str) {
        let (offset, thinks) = (self.thought.0.len() as u64, self.thought.1);
        if thinks == ThinkingSaid::No {
            self.publish_at(offset, DeltaBody::ThinkingStarted {});
        }
        self.thought.0.push_str(text);
        self.thought.1 = ThinkingSaid::Yes;
        self.publish_at(offset, DeltaBody::ThinkingDelta { text: text.to_owned() });
    }

    fn stream(&mut self, text: &str) {
        if self.thought.1 == ThinkingSaid::Yes {
            self.thought.1 = ThinkingSaid::No;
            self.publish_at(self.thought.0.len() as u64, DeltaBody::ThinkingEnded {});
        }
        let offset = self.streamed.len() as u64;
        self.streamed.push_str(text);
        self.publish_at(offset, DeltaBody::TextDelta { text: text.to_owned() });
    }

    fn publish(&self, body: DeltaBody) {
        self.publish_at(0, body);
    }

    fn publish_at(&self, offset: u64, body: DeltaBody) {
        if let Some(ReadySession { driver, .. }) = &self.driven {
            let (run, turn, attempt) = (RunId::default(), TurnId::default(), self.attempt);
            driver.feed.publish_delta(Delta { run, turn, attempt, offset, body });
        }
    }

    /// Lets every follower take all events, and checks that each has exactly the journal.
    async fn settle(mut self) {
        let (head, here) = (self.head().await, self.live.feed(self.session).is_some());
        for mut watcher in std::mem::take(&mut self.watchers) {
            while watcher.follow.position() < head {
                let followed = watcher.follow.next().await.unwrap();
                watcher.note(&followed);
            }
            watcher.take(usize::MAX);
            assert_eq!(watcher.records, (watcher.after + 1..=head).collect::<Vec<_>>());
            if here && !self.streamed.is_empty() {
                assert_eq!(watcher.texts.get(&self.attempt), Some(&self.streamed));
            }
            if here && !self.thought.0.is_empty() {
                assert_eq!(watcher.thoughts.get(&self.attempt), Some(&self.thought));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    // proves E1, E2
    #[test]
    fn whoever_follows_is_given_exactly_the_journal(steps in prop::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut world = FollowWorld::new().await;
            for step in steps {
                world.do_it(step).await;
            }
            world.follow(0);
            world.settle().await;
        });
    }
}

/// A clock on which every wait is over at once. It notes how long each should have been.
#[derive(Default)]
struct NotedWaits(Mutex<Vec<Duration>>);

impl Clock for NotedWaits {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }

    fn real(&self, span: Duration) -> Duration {
        self.0.lock().unwrap().push(span);
        Duration::ZERO
    }
}

// proves W3: what another process writes is looked for at least four times a second
#[test]
fn a_session_of_another_process_is_read_again_within_a_quarter_of_a_second() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut world = FollowWorld::new().await;
        world.do_it(FollowStep::Restart(DrivenBy::InAnotherProcess)).await;
        let (clock, head) = (Arc::new(NotedWaits::default()), world.head().await);
        let store = Arc::clone(&world.store) as _;
        let mut follow = Follow::among(&world.live, store, Arc::clone(&clock) as _, world.session, head);
        let writing = async {
            while clock.0.lock().unwrap().len() < 3 {
                tokio::task::yield_now().await;
            }
            world.do_it(FollowStep::Append).await;
        };
        let (followed, ()) = tokio::join!(follow.next(), writing);
        let FollowedEvent::Event(event) = followed.unwrap() else { panic!("it fell behind") };
        assert!(matches!(event.event(), Event::Record(record) if record.seq == head + 1));
        let waits = clock.0.lock().unwrap().clone();
        assert!(waits.iter().all(|wait| *wait <= Duration::from_millis(250)), "{waits:?}");
    });
}

// proves W3, E1: whoever follows a session that is removed is told, instead of waiting for ever
#[test]
fn a_follower_of_a_removed_session_is_told_that_it_is_gone() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut world = FollowWorld::new().await;
        world.leave();
        let (clock, head) = (Arc::new(NotedWaits::default()), world.head().await);
        let store = Arc::clone(&world.store) as _;
        let mut follow = Follow::among(&world.live, store, Arc::clone(&clock) as _, world.session, head);
        let removing = async {
            while clock.0.lock().unwrap().len() < 3 {
                tokio::task::yield_now().await;
            }
            world.store.remove(world.session).await.unwrap();
        };
        let (followed, ()) = tokio::join!(follow.next(), removing);
        assert_eq!(followed.unwrap_err(), StoreError::Missing);
    });
}
