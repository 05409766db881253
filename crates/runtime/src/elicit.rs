//! Questions of running calls (P4): each is recorded, and its answer goes to the call that waits for it. Where none is
//! recorded, because nobody is available, it is dismissed at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::{mpsc, oneshot};
use windlass_machine::Fact;
use windlass_store::StoreError;
use windlass_tools::Ask;
use windlass_vocab::{Answer, CallId, Elicitation, QuestionId, Record};

use crate::driver::Driver;
use crate::session::Acceptance;

/// A call whose tool asks the person something.
pub(crate) struct AskingCall {
    call: CallId,
    elicitation: Elicitation,
    reply: oneshot::Sender<Answer>,
}

/// The questions of running calls.
pub(crate) struct OpenElicitations {
    /// Boxed, because a channel reserves space for many items from the start.
    sender: mpsc::UnboundedSender<Box<AskingCall>>,
    receiver: mpsc::UnboundedReceiver<Box<AskingCall>>,
    waiting: HashMap<QuestionId, oneshot::Sender<Answer>>,
}

impl Default for OpenElicitations {
    fn default() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self { sender, receiver, waiting: HashMap::new() }
    }
}

impl OpenElicitations {
    /// Returns the function with which `call` asks.
    pub(crate) fn ask(&self, call: CallId) -> Ask {
        let sender = self.sender.clone();
        Arc::new(move |elicitation| {
            let (reply, answer) = oneshot::channel();
            // If the driver is gone, the reply channel closes, which counts as dismissed.
            let _ = sender.send(Box::new(AskingCall { call, elicitation, reply }));
            Box::pin(async move { answer.await.unwrap_or_else(|_| Answer::dismissed()) })
        })
    }

    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Box<AskingCall>> {
        // `self` holds a sender, so the channel never ends.
        match self.receiver.poll_recv(context) {
            Poll::Ready(Some(asking)) => Poll::Ready(asking),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// Sends a recorded answer to the call that waits for it.
    pub(crate) fn deliver_answer(&mut self, record: &Record) {
        if let Record::QuestionAnswered(answered) = record
            && let Some(reply) = self.waiting.remove(&answered.question)
        {
            let _ = reply.send(answered.answer.clone());
        }
    }
}

impl Driver {
    pub(crate) async fn elicit(&mut self, asking: Box<AskingCall>) -> Result<(), StoreError> {
        let AskingCall { call, elicitation, reply } = *asking;
        let question = self.state.control.next_question();
        match self.step(Fact::Elicited { call, elicitation }).await? {
            Acceptance::Yes => {
                self.running_effects.elicited.waiting.insert(question, reply);
            }
            Acceptance::No => {
                let _ = reply.send(Answer::dismissed());
            }
        }
        Ok(())
    }
}
