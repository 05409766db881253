//! A call of the turn under way: how far it is, and what it waits for.

use std::sync::Arc;

use windlass_vocab::{
    Answer, CallPaused, CallRequested, Json, OutcomeKind, Preview, QuestionAsked, QuestionKind, QuestionOption,
    Resumption,
};

use crate::snapshot_state::SnapshotState;

/// A call of the turn under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What was asked for.
    pub request: Arc<CallRequested>,
    /// Arguments a person put in place of the model's.
    pub edited: Option<Json>,
    /// How far it is.
    pub state: CallState,
    /// A question it asks while it runs.
    pub asks: Option<Arc<QuestionAsked>>,
    /// Where it was given up for now, and what the person has answered since.
    pub pause: Option<Arc<PausedCall>>,
    /// Whether the files it may change are kept.
    pub kept: SnapshotState,
    /// Whether a person said yes to this very call.
    pub approved: CallApproval,
    /// The last question that asked a person to approve it.
    pub approval: Option<Arc<QuestionAsked>>,
    /// Which process asked it.
    pub asked_by: AskedBy,
}

/// Which process asked a person about a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskedBy {
    /// The one that has the run now.
    #[default]
    ThisProcess,
    /// One that had the run before.
    AnEarlierOne,
}

/// Whether a person said yes to a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CallApproval {
    /// Nobody did, or nobody was asked.
    #[default]
    No,
    /// A person did, to what this process showed them.
    Yes,
    /// A person did, to what another process showed them: it counts if the same would be shown now (X6).
    IfShown(Arc<Preview>),
}

/// A call that was given up for now until the person has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PausedCall {
    /// What its tool said.
    pub at: CallPaused,
    /// The answers so far, by the keys of what was asked.
    pub answers: Vec<(String, Answer)>,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallState {
    /// Needs a person's approval, which is asked for when its turn comes.
    NeedsApproval,
    /// Needs the judgement of the process that took the run up, when its turn comes. It has not run.
    NeedsPermissionCheck,
    /// May run when its turn comes.
    Ready,
    /// A person is asked, for approval or settlement.
    Asking(Arc<QuestionAsked>),
    /// May have started.
    Started,
    /// Was given up for now; the person is asked, and then it is run again.
    Paused,
    /// The tool is asked whether it took place.
    Verifying,
    /// Has its result.
    Finished(OutcomeKind),
}

impl Call {
    /// Whether it has its result.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.state, CallState::Finished(_))
    }

    /// The question about it that waits for an answer.
    #[must_use]
    pub fn question(&self) -> Option<&Arc<QuestionAsked>> {
        match &self.state {
            CallState::Asking(asked) => Some(asked),
            CallState::Started => self.asks.as_ref(),
            CallState::NeedsApproval
            | CallState::NeedsPermissionCheck
            | CallState::Ready
            | CallState::Paused
            | CallState::Verifying
            | CallState::Finished(_) => None,
        }
    }

    /// What it is run again with, after a pause.
    #[must_use]
    pub fn resumption(&self) -> Option<Resumption> {
        let paused = self.pause.as_ref()?;
        Some(Resumption { state: paused.at.state.clone(), answers: paused.answers.clone() })
    }

    /// Another process has the run now: a yes was to what an earlier one showed.
    pub(crate) fn leave_process(&mut self) {
        if self.approved == CallApproval::Yes {
            self.approved = self.approved_earlier();
        }
    }

    /// A yes to what a person was last shown of it; none where they were not asked.
    fn approved_earlier(&self) -> CallApproval {
        let asked = self.approval.as_ref().and_then(|asked| asked.preview.as_ref());
        asked.map_or(CallApproval::No, |shown| CallApproval::IfShown(Arc::new(shown.clone())))
    }

    pub(crate) fn answered(&mut self, asked: &QuestionAsked, answer: &Answer) {
        match (&asked.kind, &self.state) {
            (QuestionKind::Elicitation { .. }, CallState::Started) => self.asks = None,
            (QuestionKind::Elicitation { .. }, _) => {
                if let (Some(paused), Some(elicitation)) = (&mut self.pause, &asked.elicitation) {
                    Arc::make_mut(paused).answers.push((elicitation.key.clone(), answer.clone()));
                }
                self.state = CallState::Paused;
            }
            (
                QuestionKind::Approval { .. }
                | QuestionKind::Settlement { .. }
                | QuestionKind::Cycle
                | QuestionKind::Stuck,
                _,
            ) => {
                self.state = CallState::Ready;
                self.approved = match answer.option {
                    QuestionOption::Once | QuestionOption::Session | QuestionOption::Always | QuestionOption::Edit => {
                        match self.asked_by {
                            AskedBy::ThisProcess => CallApproval::Yes,
                            AskedBy::AnEarlierOne => self.approved_earlier(),
                        }
                    }
                    // Whether to run it again was asked, and its preview was not shown again.
                    QuestionOption::RunAgain => self.approved_earlier(),
                    QuestionOption::No
                    | QuestionOption::Interrupt
                    | QuestionOption::Submit
                    | QuestionOption::Dismiss => CallApproval::No,
                };
                self.edited = answer.arguments.clone().or(self.edited.take());
            }
        }
    }
}
