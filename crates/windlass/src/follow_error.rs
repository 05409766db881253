//! Why following a run returned no end.

use windlass_runtime::{OpenError, SessionClosed};
use windlass_store::StoreError;
use windlass_vocab::QuestionAsked;

/// A followed run that has no end to report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FollowError {
    /// The session can't be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The session was closed, or its store failed, before the run ended. Opening the session again continues the run.
    #[error(transparent)]
    Closed(#[from] SessionClosed),
    /// The store can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run waits for a person.
    #[error("the run waits for a person")]
    Waiting(Vec<QuestionAsked>),
    /// The run never began: a stop drops the waiting messages.
    #[error("the message was dropped before a run took it up; say it again")]
    Dropped,
}
