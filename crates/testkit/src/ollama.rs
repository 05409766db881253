//! An Ollama server that downloads models as a test says: its own interface, beside that of Chat Completions.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

/// How the answer to a download ends, after its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullEnd {
    /// As it should.
    Whole,
    /// The connection is closed in the middle.
    Cut,
    /// Nothing more comes until the client closes the connection.
    Hold,
}

/// A running server. Its thread ends with the process.
#[derive(Debug)]
pub struct FakeOllama {
    address: SocketAddr,
    state: Arc<OllamaState>,
}

#[derive(Debug)]
struct OllamaState {
    models: Vec<String>,
    steps: Vec<Value>,
    end: PullEnd,
    /// The models that it was asked to download.
    asked: Mutex<Vec<String>>,
}

impl FakeOllama {
    /// Starts a server that has these models, and answers a download with these steps.
    pub fn start(models: &[&str], steps: &[Value], end: PullEnd) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let models = models.iter().map(|id| (*id).to_owned()).collect();
        let state = Arc::new(OllamaState { models, steps: steps.to_vec(), end, asked: Mutex::default() });
        let shared = Arc::clone(&state);
        std::thread::Builder::new().name("fake-ollama".to_owned()).spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                // A client that went away is no fault of the server.
                std::thread::spawn(move || drop(state.answer(stream)));
            }
        })?;
        Ok(Self { address, state })
    }

    /// The address of its Chat Completions.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The models that it was asked to download.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.state.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl OllamaState {
    /// Answers one request.
    fn answer(&self, stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        let (mut first, mut length) = (String::new(), 0);
        reader.read_line(&mut first)?;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or_default();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let stream = reader.into_inner();
        match first.split(' ').nth(1).unwrap_or_default() {
            "/" => whole(stream, "Ollama is running"),
            "/v1/models" => whole(stream, &self.list().to_string()),
            "/api/pull" => {
                let asked = serde_json::from_slice::<Value>(&body).unwrap_or_default();
                let model = asked["model"].as_str().unwrap_or_default().to_owned();
                self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(model);
                self.pull(stream)
            }
            _ => write_head(stream, "404 Not Found", "content-length: 0"),
        }
    }

    /// Without a model the list is `null`.
    fn list(&self) -> Value {
        let row = |id: &String| json!({"id": id, "object": "model", "owned_by": "library"});
        let rows: Vec<Value> = self.models.iter().map(row).collect();
        json!({"object": "list", "data": if rows.is_empty() { Value::Null } else { rows.into() }})
    }

    fn pull(&self, mut stream: TcpStream) -> io::Result<()> {
        write_head(stream.try_clone()?, "200 OK", "transfer-encoding: chunked")?;
        for step in &self.steps {
            let line = format!("{step}\n");
            write!(stream, "{:x}\r\n{line}\r\n", line.len())?;
            stream.flush()?;
        }
        match self.end {
            PullEnd::Whole => stream.write_all(b"0\r\n\r\n"),
            PullEnd::Cut => Ok(()),
            PullEnd::Hold => stream.read(&mut [0; 1]).map(drop),
        }
    }
}

fn whole(mut stream: TcpStream, body: &str) -> io::Result<()> {
    write_head(stream.try_clone()?, "200 OK", &format!("content-length: {}", body.len()))?;
    stream.write_all(body.as_bytes())
}

fn write_head(mut stream: TcpStream, status: &str, length: &str) -> io::Result<()> {
    write!(stream, "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n{length}\r\n\r\n")
}
