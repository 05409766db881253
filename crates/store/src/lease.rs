//! The right to write to a session.

use std::any::Any;
use std::fmt;

use tokio::sync::watch;
use windlass_vocab::SessionId;

use crate::Head;

/// The right to write to a session, released when dropped or when the process dies.
///
/// The holder first appends a `LeaseTaken` with its epoch: from then on every batch of an earlier holder conflicts
/// (J5). So a lost lease (its holder was silent for too long, or its lock was removed) does no harm; the lease
/// reports the loss as soon as the store knows.
pub struct Lease {
    session: SessionId,
    head: Head,
    lost: watch::Receiver<bool>,
    _hold: Box<dyn Any + Send + Sync>,
}

/// The store's side of a lease, with which the store reports that it is lost.
#[derive(Debug)]
pub struct LeaseHolder(watch::Sender<bool>);

/// Who holds a session, as far as the store can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionHolder {
    /// The id of the process; `None` if it is unknown. It may be this very process.
    pub process: Option<u32>,
}

impl LeaseHolder {
    /// Reports that another holder may have the session now.
    pub fn lose(&self) {
        self.0.send_replace(true);
    }
}

impl Lease {
    /// Returns a lease on `session`, whose journal ends in `head`, and the [`LeaseHolder`] to report its loss with. The
    /// store's claim lasts as long as `hold` lives.
    #[must_use]
    pub fn new(session: SessionId, head: Head, hold: impl Any + Send + Sync) -> (Self, LeaseHolder) {
        let (holder, lost) = watch::channel(false);
        (Self { session, head, lost, _hold: Box::new(hold) }, LeaseHolder(holder))
    }

    /// The session that the lease is for.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The end of the journal when the lease was taken.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }

    /// The epoch of this lease: above that of every lease before it.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.head.epoch + 1
    }

    /// Whether the lease is known to be lost.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        *self.lost.borrow()
    }

    /// Waits until the lease is lost.
    pub fn lost(&self) -> impl Future<Output = ()> + use<> {
        let mut lost = self.lost.clone();
        async move {
            if lost.wait_for(|lost| *lost).await.is_err() {
                // The store was dropped, so no loss will be reported any more.
                std::future::pending::<()>().await;
            }
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("session", &self.session).field("epoch", &self.epoch()).finish_non_exhaustive()
    }
}
