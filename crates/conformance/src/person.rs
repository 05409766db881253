//! A tool call by a person who agrees to everything a server asks meanwhile.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use windlass_tools::{CallContext, Tool};
use windlass_vocab::{Answer, Elicitation, ElicitationKind, Json, Outcome, QuestionOption, Resumption, SessionId};

use crate::form;

/// A completed call.
#[derive(Clone, Debug)]
pub struct MadeCall {
    /// Its outcome.
    pub outcome: Outcome,
    /// The progress reported while it ran.
    pub progress: String,
    /// The questions asked while it ran.
    pub asked: Vec<Elicitation>,
}

/// Collects the progress and the questions of a running call.
#[derive(Clone, Default)]
struct CallSightings {
    progress: Arc<Mutex<String>>,
    asked: Arc<Mutex<Vec<Elicitation>>>,
}

/// Makes the call, and repeats it with the answers as often as the server asks for input.
pub async fn call(tool: &dyn Tool, arguments: &Value) -> MadeCall {
    let seen = CallSightings::default();
    let mut resumed = None;
    loop {
        let outcome = tool.run(seen.context(resumed), arguments.clone()).await;
        let Some(pause) = outcome.pause else {
            let progress = std::mem::take(&mut *seen.progress.lock().unwrap_or_else(PoisonError::into_inner));
            let asked = std::mem::take(&mut *seen.asked.lock().unwrap_or_else(PoisonError::into_inner));
            return MadeCall { outcome, progress, asked };
        };
        let answers = pause.asks.into_iter().map(|asked| (asked.key.clone(), seen.answer(asked))).collect();
        resumed = Some(Arc::new(Resumption { state: pause.state, answers }));
    }
}

impl CallSightings {
    /// Answers a question: fills in the form, or visits the page.
    fn answer(&self, asked: Elicitation) -> Answer {
        let content = match &asked.wants {
            ElicitationKind::Form { schema } => {
                serde_json::from_str(schema.as_str()).ok().map(|schema| form::filled(&schema))
            }
            ElicitationKind::Visit { .. } => None,
        };
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        Answer { option: QuestionOption::Submit, arguments: content.as_ref().map(Json::from), reason: None }
    }

    fn context(&self, resumed: Option<Arc<Resumption>>) -> CallContext {
        let (shown, asking) = (Arc::clone(&self.progress), self.clone());
        CallContext {
            progress: Arc::new(move |text| {
                shown.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
            }),
            ask: Arc::new(move |asked| Box::pin(std::future::ready(asking.answer(asked)))),
            resumed,
            ..CallContext::detached(SessionId(uuid::Uuid::nil()))
        }
    }
}
