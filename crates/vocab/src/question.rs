//! One mechanism for every question to a person during a run: approvals, what to do with a call that a crash
//! interrupted, a model that repeats itself, a limit that is reached. Questions are stored; each has a default and may expire.

use serde::{Deserialize, Serialize};

use crate::{CallId, QuestionId, SpendingLimit, TurnMode};

/// The subject of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum QuestionKind {
    /// Whether this call may run.
    Approval {
        /// The call.
        call: CallId,
    },
    /// What to do with this call: a crash interrupted it and it can't be repeated blindly.
    Settlement {
        /// The call.
        call: CallId,
    },
    /// A tool needs an answer or an action of the person before it can continue.
    Elicitation {
        /// The call.
        call: CallId,
    },
    /// A question that a child session asks, which carries out a step of the plan (S3). The answer is passed on to it.
    Step {
        /// The child's position, as in `ChildSpawned`.
        child: CallId,
        /// The step, from 0.
        step: u32,
        /// The question's number in the child session.
        question: QuestionId,
        /// What the child asks about; ids in it are the child's own.
        subject: Box<QuestionKind>,
    },
    /// Whether to continue, although the model repeats the same calls.
    Cycle,
    /// Whether to try once more, although the run was resumed repeatedly without progress.
    Stuck,
    /// Whether to spend more, although the next model call would exceed a limit (M7).
    Purse {
        /// The limit.
        limit: SpendingLimit,
        /// What the limit is if the person agrees, in its unit.
        raised_to: u64,
        /// The purpose of the turn that would begin; absent where a turn has begun and its next attempt waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnMode>,
    },
}

impl QuestionKind {
    /// Returns what the question is about, whoever asks it: for one of a child session, what that asks about.
    #[must_use]
    pub fn subject(&self) -> &Self {
        match self {
            Self::Step { subject, .. } => subject.subject(),
            Self::Approval { .. }
            | Self::Settlement { .. }
            | Self::Elicitation { .. }
            | Self::Cycle
            | Self::Stuck
            | Self::Purse { .. } => self,
        }
    }
}

/// What is displayed to the person: a command line, a diff, the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// The first line.
    pub title: String,
    /// Details, possibly several lines; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// The rule that would allow this kind of call, e.g. `run_command(cargo *)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// An answer that a question offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionOption {
    /// Approval and Elicitation: no. Cycle, Stuck and Purse: stop the run.
    No,
    /// Approval: allow this call once. Cycle, Stuck and Purse: continue.
    Once,
    /// Approval: allow this call and calls like it, for this session.
    Session,
    /// Approval: allow this call and calls like it, permanently.
    Always,
    /// Approval: run the call with other arguments.
    Edit,
    /// Settlement: run the call again.
    RunAgain,
    /// Settlement: treat the call as interrupted and tell the model so.
    Interrupt,
    /// Elicitation: the person filled in the form, or visited the page.
    Submit,
    /// Elicitation: closed without an answer, neither yes nor no.
    Dismiss,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The chosen option.
    pub option: QuestionOption,
    /// With `Edit`: the new arguments. With `Submit`: the content of the form. With `Once` to a limit: what it is raised
    /// to, as a number in its unit, where the person chose another value than the question names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<crate::Json>,
    /// With `No` to a call: the person's reason, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Answer {
    /// Returns an answer with this option and nothing else.
    #[must_use]
    pub const fn plain(option: QuestionOption) -> Self {
        Self { option, arguments: None, reason: None }
    }

    /// Returns an answer with this option and these arguments or form content.
    #[must_use]
    pub const fn with(option: QuestionOption, arguments: crate::Json) -> Self {
        Self { option, arguments: Some(arguments), reason: None }
    }

    /// Returns the answer of a person who is not available: neither yes nor no.
    #[must_use]
    pub const fn dismissed() -> Self {
        Self::plain(QuestionOption::Dismiss)
    }
}

impl From<QuestionOption> for Answer {
    fn from(option: QuestionOption) -> Self {
        Self::plain(option)
    }
}

/// Who answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// A person.
    Person,
    /// The question expired; the default was taken.
    Expiry,
}
