//! Why a session has no driver any more.

use windlass_store::StoreError;

/// The session's driver is gone: closed, fenced off, or its store failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionClosed {
    /// The store failed, or another process took the session.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// Somebody closed the session.
    #[error("the session is closed")]
    Closed,
}
