//! A server's question to the person, between the protocol's words and ours (P4).

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use windlass_vocab::{Answer, Elicitation, Json, QuestionOption, Wanted};

use crate::name::ServerName;
use crate::notice::is_hostile;

/// The longest message that is shown.
const MESSAGE: usize = 4_000;

/// What the person is asked; `None` where the protocol has learned to ask something we don't know.
pub(crate) fn question(server: &ServerName, key: String, request: &ElicitRequestParams) -> Option<Elicitation> {
    let (message, wants) = match request {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            let schema = serde_json::to_value(requested_schema).ok()?;
            (message, Wanted::Form { schema: Json::from(&schema) })
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            let url = url.parse::<url::Url>().ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
            (message, Wanted::Visit { url: url.to_string() })
        }
        _ => return None,
    };
    let message = message.chars().filter(|c| !is_hostile(*c) || *c == '\n').take(MESSAGE).collect();
    Some(Elicitation { key, from: server.to_string(), message, wants })
}

/// The person's answer.
pub(crate) fn result(answer: &Answer) -> ElicitResult {
    match answer.option {
        QuestionOption::Submit => {
            let accepted = ElicitResult::new(ElicitationAction::Accept);
            match &answer.arguments {
                Some(content) => accepted.with_content(content.to_value()),
                None => accepted,
            }
        }
        QuestionOption::No => ElicitResult::new(ElicitationAction::Decline),
        QuestionOption::Dismiss
        | QuestionOption::Once
        | QuestionOption::Session
        | QuestionOption::Always
        | QuestionOption::Edit
        | QuestionOption::RunAgain
        | QuestionOption::Interrupt => ElicitResult::new(ElicitationAction::Cancel),
    }
}
