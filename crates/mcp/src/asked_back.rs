//! Answers requests of a server to the client: ping, roots, elicitation, sampling.

#![expect(deprecated, reason = "roots and sampling are on their way out of the protocol, and still asked for")]

use rmcp::model::{
    ClientResult, ElicitResult, EmptyResult, ErrorCode, ErrorData, ListRootsResult, Root, ServerRequest,
};
use windlass_vocab::Answer;

use crate::elicit;

/// Answers a request that arrives before any call: there is no call through which a person could be asked.
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

/// The workspace as the list of roots.
pub(crate) fn roots(root: Option<&str>) -> ListRootsResult {
    ListRootsResult::new(root.map(|uri| Root::new(uri).with_name("workspace")).into_iter().collect())
}

/// The answer when nobody is there, which is not a refusal.
pub(crate) fn dismissed() -> ElicitResult {
    elicit::result(&Answer::dismissed())
}

/// The refusal of sampling: servers may not use the person's model.
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

    // proves P4: a question that nobody was shown is dismissed, like one that nobody answers
    #[test]
    fn what_is_asked_before_there_is_a_call_is_dismissed() {
        let params = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
        let request = serde_json::from_value(json!({"method": "elicitation/create", "params": params})).unwrap();
        let answer = serde_json::to_value(early(&request, None).unwrap()).unwrap();
        assert_eq!(answer["action"], "cancel");
    }
}
