//! Converts a server's question to the person between the protocol's types and ours (P4).

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use windlass_vocab::{Answer, Elicitation, ElicitationKind, Json, QuestionOption};

use crate::name::ServerName;
use crate::notice::is_hostile;

/// The longest message that is displayed.
const MESSAGE: usize = 4_000;

/// Converts the request; `None` for a kind of question that this version does not know.
pub(crate) fn question(server: &ServerName, key: String, request: &ElicitRequestParams) -> Option<Elicitation> {
    let (message, wants) = match request {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            // Converted as text to keep the server's order of the fields.
            let schema = serde_json::to_string(requested_schema).ok()?;
            (message, ElicitationKind::Form { schema: Json::parse(&schema).ok()? })
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            let url = url.parse::<url::Url>().ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
            (message, ElicitationKind::Visit { url: url.to_string() })
        }
        _ => return None,
    };
    let message = message.chars().filter(|c| !is_hostile(*c) || *c == '\n').take(MESSAGE).collect();
    Some(Elicitation { key, from: server.to_string(), message, wants })
}

/// Converts the person's answer.
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

#[cfg(test)]
mod tests {
    use rmcp::model::{InputRequest, InputRequiredResult, ServerJsonRpcMessage, ServerRequest};

    use super::*;

    const PARAMS: &str = r#"{"mode":"form","message":"Where to?","requestedSchema":{"type":"object","properties":{
        "street":{"type":"string"},"city":{"type":"string"},"age":{"type":"integer"}},"required":["city"]}}"#;

    fn order(params: &ElicitRequestParams) -> Vec<usize> {
        let asked = question(&"s".parse().unwrap(), "k".into(), params).unwrap();
        let ElicitationKind::Form { schema } = asked.wants else { panic!("no form") };
        ["\"street\":", "\"city\":", "\"age\":"].map(|field| schema.as_str().find(field).unwrap()).to_vec()
    }

    // proves P4: both forms of asking
    #[test]
    fn the_fields_of_a_form_stay_in_the_order_the_server_wrote_them() {
        let asks = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{PARAMS}}}"#);
        let asks: ServerJsonRpcMessage = serde_json::from_str(&asks).unwrap();
        let ServerJsonRpcMessage::Request(asks) = asks else { panic!("{asks:?}") };
        let ServerRequest::ElicitRequest(asks) = asks.request else { panic!("{asks:?}") };
        assert!(order(&asks.params).is_sorted());
        let gives_up = format!(
            r#"{{"resultType":"input_required","inputRequests":{{"k":{{"method":"elicitation/create","params":{PARAMS}}}}}}}"#
        );
        let gives_up: InputRequiredResult = serde_json::from_str(&gives_up).unwrap();
        let Some(InputRequest::Elicitation(asks)) = gives_up.input_requests.unwrap().remove("k") else {
            panic!("no question")
        };
        assert!(order(&asks.params).is_sorted());
    }
}
