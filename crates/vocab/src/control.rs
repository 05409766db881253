//! Commands for a session that another process drives: what is asked of it, and what became of that.

use serde::{Deserialize, Serialize};

use crate::{Answer, QuestionId};

/// What is asked of a session. It overtakes the messages that wait in its inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body")]
pub enum Control {
    /// Stop the open run and drop what waits.
    Stop {},
    /// Answer a question.
    Answer {
        /// Which.
        question: QuestionId,
        /// How.
        answer: Answer,
    },
}

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body")]
pub enum ControlOutcome {
    /// To `Stop`: done.
    Stopped {
        /// Runs stopped: one, or none where no run was open.
        runs: u32,
        /// Messages dropped that no model had seen.
        dropped: u64,
    },
    /// To `Answer`: the answer was taken.
    Answered {},
    /// To `Answer`: the run that asked is over.
    RunIsOver {},
    /// To `Answer`: the session never asked this, or took it back.
    NoSuchQuestion {},
    /// To `Answer`: somebody else was faster, or time ran out.
    AlreadyAnswered {},
    /// To `Answer`: the question does not offer this answer.
    NotOffered {},
}

#[cfg(test)]
mod tests {
    use super::{Control, ControlOutcome};
    use crate::{Answer, QuestionId, QuestionOption};

    #[test]
    fn commands_and_outcomes_are_written_as_they_were_before() {
        let answer = Answer { reason: Some("use pnpm".into()), ..Answer::plain(QuestionOption::No) };
        for (control, text) in [
            (Control::Stop {}, r#"{"kind":"Stop","body":{}}"#),
            (
                Control::Answer { question: QuestionId(3), answer },
                r#"{"kind":"Answer","body":{"question":3,"answer":{"option":"no","reason":"use pnpm"}}}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&control).unwrap(), text);
            assert_eq!(serde_json::from_str::<Control>(text).unwrap(), control);
        }
        for (outcome, text) in [
            (ControlOutcome::Stopped { runs: 1, dropped: 2 }, r#"{"kind":"Stopped","body":{"runs":1,"dropped":2}}"#),
            (ControlOutcome::AlreadyAnswered {}, r#"{"kind":"AlreadyAnswered","body":{}}"#),
        ] {
            assert_eq!(serde_json::to_string(&outcome).unwrap(), text);
            assert_eq!(serde_json::from_str::<ControlOutcome>(text).unwrap(), outcome);
        }
    }
}
