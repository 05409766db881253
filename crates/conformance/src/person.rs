//! A call as somebody makes it who agrees to everything a server asks in the meantime.

use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use windlass_tools::{BoxFuture, CallContext, SpilledResults, Tool};
use windlass_vocab::{Answer, CallId, Elicitation, Json, Outcome, QuestionOption, Resumption, SessionId, Wanted};

use crate::form;

/// Makes the call, and again with the answers as often as the server wants some first.
pub(crate) async fn call(tool: &dyn Tool, arguments: Value) -> Outcome {
    let mut resumed = None;
    loop {
        let outcome = tool.run(context(resumed), arguments.clone()).await;
        let Some(pause) = outcome.pause else {
            return outcome;
        };
        let answers = pause.asks.iter().map(|asked| (asked.key.clone(), answer(asked))).collect();
        resumed = Some(Arc::new(Resumption { state: pause.state, answers }));
    }
}

fn answer(asked: &Elicitation) -> Answer {
    let content = match &asked.wants {
        Wanted::Form { schema } => serde_json::from_str(schema.as_str()).ok().map(|schema| form::filled(&schema)),
        Wanted::Visit { .. } => None,
    };
    Answer { option: QuestionOption::Submit, arguments: content.as_ref().map(Json::from) }
}

fn context(resumed: Option<Arc<Resumption>>) -> CallContext {
    let session = SessionId(uuid::Uuid::nil());
    let call = CallId::default();
    CallContext {
        session,
        call,
        effect_id: call.effect_id(session),
        cancel: CancellationToken::new(),
        progress: Arc::new(|_| {}),
        spilled: Arc::new(Nothing),
        ask: Arc::new(|asked| Box::pin(std::future::ready(answer(&asked)))),
        resumed,
    }
}

struct Nothing;

impl SpilledResults for Nothing {
    fn read(&self, _: CallId) -> BoxFuture<'_, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}
