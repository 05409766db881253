//! One mechanism for everything a person is asked in mid-run: approvals, the fate of a call cut
//! short, a loop that runs in circles. Questions are durable; each has a default and may expire.

use serde::{Deserialize, Serialize};

use crate::CallId;

/// What is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum QuestionKind {
    /// May this call run?
    Approval {
        /// The call.
        call: CallId,
    },
    /// A crash cut this call short and it can't be repeated blindly. What now?
    Settlement {
        /// The call.
        call: CallId,
    },
    /// A tool needs something of the person before it can go on.
    Elicitation {
        /// The call.
        call: CallId,
    },
    /// The model runs in circles. Go on?
    Cycle,
    /// The run was resumed again and again without progress. Try once more?
    Stuck,
}

/// What a person is shown: a command line, a diff, the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// One line.
    pub title: String,
    /// More, possibly several lines; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// The rule that would allow this kind of call, e.g. `run_command(cargo *)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// An answer that is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionOption {
    /// Approval and Elicitation: no. Cycle and Stuck: stop here.
    No,
    /// Approval: this once. Cycle and Stuck: go on.
    Once,
    /// Approval: this and calls like it, for this session.
    Session,
    /// Approval: this and calls like it, from now on.
    Always,
    /// Approval: run it with other arguments.
    Edit,
    /// Settlement: run the call again.
    RunAgain,
    /// Settlement: take it as interrupted and tell the model so.
    Interrupt,
    /// Elicitation: the form as it was filled in, or the page was visited.
    Submit,
    /// Elicitation: no answer, neither yes nor no.
    Dismiss,
}

/// An answer that was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Which of the options.
    pub option: QuestionOption,
    /// With `Edit`: the arguments to run with instead. With `Submit`: the content of the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<crate::Json>,
    /// With `No` to a call: what the person says about it, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Answer {
    /// This option, and nothing with it.
    #[must_use]
    pub const fn plain(option: QuestionOption) -> Self {
        Self { option, arguments: None, reason: None }
    }

    /// This option with what was written for it.
    #[must_use]
    pub const fn with(option: QuestionOption, arguments: crate::Json) -> Self {
        Self { option, arguments: Some(arguments), reason: None }
    }

    /// No answer, neither yes nor no: whoever was asked is not there.
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
    /// Time ran out; the default was taken.
    Expiry,
}
