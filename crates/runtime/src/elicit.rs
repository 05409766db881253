//! Questions that calls under way ask (P4): each is recorded, and its answer goes to the call that
//! waits for it. Where nothing is recorded, because nobody is there, it is dismissed at once.

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

/// A call that asks.
pub(crate) struct AskingCall {
    call: CallId,
    elicitation: Elicitation,
    reply: oneshot::Sender<Answer>,
}

/// The questions of calls under way.
pub(crate) struct OpenElicitations {
    /// Boxed, because a channel sets room for many aside from the first.
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
    /// How the call `call` asks.
    pub(crate) fn ask(&self, call: CallId) -> Ask {
        let sender = self.sender.clone();
        Arc::new(move |elicitation| {
            let (reply, answer) = oneshot::channel();
            // A driver that is gone answers nothing, and that is an answer too.
            let _ = sender.send(Box::new(AskingCall { call, elicitation, reply }));
            Box::pin(async move { answer.await.unwrap_or_else(|_| Answer::dismissed()) })
        })
    }

    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Box<AskingCall>> {
        // One sender is held here, so it never ends.
        match self.receiver.poll_recv(context) {
            Poll::Ready(Some(asking)) => Poll::Ready(asking),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// Hands an answer that was recorded to the call that waits for it.
    pub(crate) fn tell(&mut self, record: &Record) {
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
