//! The client of one request: how its person can be asked, where progress goes, and whether it still wants the answer.

use rmcp::model::{ElicitationCapability, ProgressToken, ProtocolVersion};
use rmcp::service::{Peer, RequestContext};
use rmcp::{RoleServer, model::ClientCapabilities};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use windlass_mcp::EFFECT_ID;
use windlass_vocab::Attendance;

/// How to ask the person behind the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElicitationRoute {
    /// Not at all.
    Nobody,
    /// By a request of ours while the call runs.
    InMidCall(PageDelivery),
    /// By a result that requests the call again with the answers (protocol revision 2026-07-28).
    ByResult(PageDelivery),
}

/// How a person is sent to a web page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageDelivery {
    /// The client opens it.
    Opened,
    /// A form contains its address.
    Written,
}

/// The client of one request.
pub(super) struct Client {
    pub(super) peer: Peer<RoleServer>,
    pub(super) route: ElicitationRoute,
    /// Token for progress notifications, if the client wants them.
    pub(super) progress: Option<ProgressToken>,
    /// The client's own id for the effect of the call, the same for every retry (J4).
    pub(super) effect: Option<String>,
    /// Cancelled when the client no longer wants the answer.
    pub(super) cancelled: CancellationToken,
    /// Cancelled when the client has disconnected.
    pub(super) gone: CancellationToken,
}

impl Client {
    pub(super) fn of(context: &RequestContext<RoleServer>, gone: &CancellationToken) -> Self {
        let version = context.protocol_version();
        Self {
            peer: context.peer.clone(),
            route: route(version.as_ref(), context.client_capabilities().as_ref()),
            progress: context.meta.get_progress_token(),
            effect: context.meta.get(EFFECT_ID).and_then(Value::as_str).map(str::to_owned),
            cancelled: context.ct.clone(),
            gone: gone.clone(),
        }
    }

    /// Whether a run of this request has a person to ask.
    pub(super) fn attendance(&self) -> Attendance {
        match self.route {
            ElicitationRoute::Nobody => Attendance::Unattended,
            ElicitationRoute::InMidCall(_) | ElicitationRoute::ByResult(_) => Attendance::Attended,
        }
    }
}

fn route(version: Option<&ProtocolVersion>, capabilities: Option<&ClientCapabilities>) -> ElicitationRoute {
    let Some(delivery) = capabilities.and_then(|can| can.elicitation.as_ref()).and_then(delivery) else {
        return ElicitationRoute::Nobody;
    };
    let asks_by_result = version.is_some_and(|version| !version.has_initialize());
    if asks_by_result { ElicitationRoute::ByResult(delivery) } else { ElicitationRoute::InMidCall(delivery) }
}

/// Returns how pages are delivered; none for a client without forms, since every question is asked as a form.
fn delivery(can: &ElicitationCapability) -> Option<PageDelivery> {
    match (&can.form, &can.url) {
        (Some(_), Some(_)) => Some(PageDelivery::Opened),
        // Before there were two modes, the capability was empty and meant forms.
        (Some(_) | None, None) => Some(PageDelivery::Written),
        (None, Some(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ClientCapabilities, ElicitationRoute, PageDelivery, ProtocolVersion, route};

    // proves P5: who can be asked, and how, follows from revision and capabilities
    #[test]
    fn a_client_is_asked_as_its_revision_and_its_capabilities_allow() {
        let (old, new) = (ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2026_07_28);
        for (can, version, expected) in [
            (json!({}), &old, ElicitationRoute::Nobody),
            (json!({"elicitation": {}}), &old, ElicitationRoute::InMidCall(PageDelivery::Written)),
            (json!({"elicitation": {"form": {}}}), &old, ElicitationRoute::InMidCall(PageDelivery::Written)),
            (json!({"elicitation": {"form": {}, "url": {}}}), &old, ElicitationRoute::InMidCall(PageDelivery::Opened)),
            (json!({"elicitation": {"url": {}}}), &old, ElicitationRoute::Nobody),
            (json!({}), &new, ElicitationRoute::Nobody),
            (json!({"elicitation": {}}), &new, ElicitationRoute::ByResult(PageDelivery::Written)),
            (json!({"elicitation": {"form": {}, "url": {}}}), &new, ElicitationRoute::ByResult(PageDelivery::Opened)),
        ] {
            let capabilities: ClientCapabilities = serde_json::from_value(can.clone()).expect("capabilities");
            assert_eq!(route(Some(version), Some(&capabilities)), expected, "{can} at {version}");
        }
        assert_eq!(route(None, None), ElicitationRoute::Nobody);
    }
}
