//! Lets a handler of the program answer the questions of a run.

use std::sync::Arc;

use tokio::task::JoinSet;
use windlass_runtime::{Session, SessionActivity, SessionClosed};
use windlass_tools::BoxFuture;
use windlass_vocab::{Answer, QuestionAsked, QuestionId};

/// A function that answers questions.
pub(crate) type QuestionHandler = Arc<dyn Fn(QuestionAsked) -> BoxFuture<'static, Answer> + Send + Sync>;

/// The result of asking the handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandlerOutcome {
    /// The run goes on: the question was answered, it expired, or the run was stopped.
    GoesOn,
    /// There is no handler, or its answer is not among the offered ones.
    NotAnswered,
}

/// The handler, and the question it is answering. The handler runs in its own task, so that it is not asked twice when
/// the waiting future is dropped and a new one waits for the same question.
#[derive(Default)]
pub(crate) struct QuestionAnswering {
    handler: Option<QuestionHandler>,
    asked: Option<QuestionId>,
    /// Aborts the task when dropped.
    task: JoinSet<Result<bool, SessionClosed>>,
}

impl QuestionAnswering {
    pub(crate) fn new(handler: Option<QuestionHandler>) -> Self {
        Self { handler, asked: None, task: JoinSet::new() }
    }

    /// Lets the handler answer the first of these questions.
    pub(crate) async fn answer(
        &mut self,
        session: &Session,
        questions: &[QuestionAsked],
    ) -> Result<HandlerOutcome, SessionClosed> {
        let (Some(handler), Some(question)) = (&self.handler, questions.first()) else {
            return Ok(HandlerOutcome::NotAnswered);
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
            None | Some(Ok(Ok(true))) => Ok(HandlerOutcome::GoesOn),
            Some(Ok(Ok(false))) if waits(session, id) => Ok(HandlerOutcome::NotAnswered),
            Some(Ok(Ok(false))) => Ok(HandlerOutcome::GoesOn),
            Some(Ok(Err(closed))) => Err(closed),
            Some(Err(failed)) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Ok(HandlerOutcome::NotAnswered),
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
