//! Telling subscribers what happened. A subscriber that is slow holds up nobody.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;
use windlass_vocab::Event;

/// Where events come out. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription(mpsc::UnboundedReceiver<Event>);

impl Subscription {
    /// The next event; `None` when the session is closed.
    pub async fn next(&mut self) -> Option<Event> {
        self.0.recv().await
    }

    /// The next event if it is there already.
    pub fn try_next(&mut self) -> Option<Event> {
        self.0.try_recv().ok()
    }
}

/// Where events go in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<mpsc::UnboundedSender<Event>>>>);

impl Events {
    pub(crate) fn subscribe(&self) -> Subscription {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        Subscription(receiver)
    }

    /// Makes the event only if somebody listens.
    pub(crate) fn publish(&self, event: impl FnOnce() -> Event) {
        let mut subscribers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if subscribers.is_empty() {
            return;
        }
        let event = event();
        subscribers.retain(|subscriber| subscriber.send(event.clone()).is_ok());
    }

    /// Ends every subscription.
    pub(crate) fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
