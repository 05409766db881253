//! Converts questions for a person into forms for the client: the preview is the message, the options are a choice. If
//! the client can't display the form or returns no answer, the question's default applies.

use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotificationParam, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions};
use serde_json::{Value, json};
use windlass::Session;
use windlass_narrate::{about, preview_text};
use windlass_vocab::{Answer, Elicitation, ElicitationKind, Json, QuestionAsked, QuestionKind, QuestionOption};

use super::client::PageDelivery;
use crate::commands::question::{AnswerOption, choices, lasting_permission};
use crate::output::harmless_lines;

/// The form's only field, where one of several options is chosen.
const FIELD: &str = "answer";

/// Asks the client. Returns `None` if the question was settled elsewhere meanwhile; the request is then cancelled.
pub(super) async fn ask(
    peer: &Peer<RoleServer>,
    session: &Session,
    asked: &QuestionAsked,
    delivery: PageDelivery,
) -> Option<Answer> {
    let Some(params) = request(asked, delivery) else { return Some(default(asked)) };
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    let Ok(handle) = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await else {
        return Some(default(asked));
    };
    let id = handle.id.clone();
    tokio::select! {
        biased;
        () = session.wait_past_question(asked.question) => {
            let taken_back = CancelledNotificationParam::new(Some(id), Some("settled".to_owned()));
            let _ = peer.notify_cancelled(taken_back).await;
            None
        }
        response = handle.await_response() => Some(match response {
            Ok(ClientResult::ElicitResult(result)) => answer(asked, &result),
            Ok(_) | Err(_) => default(asked),
        }),
    }
}

/// Returns the question as a request to the client; `None` when no form can express it.
pub(super) fn request(asked: &QuestionAsked, delivery: PageDelivery) -> Option<ElicitRequestParams> {
    let message = message(asked);
    if let (Some(Elicitation { wants: ElicitationKind::Visit { url }, key, .. }), PageDelivery::Opened) =
        (&asked.elicitation, delivery)
    {
        let (url, elicitation_id) = (url.clone(), key.clone());
        return Some(ElicitRequestParams::UrlElicitationParams { meta: None, message, url, elicitation_id });
    }
    let schema = asked.form().cloned().unwrap_or_else(|| Json::from(&choice(asked)));
    // Parsed from the text, to keep the author's order of the fields.
    let requested_schema = serde_json::from_str::<ElicitationSchema>(schema.as_str()).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Converts the client's reply into an answer.
pub(super) fn answer(asked: &QuestionAsked, result: &ElicitResult) -> Answer {
    match result.action {
        ElicitationAction::Accept if asked.form().is_some() => {
            let content = result.content.as_ref().map_or_else(Json::empty_object, Json::from);
            Answer::with(QuestionOption::Submit, content)
        }
        ElicitationAction::Accept => accepted(asked, result.content.as_ref()),
        ElicitationAction::Decline if asked.options.contains(&QuestionOption::No) => plain(QuestionOption::No),
        // Neither yes nor no, or an unknown action.
        _ => default(asked),
    }
}

fn accepted(asked: &QuestionAsked, content: Option<&Value>) -> Answer {
    let words = content.and_then(|content| content.get(FIELD)).and_then(Value::as_str);
    let is_visit = matches!(asked.kind.subject(), QuestionKind::Elicitation { .. });
    match words {
        Some(words) => {
            let chosen = choice_options(asked).into_iter().find(|choice| choice.words == words);
            chosen.map_or_else(|| default(asked), |choice| plain(choice.option))
        }
        // The form of an opened page has no field.
        None if is_visit => plain(QuestionOption::Submit),
        None => default(asked),
    }
}

fn plain(option: QuestionOption) -> Answer {
    Answer::plain(option)
}

/// Returns the default answer, for a person who does not reply.
pub(super) fn default(asked: &QuestionAsked) -> Answer {
    plain(asked.default)
}

fn message(asked: &QuestionAsked) -> String {
    let body = match (&asked.elicitation, &asked.preview) {
        (Some(elicitation), _) => {
            let from = format!("{} asks: {}", elicitation.from, elicitation.message);
            match &elicitation.wants {
                ElicitationKind::Form { .. } => from,
                ElicitationKind::Visit { url } => format!("{from}\n{url}"),
            }
        }
        (None, Some(preview)) => {
            let lasting_permission =
                lasting_permission(asked, &choices(asked), |choice| format!("\"{}\"", choice.words));
            let lasting_permission =
                lasting_permission.map(|lasting_permission| format!("\n{lasting_permission}")).unwrap_or_default();
            format!("{}\n{}{lasting_permission}", about(&asked.kind), preview_text(preview, ""))
        }
        (None, None) => about(&asked.kind).to_owned(),
    };
    harmless_lines(&body)
}

/// Returns the options that a choice can offer; editing arguments needs a terminal.
fn choice_options(asked: &QuestionAsked) -> Vec<AnswerOption> {
    let mut choices = choices(asked);
    choices.retain(|choice| choice.option != QuestionOption::Edit);
    choices
}

fn choice(asked: &QuestionAsked) -> Value {
    let words: Vec<&str> = choice_options(asked).iter().map(|choice| choice.words).collect();
    json!({
        "type": "object",
        "properties": { FIELD: { "type": "string", "title": "Answer", "enum": words } },
        "required": [FIELD],
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use windlass_vocab::{
        Answer, CallId, Elicitation, ElicitationKind, Json, Preview, QuestionAsked, QuestionId, QuestionKind,
        QuestionOption, RunId, TurnId,
    };

    use super::{ElicitResult, PageDelivery, answer, request};

    const CALL: CallId = CallId { run: RunId(1), turn: TurnId(1), index: 0 };

    fn asked(kind: QuestionKind, options: &[QuestionOption], wants: Option<ElicitationKind>) -> QuestionAsked {
        let elicitation =
            |wants| Elicitation { key: "k".into(), from: "git".into(), message: "Who are you?".into(), wants };
        QuestionAsked {
            question: QuestionId(1),
            kind,
            preview: Some(Preview { title: "rm\u{1b}[2J -r x".into(), body: String::new(), rule: None }),
            options: options.to_vec(),
            expires: None,
            default: options[0],
            elicitation: wants.map(elicitation),
            because: None,
        }
    }

    fn elicited(wants: ElicitationKind) -> QuestionAsked {
        use QuestionOption::{Dismiss, No, Submit};
        asked(QuestionKind::Elicitation { call: CALL }, &[Dismiss, No, Submit], Some(wants))
    }

    fn preview_text(asked: &QuestionAsked, delivery: PageDelivery) -> Value {
        serde_json::to_value(request(asked, delivery).expect("a form")).expect("JSON")
    }

    fn answered(asked: &QuestionAsked, result: Value) -> Answer {
        answer(asked, &serde_json::from_value::<ElicitResult>(result).expect("a result"))
    }

    // proves P5, T8: every option except editing can be chosen, and nothing else is consent
    #[test]
    fn an_approval_is_a_choice_of_its_options() {
        use QuestionOption::{Always, Edit, No, Once, Session};
        let asked = asked(QuestionKind::Approval { call: CALL }, &[No, Once, Session, Always, Edit], None);
        let shown = preview_text(&asked, PageDelivery::Opened);
        assert_eq!(shown["message"], "May this call run?\nrm\u{fffd}[2J -r x", "harmless, and whole");
        let words = &shown["requestedSchema"]["properties"]["answer"]["enum"];
        assert_eq!(words, &json!(["no", "yes, once", "yes, for this session", "always"]));
        for (words, option) in [("no", No), ("yes, once", Once), ("yes, for this session", Session), ("always", Always)]
        {
            let result = json!({"action": "accept", "content": {"answer": words}});
            assert_eq!(answered(&asked, result).option, option, "{words}");
        }
        for result in [
            json!({"action": "decline"}),
            json!({"action": "cancel"}),
            json!({"action": "accept"}),
            json!({"action": "accept", "content": {"answer": "edit"}}),
            json!({"action": "accept", "content": {"answer": true}}),
            json!({"action": "accept", "content": {"yes": "yes, once"}}),
        ] {
            assert_eq!(answered(&asked, result.clone()).option, No, "{result}");
        }
    }

    // proves P4, P5: a form of a server of the agent goes to the client unchanged, and its content back
    #[test]
    fn a_form_of_another_server_is_handed_through() {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
        let asked = elicited(ElicitationKind::Form { schema: Json::from(&schema) });
        let shown = preview_text(&asked, PageDelivery::Written);
        assert_eq!((&shown["message"], &shown["requestedSchema"]), (&json!("git asks: Who are you?"), &schema));
        let accepted = answered(&asked, json!({"action": "accept", "content": {"name": "me"}}));
        assert_eq!(accepted.option, QuestionOption::Submit);
        assert_eq!(accepted.arguments.map(|content| content.to_value()), Some(json!({"name": "me"})));
        assert_eq!(answered(&asked, json!({"action": "decline"})).option, QuestionOption::No);
        assert_eq!(answered(&asked, json!({"action": "cancel"})).option, QuestionOption::Dismiss);
        let ordered = r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}"#;
        let ordered = elicited(ElicitationKind::Form { schema: Json::parse(ordered).expect("JSON") });
        let sent = serde_json::to_string(&request(&ordered, PageDelivery::Written)).expect("JSON");
        assert!(sent.find("\"z\"") < sent.find("\"a\""), "the order is the server's: {sent}");
        let odd = elicited(ElicitationKind::Form { schema: Json::from(&json!({"type": "array"})) });
        assert!(request(&odd, PageDelivery::Written).is_none(), "what is no form is not shown as one");
    }

    // proves P4, P5
    #[test]
    fn a_page_is_opened_by_the_client_or_written_into_a_form() {
        let asked = elicited(ElicitationKind::Visit { url: "https://example.org/login".into() });
        let opened = preview_text(&asked, PageDelivery::Opened);
        assert_eq!((&opened["mode"], &opened["url"]), (&json!("url"), &json!("https://example.org/login")));
        assert_eq!(answered(&asked, json!({"action": "accept"})).option, QuestionOption::Submit);
        let written = preview_text(&asked, PageDelivery::Written);
        assert_eq!(written["message"], "git asks: Who are you?\nhttps://example.org/login");
        let done = json!({"action": "accept", "content": {"answer": "done"}});
        assert_eq!(answered(&asked, done).option, QuestionOption::Submit);
        assert_eq!(answered(&asked, json!({"action": "decline"})).option, QuestionOption::No);
    }
}
