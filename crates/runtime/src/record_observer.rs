//! An observer of records as they are stored, such as what counts them for an operator.

use std::fmt;
use std::sync::{Arc, OnceLock};

use windlass_vocab::Envelope;

/// Sees each record that a session of this process stores, after it is stored and before anybody else does.
pub trait RecordObserver: Send + Sync {
    /// Sees a record. The session waits meanwhile.
    fn observe(&self, envelope: &Envelope);
}

/// The observer of the sessions of a process, once one is set.
#[derive(Clone, Default)]
pub(crate) struct ObserverSlot(Arc<OnceLock<Arc<dyn RecordObserver>>>);

impl fmt::Debug for ObserverSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObserverSlot").field("is_set", &self.0.get().is_some()).finish()
    }
}

impl ObserverSlot {
    /// Sets the observer; the first one stays.
    pub(crate) fn set(&self, observer: Arc<dyn RecordObserver>) {
        let _ = self.0.set(observer);
    }

    pub(crate) fn observe(&self, envelope: &Envelope) {
        if let Some(observer) = self.0.get() {
            observer.observe(envelope);
        }
    }
}
