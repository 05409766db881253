//! What a driver does when it is told something: by a handle, by the inbox, by the clock.

use windlass_machine::{Effect, Fact, Terms};
use windlass_provider::BoxFuture;
use windlass_store::{Batch, StoreError, Waiting};
use windlass_vocab::{
    Answer, AnsweredBy, At, CallId, MessageId, QuestionAsked, QuestionKind, RunId, SessionChanged, StopBy,
};

use crate::driver::Driver;
use crate::session::{Command, Sent, Standing, Stopped, Taken};

impl Driver {
    pub(crate) async fn obey(&mut self, command: Command) -> Result<(), StoreError> {
        // The answer goes out last: whoever hears it may ask at once where the session stands.
        match command {
            Command::Send { message_id, text, reply } => {
                let sent = self.send(message_id, text).await?;
                self.announce();
                let _ = reply.send(sent);
            }
            Command::SendIfIdle { message_id, text, reply } => {
                let busy = self.is_busy_for(&message_id);
                let sent = if busy { None } else { Some(self.send(message_id, text).await?) };
                self.announce();
                let _ = reply.send(sent);
            }
            Command::Stop { by, reply } => {
                let stopped = self.stop(by).await?;
                self.announce();
                let _ = reply.send(stopped);
            }
            Command::Answer { question, answer, reply } => {
                let taken = self.step(Fact::Answered { question, answer, by: AnsweredBy::Person }).await?;
                self.announce();
                let _ = reply.send(taken);
            }
            Command::Retry { reply } => {
                let taken = self.step(Fact::Retried(Box::new(self.terms()))).await?;
                self.announce();
                let _ = reply.send(if taken == Taken::Yes { self.open_run() } else { None });
            }
            Command::Undo { request, reply } => {
                // Boxed: no session should have room set aside for what hardly any does.
                let undone = Box::pin(self.undo(request)).await?;
                self.announce();
                let _ = reply.send(undone);
            }
            Command::Entitle { title, reply } => {
                self.step(Fact::Changed(SessionChanged { title: Some(title), ..SessionChanged::default() })).await?;
                let _ = reply.send(());
            }
            Command::Close => {}
        }
        Ok(())
    }

    pub(crate) fn open_run(&self) -> Option<RunId> {
        self.state.control.run.as_ref().map(|run| run.id)
    }

    /// The terms a run begun now is under.
    pub(crate) fn terms(&self) -> Terms {
        let now = self.outside.clock.now();
        Terms {
            policy: self.agent.policy.clone(),
            agent: self.agent.name.clone(),
            chain: self.agent.chain.clone(),
            deadline: self.agent.deadline_ms.map(|ms| now.plus_ms(ms)),
            attendance: self.agent.attendance,
            output: self.agent.output.as_ref().map(|expected| expected.spec.clone()),
            server: self.agent.server.clone(),
        }
    }

    async fn send(&mut self, message_id: MessageId, text: String) -> Result<Sent, StoreError> {
        if self.errand.as_ref().is_some_and(|errand| *errand != message_id) {
            // A second message arrived: don't leave after the first run.
            self.errand = None;
        }
        if let Some(run) = self.state.book.seen.get(&message_id) {
            return Ok(Sent::Known(*run));
        }
        let message = Waiting { message_id, text, at: self.outside.clock.now() };
        let receives = self.owed.contains(&Effect::Receive);
        // Order is kept: nothing overtakes what waits already.
        if receives && self.waiting.is_empty() && self.take_up(message.clone(), Vec::new()).await? == Taken::Yes {
            return Ok(self.open_run().map_or(Sent::Queued, Sent::TakenUp));
        }
        let waiting = Waiting { text: self.outside.secrets.scrub(&message.text).into_owned(), ..message };
        self.outside.store.put(self.state.session, waiting.clone()).await?;
        if !self.waiting.iter().any(|known| known.message_id == waiting.message_id) {
            self.waiting.push_back(waiting);
        }
        Ok(Sent::Queued)
    }

    /// Whether a message would have to wait, or join a run that it did not begin.
    fn is_busy_for(&self, message_id: &MessageId) -> bool {
        let known = self.state.book.seen.contains_key(message_id);
        !known && (self.open_run().is_some() || !self.waiting.is_empty())
    }

    /// Whether what waits is taken up here. Whoever came with one message leaves when its run is over, and a run begun
    /// then would be cut short.
    pub(crate) fn takes_more(&self) -> bool {
        let Some(errand) = &self.errand else { return true };
        self.state.book.seen.get(errand).is_none_or(|run| self.open_run() == Some(*run))
    }

    /// Takes the oldest waiting message up; it leaves the inbox in the same transaction.
    pub(crate) async fn take_waiting(&mut self) -> Result<Taken, StoreError> {
        let Some(message) = self.waiting.pop_front() else { return Ok(Taken::No) };
        let takes = vec![message.message_id.clone()];
        let taken = self.take_up(message, takes).await?;
        Ok(if self.waiting.is_empty() { taken } else { Taken::Yes })
    }

    async fn take_up(&mut self, message: Waiting, takes: Vec<MessageId>) -> Result<Taken, StoreError> {
        let Waiting { message_id, text, .. } = message;
        let fact = Fact::Message { message_id, text, terms: Box::new(self.terms()) };
        self.step_with(fact, Batch { takes, ..Batch::default() }).await
    }

    async fn stop(&mut self, by: StopBy) -> Result<Stopped, StoreError> {
        let dropped = self.outside.store.drop_waiting(self.state.session).await?;
        self.waiting.clear();
        // What joined the run and was never sent is dropped with it; the end of the run records which.
        let open = self.state.control.run.as_ref().filter(|run| run.stop.is_none());
        let unseen = open.map_or(0, |run| run.dropped_by(by).len());
        let runs = match self.step(Fact::Stopped(by)).await? {
            Taken::Yes => 1,
            Taken::No => 0,
        };
        Ok(Stopped { runs, dropped: dropped + unseen })
    }

    /// Tells handles where the session stands.
    pub(crate) fn announce(&self) {
        let now = self.standing_now();
        self.standing.send_if_modified(|standing| {
            let changed = *standing != now;
            *standing = now;
            changed
        });
    }

    fn standing_now(&self) -> Standing {
        if self.state.control.undo.is_some() {
            return Standing::Working;
        }
        if self.state.control.run.is_none() {
            let takes = !self.waiting.is_empty() && self.takes_more();
            return if takes { Standing::Working } else { Standing::Idle };
        }
        let questions: Vec<QuestionAsked> = questions(&self.owed).cloned().collect();
        let only_questions = self.owed.iter().all(|effect| match effect {
            Effect::Ask(_) | Effect::Receive => true,
            // A call that asks in mid-run can't go on either.
            Effect::RunCall { request, .. } => questions.iter().any(|asked| is_of(asked, request.call)),
            Effect::Pin(_)
            | Effect::CallModel { .. }
            | Effect::HandBack(_)
            | Effect::JudgeCall { .. }
            | Effect::VerifyCall { .. }
            | Effect::TakeSnapshot { .. }
            | Effect::Restore(_) => false,
        });
        if only_questions && !questions.is_empty() { Standing::Waiting(questions) } else { Standing::Working }
    }

    /// The next moment at which something expires: the run's deadline or a question.
    fn next_expiry(&self) -> Option<At> {
        let run = self.state.control.run.as_ref()?;
        let deadline = run.deadline.filter(|_| run.stop.is_none());
        questions(&self.owed).filter_map(|question| question.expires).chain(deadline).min()
    }

    pub(crate) fn timer(&self) -> BoxFuture<'static, ()> {
        match self.next_expiry() {
            Some(at) => self.outside.clock.until(at),
            None => Box::pin(std::future::pending()),
        }
    }

    /// Something expired: a question takes its default, or the deadline stops the run.
    pub(crate) async fn time_is_up(&mut self) -> Result<(), StoreError> {
        let now = self.outside.clock.now();
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
        | Effect::JudgeCall { .. }
        | Effect::VerifyCall { .. }
        | Effect::TakeSnapshot { .. }
        | Effect::Restore(_) => None,
    })
}
