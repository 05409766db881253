//! A step of a plan as an effect (S3): finds or opens the child session of the step, passes answers on to it or stops it,
//! and waits until it asks something new or its run has ended.
//!
//! The child's key derives from the parent and the step's position, and its only message has a fixed id: however often
//! the effect is started, in this process or another, there is one child with one run.

use std::sync::Arc;
use std::time::Duration;

use windlass_machine::{
    Effect, Fact, OpenApprovals, Run, StepMessage, child_policy, child_report, question_of_child, report_without_child,
    step_message,
};
use windlass_store::StoreError;
use windlass_tools::Permissions;
use windlass_vocab::{
    Answer, AttachedFile, CallId, EndReason, ModelName, ModelRole, QuestionAsked, QuestionId, Record, RunModel,
    SessionId, StopBy, child_key,
};

use crate::child_slot::ChildSlot;
use crate::closed::SessionClosed;
use crate::driver::Driver;
use crate::hub::{ChildOf, Hub};
use crate::opening::{OpenError, SessionChoice};
use crate::prefix::Instructions;
use crate::running_effects::{EffectOutcome, StartedEffect};
use crate::send_control::leave_stop;
use crate::services::AgentSettings;
use crate::session::{FirstMessage, SentMessage, Session, SessionActivity};
use crate::unasked_look::UnaskedLook;

/// The id of the only message that a child session is sent.
const MESSAGE: &str = "step";
/// How long to wait before a child that another process holds is tried again.
const BUSY_WAIT: Duration = Duration::from_secs(1);
/// The report of a step that was stopped while another process held its session.
pub(crate) const HELD_ELSEWHERE: &str = "Another process has the session of this step open; it was told to stop it.";

/// What is needed to have a step carried out.
struct StepWork {
    hub: Hub,
    slot: ChildSlot,
    child: CallId,
    parent: SessionId,
    opening: SessionChoice,
    agent: AgentSettings,
    message: StepMessage,
    /// Reads the file of the step.
    look: Option<UnaskedLook>,
    /// Questions of the child that the person was asked.
    passed_on: Vec<QuestionId>,
    answers: Vec<(QuestionId, Answer)>,
    stop: Option<StopBy>,
}

/// What became of opening the child.
enum OpenedChild {
    Session(Session),
    /// It can't be opened, or is not worth it.
    Report(EndReason, String),
}

impl Driver {
    /// Starts to have a step carried out.
    pub(crate) fn started_step(&mut self, effect: &Effect) -> Option<StartedEffect> {
        let work = self.step_work(effect)?;
        let future = async move { EffectOutcome::Step(work.fact().await) };
        Some(StartedEffect::plain(effect, Box::pin(future)))
    }

    fn step_work(&self, effect: &Effect) -> Option<StepWork> {
        let Effect::RunStep { child, step, stop, .. } = *effect else { return None };
        let run = self.state.control.run.as_ref()?;
        let running = run.step()?;
        let opened = self.state.control.opened.as_ref()?;
        let hub = Hub::of(&self.services, self.registration.as_ref()?.live());
        let permissions = Arc::clone(&self.agent.permissions);
        let look = self.services.workspace.clone().map(|workspace| UnaskedLook { workspace, permissions });
        let passed_on = running.open.iter().filter_map(|asked| question_of_child(asked)).collect();
        Some(StepWork {
            hub,
            slot: self.running_effects.child.clone(),
            child,
            parent: self.state.session,
            opening: SessionChoice {
                owner: opened.owner.clone(),
                key: child_key(self.state.session, child),
                workspace: opened.workspace.clone(),
            },
            agent: self.child_settings(run)?,
            message: step_message(&self.state, step),
            look,
            passed_on,
            answers: running.answers.clone(),
            stop,
        })
    }

    /// Returns the settings of a child: those that the run was started with, and what is left of its limits.
    fn child_settings(&self, run: &Run) -> Option<AgentSettings> {
        let now = self.services.clock.now();
        let started = &run.started;
        let known = |name: &ModelName| started.model(name).cloned().unwrap_or_else(|| RunModel::named(name.clone()));
        let own_system = self.state.control.system.as_deref().map(str::to_owned);
        Some(AgentSettings {
            name: started.agent.clone(),
            policy: child_policy(&self.state, now)?,
            models: started.chain_of(ModelRole::Step).iter().map(known).collect(),
            role_chains: started
                .role_chains
                .iter()
                .map(|(role, chain)| (*role, chain.iter().map(known).collect()))
                .collect(),
            instructions: Instructions { session_system: own_system, ..self.agent.instructions.clone() },
            permissions: self.child_permissions(),
            deadline_ms: run.deadline.map(|deadline| deadline.ms_since(now)),
            attendance: run.attendance,
            output: None,
        })
    }

    /// Returns the permissions of a child: what the person allowed for this session holds for it, too.
    fn child_permissions(&self) -> Arc<Permissions> {
        let grants: Vec<_> = self.state.transcript.grants.iter().filter_map(|grant| grant.rule.parse().ok()).collect();
        if grants.is_empty() {
            return Arc::clone(&self.agent.permissions);
        }
        let mut permissions = self.agent.permissions.as_ref().clone();
        permissions.allow.extend(grants);
        Arc::new(permissions)
    }
}

impl StepWork {
    async fn fact(self) -> Result<Fact, StoreError> {
        let session = match self.open().await? {
            OpenedChild::Session(session) => session,
            OpenedChild::Report(reason, why) => {
                return Ok(Fact::StepReported(report_without_child(self.child, reason, &why)));
            }
        };
        for (question, answer) in &self.answers {
            // One that no longer waits for it was answered before.
            let _ = session.answer(*question, answer.clone()).await;
        }
        if let Some(by) = self.stop {
            let _ = session.stop(by).await;
        }
        match self.next_activity(&session).await {
            SessionActivity::Waiting(questions) => {
                let new = questions.into_iter().find(|asked| self.is_new(asked));
                match new {
                    Some(asked) => Ok(Fact::StepAsked { child: self.child, asked: Box::new(asked) }),
                    None => std::future::pending().await,
                }
            }
            SessionActivity::Closed(SessionClosed::Store(error)) => Err(error),
            // This process is about to end, or the parent's driver is.
            SessionActivity::Closed(SessionClosed::Closed) => std::future::pending().await,
            SessionActivity::Idle | SessionActivity::Working => self.report(session.id()).await,
        }
    }

    fn is_new(&self, asked: &QuestionAsked) -> bool {
        let answered = self.answers.iter().any(|(question, _)| *question == asked.question);
        !answered && !self.passed_on.contains(&asked.question)
    }

    /// Waits until the child asks something new, its run is over, or it is closed.
    async fn next_activity(&self, session: &Session) -> SessionActivity {
        let mut activity = session.activity.clone();
        let is_awaited = |activity: &SessionActivity| match activity {
            SessionActivity::Working => false,
            SessionActivity::Waiting(questions) => questions.iter().any(|asked| self.is_new(asked)),
            SessionActivity::Idle | SessionActivity::Closed(_) => true,
        };
        let next = activity.wait_for(is_awaited).await;
        next.map_or(SessionActivity::Closed(SessionClosed::Closed), |activity| activity.clone())
    }

    async fn report(&self, session: SessionId) -> Result<Fact, StoreError> {
        let records = self.hub.store().read(session, 0).await?;
        let records: Vec<Record> = records.into_iter().map(|envelope| envelope.record).collect();
        let report = child_report(self.child, session, &records);
        Ok(Fact::StepReported(report.unwrap_or_else(|| {
            report_without_child(self.child, EndReason::Failed, "The session of this step has no run that ended.")
        })))
    }

    async fn open(&self) -> Result<OpenedChild, StoreError> {
        if let Some(session) = self.slot.session(self.child) {
            return Ok(OpenedChild::Session(session));
        }
        let SessionChoice { owner, key, .. } = &self.opening;
        let known = self.hub.store().find(owner, key).await?;
        if self.stop.is_some() && known.is_none() {
            return Ok(OpenedChild::Report(EndReason::Cancelled, String::new()));
        }
        // Questions that the person was asked stay open, so that an answer counts.
        let asked = !self.passed_on.is_empty() || !self.answers.is_empty();
        let approvals = if asked { OpenApprovals::Answered } else { OpenApprovals::CheckedAgain };
        let words = FirstMessage { message_id: MESSAGE.into(), message: self.first_message().await };
        let of = ChildOf { parent: (self.parent, self.child), approvals };
        loop {
            match self.hub.open_child(&self.opening, &self.agent, &words, of).await {
                Ok(session) => {
                    self.slot.keep(self.child, session.clone());
                    return Ok(OpenedChild::Session(session));
                }
                // Another process works on it, or has not left it yet. A stop does not wait for that.
                Err(OpenError::Store(StoreError::Busy { .. })) => match known.filter(|_| self.stop.is_some()) {
                    Some(session) => {
                        leave_stop(self.hub.store().as_ref(), session, self.hub.now()).await?;
                        return Ok(OpenedChild::Report(EndReason::Cancelled, HELD_ELSEWHERE.to_owned()));
                    }
                    None => self.hub.wait(BUSY_WAIT).await,
                },
                Err(OpenError::Store(error)) => return Err(error),
                Err(error @ (OpenError::Newer { .. } | OpenError::Survivors { .. })) => {
                    return Ok(OpenedChild::Report(EndReason::Failed, error.to_string()));
                }
            }
        }
    }
    /// Returns the message that a new child is started with: with the text of its file, where that is short.
    async fn first_message(&self) -> SentMessage {
        let StepMessage { text, file, attached } = self.message.clone();
        let file_text = match (&self.look, file) {
            (Some(look), Some(file)) => look.clone().short_text(file).await,
            (None, _) | (_, None) => None,
        };
        let files = file_text.into_iter().chain(attached).map(AttachedFile::Text).collect();
        SentMessage { text, files }
    }
}
