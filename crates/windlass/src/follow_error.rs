//! Why following a run gave no end.

use windlass_runtime::{OpenError, SessionClosed};
use windlass_store::StoreError;
use windlass_vocab::QuestionAsked;

/// A run that gave no end to report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FollowError {
    /// The session can't be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The session was closed, or its store failed, before the run ended. It goes on when opened again.
    #[error(transparent)]
    Closed(#[from] SessionClosed),
    /// The store can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Only a person can move it on.
    #[error("the run waits for a person")]
    Waiting(Vec<QuestionAsked>),
    /// It never began: a stop drops the messages that wait.
    #[error("the message was dropped before a run took it up; say it again")]
    Dropped,
}
