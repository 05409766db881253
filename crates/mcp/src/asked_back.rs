//! What a server asks of us: whether we live, what we work on, a person's word, a model's.

#![expect(deprecated, reason = "roots and sampling are on their way out of the protocol, and still asked for")]

use rmcp::model::{
    ClientResult, ElicitResult, EmptyResult, ErrorCode, ErrorData, ListRootsResult, Root, ServerRequest,
};
use windlass_vocab::Answer;

use crate::elicit;

/// An answer before there is a call it could belong to: nobody can be asked for anything yet.
pub(crate) fn early(request: &ServerRequest, root: Option<&str>) -> Result<ClientResult, ErrorData> {
    match request {
        ServerRequest::PingRequest(_) => Ok(ClientResult::EmptyResult(EmptyResult {})),
        ServerRequest::ListRootsRequest(_) => Ok(ClientResult::ListRootsResult(roots(root))),
        ServerRequest::ElicitRequest(_) => Ok(ClientResult::ElicitResult(dismissed())),
        ServerRequest::CreateMessageRequest(_) => Err(no_sampling()),
        ServerRequest::CustomRequest(request) => {
            Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method.clone(), None))
        }
        _ => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "unknown to Windlass", None)),
    }
}

/// The workspace.
pub(crate) fn roots(root: Option<&str>) -> ListRootsResult {
    ListRootsResult::new(root.map(|uri| Root::new(uri).with_name("workspace")).into_iter().collect())
}

/// Nobody is there to answer, which is not to say no.
pub(crate) fn dismissed() -> ElicitResult {
    elicit::result(&Answer::dismissed())
}

/// No server thinks at our expense.
pub(crate) fn no_sampling() -> ErrorData {
    ErrorData::new(
        ErrorCode::METHOD_NOT_FOUND,
        "Windlass does not lend its model to servers: sampling is not offered.",
        None,
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // proves P4: a question nobody was shown is dismissed, as one that nobody answers
    #[test]
    fn what_is_asked_before_there_is_a_call_is_dismissed() {
        let params = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
        let request = serde_json::from_value(json!({"method": "elicitation/create", "params": params})).unwrap();
        let answer = serde_json::to_value(early(&request, None).unwrap()).unwrap();
        assert_eq!(answer["action"], "cancel");
    }
}
