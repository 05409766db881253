//! What a server asks of us: whether we live, what we work on, a person's word, a model's.

#![expect(deprecated, reason = "roots and sampling are on their way out of the protocol, and still asked for")]

use rmcp::model::{
    ClientResult, ElicitResult, ElicitationAction, EmptyResult, ErrorCode, ErrorData, ListRootsResult, Root,
    ServerRequest,
};

/// An answer before there is a call it could belong to: nobody can be asked for anything yet.
pub(crate) fn early(request: &ServerRequest, root: Option<&str>) -> Result<ClientResult, ErrorData> {
    match request {
        ServerRequest::PingRequest(_) => Ok(ClientResult::EmptyResult(EmptyResult {})),
        ServerRequest::ListRootsRequest(_) => Ok(ClientResult::ListRootsResult(roots(root))),
        ServerRequest::ElicitRequest(_) => Ok(ClientResult::ElicitResult(declined())),
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

/// Nobody is there to answer.
pub(crate) fn declined() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Decline)
}

/// No server thinks at our expense.
pub(crate) fn no_sampling() -> ErrorData {
    ErrorData::new(
        ErrorCode::METHOD_NOT_FOUND,
        "Windlass does not lend its model to servers: sampling is not offered.",
        None,
    )
}
