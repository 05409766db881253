//! The line to the client: JSON lines on standard input and output. Its end is the end of the client,
//! and everybody who waits for something on its behalf is told at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{Stdin, Stdout};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// What is known of the line from outside.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    gone: CancellationToken,
    begun: Arc<AtomicBool>,
}

impl Line {
    /// Cancelled once the client is gone.
    pub(super) fn gone(&self) -> CancellationToken {
        self.gone.clone()
    }

    /// Both sides have agreed how they speak.
    pub(super) fn begin(&self) {
        self.begun.store(true, Ordering::Relaxed);
    }
}

/// The line itself.
pub(super) struct Wire {
    messages: AsyncRwTransport<RoleServer, Stdin, Stdout>,
    line: Line,
}

impl Wire {
    /// The line on this process's standard input and output. SIGTERM and SIGINT end it as the end of
    /// input does.
    pub(super) fn of_process() -> (Self, Line) {
        let line = Line::default();
        for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
            // Where signals can't be watched they end the process, and the journal bears that too.
            if let Ok(mut signal) = signal(kind) {
                let gone = line.gone();
                tokio::spawn(async move {
                    signal.recv().await;
                    gone.cancel();
                });
            }
        }
        let messages = AsyncRwTransport::new(tokio::io::stdin(), tokio::io::stdout());
        (Self { messages, line: line.clone() }, line)
    }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let gone = self.line.gone();
        let sending = self.messages.send(message);
        async move {
            // Whoever closes standard output reads no answer either.
            sending.await.inspect_err(|_| gone.cancel())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let received = tokio::select! {
                biased;
                () = self.line.gone.cancelled() => None,
                message = self.messages.receive() => message,
            };
            let Some(message) = received else {
                self.line.gone.cancel();
                return None;
            };
            // A stray notification before the handshake would end it.
            let is_request = matches!(message, RxJsonRpcMessage::<RoleServer>::Request(_));
            if is_request || self.line.begun.load(Ordering::Relaxed) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.messages.close().await
    }
}
