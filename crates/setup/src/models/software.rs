//! Recognizes the program that answers at an address by its response at `/`.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The response head and Ollama's one line are much shorter than this.
const READ_BYTES: u64 = 4 << 10;

/// A program that serves models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Software {
    Ollama,
    LlamaCpp,
    /// Another program.
    Unknown,
}

impl Software {
    /// Returns the program that answers at `address`; `Unknown` if it does not answer in time.
    pub(super) async fn at(address: SocketAddr, limit: Duration) -> Self {
        let mut answer = Vec::new();
        // Use the bytes received before the timeout: some servers keep the connection open.
        let _ = timeout(limit, read_root(address, &mut answer)).await;
        Self::of(&String::from_utf8_lossy(&answer))
    }

    /// The server's name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LlamaCpp => "the llama.cpp server",
            Self::Unknown => "a server",
        }
    }

    fn of(answer: &str) -> Self {
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
        let is_llama = |line: &str| {
            let (name, value) = line.split_once(':').unwrap_or_default();
            name.eq_ignore_ascii_case("server") && value.trim() == "llama.cpp"
        };
        if head.lines().any(is_llama) {
            Self::LlamaCpp
        } else if body.trim() == "Ollama is running" {
            Self::Ollama
        } else {
            Self::Unknown
        }
    }
}

/// Reads the beginning of the response at `/`. HTTP/1.0 rules out chunked encoding.
async fn read_root(address: SocketAddr, answer: &mut Vec<u8>) -> io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET / HTTP/1.0\r\nHost: {address}\r\nAccept: */*\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    stream.take(READ_BYTES).read_to_end(answer).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Software;

    #[test]
    fn servers_are_known_by_what_they_say() {
        for (answer, software) in [
            ("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nOllama is running", Software::Ollama),
            ("HTTP/1.1 404 Not Found\r\nServer: llama.cpp\r\n\r\n{\"error\":{}}", Software::LlamaCpp),
            ("HTTP/1.1 200 OK\r\nserver:llama.cpp\r\n\r\n<html>", Software::LlamaCpp),
            ("HTTP/1.1 200 OK\r\nServer: uvicorn\r\n\r\nllama.cpp\r\nServer: llama.cpp\r\n", Software::Unknown),
            ("HTTP/1.1 200 OK\r\n\r\nOllama is running, or so they say", Software::Unknown),
            ("", Software::Unknown),
        ] {
            assert_eq!(Software::of(answer), software, "{answer}");
        }
    }
}
