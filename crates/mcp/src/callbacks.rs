//! Handles what a connected server sends on its own: change notifications, and requests (P4). [`crate::connection`]
//! takes progress off the wire before rmcp does, because rmcp calls these handlers in no fixed order.

#![expect(deprecated, reason = "roots and sampling are on their way out of the protocol, and still asked for")]

use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ErrorData,
    ListRootsResult,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext, RoleClient};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::asked_back;
use crate::calls::ServerCalls;
use crate::elicit;
use crate::handshake::Introduction;
use crate::name::ServerName;

/// Handles a server's requests and notifications.
pub(crate) struct Callbacks {
    pub(crate) server: ServerName,
    pub(crate) introduction: Introduction,
    pub(crate) calls: ServerCalls,
    /// Notified when the server reports that its tools have changed.
    pub(crate) changed: Arc<Notify>,
    /// Cancelled when the server is gone: its open questions need no answer then.
    pub(crate) gone: CancellationToken,
}

impl ClientHandler for Callbacks {
    fn get_info(&self) -> ClientConfig {
        self.introduction.about.clone()
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(asked_back::roots(self.introduction.root.as_deref()))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(asked_back::no_sampling())
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request_id = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
            Some(InboundStreamOrigin::Unassociated) | None => None,
        };
        let token = context.meta.get_progress_token();
        self.calls.any().await;
        let Some((call, pauses)) = self.calls.asking(request_id, token.as_ref()) else {
            return Ok(asked_back::dismissed());
        };
        let Some(elicitation) = elicit::question(&self.server, context.id.to_string(), &request) else {
            return Ok(asked_back::dismissed());
        };
        pauses.send_modify(|waiting| *waiting += 1);
        let answer = tokio::select! {
            answer = (call.ask)(elicitation) => elicit::result(&answer),
            () = context.ct.cancelled() => asked_back::dismissed(),
            () = self.gone.cancelled() => asked_back::dismissed(),
        };
        pauses.send_modify(|waiting| *waiting -= 1);
        Ok(answer)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
