//! Commands for a session that another process drives, and the outcome of each.

use serde::{Deserialize, Serialize};

use crate::{Answer, QuestionId, SessionEdit};

/// A command for a session. It is handled before the messages that wait in the session's inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body")]
pub enum Control {
    /// Stop the open run and drop the waiting messages.
    Stop {},
    /// Answer a question.
    Answer {
        /// The question.
        question: QuestionId,
        /// The answer.
        answer: Answer,
    },
    /// Change something about the session as a whole.
    Edit {
        /// The change.
        edit: SessionEdit,
    },
}

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body")]
pub enum ControlOutcome {
    /// Reply to `Stop`: the session stopped.
    Stopped {
        /// Runs stopped: 1, or 0 where no run was open.
        runs: u32,
        /// Dropped messages that no model had seen.
        dropped: u64,
    },
    /// Reply to `Answer`: the answer was accepted.
    Answered {},
    /// Reply to `Answer`: the run that asked has ended.
    RunIsOver {},
    /// Reply to `Answer`: the session never asked this question, or withdrew it.
    NoSuchQuestion {},
    /// Reply to `Answer`: somebody else answered first, or the question expired.
    AlreadyAnswered {},
    /// Reply to `Answer`: the question does not offer this answer.
    NotOffered {},
    /// Reply to `Edit`: the session was changed.
    Edited {},
}

#[cfg(test)]
mod tests {
    use super::{Control, ControlOutcome};
    use crate::{Answer, QuestionId, QuestionOption, SessionEdit};

    #[test]
    fn commands_and_outcomes_are_written_as_they_were_before() {
        let answer = Answer { reason: Some("use pnpm".into()), ..Answer::plain(QuestionOption::No) };
        for (control, text) in [
            (Control::Stop {}, r#"{"kind":"Stop","body":{}}"#),
            (Control::Edit { edit: SessionEdit::Pin }, r#"{"kind":"Edit","body":{"edit":"pin"}}"#),
            (
                Control::Edit { edit: SessionEdit::Title("Notes".into()) },
                r#"{"kind":"Edit","body":{"edit":{"title":"Notes"}}}"#,
            ),
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
