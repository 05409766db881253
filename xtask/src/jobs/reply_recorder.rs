//! A proxy before the model's server that keeps the text of every reply as it came.
//!
//! The journal of a run has what was read out of a reply: a call that was written as text is a call there. Whether it
//! was read rightly can only be judged by the text itself, so `replies.jsonl` has a line `{"request", "text"}` for each
//! chat completion, in the order in which they ended. Each request gets a connection of its own, which ends with its
//! answer, so that an answer is all that arrives.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

const COMPLETIONS: &str = "/chat/completions";

/// A running proxy. It ends with the program.
#[derive(Debug)]
pub(crate) struct ReplyRecorder {
    address: SocketAddr,
    /// The path of the server's address.
    path: String,
}

/// Where requests go, and where replies are kept.
struct Relay {
    server: String,
    replies: Mutex<File>,
}

impl ReplyRecorder {
    /// Starts a proxy before the server at `base_url` that adds the replies to `file`.
    pub(crate) fn start(base_url: &str, file: &Path) -> Result<Self, String> {
        let rest = base_url.strip_prefix("http://");
        let rest = rest.ok_or("--replies needs a server without encryption: its address begins with http://")?;
        let (server, path) = rest.split_once('/').unwrap_or((rest, ""));
        let failed = |error: io::Error| format!("{}: {error}", file.display());
        let replies = OpenOptions::new().create(true).append(true).open(file).map_err(failed)?;
        let server = if server.contains(':') { server.to_owned() } else { format!("{server}:80") };
        let relay = Arc::new(Relay { server, replies: Mutex::new(replies) });
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| format!("no free port: {error}"))?;
        let address = listener.local_addr().map_err(|error| format!("no free port: {error}"))?;
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let relay = Arc::clone(&relay);
                // A connection that breaks is reported by the program at its other end.
                std::thread::spawn(move || drop(relay.pass_on(&client)));
            }
        });
        Ok(Self { address, path: path.to_owned() })
    }

    /// The address to use in place of the server's.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/{}", self.address, self.path)
    }
}

impl Relay {
    fn pass_on(&self, client: &TcpStream) -> io::Result<()> {
        let request = Request::read(&mut BufReader::new(client))?;
        let mut server = TcpStream::connect(&self.server)?;
        server.write_all(&request.rewritten(&self.server))?;
        let (mut client, mut answer, mut buffer) = (client, Vec::new(), [0; 16 << 10]);
        loop {
            let count = server.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
            answer.extend_from_slice(bytes);
            client.write_all(bytes)?;
        }
        match reply_text(&answer) {
            Some(text) if request.line.contains(COMPLETIONS) => self.keep(&request, &text),
            _ => Ok(()),
        }
    }

    fn keep(&self, request: &Request, text: &str) -> io::Result<()> {
        let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let line = json!({"request": asked, "text": text});
        writeln!(self.replies.lock().unwrap_or_else(PoisonError::into_inner), "{line}")
    }
}

/// An HTTP request whose body has a stated length.
struct Request {
    line: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

impl Request {
    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let (mut line, mut headers, mut length) = (String::new(), Vec::new(), 0);
        from.read_line(&mut line)?;
        loop {
            let mut header = String::new();
            if from.read_line(&mut header)? == 0 || header.trim().is_empty() {
                break;
            }
            if let Some(value) = value_of(&header, "content-length") {
                length = value.parse().map_err(io::Error::other)?;
            }
            headers.push(header);
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body)?;
        Ok(Self { line, headers, body })
    }

    /// The request as it is sent to the server, on a connection that ends with the answer.
    fn rewritten(&self, server: &str) -> Vec<u8> {
        let replaced = |header: &&String| ["host", "connection"].iter().all(|name| value_of(header, name).is_none());
        let kept: String = self.headers.iter().filter(replaced).map(String::as_str).collect();
        let head = format!("{}host: {server}\r\nconnection: close\r\n{kept}\r\n", self.line);
        [head.into_bytes(), self.body.clone()].concat()
    }
}

/// The value of a header, if it is the named one.
fn value_of<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    let (found, value) = header.split_once(':')?;
    found.eq_ignore_ascii_case(name).then(|| value.trim())
}

/// The text of a reply, streamed or whole; `None` if the answer is a refusal or was cut short in its head.
fn reply_text(answer: &[u8]) -> Option<String> {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let (head, body) = (String::from_utf8_lossy(answer.get(..end)?), answer.get(end + 4..)?);
    if head.split_whitespace().nth(1) != Some("200") {
        return None;
    }
    let is_chunked =
        head.lines().filter_map(|line| value_of(line, "transfer-encoding")).any(|value| value == "chunked");
    let body = if is_chunked { without_chunks(body) } else { body.to_vec() };
    let body = String::from_utf8_lossy(&body);
    if let Ok(whole) = serde_json::from_str::<Value>(&body) {
        return Some(whole["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned());
    }
    let events = body.lines().filter_map(|line| line.strip_prefix("data:"));
    let events = events.filter_map(|event| serde_json::from_str::<Value>(event.trim()).ok());
    Some(events.filter_map(|event| Some(event["choices"][0]["delta"]["content"].as_str()?.to_owned())).collect())
}

/// A body without the lengths of its chunks. What is missing at its end is left out.
fn without_chunks(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|bytes| bytes == b"\r\n") {
        let length = String::from_utf8_lossy(&rest[..end]);
        let Ok(length) = usize::from_str_radix(length.trim(), 16) else { break };
        let chunk = &rest[end + 2..];
        body.extend_from_slice(&chunk[..length.min(chunk.len())]);
        match chunk.get(length + 2..) {
            Some(after) if length > 0 => rest = after,
            _ => break,
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::reply_text;

    const STREAM: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"<to\"}}]}\n\ndata: {\"choices\":[{\"delta\":{}}]}\n\n\
         data: {\"choices\":[{\"delta\":{\"content\":\"ol\\n\"}}]}\n\ndata: [DONE]\n\n";

    #[test]
    fn the_text_of_a_reply_is_found_in_every_form() {
        let plain = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{STREAM}");
        assert_eq!(reply_text(plain.as_bytes()).as_deref(), Some("<tool\n"));
        // An event that is cut by a chunk's end is whole again.
        let (first, second) = STREAM.split_at(31);
        let chunks = format!("{:x}\r\n{first}\r\n{:X}\r\n{second}\r\n0\r\n\r\n", first.len(), second.len());
        let chunked = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
        assert_eq!(reply_text(chunked.as_bytes()).as_deref(), Some("<tool\n"));
        let whole = "HTTP/1.1 200 OK\r\n\r\n{\"choices\":[{\"message\":{\"content\":\"Hi.\"}}]}";
        assert_eq!(reply_text(whole.as_bytes()).as_deref(), Some("Hi."));
    }

    #[test]
    fn a_refusal_has_no_text() {
        assert_eq!(reply_text(b"HTTP/1.1 429 Too Many Requests\r\n\r\n{}"), None);
        assert_eq!(reply_text(b"HTTP/1.1 200 OK\r\nContent-"), None);
    }
}
