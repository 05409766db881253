//! The driver: starts what is outstanding and not running, aborts what is running and no longer
//! outstanding, waits for the first of {effect finished, command, timer}, and goes round.
//!
//! It is the only writer of its session. Any error of the store ends it: what it holds in memory may
//! then differ from the journal, and must be folded anew by whoever opens the session next.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use windlass_machine::{AttemptKey, Effect, EffectKey, Fact, State, outstanding};
use windlass_provider::{BoxFuture, Delivery};
use windlass_store::{Batch, Lease, StoreError, Waiting, Writer};
use windlass_vocab::{CallId, CallRequested, Envelope, Failure, Json, PinnedContext, Reply, Resumption, UndoId};

use crate::attempt::{self, Asked, Read, Streamed, Written};
use crate::call::{self, Ended, Live};
use crate::elicit::Elicited;
use crate::events::Events;
use crate::offering::{KnownNames, Offering};
use crate::outside::{Agent, Outside};
use crate::pen::Pen;
use crate::session::{Command, FirstWords, Sent, SessionClosed, Standing, Taken};
use crate::snapshot::Keeper;

/// What an effect came to.
pub(crate) enum Done {
    Pinned(PinnedContext),
    Model(AttemptKey, Result<Reply, Failure>),
    HandedBack(AttemptKey, String),
    Call(Ended),
    Restored(UndoId, Result<BTreeMap<String, String>, StoreError>),
}

/// An effect under way.
struct Running {
    cancel: CancellationToken,
    streamed: Streamed,
}

/// The driver of one session.
pub(crate) struct Driver {
    pub(crate) outside: Arc<Outside>,
    pub(crate) agent: Agent,
    pub(crate) state: State,
    pub(crate) writer: Writer,
    pub(crate) lease: Lease,
    pub(crate) events: Events,
    pub(crate) standing: watch::Sender<Standing>,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) waiting: VecDeque<Waiting>,
    /// What is owed, after the last record.
    pub(crate) owed: Vec<Effect>,
    pub(crate) underway: Underway,
}

/// What a driver has under way.
#[derive(Default)]
pub(crate) struct Underway {
    running: HashMap<EffectKey, Running>,
    /// Calls that were told to stop and have not ended yet.
    stopping: HashSet<EffectKey>,
    effects: FuturesUnordered<BoxFuture<'static, (EffectKey, Option<Done>)>>,
    written: Written,
    pub(crate) offering: Option<Offering>,
    pub(crate) elicited: Elicited,
    handed_back: Option<(AttemptKey, String)>,
    pub(crate) keeper: Keeper,
}

impl Underway {
    pub(crate) fn is_running(&self, effect: &Effect) -> bool {
        self.running.contains_key(&effect.key())
    }
}

impl Driver {
    /// Drives the session until it is closed or its store fails.
    pub(crate) async fn drive(mut self) {
        let why = match self.go_round().await {
            Ok(()) => SessionClosed::Closed,
            Err(error) => SessionClosed::Store(error),
        };
        let Self { lease, standing, events, underway, .. } = self;
        // What was under way ends before the session can be claimed again.
        drop(underway);
        drop(lease);
        standing.send_replace(Standing::Closed(why));
        events.close();
    }

    async fn go_round(&mut self) -> Result<(), StoreError> {
        loop {
            self.abort_what_is_not_owed();
            self.renew_offer().await?;
            self.start_what_is_owed();
            if self.owed.contains(&Effect::Receive) && self.take_waiting().await? == Taken::Yes {
                continue;
            }
            self.announce();
            let timer = self.timer();
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    None | Some(Command::Close) => break,
                    Some(command) => self.obey(command).await?,
                },
                Some((key, done)) = self.underway.effects.next(), if !self.underway.effects.is_empty() => {
                    self.underway.stopping.remove(&key);
                    match (self.underway.running.remove(&key), done) {
                        (Some(running), Some(done)) => self.finished(done, &running).await?,
                        (_, done) => self.left_behind(done).await?,
                    }
                }
                Some(asking) = self.underway.elicited.next() => self.elicit(asking).await?,
                () = timer => self.time_is_up().await?,
            }
        }
        // Calls that were told to stop get the grace their tools grant them.
        while !self.underway.stopping.is_empty() {
            let Some((key, done)) = self.underway.effects.next().await else { break };
            self.underway.stopping.remove(&key);
            self.left_behind(done).await?;
        }
        Ok(())
    }

    fn abort_what_is_not_owed(&mut self) {
        let (owed, Underway { handed_back, running, stopping, .. }) = (&self.owed, &mut self.underway);
        running.retain(|key, running| {
            let stays = owed.iter().any(|effect| effect.key() == *key);
            if !stays {
                running.cancel.cancel();
                match key {
                    EffectKey::CallModel(attempt) => *handed_back = Some((*attempt, running.streamed.text())),
                    EffectKey::RunCall(_) | EffectKey::VerifyCall(_) => {
                        stopping.insert(*key);
                    }
                    EffectKey::Receive
                    | EffectKey::Pin(_)
                    | EffectKey::HandBack(_)
                    | EffectKey::Ask(_)
                    | EffectKey::TakeSnapshot(_)
                    | EffectKey::Restore(_) => {}
                }
            }
            stays
        });
    }

    fn start_what_is_owed(&mut self) {
        if !self.underway.stopping.is_empty() {
            // What comes next must not meet what is still ending.
            return;
        }
        let fresh = self.owed.iter().filter(|effect| !self.underway.running.contains_key(&effect.key()));
        for effect in fresh.cloned().collect::<Vec<_>>() {
            let running = Running { cancel: CancellationToken::new(), streamed: Streamed::default() };
            let Some(future) = self.future_of(&effect, &running) else { continue };
            let (key, cancel) = (effect.key(), running.cancel.clone());
            self.underway.running.insert(key, running);
            self.underway.effects.push(match key {
                // A tool sees the token and ends by itself, in the time it is granted.
                EffectKey::RunCall(_) | EffectKey::VerifyCall(_) => Box::pin(async move { (key, Some(future.await)) }),
                EffectKey::Receive
                | EffectKey::Pin(_)
                | EffectKey::CallModel(_)
                | EffectKey::HandBack(_)
                | EffectKey::Ask(_)
                | EffectKey::TakeSnapshot(_)
                | EffectKey::Restore(_) => Box::pin(async move { (key, cancel.run_until_cancelled(future).await) }),
            });
        }
    }

    fn future_of(&mut self, effect: &Effect, running: &Running) -> Option<BoxFuture<'static, Done>> {
        match effect {
            Effect::Receive | Effect::Ask(_) => None,
            Effect::TakeSnapshot { .. } | Effect::Restore(_) => self.file_effect(effect),
            Effect::Pin(_) => {
                let context = self.context();
                Some(Box::pin(async move { Done::Pinned(context.await) }))
            }
            Effect::CallModel { key, model, mode, whole, not_before } => {
                let delivery = if *whole { Delivery::Whole } else { Delivery::Streamed };
                let known = self.known();
                let asked = Asked { key: *key, model: model.clone(), mode: *mode, delivery, known };
                let (outside, state) = (&self.outside, &self.state);
                let call =
                    attempt::start(outside, state, &mut self.underway.written, &self.events, &asked, &running.streamed);
                let wait = not_before.map(|at| outside.clock.until(at));
                let (key, servers) = (*key, self.awaited_servers(asked.known));
                Some(Box::pin(async move {
                    if let Some(wait) = wait {
                        wait.await;
                    }
                    let result = call.await;
                    servers.wait_for_those_named(&result).await;
                    Done::Model(key, result)
                }))
            }
            Effect::HandBack(key) => {
                let text = self.underway.handed_back.take().filter(|(of, _)| of == key).map(|(_, text)| text);
                let done = Done::HandedBack(*key, text.unwrap_or_default());
                Some(Box::pin(std::future::ready(done)))
            }
            Effect::RunCall { request, edited, resumed } => {
                let live = self.live(request.call, running, resumed.clone());
                let (call, prepared) = (request.call, self.prepare_call(request, edited.as_ref(), live));
                Some(Box::pin(async move { Done::Call(call::run(call, prepared).await) }))
            }
            Effect::VerifyCall { request, edited } => {
                let live = self.live(request.call, running, None);
                let (call, prepared) = (request.call, self.prepare_call(request, edited.as_ref(), live));
                Some(Box::pin(async move { Done::Call(call::verify(call, prepared).await) }))
            }
        }
    }

    fn prepare_call(&mut self, request: &CallRequested, edited: Option<&Json>, live: Live) -> Option<call::Prepared> {
        let (offer, keeper) = (self.offer(), self.underway.keeper.clone());
        let world = call::World { outside: &self.outside, state: &self.state, offer, keeper, events: &self.events };
        call::prepare(world, request, edited, live)
    }

    fn live(&self, call: CallId, running: &Running, resumed: Option<Arc<Resumption>>) -> Live {
        let permissions = Arc::clone(&self.agent.permissions);
        Live { cancel: running.cancel.clone(), ask: self.underway.elicited.ask(call), resumed, permissions }
    }

    async fn finished(&mut self, done: Done, running: &Running) -> Result<(), StoreError> {
        match done {
            Done::Pinned(context) => self.step(Fact::Pinned(context)).await?,
            Done::HandedBack(attempt, text) => {
                let usage = attempt::charged(&self.state, &text);
                self.step(Fact::HandedBack { attempt, text, usage }).await?
            }
            Done::Restored(undo, left_alone) => self.step(Fact::Restored { undo, left_alone: left_alone? }).await?,
            Done::Call(Ended { fact, blobs }) => self.step_with(fact, Batch { blobs, ..Batch::default() }).await?,
            Done::Model(key, result) => {
                let clears = result.is_err() && !running.streamed.text().is_empty();
                let KnownNames { awaited, .. } = self.known();
                self.grow_offer().await?;
                // A call of a server that did not come up was still a call.
                let known = KnownNames { offer: self.offer(), awaited };
                let read = Read { state: &self.state, known: &known, agent: &self.agent, outside: &self.outside };
                let fact = read.fact(key, result, &running.streamed);
                let taken = self.step(fact).await?;
                if clears {
                    attempt::publish_cleared(&self.events, key);
                }
                taken
            }
        };
        Ok(())
    }

    pub(crate) async fn step(&mut self, fact: Fact) -> Result<Taken, StoreError> {
        self.step_with(fact, Batch::default()).await
    }

    /// Decides, stores, applies, publishes: in this order.
    pub(crate) async fn step_with(&mut self, fact: Fact, batch: Batch) -> Result<Taken, StoreError> {
        let envelopes = self.pen().step(fact, batch).await?;
        if envelopes.is_empty() {
            return Ok(Taken::No);
        }
        self.told(&envelopes);
        Ok(Taken::Yes)
    }

    /// Passes on what was stored.
    fn told(&mut self, envelopes: &[Arc<Envelope>]) {
        for envelope in envelopes {
            self.underway.elicited.tell(&envelope.record);
            self.events.publish(envelope);
        }
        self.owed = outstanding(&self.state);
    }

    /// Begins the journal: with what opens it, and the message it is opened for.
    pub(crate) async fn begin(&mut self, opened: Fact, words: Option<&FirstWords>) -> Result<Option<Sent>, StoreError> {
        let message = words.map(|FirstWords { message_id, text }| {
            let terms = Box::new(self.terms());
            Fact::Message { message_id: message_id.clone(), text: text.clone(), terms }
        });
        let envelopes = self.pen().begin(std::iter::once(opened).chain(message)).await?;
        self.told(&envelopes);
        Ok(self.open_run().map(Sent::TakenUp))
    }

    fn pen(&mut self) -> Pen<'_> {
        let Outside { store, secrets, clock, .. } = self.outside.as_ref();
        let (state, writer) = (&mut self.state, &mut self.writer);
        Pen { store: store.as_ref(), secrets, clock: clock.as_ref(), state, writer }
    }
}
