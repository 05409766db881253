//! The handshake with a server of any revision from 2024-11-05 to 2026-07-28 (P1).
//!
//! Servers of the newest revision answer `server/discover` and have no handshake; older ones require `initialize`.
//! The kind of a server can only be found by trying. rmcp's automatic mode gives a server ten seconds to reject the
//! probe and then sends `initialize` over the same connection; a legacy server that takes eleven seconds to start
//! answers the probe just when an answer to `initialize` is expected, and the connection fails. So the handshake is
//! implemented here:
//!
//! - an answer counts for the request with its id, whenever it arrives;
//! - after a silence `initialize` is sent as well, and whichever is answered first decides;
//! - a server that exits because of the probe is restarted and gets `initialize` at once;
//! - the kind is remembered, so this happens once for each server.
//!
//! Requests that a server sends before its answer are answered (P4).

use std::time::Duration;

use rmcp::model::{
    ClientConfig, ClientJsonRpcMessage, ClientNotification, ClientRequest, DiscoverRequest, DiscoverRequestParams,
    DiscoverResult, ErrorCode, ErrorData, InitializeRequest, InitializeResult, InitializedNotification, NumberOrString,
    ProtocolVersion, RequestId, RequestMetaObject, ServerJsonRpcMessage, ServerPeerInfo, ServerResult,
};
use rmcp::transport::{DynamicTransportError, Transport};
use rmcp::{RoleClient, model::GetExtensions};
use tokio::time::{Instant, timeout_at};

use crate::asked_back;

/// The kind of handshake a server uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// The server answers `server/discover`.
    Modern,
    /// The server requires `initialize`.
    Legacy,
}

/// How the handshake is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approach {
    /// The kind is unknown: send the probe first, and `initialize` too after a silence.
    Probe {
        /// How long to wait for an answer to the probe alone.
        silence: Duration,
        /// When to give up both.
        until: Instant,
    },
    /// The server was of this kind last time.
    As(Era),
}

/// Why the handshake failed.
#[derive(Debug)]
pub(crate) enum NoHandshake {
    /// The server is gone.
    Closed,
    /// The server did not answer in time.
    Silent,
    /// The server answered the probe after `initialize` was sent: it is modern, and the handshake must start again.
    LateModern,
    /// The server answered with an error.
    Refused(ErrorData),
    /// The server speaks no known revision.
    Revision(String),
    /// The server answered with something else.
    Nonsense(String),
    /// The request could not be sent.
    NotSent(DynamicTransportError),
}

/// Our client information, and the data for answering the server's requests.
#[derive(Clone, Debug)]
pub(crate) struct Introduction {
    /// Name, version and capabilities.
    pub(crate) about: ClientConfig,
    /// The workspace, as a URI.
    pub(crate) root: Option<String>,
}

/// rmcp numbers its own requests from zero; these ids must never collide with them.
const FIRST_ID: i64 = 1 << 40;

/// Does the handshake.
pub(crate) async fn shake<T: Transport<RoleClient> + 'static>(
    transport: &mut T,
    introduction: &Introduction,
    approach: Approach,
) -> Result<(Era, ServerPeerInfo), NoHandshake> {
    let mut talk = HandshakeTalk { transport, introduction, next_id: FIRST_ID };
    match approach {
        Approach::As(Era::Legacy) => talk.initialize(&ProtocolVersion::LATEST_WITH_INITIALIZE).await,
        Approach::As(Era::Modern) => talk.discover().await,
        Approach::Probe { silence, until } => talk.probe(silence, until).await,
    }
}

/// The result of the probe.
enum ProbeOutcome {
    Modern(Box<ServerPeerInfo>),
    /// Send `initialize` with this revision.
    Legacy(ProtocolVersion),
    /// Send the probe again.
    Again,
}

struct HandshakeTalk<'a, T> {
    transport: &'a mut T,
    introduction: &'a Introduction,
    next_id: i64,
}

type ProbeAnswer = Result<ServerResult, ErrorData>;
type HandshakeResult = Result<(Era, ServerPeerInfo), NoHandshake>;

impl<T: Transport<RoleClient> + 'static> HandshakeTalk<'_, T> {
    async fn probe(&mut self, silence: Duration, until: Instant) -> HandshakeResult {
        let probe = self.send_discover().await?;
        match timeout_at((Instant::now() + silence).min(until), self.answer_to(&probe)).await {
            Ok(answer) => self.probed(answer?).await,
            Err(_) => {
                let question = self.send_initialize(&ProtocolVersion::LATEST_WITH_INITIALIZE).await?;
                timeout_at(until, self.either(&probe, &question)).await.unwrap_or(Err(NoHandshake::Silent))
            }
        }
    }

    /// Waits for the first useful answer; an error in answer to the probe decides nothing now.
    async fn either(&mut self, probe: &RequestId, question: &RequestId) -> HandshakeResult {
        loop {
            let (id, answer) = self.next_answer().await?;
            if same(&id, question) {
                return self.initialized(answer).await;
            }
            if same(&id, probe) && matches!(answer, Ok(ServerResult::DiscoverResult(_))) {
                return Err(NoHandshake::LateModern);
            }
        }
    }

    async fn discover(&mut self) -> HandshakeResult {
        let probe = self.send_discover().await?;
        let answer = self.answer_to(&probe).await?;
        self.probed(answer).await
    }

    async fn probed(&mut self, answer: ProbeAnswer) -> HandshakeResult {
        let mut verdict = judge(answer)?;
        if matches!(verdict, ProbeOutcome::Again) {
            let probe = self.send_discover().await?;
            verdict = judge(self.answer_to(&probe).await?)?;
        }
        match verdict {
            ProbeOutcome::Modern(info) => Ok((Era::Modern, *info)),
            ProbeOutcome::Legacy(version) => self.initialize(&version).await,
            ProbeOutcome::Again => Err(NoHandshake::Revision(ProtocolVersion::LATEST.to_string())),
        }
    }

    async fn initialize(&mut self, version: &ProtocolVersion) -> HandshakeResult {
        let question = self.send_initialize(version).await?;
        let answer = self.answer_to(&question).await?;
        self.initialized(answer).await
    }

    async fn initialized(&mut self, answer: ProbeAnswer) -> HandshakeResult {
        let result: InitializeResult = match answer.map_err(NoHandshake::Refused)? {
            ServerResult::InitializeResult(result) => result,
            other => return Err(NoHandshake::Nonsense(as_json_text(&other))),
        };
        if !ProtocolVersion::KNOWN_VERSIONS.contains(&result.protocol_version) {
            return Err(NoHandshake::Revision(result.protocol_version.to_string()));
        }
        let done = InitializedNotification { method: Default::default(), extensions: Default::default() };
        self.send(ClientJsonRpcMessage::notification(ClientNotification::InitializedNotification(done))).await?;
        Ok((Era::Legacy, result.into()))
    }

    async fn send_discover(&mut self) -> Result<RequestId, NoHandshake> {
        let about = &self.introduction.about;
        let mut request = DiscoverRequest::new(DiscoverRequestParams {});
        request.extensions_mut().insert(RequestMetaObject::with_client_context(
            ProtocolVersion::LATEST,
            about.client_info.clone(),
            about.capabilities.clone(),
        ));
        self.ask(ClientRequest::DiscoverRequest(request)).await
    }

    async fn send_initialize(&mut self, version: &ProtocolVersion) -> Result<RequestId, NoHandshake> {
        let params = self.introduction.about.clone().with_protocol_version(version.clone());
        self.ask(ClientRequest::InitializeRequest(InitializeRequest::new(params))).await
    }

    async fn ask(&mut self, request: ClientRequest) -> Result<RequestId, NoHandshake> {
        let id = NumberOrString::Number(self.next_id);
        self.next_id += 1;
        self.send(ClientJsonRpcMessage::request(request, id.clone())).await?;
        Ok(id)
    }

    async fn send(&mut self, message: ClientJsonRpcMessage) -> Result<(), NoHandshake> {
        let sent = self.transport.send(message).await;
        sent.map_err(|error| NoHandshake::NotSent(DynamicTransportError::new::<T, _>(error)))
    }

    async fn answer_to(&mut self, question: &RequestId) -> Result<ProbeAnswer, NoHandshake> {
        loop {
            let (id, answer) = self.next_answer().await?;
            if same(&id, question) {
                return Ok(answer);
            }
        }
    }

    /// Returns the next answer to any request; answers the server's requests and ignores its notifications.
    async fn next_answer(&mut self) -> Result<(RequestId, ProbeAnswer), NoHandshake> {
        loop {
            match self.transport.receive().await.ok_or(NoHandshake::Closed)? {
                ServerJsonRpcMessage::Response(response) => return Ok((response.id, Ok(response.result))),
                ServerJsonRpcMessage::Error(error) => {
                    // A parse error carries no id; attribute it to the last request.
                    let id = error.id.unwrap_or(NumberOrString::Number(self.next_id - 1));
                    return Ok((id, Err(error.error)));
                }
                ServerJsonRpcMessage::Request(request) => {
                    let answer = match asked_back::early(&request.request, self.introduction.root.as_deref()) {
                        Ok(result) => ClientJsonRpcMessage::response(result, request.id),
                        Err(error) => ClientJsonRpcMessage::error(error, Some(request.id)),
                    };
                    self.send(answer).await?;
                }
                ServerJsonRpcMessage::Notification(_) => {}
            }
        }
    }
}

/// Compares ids as text: a server may return a number as a string.
fn same(got: &RequestId, asked: &RequestId) -> bool {
    got.to_string() == asked.to_string()
}

fn judge(answer: ProbeAnswer) -> Result<ProbeOutcome, NoHandshake> {
    match answer {
        Ok(ServerResult::DiscoverResult(result)) => Ok(discovered(result)),
        // An old server may answer an unknown request with any result; it can still be initialized properly.
        Ok(_) => Ok(ProbeOutcome::Legacy(ProtocolVersion::LATEST_WITH_INITIALIZE)),
        Err(error) if error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => {
            let supported = error.data.as_ref().and_then(|data| data.get("supported")).cloned();
            let supported: Vec<ProtocolVersion> =
                supported.and_then(|list| serde_json::from_value(list).ok()).unwrap_or_default();
            if supported.contains(&ProtocolVersion::LATEST) {
                return Ok(ProbeOutcome::Again);
            }
            newest_with_handshake(&supported)
                .map(ProbeOutcome::Legacy)
                .ok_or_else(|| NoHandshake::Revision(list(&supported)))
        }
        Err(error)
            if error.code == ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
                || error.code == ErrorCode::HEADER_MISMATCH =>
        {
            Err(NoHandshake::Refused(error))
        }
        Err(_) => Ok(ProbeOutcome::Legacy(ProtocolVersion::LATEST_WITH_INITIALIZE)),
    }
}

fn discovered(result: DiscoverResult) -> ProbeOutcome {
    if result.supported_versions.contains(&ProtocolVersion::LATEST) {
        return ProbeOutcome::Modern(Box::new(ServerPeerInfo::from_discover_result(ProtocolVersion::LATEST, result)));
    }
    let version = newest_with_handshake(&result.supported_versions);
    ProbeOutcome::Legacy(version.unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE))
}

fn newest_with_handshake(supported: &[ProtocolVersion]) -> Option<ProtocolVersion> {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().rev();
    known.filter(|version| version.has_initialize()).find(|version| supported.contains(version)).cloned()
}

fn list(versions: &[ProtocolVersion]) -> String {
    versions.iter().map(ProtocolVersion::as_str).collect::<Vec<_>>().join(", ")
}

fn as_json_text(result: &ServerResult) -> String {
    serde_json::to_string(result).unwrap_or_default()
}

#[cfg(test)]
mod tests;
