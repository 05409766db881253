//! How a driver handles commands: from a handle, from the inbox, from a timer.

use windlass_machine::{Effect, Fact, RunSettings};
use windlass_provider::BoxFuture;
use windlass_store::{Batch, CountingRun, StoreError, WaitingMessage};
use windlass_vocab::{
    Answer, AnsweredBy, AttachedFile, CallId, MessageId, QuestionAsked, QuestionKind, RunId, SessionChanged,
    SpentElsewhere, StopBy, Timestamp,
};

use crate::attaching::{PreparedAttachments, scrubbed};
use crate::driver::Driver;
use crate::session::{
    Acceptance, DriverCommand, DriverPhase, SendCondition, SendOutcome, SentMessage, SessionActivity, StopOutcome,
};

impl Driver {
    pub(crate) async fn perform(&mut self, command: DriverCommand) -> Result<(), StoreError> {
        if !self.takes(&command) {
            return Ok(());
        }
        // The reply is sent last, after `announce`: its receiver may query the session's activity at once.
        match command {
            DriverCommand::Send { message_id, message, reply } => {
                let sent = self.send(message_id, message).await?;
                self.announce();
                let _ = reply.send(sent);
            }
            DriverCommand::SendIf { condition, message_id, message, reply } => {
                let is_taken = self.takes_message(condition, &message_id);
                let sent = if is_taken { Some(self.send(message_id, message).await?) } else { None };
                self.announce();
                let _ = reply.send(sent);
            }
            DriverCommand::Stop { by, reply } => {
                let stopped = self.stop(by).await?;
                self.announce();
                let _ = reply.send(stopped);
            }
            DriverCommand::Answer { question, answer, reply } => {
                let taken = self.step(Fact::Answered { question, answer, by: AnsweredBy::Person }).await?;
                self.announce();
                let _ = reply.send(taken);
            }
            DriverCommand::Retry { reply } => {
                let run_settings = Box::new(self.run_settings().await?);
                let taken = self.step(Fact::Retried(run_settings)).await?;
                self.announce();
                let _ = reply.send(if taken == Acceptance::Yes { self.open_run() } else { None });
            }
            DriverCommand::Undo { request, reply } => {
                // Boxed, because few sessions undo and the future of each should not reserve space for it.
                let undone = Box::pin(self.undo(request)).await?;
                self.announce();
                let _ = reply.send(undone);
            }
            DriverCommand::UndoCompaction { reply } => {
                let undone = self.undo_compaction().await?;
                let _ = reply.send(undone);
            }
            DriverCommand::Edit { edit, reply } => {
                self.step(Fact::Changed(SessionChanged::from(edit))).await?;
                let _ = reply.send(());
            }
            DriverCommand::Drain => self.begin_drain(),
            DriverCommand::Close => {}
        }
        Ok(())
    }

    pub(crate) fn open_run(&self) -> Option<RunId> {
        self.state.control.run.as_ref().map(|run| run.id)
    }

    /// Returns the settings for a run that starts now.
    pub(crate) async fn run_settings(&mut self) -> Result<RunSettings, StoreError> {
        let owner = self.state.control.opened.as_ref().map(|opened| opened.owner.clone()).unwrap_or_default();
        self.run_settings_for(&owner).await
    }

    /// Like `run_settings`, for a session of this owner that may not be opened yet.
    pub(crate) async fn run_settings_for(&mut self, owner: &str) -> Result<RunSettings, StoreError> {
        let now = self.services.clock.now();
        let elsewhere = self.spent_elsewhere(owner, now).await?;
        let own_system = self.agent.instructions.session_system.as_ref();
        let own_system = own_system.filter(|given| self.state.control.system.as_deref() != Some(given.as_str()));
        Ok(RunSettings {
            policy: self.agent.policy.clone(),
            agent: self.agent.name.clone(),
            chain: self.agent.models.iter().map(|model| model.name.clone()).collect(),
            deadline: self.agent.deadline_ms.map(|ms| now.plus_ms(ms)),
            attendance: self.agent.attendance,
            output: self.agent.output.as_ref().map(|expected| expected.spec.clone()),
            server: None,
            models: self.agent.callable_models(),
            role_chains: self.agent.role_chain_names(),
            compact: self.state.control.compaction_wanted,
            spent_today: elsewhere.map(|spent| spent.day),
            spent_by_agent: elsewhere.map(|spent| spent.agent),
            system: own_system.cloned(),
        })
    }

    /// Returns what all sessions of the owner have spent today, where a run may start and its policy limits that.
    async fn spent_elsewhere(&mut self, owner: &str, now: Timestamp) -> Result<Option<SpentElsewhere>, StoreError> {
        if self.open_run().is_some() || !self.agent.policy.has_shared_limit() {
            return Ok(None);
        }
        let counting = CountingRun {
            session: self.state.session,
            run: RunId(self.state.control.runs).next(),
            owner: owner.to_owned(),
            agent: self.agent.name.clone(),
        };
        let services = &self.services;
        let counted = services.spending.count(services.store.as_ref(), &counting, now.day_start());
        Box::pin(counted).await.map(Some)
    }

    async fn send(&mut self, message_id: MessageId, message: SentMessage) -> Result<SendOutcome, StoreError> {
        if self.only_message.as_ref().is_some_and(|only_message| *only_message != message_id) {
            // A second message arrived: don't leave after the first run.
            self.only_message = None;
        }
        if let Some(run) = self.state.transcript.seen.get(&message_id) {
            return Ok(SendOutcome::Known(*run));
        }
        let SentMessage { text, files } = message;
        let message = WaitingMessage { message_id, text, at: self.services.clock.now(), files };
        let receives = self.owed.contains(&Effect::Receive);
        // Order is kept: a new message does not overtake waiting ones.
        if receives && self.waiting.is_empty() && self.take_up(message.clone(), Vec::new()).await? == Acceptance::Yes {
            return Ok(self.open_run().map_or(SendOutcome::Queued, SendOutcome::TakenUp));
        }
        let secrets = &self.services.secrets;
        let waiting = WaitingMessage {
            text: secrets.scrub(&message.text).into_owned(),
            files: message.files.into_iter().map(|file| scrubbed(secrets, file)).collect(),
            ..message
        };
        self.services.store.put(self.state.session, waiting.clone()).await?;
        if !self.waiting.iter().any(|known| known.message_id == waiting.message_id) {
            self.waiting.push_back(waiting);
        }
        Ok(SendOutcome::Queued)
    }

    /// Whether a message is taken on this condition. One that was taken up before is known, and answered as then.
    fn takes_message(&self, condition: SendCondition, message_id: &MessageId) -> bool {
        if self.state.transcript.seen.contains_key(message_id) {
            return true;
        }
        match condition {
            SendCondition::Idle => self.open_run().is_none() && self.waiting.is_empty(),
            SendCondition::FewerWait(most) => {
                // Those that joined the run wait for its next turn.
                let joined = self.state.control.run.as_ref().map_or(0, |run| run.unseen.len());
                let waits = self.waiting.iter().any(|waiting| waiting.message_id == *message_id);
                waits || self.waiting.len() + joined < most
            }
        }
    }

    /// Whether this driver accepts waiting messages. A process that came with one message leaves after its run, and
    /// would interrupt a run that started then. One that drains accepts none.
    pub(crate) fn takes_more(&self) -> bool {
        if self.phase == DriverPhase::Draining {
            return false;
        }
        let Some(only_message) = &self.only_message else { return true };
        self.state.transcript.seen.get(only_message).is_none_or(|run| self.open_run() == Some(*run))
    }

    /// Accepts the oldest waiting message; it is removed from the inbox in the same transaction.
    pub(crate) async fn take_waiting(&mut self) -> Result<Acceptance, StoreError> {
        let Some(message) = self.waiting.pop_front() else { return Ok(Acceptance::No) };
        let takes = vec![message.message_id.clone()];
        let taken = self.take_up(message, takes).await?;
        Ok(if self.waiting.is_empty() { taken } else { Acceptance::Yes })
    }

    async fn take_up(&mut self, message: WaitingMessage, takes: Vec<MessageId>) -> Result<Acceptance, StoreError> {
        let WaitingMessage { message_id, text, at: _, files } = message;
        let PreparedAttachments { attachments, blobs } = self.attachments(files);
        let run_settings = Box::new(self.run_settings().await?);
        let fact = Fact::Message { message_id, text, attachments, run_settings };
        self.step_with(fact, Batch { takes, blobs, ..Batch::default() }).await
    }

    /// Returns files as they are recorded with their message.
    pub(crate) fn attachments(&self, files: Vec<AttachedFile>) -> PreparedAttachments {
        PreparedAttachments::new(&self.services.secrets, self.agent.policy.result_cap, files)
    }

    async fn stop(&mut self, by: StopBy) -> Result<StopOutcome, StoreError> {
        let dropped = self.services.store.drop_waiting(self.state.session).await?;
        self.waiting.clear();
        // Messages that joined the run and were never sent are dropped with it; the `RunEnded` record lists them.
        let open = self.state.control.run.as_ref().filter(|run| run.stop.is_none());
        let unseen = open.map_or(0, |run| run.dropped_by(by).len());
        let runs = match self.step(Fact::Stopped(by)).await? {
            Acceptance::Yes => 1,
            Acceptance::No => 0,
        };
        Ok(StopOutcome { runs, dropped: dropped + unseen })
    }

    /// Reports the session's activity to its handles.
    pub(crate) fn announce(&self) {
        let now = self.activity_now();
        self.activity.send_if_modified(|activity| {
            let changed = *activity != now;
            *activity = now;
            changed
        });
    }

    fn activity_now(&self) -> SessionActivity {
        if self.state.control.undo.is_some() {
            return SessionActivity::Working;
        }
        if self.state.control.run.is_none() {
            let takes = !self.waiting.is_empty() && self.takes_more();
            return if takes { SessionActivity::Working } else { SessionActivity::Idle };
        }
        let questions: Vec<QuestionAsked> = questions(&self.owed).cloned().collect();
        let only_questions = self.owed.iter().all(|effect| match effect {
            Effect::Ask(_) | Effect::Receive => true,
            // A call whose tool asks the person can't continue either.
            Effect::RunCall { request, .. } => questions.iter().any(|asked| is_of(asked, request.call)),
            // Nor can a step whose child session asks.
            Effect::RunStep { .. } => !questions.is_empty(),
            Effect::Pin(_)
            | Effect::CallModel { .. }
            | Effect::HandBack(_)
            | Effect::CheckPermission { .. }
            | Effect::VerifyCall { .. }
            | Effect::TakeSnapshot { .. }
            | Effect::Restore(_) => false,
        });
        if only_questions && !questions.is_empty() {
            SessionActivity::Waiting(questions)
        } else {
            SessionActivity::Working
        }
    }

    /// Returns the next time at which something expires: the run's deadline or a question.
    fn next_expiry(&self) -> Option<Timestamp> {
        let run = self.state.control.run.as_ref()?;
        let deadline = run.deadline.filter(|_| run.stop.is_none());
        questions(&self.owed).filter_map(|question| question.expires).chain(deadline).min()
    }

    pub(crate) fn timer(&self) -> BoxFuture<'static, ()> {
        match self.next_expiry() {
            Some(at) => self.services.clock.until(at),
            None => Box::pin(std::future::pending()),
        }
    }

    /// Handles an expiry: a question takes its default, or the deadline stops the run.
    pub(crate) async fn time_is_up(&mut self) -> Result<(), StoreError> {
        let now = self.services.clock.now();
        let expired = questions(&self.owed).find(|question| question.expires.is_some_and(|at| at <= now));
        if let Some(asked) = expired {
            let answer = Answer::plain(asked.default);
            let fact = Fact::Answered { question: asked.question, answer, by: AnsweredBy::Expiry };
            self.step(fact).await?;
        } else if self.state.control.run.as_ref().and_then(|run| run.deadline).is_some_and(|at| at <= now) {
            self.step(Fact::Stopped(StopBy::Deadline)).await?;
        }
        Ok(())
    }
}

fn is_of(asked: &QuestionAsked, wanted: CallId) -> bool {
    matches!(&asked.kind, QuestionKind::Elicitation { call, .. } if *call == wanted)
}

fn questions(owed: &[Effect]) -> impl Iterator<Item = &QuestionAsked> {
    owed.iter().filter_map(|effect| match effect {
        Effect::Ask(asked) => Some(asked.as_ref()),
        Effect::Receive
        | Effect::Pin(_)
        | Effect::CallModel { .. }
        | Effect::HandBack(_)
        | Effect::RunCall { .. }
        | Effect::CheckPermission { .. }
        | Effect::VerifyCall { .. }
        | Effect::TakeSnapshot { .. }
        | Effect::RunStep { .. }
        | Effect::Restore(_) => None,
    })
}
