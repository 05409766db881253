//! The driver: starts effects that are outstanding and not running, aborts those that run and are no longer
//! outstanding, waits for the first of {effect finished, command, timer}, and repeats.
//!
//! It is the only writer of its session. Any store error ends it: its state in memory may then differ from the journal,
//! and the next opener of the session must fold the journal again.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use windlass_machine::{CallApproval, Effect, Fact, State, outstanding};
use windlass_store::{Batch, Lease, StoreError, WaitingMessage, Writer};
use windlass_tools::{CallPermission, CheckedPaths};
use windlass_vocab::{CallId, CallRequested, Envelope, Json, MessageId, Resumption};

use crate::attempt;
use crate::call::{self, DriverLink, EndedCall};
use crate::closed::SessionClosed;
use crate::estimated_usage::estimated;
use crate::feed::Feed;
use crate::live::Registration;
use crate::offering::PinnedRun;
use crate::permission_check::{PermissionCheck, permission_fact};
use crate::record_observer::ObserverSlot;
use crate::running_effects::{EffectOutcome, NextEffect, RunningEffects, StartedEffect};
use crate::services::{AgentSettings, Services};
use crate::session::{Acceptance, DriverCommand, DriverPhase, SessionActivity};
use crate::session_writer::SessionWriter;
use crate::spans::Spans;
use crate::streamed::Streamed;

/// The driver of one session.
pub(crate) struct Driver {
    pub(crate) services: Arc<Services>,
    pub(crate) agent: AgentSettings,
    pub(crate) state: State,
    pub(crate) writer: Writer,
    pub(crate) lease: Lease,
    pub(crate) feed: Feed,
    pub(crate) activity: watch::Sender<SessionActivity>,
    pub(crate) commands: mpsc::Receiver<Box<DriverCommand>>,
    pub(crate) waiting: VecDeque<WaitingMessage>,
    /// The message this session was opened for, if any: messages that wait behind it are left to other processes.
    pub(crate) only_message: Option<MessageId>,
    /// The outstanding effects after the last record.
    pub(crate) owed: Vec<Effect>,
    pub(crate) running_effects: RunningEffects,
    pub(crate) phase: DriverPhase,
    pub(crate) observer: ObserverSlot,
    pub(crate) spans: Spans,
    /// Lets others in this process find the session while it is driven.
    pub(crate) registration: Option<Registration>,
}

impl Driver {
    /// Drives the session until it is closed or its store fails. Boxed: the spawned future would hold it twice.
    pub(crate) async fn drive(mut self: Box<Self>) {
        let why = match self.go_round().await {
            Ok(()) => SessionClosed::Closed,
            Err(error) => SessionClosed::Store(error),
        };
        self.end(why);
    }

    /// Releases the session and tells its handles why.
    pub(crate) fn end(self, why: SessionClosed) {
        let Self { lease, activity, feed, running_effects, registration, .. } = self;
        // Running effects end before the session can be claimed again.
        drop(running_effects);
        drop(lease);
        drop(registration);
        activity.send_replace(SessionActivity::Closed(why));
        feed.close();
    }

    async fn go_round(&mut self) -> Result<(), StoreError> {
        loop {
            self.running_effects.abort_all_but(&self.owed);
            self.renew_offer().await?;
            self.load_images().await?;
            self.start_what_is_owed();
            if self.is_drained() {
                break;
            }
            if self.owed.contains(&Effect::Receive)
                && self.takes_more()
                && self.take_waiting().await? == Acceptance::Yes
            {
                continue;
            }
            self.announce();
            let timer = self.timer();
            tokio::select! {
                biased;
                command = self.commands.recv() => match command.map(|command| *command) {
                    None | Some(DriverCommand::Close) => break,
                    Some(command) => self.perform(command).await?,
                },
                // Another process has the session: its records count now, and every append of ours would conflict.
                () = self.lease.lost() => return Err(StoreError::Conflict),
                // Before finished effects: so many could finish that the timer would never be reached.
                () = timer => self.time_is_up().await?,
                next = self.running_effects.next() => self.go_on(next).await?,
            }
        }
        // Later callers must open the session again.
        self.commands.close();
        self.finish().await
    }

    pub(crate) fn start_what_is_owed(&mut self) {
        if self.running_effects.is_stopping() {
            // New effects must not overlap with calls that are still stopping.
            return;
        }
        let owed = std::mem::take(&mut self.owed);
        for effect in &owed {
            if self.may_start(effect)
                && !self.running_effects.is_running(effect)
                && let Some(started) = self.started(effect)
            {
                self.running_effects.start(started);
            }
        }
        self.owed = owed;
    }

    fn started(&mut self, effect: &Effect) -> Option<StartedEffect> {
        match effect {
            Effect::Receive | Effect::Ask(_) => None,
            Effect::TakeSnapshot { .. } | Effect::Restore(_) => {
                Some(StartedEffect::plain(effect, self.file_effect(effect)?))
            }
            Effect::Pin(_) => {
                let pinned = self.pin();
                let future = async move { EffectOutcome::Pinned(pinned.await) };
                Some(StartedEffect::plain(effect, Box::pin(future)))
            }
            Effect::CallModel { .. } => self.started_call(effect),
            Effect::RunStep { .. } => self.started_step(effect),
            Effect::HandBack(key) => {
                let done = EffectOutcome::HandedBack(*key, self.running_effects.hand_back(*key));
                Some(StartedEffect::plain(effect, Box::pin(std::future::ready(done))))
            }
            Effect::RunCall { request, edited, resumed, approved } => {
                let (call, cancel) = (request.call, CancellationToken::new());
                let live = self.live(call, &cancel, resumed.clone());
                let permission = self.check_permission(request, edited.as_ref(), approved);
                let prepared = self.prepare_call(request, edited.as_ref(), live);
                let running = self.spans.call(request, call::run(call, permission, prepared));
                let future = async move { EffectOutcome::Call(running.await) };
                Some(StartedEffect::call(effect, cancel, Box::pin(future)))
            }
            Effect::CheckPermission { request, edited } => {
                let fact =
                    permission_fact(request.call, self.check_permission(request, edited.as_ref(), &CallApproval::No));
                let done = EffectOutcome::Call(EndedCall { fact, blobs: Vec::new() });
                Some(StartedEffect::plain(effect, Box::pin(std::future::ready(done))))
            }
            Effect::VerifyCall { request, edited } => {
                let (call, cancel) = (request.call, CancellationToken::new());
                let live = self.live(call, &cancel, None);
                let prepared = self.prepare_call(request, edited.as_ref(), live);
                let future = async move { EffectOutcome::Call(call::verify(call, prepared).await) };
                Some(StartedEffect::call(effect, cancel, Box::pin(future)))
            }
        }
    }

    fn prepare_call(
        &mut self,
        request: &CallRequested,
        edited: Option<&Json>,
        live: DriverLink,
    ) -> Option<call::PreparedExecution> {
        let offer = request.tool.as_ref().map(|tool| self.offer_with(tool))?;
        let keeper = self.running_effects.keeper.clone();
        let world =
            call::CallSurroundings { services: &self.services, state: &self.state, offer, keeper, feed: &self.feed };
        call::prepare(world, request, edited, live)
    }

    /// Checks a call against the permission rules of this process.
    fn check_permission(
        &mut self,
        request: &CallRequested,
        edited: Option<&Json>,
        approved: &CallApproval,
    ) -> CallPermission {
        // Without a resolved tool nothing runs.
        let Some(tool) = &request.tool else { return CallPermission::Run(CheckedPaths::default()) };
        let (offer, arguments) = (self.offer_with(tool), edited.unwrap_or(&request.arguments));
        let (permissions, secrets) = (&self.agent.permissions, &self.services.secrets);
        let passages = &self.running_effects.passages;
        PermissionCheck { state: &self.state, offer: &offer, permissions, secrets, passages }
            .check_permission(tool, arguments, approved)
    }

    fn live(&self, call: CallId, cancel: &CancellationToken, resumed: Option<Arc<Resumption>>) -> DriverLink {
        let permissions = Arc::clone(&self.agent.permissions);
        DriverLink { cancel: cancel.clone(), ask: self.running_effects.elicited.ask(call), resumed, permissions }
    }

    pub(crate) async fn go_on(&mut self, next: NextEffect) -> Result<(), StoreError> {
        let (done, streamed) = match next {
            NextEffect::Finished(done, streamed) => (done, streamed),
            NextEffect::LeftBehind(done) => return Box::pin(self.left_behind(done)).await,
            NextEffect::Asks(asking) => return self.elicit(asking).await,
        };
        match done {
            EffectOutcome::Retrieved(key, gathered) => {
                self.keep_passages(key, gathered);
                return Ok(());
            }
            EffectOutcome::Listed(key, files) => {
                self.keep_listing(key, files);
                return Ok(());
            }
            EffectOutcome::Pinned(PinnedRun { context, offering, overview }) => {
                self.running_effects.offering = offering.or(self.running_effects.offering.take());
                self.step(Fact::Pinned(context, overview)).await?
            }
            EffectOutcome::HandedBack(attempt, streamed) => {
                let charged = |part: &Streamed| estimated(&self.state, &self.running_effects.passages, part);
                let usage = streamed.as_ref().map(charged).unwrap_or_default();
                self.step(Fact::HandedBack { attempt, text: streamed.unwrap_or_default().text, usage }).await?
            }
            EffectOutcome::Step(fact) => self.step(fact?).await?,
            EffectOutcome::Restored(undo, left_alone) => {
                self.step(Fact::Restored { undo, left_alone: left_alone? }).await?
            }
            EffectOutcome::Call(EndedCall { fact, blobs }) => {
                self.step_with(fact, Batch { blobs, ..Batch::default() }).await?
            }
            EffectOutcome::Model(key, known, result) => {
                let fact = self.read(key, known, result, &streamed);
                let taken = self.step(fact).await?;
                if !streamed.text.is_empty() {
                    attempt::publish_cleared(&self.feed, key);
                }
                taken
            }
        };
        Ok(())
    }

    pub(crate) fn step(&mut self, fact: Fact) -> impl Future<Output = Result<Acceptance, StoreError>> {
        self.step_with(fact, Batch::default())
    }

    /// Decides, stores, applies, publishes: in this order. Decides at once, not when polled, so that the future does
    /// not hold the fact.
    pub(crate) fn step_with(
        &mut self,
        fact: Fact,
        batch: Batch,
    ) -> impl Future<Output = Result<Acceptance, StoreError>> {
        let decided = self.session_writer().decided(fact, batch);
        async move {
            let Some(decided) = decided? else { return Ok(Acceptance::No) };
            let envelopes = self.session_writer().store(decided).await?;
            self.publish_stored(&envelopes);
            Ok(Acceptance::Yes)
        }
    }

    /// Publishes the stored records.
    pub(crate) fn publish_stored(&mut self, envelopes: &[Arc<Envelope>]) {
        for envelope in envelopes {
            self.running_effects.elicited.deliver_answer(&envelope.record);
            self.spans.observe(envelope);
            self.services.breakers.observe(&envelope.record, envelope.at);
            self.observer.observe(envelope);
            self.feed.publish(envelope);
        }
        self.owed = outstanding(&self.state);
    }

    pub(crate) fn session_writer(&mut self) -> SessionWriter<'_> {
        let Services { store, secrets, clock, .. } = self.services.as_ref();
        let (state, writer) = (&mut self.state, &mut self.writer);
        SessionWriter { store: store.as_ref(), secrets, clock: clock.as_ref(), state, writer }
    }
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;
