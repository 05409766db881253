//! Questions of a run, answered by a handler of the program's own.

use std::sync::Arc;

use tokio::task::JoinSet;
use windlass_runtime::{Session, SessionActivity, SessionClosed};
use windlass_tools::BoxFuture;
use windlass_vocab::{Answer, QuestionAsked, QuestionId};

/// Answers questions.
pub(crate) type QuestionHandler = Arc<dyn Fn(QuestionAsked) -> BoxFuture<'static, Answer> + Send + Sync>;

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandlerOutcome {
    /// The run goes on: it was answered, it expired, or its run was stopped.
    Done,
    /// Nobody answers it, or not with what it offers.
    Not,
}

/// The handler, and the question it is at. It works in a task of its own, so that nothing is asked twice when
/// whoever waits is dropped and begins to wait again.
#[derive(Default)]
pub(crate) struct QuestionAnswering {
    handler: Option<QuestionHandler>,
    asked: Option<QuestionId>,
    /// Aborts its task when it is dropped.
    task: JoinSet<Result<bool, SessionClosed>>,
}

impl QuestionAnswering {
    pub(crate) fn new(handler: Option<QuestionHandler>) -> Self {
        Self { handler, asked: None, task: JoinSet::new() }
    }

    /// Has the first of these questions answered.
    pub(crate) async fn answer(
        &mut self,
        session: &Session,
        questions: &[QuestionAsked],
    ) -> Result<HandlerOutcome, SessionClosed> {
        let (Some(handler), Some(question)) = (&self.handler, questions.first()) else {
            return Ok(HandlerOutcome::Not);
        };
        let id = question.question;
        if self.asked != Some(id) {
            self.task = JoinSet::new();
            let (answer, session) = (handler(question.clone()), session.clone());
            self.task.spawn(async move { session.answer(id, answer.await).await });
            self.asked = Some(id);
        }
        let taken = tokio::select! {
            taken = self.task.join_next() => taken,
            () = session.wait_past_question(id) => None,
        };
        self.asked = None;
        match taken {
            None | Some(Ok(Ok(true))) => Ok(HandlerOutcome::Done),
            Some(Ok(Ok(false))) if waits(session, id) => Ok(HandlerOutcome::Not),
            Some(Ok(Ok(false))) => Ok(HandlerOutcome::Done),
            Some(Ok(Err(closed))) => Err(closed),
            Some(Err(failed)) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Ok(HandlerOutcome::Not),
            },
        }
    }
}

fn waits(session: &Session, question: QuestionId) -> bool {
    match session.activity() {
        SessionActivity::Waiting(questions) => questions.iter().any(|asked| asked.question == question),
        SessionActivity::Idle | SessionActivity::Working | SessionActivity::Closed(_) => false,
    }
}
