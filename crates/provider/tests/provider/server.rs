//! A server that sends exactly what a test specifies.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc};

/// The server's reaction to a request.
#[derive(Clone)]
pub(crate) enum Act {
    /// Writes these bytes, one write each, and keeps the connection.
    Say(Vec<Vec<u8>>),
    /// Closes the connection without an answer.
    Close,
    /// Resets the connection without an answer.
    Reset,
    /// Writes these bytes and closes.
    SayAndClose(Vec<u8>),
    /// Writes these bytes and closes a moment later, even if further bytes have arrived.
    SayAndCloseSoon(Vec<u8>),
    /// Writes these bytes and closes when notified that they arrived.
    SayAndCloseLater(Vec<u8>, Arc<Notify>),
    /// Writes these bytes and resets the connection when notified that they arrived.
    SayAndReset(Vec<u8>, Arc<Notify>),
    /// Writes these bytes, then nothing more.
    SayAndHang(Vec<u8>),
    /// Writes `first`, then `drop` every 5 ms until the other side closes or `drops` were sent, then `last`.
    Drip { first: Vec<u8>, drop: Vec<u8>, drops: usize, last: Vec<u8> },
    /// Writes a head, then one endless line, until the other side closes or `limit` bytes are written.
    Flood { limit: usize },
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// Each request as received, head and body.
    pub(crate) requests: mpsc::UnboundedReceiver<String>,
    pub(crate) connections: Arc<AtomicUsize>,
    /// Receives a message for each connection that this side has closed.
    pub(crate) closed: mpsc::UnboundedReceiver<()>,
    /// The bytes written by each flood.
    pub(crate) flooded: mpsc::UnboundedReceiver<usize>,
}

impl Server {
    /// Performs `acts` in order, one per request.
    pub(crate) async fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, requests) = mpsc::unbounded_channel();
        let (flood, flooded) = mpsc::unbounded_channel();
        let (close, closed) = mpsc::unbounded_channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = connections.clone();
        tokio::spawn(async move {
            let mut acts = acts.into_iter().peekable();
            while acts.peek().is_some() {
                let (stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                serve(stream, &mut acts, &seen, &flood).await;
                close.send(()).ok();
            }
        });
        Self { address, requests, connections, closed, flooded }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

async fn serve(
    stream: TcpStream,
    acts: &mut std::iter::Peekable<std::vec::IntoIter<Act>>,
    seen: &mpsc::UnboundedSender<String>,
    flood: &mpsc::UnboundedSender<usize>,
) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read_request(&mut stream).await {
        seen.send(request).ok();
        let Some(act) = acts.next() else { return };
        match act {
            Act::Say(parts) => {
                for part in parts {
                    stream.write_all(&part).await.unwrap();
                    stream.flush().await.unwrap();
                    tokio::task::yield_now().await;
                }
            }
            Act::Close => return,
            Act::Reset => return stream.get_ref().set_zero_linger().unwrap(),
            Act::SayAndClose(bytes) => return stream.write_all(&bytes).await.unwrap(),
            Act::SayAndCloseSoon(bytes) => {
                stream.write_all(&bytes).await.unwrap();
                return tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
            Act::SayAndCloseLater(bytes, arrived) => {
                stream.write_all(&bytes).await.unwrap();
                return arrived.notified().await;
            }
            Act::SayAndReset(bytes, arrived) => {
                stream.write_all(&bytes).await.unwrap();
                arrived.notified().await;
                return stream.get_ref().set_zero_linger().unwrap();
            }
            Act::SayAndHang(bytes) => {
                stream.write_all(&bytes).await.unwrap();
                // Wait until the other side gives up.
                stream.read_u8().await.ok();
                return;
            }
            Act::Drip { first, drop, drops, last } => {
                stream.write_all(&first).await.unwrap();
                let mut pace = tokio::time::interval(std::time::Duration::from_millis(5));
                for _ in 0..drops {
                    pace.tick().await;
                    if stream.write_all(&drop).await.is_err() {
                        return;
                    }
                }
                stream.write_all(&last).await.unwrap();
            }
            Act::Flood { limit } => {
                flood.send(pour(&mut stream, limit).await).ok();
                return;
            }
        }
    }
}

/// Reads a request's head and body; `None` at the end of the connection.
async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut request = String::new();
    let mut length = 0;
    loop {
        let line = request.len();
        if stream.read_line(&mut request).await.ok()? == 0 {
            return None;
        }
        let line = request[line..].trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    request.push_str(std::str::from_utf8(&body).unwrap());
    Some(request)
}

/// Writes one endless line; returns how many bytes the other side took.
async fn pour(stream: &mut BufReader<TcpStream>, limit: usize) -> usize {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ";
    stream.write_all(head).await.unwrap();
    let block = vec![b'x'; 1 << 20];
    let mut poured = 0;
    while poured < limit && stream.write_all(&block).await.is_ok() {
        poured += block.len();
    }
    poured
}
