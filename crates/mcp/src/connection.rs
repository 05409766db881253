//! A connection to a server after the handshake.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage, ServerNotification, ServerPeerInfo, SubscriptionFilter};
use rmcp::service::{RunningService, serve_directly};
use rmcp::transport::Transport;
use rmcp::{Peer, RoleClient};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use windlass_tools::Secrets;

use crate::callbacks::Callbacks;
use crate::calls::ServerCalls;
use crate::handshake::{Era, Introduction};
use crate::name::ServerName;
use crate::stdio::ProcessEnd;

/// Time limit for closing a connection.
const CLOSING: Duration = Duration::from_secs(12);
/// Delay before subscribing again after a lost subscription.
const LISTEN_AGAIN: Duration = Duration::from_secs(2);

/// A live connection.
#[derive(Debug)]
pub(crate) struct ServerConnection {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) era: Era,
    pub(crate) info: ServerPeerInfo,
    pub(crate) calls: ServerCalls,
    /// Notified when the server reports that its tools have changed.
    pub(crate) changed: Arc<Notify>,
    /// Cancelled as soon as the server is gone.
    pub(crate) gone: CancellationToken,
    last: Option<ProcessEnd>,
    running: tokio::sync::Mutex<Option<RunningService<RoleClient, Callbacks>>>,
}

impl std::fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Callbacks").field("server", &self.server).finish_non_exhaustive()
    }
}

impl ServerConnection {
    /// Opens a connection on a transport after the handshake.
    pub(crate) fn open<T: Transport<RoleClient> + 'static>(
        transport: T,
        server: &ServerName,
        introduction: &Introduction,
        (era, info): (Era, ServerPeerInfo),
        last: Option<ProcessEnd>,
        secrets: &Secrets,
    ) -> Self {
        let (calls, changed, gone) = (ServerCalls::hiding(secrets), Arc::new(Notify::new()), CancellationToken::new());
        let callbacks = Callbacks {
            server: server.clone(),
            introduction: introduction.clone(),
            calls: calls.clone(),
            changed: Arc::clone(&changed),
            gone: gone.clone(),
        };
        let watched = WatchedTransport { transport, calls: calls.clone(), gone: gone.clone() };
        let running = serve_directly(callbacks, watched, Some(info.clone()));
        let peer = running.peer().clone();
        let tools_change = info.capabilities.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true));
        if era == Era::Modern && tools_change {
            tokio::spawn(listen(peer.clone(), Arc::clone(&changed), gone.clone()));
        }
        Self { peer, era, info, calls, changed, gone, last, running: tokio::sync::Mutex::new(Some(running)) }
    }

    /// The negotiated protocol revision.
    pub(crate) fn revision(&self) -> &str {
        self.info.protocol_version.as_str()
    }

    /// Why the server is gone, as the rest of a sentence that begins with the server.
    pub(crate) fn why_gone(&self) -> String {
        self.last.as_ref().map_or_else(|| "closed the connection".into(), |last| last.describe_end(""))
    }

    /// Closes the connection: gracefully at first, and within a time limit.
    pub(crate) async fn close(&self) {
        if let Some(mut running) = self.running.lock().await.take() {
            let _ = running.close_with_timeout(CLOSING).await;
        }
        self.gone.cancel();
    }
}

/// Subscribes to changes: servers of the newest revision report them only to subscribers.
async fn listen(peer: Peer<RoleClient>, changed: Arc<Notify>, gone: CancellationToken) {
    let filter = || SubscriptionFilter::builder().tools_list_changed().build();
    let listening = async {
        while let Ok(mut subscription) = peer.listen(filter()).await {
            while let Ok(Some(_)) = subscription.next().await {
                changed.notify_one();
            }
            tokio::time::sleep(LISTEN_AGAIN).await;
        }
    };
    tokio::select! {
        () = listening => {}
        () = gone.cancelled() => {}
    }
}

/// A transport that reports at once when the other end is gone, so that running calls don't wait for rmcp's cleanup.
/// It also reports progress as it arrives: rmcp would deliver it in no fixed order, and the last of it after the call
/// is over.
struct WatchedTransport<T> {
    transport: T,
    calls: ServerCalls,
    gone: CancellationToken,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for WatchedTransport<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let message = self.transport.receive().await;
        match &message {
            Some(ServerJsonRpcMessage::Notification(told)) => {
                if let ServerNotification::ProgressNotification(progress) = &told.notification {
                    self.calls.progressed(&progress.params);
                }
            }
            Some(_) => {}
            None => self.gone.cancel(),
        }
        message
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}
