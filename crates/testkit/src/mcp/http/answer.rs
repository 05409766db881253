//! Answers one HTTP request.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;

use super::behaviour::{HttpAnswers, HttpFaultKind, HttpSession, McpHttpRequest};
use super::{McpServerState, ResponsePiece, lock};

type HttpConnection = BufReader<TcpStream>;

/// Whether the connection stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionFate {
    Go,
    Close,
}

const SESSION: &str = "mcp-session-id";
const EVENTS: &str = "text/event-stream";
const HEADER_MISMATCH: i64 = -32020;

pub(super) async fn answer(
    state: &Arc<McpServerState>,
    request: &McpHttpRequest,
    to: &mut HttpConnection,
) -> io::Result<ConnectionFate> {
    match request.method.as_str() {
        "POST" => post(state, request, to).await,
        "GET" => {
            let pieces = state.open(&Value::Null);
            head(to, 200, EVENTS, &[], BodyLength::Chunked).await?;
            stream(state, &Value::Null, pieces, to).await
        }
        "DELETE" => status(to, 200, &[]).await,
        _ => status(to, 405, &[]).await,
    }
}

async fn post(
    state: &Arc<McpServerState>,
    request: &McpHttpRequest,
    to: &mut HttpConnection,
) -> io::Result<ConnectionFate> {
    let message = &request.body;
    if let Some(fault) = fault(state, message["method"].as_str().unwrap_or_default()) {
        return spoil(&fault, to).await;
    }
    if let Some(what) = mismatch(request) {
        let error = json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": HEADER_MISMATCH, "message": what}});
        return whole(to, 400, "application/json", &[], error.to_string().as_bytes()).await;
    }
    let headers = match session(state, request) {
        SessionCheck::Goes(headers) => headers,
        SessionCheck::Unknown => return status(to, 404, &[]).await,
        SessionCheck::Missing => return status(to, 400, &[]).await,
    };
    let id = &message["id"];
    if id.is_null() || message["method"].is_null() {
        state.hear(message);
        return status(to, 202, &[]).await;
    }
    let mut pieces = state.open(id);
    state.hear(message);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    match state.behaviour.answers {
        HttpAnswers::Events => {
            head(to, 200, EVENTS, &headers, BodyLength::Chunked).await?;
            stream(state, id, pieces, to).await
        }
        HttpAnswers::Json => loop {
            tokio::select! {
                piece = pieces.recv() => match piece {
                    Some(ResponsePiece::Message(answer)) if !answers(&answer, id) => {}
                    Some(ResponsePiece::Message(answer)) => {
                        state.close(id);
                        return whole(to, 200, "application/json", &headers, answer.to_string().as_bytes()).await;
                    }
                    Some(ResponsePiece::Bytes(bytes)) => return whole(to, 200, "application/json", &headers, &bytes).await,
                    Some(ResponsePiece::Half(bytes)) => {
                        head(to, 200, "application/json", &headers, BodyLength::Bytes(bytes.len() * 2)).await?;
                        to.write_all(&bytes).await?;
                        return Ok(ConnectionFate::Close);
                    }
                    None => return Ok(ConnectionFate::Close),
                },
                () = hung_up(to) => return note_cancelled(state, id),
            }
        },
    }
}

/// The fault that applies to a request with this method, counting it.
fn fault(state: &McpServerState, method: &str) -> Option<HttpFaultKind> {
    let mut faults = lock(&state.faults);
    let fault = faults.iter_mut().find(|fault| fault.times > 0 && fault.on.as_deref().is_none_or(|on| on == method))?;
    fault.times -= 1;
    Some(fault.kind.clone())
}

/// Why the headers of the newest revision do not match the message; older revisions need none.
fn mismatch(request: &McpHttpRequest) -> Option<&'static str> {
    let version = request.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str()?;
    if request.header("mcp-protocol-version") != Some(version) {
        return Some("The header MCP-Protocol-Version does not say what the message says");
    }
    if request.header("mcp-method") != request.body["method"].as_str() {
        return Some("The header Mcp-Method does not say what the message says");
    }
    None
}

enum SessionCheck {
    /// The request is valid, and the answer carries these headers.
    Goes(Vec<(&'static str, String)>),
    Unknown,
    Missing,
}

fn session(state: &McpServerState, request: &McpHttpRequest) -> SessionCheck {
    let modern = request.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
    if state.behaviour.session == HttpSession::None || modern {
        return SessionCheck::Goes(Vec::new());
    }
    let mut sessions = lock(&state.sessions);
    if request.body["method"] == "initialize" {
        let name = format!("session-{}", sessions.len() + 1);
        sessions.insert(name.clone(), 0);
        return SessionCheck::Goes(vec![("Mcp-Session-Id", name)]);
    }
    let Some(name) = request.header(SESSION) else { return SessionCheck::Missing };
    let Some(messages) = sessions.get_mut(name) else { return SessionCheck::Unknown };
    *messages += 1;
    match state.behaviour.session {
        HttpSession::ForgottenAfter(most) if *messages > most => SessionCheck::Unknown,
        HttpSession::ForgottenAfter(_) | HttpSession::Kept | HttpSession::None => SessionCheck::Goes(Vec::new()),
    }
}

/// Whether a message answers this request: it has the request's id, possibly as a string, and no method.
fn answers(message: &Value, id: &Value) -> bool {
    let as_text = || message["id"].as_str().is_some_and(|text| text == id.to_string().as_str());
    message["method"].is_null() && (message["id"] == *id || as_text())
}

/// Sends the pieces of a response as events, up to the answer.
async fn stream(
    state: &Arc<McpServerState>,
    id: &Value,
    mut pieces: UnboundedReceiver<ResponsePiece>,
    to: &mut HttpConnection,
) -> io::Result<ConnectionFate> {
    loop {
        tokio::select! {
            piece = pieces.recv() => match piece {
                Some(ResponsePiece::Message(message)) => {
                    event(to, message.to_string().as_bytes()).await?;
                    if !id.is_null() && answers(&message, id) {
                        break;
                    }
                }
                Some(ResponsePiece::Bytes(bytes)) => {
                    event(to, &bytes).await?;
                    break;
                }
                Some(ResponsePiece::Half(bytes)) => {
                    chunk(to, &[b"data: ", bytes.as_slice()].concat()).await?;
                    return Ok(ConnectionFate::Close);
                }
                // Another stream for the same id replaced this one.
                None => break,
            },
            () = hung_up(to) => return note_cancelled(state, id),
        }
    }
    state.close(id);
    // Messages after the answer are sent, too: a server may answer twice.
    while let Ok(ResponsePiece::Message(message)) = pieces.try_recv() {
        event(to, message.to_string().as_bytes()).await?;
    }
    to.write_all(b"0\r\n\r\n").await?;
    Ok(ConnectionFate::Go)
}

/// Notes that the client closed the connection before the answer, which is how the newest revision cancels a request.
fn note_cancelled(state: &McpServerState, id: &Value) -> io::Result<ConnectionFate> {
    state.close(id);
    if !id.is_null() {
        state.cancelled(id);
    }
    Ok(ConnectionFate::Close)
}

/// Waits until the client disconnects. Requests are not pipelined, so there is nothing else to read.
async fn hung_up(connection: &mut HttpConnection) {
    while connection.fill_buf().await.is_ok_and(|bytes| !bytes.is_empty()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn spoil(fault: &HttpFaultKind, to: &mut HttpConnection) -> io::Result<ConnectionFate> {
    match fault {
        HttpFaultKind::Status(code, headers) => {
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            whole(to, *code, "text/plain", &headers, b"the fake server says no\n").await
        }
        HttpFaultKind::Page => whole(to, 200, "text/html", &[], b"<html><body>Please log in.</body></html>").await,
        HttpFaultKind::NotJson => whole(to, 200, "application/json", &[], b"{\"jsonrpc\": oops").await,
        HttpFaultKind::Closes => Ok(ConnectionFate::Close),
        HttpFaultKind::Holds => {
            head(to, 200, EVENTS, &[], BodyLength::Chunked).await?;
            hung_up(to).await;
            Ok(ConnectionFate::Close)
        }
        HttpFaultKind::EndsEarly => {
            head(to, 200, EVENTS, &[], BodyLength::Chunked).await?;
            to.write_all(b"0\r\n\r\n").await?;
            Ok(ConnectionFate::Go)
        }
        HttpFaultKind::OnlyComments => {
            head(to, 200, EVENTS, &[], BodyLength::Chunked).await?;
            loop {
                chunk(to, b": still there\n\n").await?;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        HttpFaultKind::EndlessEvent => {
            head(to, 200, EVENTS, &[], BodyLength::Chunked).await?;
            chunk(to, b"data: \"").await?;
            let block = vec![b'x'; 64 * 1024];
            loop {
                chunk(to, &block).await?;
            }
        }
    }
}

/// How the length of a body is given.
enum BodyLength {
    Bytes(usize),
    Chunked,
}

async fn head(
    to: &mut HttpConnection,
    code: u16,
    kind: &str,
    headers: &[(&str, &str)],
    length: BodyLength,
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {code} Said\r\nContent-Type: {kind}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match length {
        BodyLength::Bytes(bytes) => head.push_str(&format!("Content-Length: {bytes}\r\n\r\n")),
        BodyLength::Chunked => head.push_str("Transfer-Encoding: chunked\r\n\r\n"),
    }
    to.write_all(head.as_bytes()).await
}

async fn whole(
    to: &mut HttpConnection,
    code: u16,
    kind: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<ConnectionFate> {
    head(to, code, kind, headers, BodyLength::Bytes(body.len())).await?;
    to.write_all(body).await?;
    Ok(ConnectionFate::Go)
}

async fn status(to: &mut HttpConnection, code: u16, headers: &[(&str, &str)]) -> io::Result<ConnectionFate> {
    whole(to, code, "text/plain", headers, b"").await
}

async fn event(to: &mut HttpConnection, data: &[u8]) -> io::Result<()> {
    chunk(to, &[b"data: ", data, b"\n\n"].concat()).await
}

async fn chunk(to: &mut HttpConnection, bytes: &[u8]) -> io::Result<()> {
    to.write_all(&crate::plan::chunk(bytes)).await
}
