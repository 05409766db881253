//! Just enough HTTP/1.1 to read a client's requests off one connection.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

const LINE_LIMIT: u64 = 64 * 1024;
const BODY_LIMIT: usize = 256 * 1024 * 1024;

/// A received request.
#[derive(Debug)]
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    /// Reads the next request; `None` when the client closed the connection between two.
    pub(crate) async fn read(connection: &mut BufReader<TcpStream>) -> io::Result<Option<Self>> {
        let first = line(connection).await?;
        let mut words = first.split_whitespace();
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Ok(None);
        };
        let mut request =
            Self { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() };
        loop {
            let line = line(connection).await?;
            let Some((name, value)) = line.split_once(':') else { break };
            request.headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
        if request.header("expect").is_some() {
            connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        request.body = request.read_body(connection).await?;
        Ok(Some(request))
    }

    /// The value of a header; `name` in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    async fn read_body(&self, connection: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            loop {
                let size = line(connection).await?;
                let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
                extend(connection, &mut body, size).await?;
                line(connection).await?;
                if size == 0 {
                    return Ok(body);
                }
            }
        }
        let length = self.header("content-length").map_or(Ok(0), str::parse).map_err(io::Error::other)?;
        extend(connection, &mut body, length).await?;
        Ok(body)
    }
}

/// Reads one line without its line break; empty at the end of the connection.
async fn line(connection: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut bytes = Vec::new();
    connection.take(LINE_LIMIT).read_until(b'\n', &mut bytes).await?;
    while bytes.last().is_some_and(u8::is_ascii_whitespace) {
        bytes.pop();
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

async fn extend(connection: &mut BufReader<TcpStream>, body: &mut Vec<u8>, more: usize) -> io::Result<()> {
    let from = body.len();
    let to = from.checked_add(more).filter(|to| *to <= BODY_LIMIT);
    let to = to.ok_or_else(|| io::Error::other("the request is larger than the scripted server takes"))?;
    body.resize(to, 0);
    connection.read_exact(&mut body[from..]).await?;
    Ok(())
}
