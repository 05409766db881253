//! The connections of the server: how many there are, how long the head of a request may take and how large it may be, and
//! how they end.
//!
//! The protocol: a connection gets one of a bounded number of places, or is answered with 503 at once. hyper reads heads
//! within [`HEAD_TIME`] and [`CONNECTION_BUFFER`], at most a hundred headers (408 or nothing, 431), and holds no more than that
//! for a client that does not read, and that for [`WRITE_TIME`] only. When the server stops, nothing new is accepted, those who follow sessions are sent home,
//! and requests under way are finished.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutWriter;

use crate::access::Peer;
use crate::limits::{CONNECTION_BUFFER, HEAD_TIME, WRITE_TIME};
use crate::serving::app;
use crate::state::HttpServer;

/// How long the server waits after it could not accept a connection: most likely it has as many open as it may.
const PAUSE: Duration = Duration::from_millis(100);

/// The answer where no place is left.
const FULL: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\n\
     cache-control: no-store\r\nconnection: close\r\ncontent-length: 120\r\n\r\n\
     {\"error\":{\"kind\":\"limited\",\"message\":\"the server has as many connections as it can\",\"hint\":\"try again in some seconds\"}}";

/// Serves until `stopping` is done; then requests under way are finished, and nothing new is taken.
pub(crate) async fn serve_connections(
    listener: TcpListener,
    state: Arc<HttpServer>,
    stopping: impl Future<Output = ()>,
) -> io::Result<()> {
    let service = TowerToHyperService::new(app(Arc::clone(&state)));
    let places = Arc::new(Semaphore::new(state.limits.connections));
    let graceful = GracefulShutdown::new();
    let mut stopping = std::pin::pin!(stopping);
    let watched = Arc::clone(&state);
    let watching = tokio::spawn(async move { watched.access.watch_users().await });
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stopping => break,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection can't be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            tokio::spawn(turn_away(stream));
            continue;
        };
        // Events are small and must not wait for more.
        let _ = stream.set_nodelay(true);
        let service = service.clone();
        let with_peer = service_fn(move |request: hyper::Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(Peer(address));
            service.call(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(CONNECTION_BUFFER)
            .serve_connection(TokioIo::new(unstalled(stream)), with_peer);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that broke off is no fault of the server.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    watching.abort();
    graceful.shutdown().await;
    Ok(())
}

/// Returns the stream, on which a write fails once the client has taken nothing for [`WRITE_TIME`].
fn unstalled(stream: TcpStream) -> Pin<Box<TimeoutWriter<TcpStream>>> {
    let mut writer = TimeoutWriter::new(stream);
    writer.set_timeout(Some(WRITE_TIME));
    Box::pin(writer)
}

/// Answers that no place is left, to a client that reads it at once.
async fn turn_away(mut stream: TcpStream) {
    let answer = async {
        let _ = stream.write_all(FULL.as_bytes()).await;
        let _ = stream.shutdown().await;
    };
    let _ = tokio::time::timeout(PAUSE, answer).await;
}

#[cfg(test)]
mod tests {
    use super::FULL;

    // proves W3
    #[test]
    fn the_answer_where_no_place_is_left_is_whole_and_json() {
        let (head, body) = FULL.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("content-length: {}\r\n", body.len())) || head.ends_with(&body.len().to_string())
        );
        let error: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(error["error"]["kind"], "limited");
    }
}
