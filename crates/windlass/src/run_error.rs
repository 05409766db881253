//! The error that `run` returns in place of an answer.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use windlass_store::{ReverseRecords, Store, StoreError};
use windlass_tools::AttachError;
use windlass_vocab::{EndReason, Failure, Part, QuestionAsked, RunEnded, RunId, RunMilestone, SessionId};

use crate::follow_error::FollowError;

/// A run without an answer: the reason, the model's text so far, and the session.
///
/// ```no_run
/// # async fn example(agent: windlass::Agent) -> Result<(), windlass::RunError> {
/// use windlass::RunErrorReason;
///
/// match agent.run("Haul the load up.").await {
///     Ok(answer) => println!("{answer}"),
///     Err(error) => match &error.reason {
///         RunErrorReason::Capped(_) => println!("not done yet; so far: {}", error.text),
///         RunErrorReason::Cancelled => println!("stopped; go on in session {}", error.session),
///         _ => return Err(error),
///     },
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct RunError {
    /// Why there is no answer.
    pub reason: RunErrorReason,
    /// The model's last text in the run, possibly incomplete; empty if there is none. Never an error message.
    pub text: String,
    /// The key of the session, for [`Agent::session`](crate::Agent::session).
    pub session: String,
}

/// The limit that ended a run before the job was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunLimit {
    /// It has had as many turns as its policy allows.
    Turns,
    /// Its budget is spent.
    Budget,
    /// The loop made it wrap up; its last reply says what is not done.
    Unfinished,
}

/// Why a run has no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunErrorReason {
    /// The run could not go on.
    #[non_exhaustive]
    Failed {
        /// What went wrong, for people.
        message: String,
        /// The failure as data, where it is known.
        failure: Option<Box<Failure>>,
    },
    /// A limit ended the run before the job was done.
    Capped(RunLimit),
    /// A person or a deadline stopped the run.
    Cancelled,
    /// The run waits for a person, and nobody answers: see [`Builder::on_question`](crate::Builder::on_question).
    /// It stays open, and [`AgentSession::resume`](crate::AgentSession::resume) resumes it.
    Waiting(Vec<QuestionAsked>),
    /// The run never began: somebody stopped the session, which drops the waiting messages.
    Dropped,
    /// The run ended with a value that is not of the agent's output type, for example because an earlier version of the
    /// program began it.
    Unreadable(String),
    /// A file can't be attached to the message, which was not sent.
    Unattached {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: AttachError,
    },
    /// The session can't be opened or read. What was stored is still there once it can.
    Session(FollowError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl fmt::Display for RunErrorReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { message, .. } => write!(f, "the run failed: {message}"),
            Self::Capped(RunLimit::Turns) => f.write_str("the run was not done after as many turns as it may take"),
            Self::Capped(RunLimit::Budget) => f.write_str("the run was not done when its budget was spent"),
            Self::Capped(RunLimit::Unfinished) => f.write_str("the run ended before the job was done"),
            Self::Cancelled => f.write_str("the run was cancelled"),
            Self::Waiting(questions) => {
                f.write_str("the run waits for an answer")?;
                let asked = questions.first().and_then(|question| question.preview.as_ref());
                asked.map_or(Ok(()), |preview| write!(f, " about: {}", preview.title))
            }
            Self::Dropped => f.write_str("the message was dropped before a run took it up; say it again"),
            Self::Unreadable(problem) => write!(f, "the run's output is of another type: {problem}"),
            Self::Unattached { path, error } => write!(f, "{} can't be attached: {error}", path.display()),
            Self::Session(error) => error.fmt(f),
        }
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.reason {
            RunErrorReason::Session(error) => error.source(),
            RunErrorReason::Failed { .. }
            | RunErrorReason::Capped(_)
            | RunErrorReason::Cancelled
            | RunErrorReason::Waiting(_)
            | RunErrorReason::Dropped
            | RunErrorReason::Unreadable(_)
            | RunErrorReason::Unattached { .. } => None,
        }
    }
}

impl From<FollowError> for RunErrorReason {
    fn from(error: FollowError) -> Self {
        match error {
            FollowError::Waiting(questions) => Self::Waiting(questions),
            FollowError::Dropped => Self::Dropped,
            FollowError::Open(_) | FollowError::Closed(_) | FollowError::Store(_) => Self::Session(error),
        }
    }
}

impl RunErrorReason {
    /// Returns why a run with this end has no answer; `None` if it has one.
    pub(crate) fn of(ended: &RunEnded) -> Option<Self> {
        match ended.reason {
            EndReason::Completed | EndReason::Asked | EndReason::Conversed => None,
            EndReason::TurnCap => Some(Self::Capped(RunLimit::Turns)),
            EndReason::BudgetSpent => Some(Self::Capped(RunLimit::Budget)),
            EndReason::Unfinished => Some(Self::Capped(RunLimit::Unfinished)),
            EndReason::Cancelled => Some(Self::Cancelled),
            EndReason::Failed => {
                let failure = ended.failure.clone().map(Box::new);
                Some(Self::Failed { message: ended.answer.clone(), failure })
            }
        }
    }
}

/// Returns the model's last text in a run.
pub(crate) async fn text_so_far(store: &dyn Store, session: SessionId, run: RunId) -> Result<String, StoreError> {
    let said = ReverseRecords::new(store, session).find_map(|envelope| match envelope.record.milestone() {
        Some(RunMilestone::Replied(replied)) if envelope.run == Some(run) => {
            Some(Part::joined_text(&replied.parts)).filter(|words| !words.is_empty())
        }
        Some(RunMilestone::Started(started)) if started.run == run => Some(String::new()),
        Some(
            RunMilestone::Accepted(_)
            | RunMilestone::Started(_)
            | RunMilestone::Resumed(_)
            | RunMilestone::Turn(_)
            | RunMilestone::Replied(_)
            | RunMilestone::Ended(_),
        )
        | None => None,
    });
    Ok(said.await?.unwrap_or_default())
}
