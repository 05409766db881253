//! The driver: starts what is outstanding and not running, aborts what is running and no longer
//! outstanding, waits for the first of {effect finished, command, timer}, and goes round.
//!
//! It is the only writer of its session. Any error of the store ends it: what it holds in memory may
//! then differ from the journal, and must be folded anew by whoever opens the session next.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use windlass_machine::{Agreed, Effect, Fact, State, outstanding};
use windlass_provider::Delivery;
use windlass_store::{Batch, Lease, StoreError, Waiting, Writer};
use windlass_tools::{Clearance, JudgedPaths};
use windlass_vocab::{CallId, CallRequested, Envelope, Json, MessageId, Resumption};

use crate::attempt::{self, Asked, Streamed};
use crate::call::{self, Ended, Live};
use crate::clearance::{Judge, judged};
use crate::closed::SessionClosed;
use crate::feed::Feed;
use crate::live::Registration;
use crate::outside::{Agent, Outside};
use crate::pen::Pen;
use crate::session::{Command, FirstWords, Sent, Standing, Taken};
use crate::spans::{self, Spans};
use crate::underway::{Done, Next, Started, Underway};

/// The driver of one session.
pub(crate) struct Driver {
    pub(crate) outside: Arc<Outside>,
    pub(crate) agent: Agent,
    pub(crate) state: State,
    pub(crate) writer: Writer,
    pub(crate) lease: Lease,
    pub(crate) feed: Feed,
    pub(crate) standing: watch::Sender<Standing>,
    pub(crate) commands: mpsc::Receiver<Box<Command>>,
    pub(crate) waiting: VecDeque<Waiting>,
    /// The message this session was opened for, if it was for one: what waits behind it is left to others.
    pub(crate) errand: Option<MessageId>,
    /// What is owed, after the last record.
    pub(crate) owed: Vec<Effect>,
    pub(crate) underway: Underway,
    pub(crate) spans: Spans,
    /// Lets others in this process find the session while it is driven.
    pub(crate) registration: Option<Registration>,
}

impl Driver {
    /// Drives the session until it is closed or its store fails. Boxed: what is spawned would hold it twice.
    pub(crate) async fn drive(mut self: Box<Self>) {
        let why = match self.go_round().await {
            Ok(()) => SessionClosed::Closed,
            Err(error) => SessionClosed::Store(error),
        };
        self.end(why);
    }

    /// Lets go of the session and tells its handles why.
    pub(crate) fn end(self, why: SessionClosed) {
        let Self { lease, standing, feed, underway, registration, .. } = self;
        // What was under way ends before the session can be claimed again.
        drop(underway);
        drop(lease);
        drop(registration);
        standing.send_replace(Standing::Closed(why));
        feed.close();
    }

    async fn go_round(&mut self) -> Result<(), StoreError> {
        loop {
            self.underway.abort_all_but(&self.owed);
            self.renew_offer().await?;
            self.start_what_is_owed();
            if self.owed.contains(&Effect::Receive) && self.takes_more() && self.take_waiting().await? == Taken::Yes {
                continue;
            }
            self.announce();
            let timer = self.timer();
            tokio::select! {
                biased;
                command = self.commands.recv() => match command.map(|command| *command) {
                    None | Some(Command::Close) => break,
                    Some(command) => self.obey(command).await?,
                },
                // Another process has the session: its records are the truth now, and every append would conflict.
                () = self.lease.lost() => return Err(StoreError::Conflict),
                // Before what ends: of that there may be more than the time that is left.
                () = timer => self.time_is_up().await?,
                next = self.underway.next() => self.go_on(next).await?,
            }
        }
        // Whoever comes now must open it anew.
        self.commands.close();
        // Calls that were told to stop get the grace their tools grant them. What else ends meanwhile counts.
        while self.underway.is_stopping() {
            let next = self.underway.next().await;
            self.go_on(next).await?;
            self.underway.abort_all_but(&self.owed);
        }
        Ok(())
    }

    fn start_what_is_owed(&mut self) {
        if self.underway.is_stopping() {
            // What comes next must not meet what is still ending.
            return;
        }
        let owed = std::mem::take(&mut self.owed);
        for effect in &owed {
            if !self.underway.is_running(effect)
                && let Some(started) = self.started(effect)
            {
                self.underway.start(started);
            }
        }
        self.owed = owed;
    }

    fn started(&mut self, effect: &Effect) -> Option<Started> {
        match effect {
            Effect::Receive | Effect::Ask(_) => None,
            Effect::TakeSnapshot { .. } | Effect::Restore(_) => Some(Started::plain(effect, self.file_effect(effect)?)),
            Effect::Pin(_) => {
                let pinned = self.pin();
                let future = async move {
                    let (context, offering) = pinned.await;
                    Done::Pinned(context, offering)
                };
                Some(Started::plain(effect, Box::pin(future)))
            }
            Effect::CallModel { key, model, mode, whole, not_before } => {
                let delivery = if *whole { Delivery::Whole } else { Delivery::Streamed };
                let span = self.spans.attempt(*key, model.as_str());
                let asked = Asked { key: *key, model, mode: *mode, delivery, known: self.known(), span };
                let (outside, state, streamed) = (&self.outside, &self.state, Streamed::default());
                let call = attempt::start(outside, state, &mut self.underway.written, &self.feed, &asked, &streamed);
                let wait = not_before.map(|at| outside.clock.until(at));
                let Asked { known, span, .. } = asked;
                let (key, servers) = (*key, self.named_servers(known.clone()));
                let future = async move {
                    if let Some(wait) = wait {
                        wait.await;
                    }
                    let result = spans::watched(span, call).await;
                    servers.wait(&result).await;
                    Done::Model(key, known, result)
                };
                Some(Started::model(effect, streamed, Box::pin(future)))
            }
            Effect::HandBack(key) => {
                let done = Done::HandedBack(*key, self.underway.hand_back(*key));
                Some(Started::plain(effect, Box::pin(std::future::ready(done))))
            }
            Effect::RunCall { request, edited, resumed, agreed } => {
                let (call, cancel) = (request.call, CancellationToken::new());
                let live = self.live(call, &cancel, resumed.clone());
                let clearance = self.cleared(request, edited.as_ref(), agreed);
                let prepared = self.prepare_call(request, edited.as_ref(), live);
                let running = self.spans.call(request, call::run(call, clearance, prepared));
                let future = async move { Done::Call(running.await) };
                Some(Started::call(effect, cancel, Box::pin(future)))
            }
            Effect::JudgeCall { request, edited } => {
                let fact = judged(request.call, self.cleared(request, edited.as_ref(), &Agreed::No));
                let done = Done::Call(Ended { fact, blobs: Vec::new() });
                Some(Started::plain(effect, Box::pin(std::future::ready(done))))
            }
            Effect::VerifyCall { request, edited } => {
                let (call, cancel) = (request.call, CancellationToken::new());
                let live = self.live(call, &cancel, None);
                let prepared = self.prepare_call(request, edited.as_ref(), live);
                let future = async move { Done::Call(call::verify(call, prepared).await) };
                Some(Started::call(effect, cancel, Box::pin(future)))
            }
        }
    }

    fn prepare_call(&mut self, request: &CallRequested, edited: Option<&Json>, live: Live) -> Option<call::Prepared> {
        let offer = request.tool.as_ref().map(|tool| self.offer_with(tool))?;
        let keeper = self.underway.keeper.clone();
        let world = call::World { outside: &self.outside, state: &self.state, offer, keeper, feed: &self.feed };
        call::prepare(world, request, edited, live)
    }

    /// What the rules of this process say about a call.
    fn cleared(&mut self, request: &CallRequested, edited: Option<&Json>, agreed: &Agreed) -> Clearance {
        // Without a tool nothing runs.
        let Some(tool) = &request.tool else { return Clearance::Run(JudgedPaths::default()) };
        let (offer, arguments) = (self.offer_with(tool), edited.unwrap_or(&request.arguments));
        let (permissions, secrets) = (&self.agent.permissions, &self.outside.secrets);
        Judge { state: &self.state, offer: &offer, permissions, secrets }.cleared(tool, arguments, agreed)
    }

    fn live(&self, call: CallId, cancel: &CancellationToken, resumed: Option<Arc<Resumption>>) -> Live {
        let permissions = Arc::clone(&self.agent.permissions);
        Live { cancel: cancel.clone(), ask: self.underway.elicited.ask(call), resumed, permissions }
    }

    async fn go_on(&mut self, next: Next) -> Result<(), StoreError> {
        let (done, streamed) = match next {
            Next::Finished(done, streamed) => (done, streamed),
            Next::LeftBehind(done) => return self.left_behind(done).await,
            Next::Asks(asking) => return self.elicit(asking).await,
        };
        match done {
            Done::Pinned(context, offering) => {
                self.underway.offering = offering.or(self.underway.offering.take());
                self.step(Fact::Pinned(context)).await?
            }
            Done::HandedBack(attempt, text) => {
                let usage = attempt::charged(&self.state, &text);
                self.step(Fact::HandedBack { attempt, text, usage }).await?
            }
            Done::Restored(undo, left_alone) => self.step(Fact::Restored { undo, left_alone: left_alone? }).await?,
            Done::Call(Ended { fact, blobs }) => self.step_with(fact, Batch { blobs, ..Batch::default() }).await?,
            Done::Model(key, known, result) => {
                let fact = self.read(key, known, result, &streamed);
                let taken = self.step(fact).await?;
                if !streamed.is_empty() {
                    attempt::publish_cleared(&self.feed, key);
                }
                taken
            }
        };
        Ok(())
    }

    pub(crate) fn step(&mut self, fact: Fact) -> impl Future<Output = Result<Taken, StoreError>> {
        self.step_with(fact, Batch::default())
    }

    /// Decides, stores, applies, publishes: in this order. It decides when it is called, so that what is
    /// awaited holds no fact.
    pub(crate) fn step_with(&mut self, fact: Fact, batch: Batch) -> impl Future<Output = Result<Taken, StoreError>> {
        let decided = self.pen().decided(fact, batch);
        async move {
            let Some(decided) = decided? else { return Ok(Taken::No) };
            let envelopes = self.pen().store(decided).await?;
            self.told(&envelopes);
            Ok(Taken::Yes)
        }
    }

    /// Passes on what was stored.
    fn told(&mut self, envelopes: &[Arc<Envelope>]) {
        for envelope in envelopes {
            self.underway.elicited.tell(&envelope.record);
            self.spans.tell(envelope);
            self.feed.publish(envelope);
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

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;
