//! A call of the current turn: its state, and what it waits for.

use std::sync::Arc;

use windlass_vocab::{
    Answer, CallPaused, CallRequested, Json, OutcomeKind, Preview, QuestionAsked, QuestionKind, QuestionOption,
    Resumption,
};

use crate::snapshot_state::SnapshotState;

/// A call of the current turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The call as the model requested it.
    pub request: Arc<CallRequested>,
    /// Arguments with which a person replaced the model's.
    pub edited: Option<Json>,
    /// Its progress.
    pub state: CallState,
    /// A question that its tool asks while it runs.
    pub asks: Option<Arc<QuestionAsked>>,
    /// Set after the tool suspended the call: the pause, and the person's answers since.
    pub pause: Option<Arc<PausedCall>>,
    /// Whether the files it may change were saved.
    pub kept: SnapshotState,
    /// Whether a person approved this very call.
    pub approved: CallApproval,
    /// The last question that asked a person to approve the call.
    pub approval: Option<Arc<QuestionAsked>>,
    /// Which process asked that question.
    pub asked_by: AskedBy,
}

/// Which process asked a person about a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskedBy {
    /// The process that has the run now.
    #[default]
    ThisProcess,
    /// A process that had the run before.
    AnEarlierOne,
}

/// Whether a person approved a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CallApproval {
    /// Nobody approved it, or nobody was asked.
    #[default]
    No,
    /// A person approved the preview that this process displayed.
    Yes,
    /// A person approved the preview that another process displayed: it counts if the preview is the same now (X6).
    IfShown(Arc<Preview>),
}

/// A call that its tool suspended until the person has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PausedCall {
    /// The pause that the tool reported.
    pub at: CallPaused,
    /// The answers so far, by the keys of the requests.
    pub answers: Vec<(String, Answer)>,
}

/// The progress of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallState {
    /// Needs a person's approval; the person is asked when the call is next to start.
    NeedsApproval,
    /// Needs a permission check by the process that resumed the run, when the call is next to start. It has not run.
    NeedsPermissionCheck,
    /// May run when it is next to start.
    Ready,
    /// A person is being asked, for approval or settlement.
    Asking(Arc<QuestionAsked>),
    /// May have started.
    Started,
    /// Suspended by its tool; a person is being asked, and then it is run again.
    Paused,
    /// The tool is being asked whether the effect took place.
    Verifying,
    /// Has a result.
    Finished(OutcomeKind),
}

impl Call {
    /// Whether it has a result.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.state, CallState::Finished(_))
    }

    /// Returns the question about it that waits for an answer.
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

    /// Returns the input with which it is run again after a pause.
    #[must_use]
    pub fn resumption(&self) -> Option<Resumption> {
        let paused = self.pause.as_ref()?;
        Some(Resumption { state: paused.at.state.clone(), answers: paused.answers.clone() })
    }

    /// Another process has the run now: an approval only counts for the preview that an earlier process displayed.
    pub(crate) fn leave_process(&mut self) {
        if self.approved == CallApproval::Yes {
            self.approved = self.approved_earlier();
        }
    }

    /// Returns an approval of the preview that the person saw last; `No` where nobody was asked.
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
                | QuestionKind::Step { .. }
                | QuestionKind::Cycle
                | QuestionKind::Stuck
                | QuestionKind::Purse { .. },
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
                    // The question was whether to run it again, and did not display the preview again.
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
