//! The connection to the client: JSON lines on standard input and output. When it ends, the client is gone, and every
//! task that works for it is notified at once.
//!
//! A separate task reads the lines: the service cancels its pending receive whenever something else happens, and a
//! partly read line or a partly written answer must not get lost with it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Stdout};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use windlass_mcp::{LineSplitter, ProtocolLine};

use super::lines::{self, LONGEST, RequestLine};
use crate::exit::Exit;
use crate::interrupts::{self, wait_until_output_is_stuck};

/// Messages buffered ahead of the service.
const AHEAD: usize = 16;
/// How long a client that closed our input may leave its answers unread. A signal shortens it.
const UNREAD: Duration = Duration::from_secs(5);
/// Bytes per read.
const CHUNK: usize = 64 << 10;

/// The connection's state, for the rest of the server.
#[derive(Clone, Debug, Default)]
pub(super) struct WireHandle {
    gone: CancellationToken,
    /// Cancelled by the first signal that ends the process.
    signalled: CancellationToken,
    begun: Arc<AtomicBool>,
}

impl WireHandle {
    /// Returns a token that is cancelled once the client is gone.
    pub(super) fn gone(&self) -> CancellationToken {
        self.gone.clone()
    }

    /// Waits until the client is gone and has left its answers unread for as long as they may hold up the end.
    pub(super) async fn wait_until_unread(&self) {
        self.gone.cancelled().await;
        tokio::select! {
            () = wait_until_output_is_stuck(UNREAD) => {}
            () = async {
                self.signalled.cancelled().await;
                wait_until_output_is_stuck(interrupts::PATIENCE).await;
            } => {}
        }
    }

    /// Handles a signal that ends the process: the first like the end of input, the second at once.
    fn signal(&self) {
        if self.signalled.is_cancelled() {
            // Open runs stay open in the journal.
            interrupts::end(Exit::Done);
        }
        self.signalled.cancel();
        self.gone.cancel();
    }

    /// Marks the handshake as completed.
    pub(super) fn begin(&self) {
        self.begun.store(true, Ordering::Relaxed);
    }
}

/// The transport.
pub(super) struct Wire {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    output: Arc<Mutex<Stdout>>,
    handle: WireHandle,
}

impl Wire {
    /// Connects to this process's standard input and output. SIGTERM and SIGINT end the connection like the end of
    /// input; a second one ends the process at once.
    pub(super) fn of_process() -> (Self, WireHandle) {
        let handle = WireHandle::default();
        for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
            // Where signals can't be handled they end the process; the journal survives that too.
            if let Ok(mut signal) = signal(kind) {
                let handle = handle.clone();
                tokio::spawn(async move {
                    while signal.recv().await.is_some() {
                        handle.signal();
                    }
                });
            }
        }
        let output = Arc::new(Mutex::new(tokio::io::stdout()));
        let (sender, messages) = mpsc::channel(AHEAD);
        let reading = listen(sender, Arc::clone(&output));
        let gone = handle.gone();
        tokio::spawn(async move {
            // A read error counts as the end of input.
            let _ = reading.await;
            gone.cancel();
        });
        (Self { messages, output, handle: handle.clone() }, handle)
    }
}

async fn listen(messages: mpsc::Sender<ClientJsonRpcMessage>, output: Arc<Mutex<Stdout>>) -> io::Result<()> {
    let (mut input, mut chunk) = (tokio::io::stdin(), vec![0; CHUNK]);
    let (mut lines, mut ready) = (LineSplitter::up_to(LONGEST), Vec::new());
    loop {
        let read = input.read(&mut chunk).await?;
        if read == 0 {
            // An unterminated last line is incomplete: drop it.
            return Ok(());
        }
        lines.push(&chunk[..read], |line: ProtocolLine| ready.push(line));
        for line in ready.drain(..) {
            match lines::read(&line) {
                RequestLine::Message(message) => {
                    if messages.send(*message).await.is_err() {
                        return Ok(());
                    }
                }
                RequestLine::Refused(refused) => write(&output, &refused).await?,
                RequestLine::Nothing => {}
            }
        }
    }
}

async fn write(output: &Mutex<Stdout>, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, gone) = (Arc::clone(&self.output), self.handle.gone());
        // A client that closed standard output reads no answers: it is gone.
        async move { write(&output, &message).await.inspect_err(|_| gone.cancel()) }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = tokio::select! {
                biased;
                message = self.messages.recv() => message?,
                () = self.handle.gone.cancelled() => return None,
            };
            // Until the handshake is done, drop everything but requests: a stray notification would end it.
            if matches!(message, JsonRpcMessage::Request(_)) || self.handle.begun.load(Ordering::Relaxed) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.messages.close();
        Ok(())
    }
}
