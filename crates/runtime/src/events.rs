//! Telling subscribers what happened. A subscriber that is slow holds up nobody.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use windlass_vocab::{Delta, Envelope, Event, Record};

/// Where events come out. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription(mpsc::UnboundedReceiver<Told>);

impl Subscription {
    /// The next event; `None` when the session is closed.
    pub async fn next(&mut self) -> Option<Event> {
        self.0.recv().await.map(Event::from)
    }

    /// The next event if it is there already.
    pub fn try_next(&mut self) -> Option<Event> {
        self.0.try_recv().ok().map(Event::from)
    }
}

/// An event on its way. Small, because a channel sets room for many aside from the first.
#[derive(Debug)]
enum Told {
    Record(Arc<Envelope>),
    Delta(Box<Delta>),
}

impl From<Told> for Event {
    fn from(told: Told) -> Self {
        match told {
            Told::Record(record) => Self::Record(record),
            Told::Delta(delta) => Self::Delta(*delta),
        }
    }
}

/// What a subscriber is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Every record and every delta.
    Everything,
    /// Messages taken up, and how runs begin and end: cheaper where nobody watches.
    Runs,
}

impl Interest {
    fn wants(self, record: &Record) -> bool {
        match self {
            Self::Everything => true,
            Self::Runs => {
                matches!(record, Record::MessageAccepted(_) | Record::RunStarted(_) | Record::RunEnded(_))
            }
        }
    }
}

#[derive(Debug)]
struct Subscriber {
    interest: Interest,
    sender: mpsc::UnboundedSender<Told>,
}

/// Where events go in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<Subscriber>>>);

impl Events {
    pub(crate) fn subscribe(&self, interest: Interest) -> Subscription {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.subscribers().push(Subscriber { interest, sender });
        Subscription(receiver)
    }

    pub(crate) fn publish(&self, record: &Arc<Envelope>) {
        self.subscribers().retain(|subscriber| {
            !subscriber.interest.wants(&record.record)
                || subscriber.sender.send(Told::Record(Arc::clone(record))).is_ok()
        });
    }

    /// Makes the delta only if somebody wants it.
    pub(crate) fn publish_delta(&self, delta: impl FnOnce() -> Delta) {
        let mut subscribers = self.subscribers();
        if !subscribers.iter().any(|subscriber| subscriber.interest == Interest::Everything) {
            return;
        }
        let delta = Box::new(delta());
        subscribers.retain(|subscriber| match subscriber.interest {
            Interest::Everything => subscriber.sender.send(Told::Delta(delta.clone())).is_ok(),
            Interest::Runs => true,
        });
    }

    /// Ends every subscription.
    pub(crate) fn close(&self) {
        self.subscribers().clear();
    }

    fn subscribers(&self) -> MutexGuard<'_, Vec<Subscriber>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
