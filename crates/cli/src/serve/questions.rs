//! What only a person can answer, as a form that the client shows: the preview is the message, the
//! options are a choice. A client that can't show it, or shows it in vain, has the default taken.

use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotificationParam, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions};
use serde_json::{Value, json};
use windlass::vocab::{Answer, Json, QuestionAsked, QuestionKind, QuestionOption, Wanted};
use windlass::{RunError, Session};

use super::client::Visits;
use crate::commands::CommandError;
use crate::commands::question::{Choice, about, choices, shown};
use crate::output::harmless_lines;

/// The form's only field, where one of several options is chosen.
const FIELD: &str = "answer";

/// Asks the client, and gives the session the answer. A question that is settled in another way meanwhile
/// is taken back.
pub(super) async fn ask(
    peer: &Peer<RoleServer>,
    session: &Session,
    asked: &QuestionAsked,
    visits: Visits,
) -> Result<(), CommandError> {
    let answer = match request(asked, visits) {
        Some(params) => {
            let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
            match peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await {
                Ok(handle) => {
                    let id = handle.id.clone();
                    tokio::select! {
                        biased;
                        () = session.moved_past(asked.question) => {
                            let taken_back = CancelledNotificationParam::new(Some(id), Some("settled".to_owned()));
                            let _ = peer.notify_cancelled(taken_back).await;
                            return Ok(());
                        }
                        response = handle.await_response() => match response {
                            Ok(ClientResult::ElicitResult(result)) => answer(asked, &result),
                            Ok(_) | Err(_) => default(asked),
                        },
                    }
                }
                Err(_) => default(asked),
            }
        }
        None => default(asked),
    };
    session.answer(asked.question, answer).await.map_err(RunError::from)?;
    Ok(())
}

/// Answers what can't be put in a form.
pub(super) async fn take_default(session: &Session, asked: &QuestionAsked) -> Result<(), CommandError> {
    session.answer(asked.question, default(asked)).await.map_err(RunError::from)?;
    Ok(())
}

/// The question as the client is asked it; `None` when it can't be put in a form.
pub(super) fn request(asked: &QuestionAsked, visits: Visits) -> Option<ElicitRequestParams> {
    let message = message(asked);
    let schema = match asked.elicitation.as_ref().map(|elicitation| (&elicitation.wants, &elicitation.key)) {
        Some((Wanted::Form { schema }, _)) => schema.to_value(),
        Some((Wanted::Visit { url }, key)) if visits == Visits::Opened => {
            let (url, elicitation_id) = (url.clone(), key.clone());
            return Some(ElicitRequestParams::UrlElicitationParams { meta: None, message, url, elicitation_id });
        }
        Some((Wanted::Visit { .. }, _)) | None => choice(asked),
    };
    let Value::Object(schema) = schema else { return None };
    let requested_schema = ElicitationSchema::from_json_schema(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// The answer a client's reply gives.
pub(super) fn answer(asked: &QuestionAsked, result: &ElicitResult) -> Answer {
    let is_form = matches!(asked.elicitation.as_ref().map(|elicitation| &elicitation.wants), Some(Wanted::Form { .. }));
    match result.action {
        ElicitationAction::Accept if is_form => {
            let content = result.content.as_ref().map_or_else(Json::empty_object, Json::from);
            Answer { option: QuestionOption::Submit, arguments: Some(content) }
        }
        ElicitationAction::Accept => accepted(asked, result.content.as_ref()),
        ElicitationAction::Decline if asked.options.contains(&QuestionOption::No) => plain(QuestionOption::No),
        // Neither yes nor no, or an action that is not known yet.
        _ => default(asked),
    }
}

fn accepted(asked: &QuestionAsked, content: Option<&Value>) -> Answer {
    let words = content.and_then(|content| content.get(FIELD)).and_then(Value::as_str);
    let is_visit = matches!(asked.kind, QuestionKind::Elicitation { .. });
    match words {
        Some(words) => {
            let chosen = offered(asked).into_iter().find(|choice| choice.words == words);
            chosen.map_or_else(|| default(asked), |choice| plain(choice.option))
        }
        // A page that the client opened has no field to fill in.
        None if is_visit => plain(QuestionOption::Submit),
        None => default(asked),
    }
}

fn plain(option: QuestionOption) -> Answer {
    Answer { option, arguments: None }
}

fn default(asked: &QuestionAsked) -> Answer {
    plain(asked.default)
}

fn message(asked: &QuestionAsked) -> String {
    let body = match (&asked.elicitation, &asked.preview) {
        (Some(elicitation), _) => {
            let from = format!("{} asks: {}", elicitation.from, elicitation.message);
            match &elicitation.wants {
                Wanted::Form { .. } => from,
                Wanted::Visit { url } => format!("{from}\n{url}"),
            }
        }
        (None, Some(preview)) => format!("{}\n{}", about(&asked.kind), shown(preview, "")),
        (None, None) => about(&asked.kind).to_owned(),
    };
    harmless_lines(&body)
}

/// The options that a line of text can carry: rules and edited arguments are the terminal's.
fn offered(asked: &QuestionAsked) -> Vec<Choice> {
    let mut choices = choices(asked);
    choices.retain(|choice| !matches!(choice.option, QuestionOption::Always | QuestionOption::Edit));
    choices
}

fn choice(asked: &QuestionAsked) -> Value {
    let words: Vec<&str> = offered(asked).iter().map(|choice| choice.words).collect();
    json!({
        "type": "object",
        "properties": { FIELD: { "type": "string", "title": "Answer", "enum": words } },
        "required": [FIELD],
    })
}
