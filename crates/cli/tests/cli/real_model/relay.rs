//! Passes requests on to another server, keeps their bodies, and cuts the first streamed answer off in its middle.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// A running relay. Its thread ends with the test.
pub(super) struct Relay {
    url: String,
    seen: Arc<Mutex<Vec<Value>>>,
}

impl Relay {
    /// Starts a relay to `server`, which is `host:port`.
    pub(super) fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (kept, server) = (Arc::clone(&seen), server.to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // An error means that one side went away; the test sees it in what the other says.
                let _ = pass_on(client, &server, &kept);
            }
        });
        Self { url, seen }
    }

    pub(super) fn base_url(&self) -> &str {
        &self.url
    }

    /// The bodies of the model calls so far.
    pub(super) fn bodies(&self) -> Vec<Value> {
        self.seen.lock().expect("no thread panicked").clone()
    }
}

/// Passes one request and its answer on. Each connection carries one request, so that the answer ends with it.
fn pass_on(mut client: TcpStream, server: &str, kept: &Mutex<Vec<Value>>) -> io::Result<()> {
    let mut from = BufReader::new(client.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let (name, value) = line.split_once(':').unwrap_or((line.trim_end(), ""));
        match name.to_ascii_lowercase().as_str() {
            "" => break,
            "connection" => continue,
            "content-length" => length = value.trim().parse().unwrap_or(0),
            _ => {}
        }
        head += &line;
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    // Questions about the server have no body, and are answered whole.
    let extent = if body.is_empty() {
        Extent::Whole
    } else {
        let mut kept = kept.lock().expect("no thread panicked");
        kept.push(serde_json::from_slice(&body).unwrap_or_default());
        if kept.len() == 1 { Extent::FirstWords } else { Extent::Whole }
    };
    let mut upstream = TcpStream::connect(server)?;
    upstream.write_all(format!("{head}connection: close\r\n\r\n").as_bytes())?;
    upstream.write_all(&body)?;
    answer(&mut upstream, &mut client, extent)
}

/// How much of an answer is passed on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    /// A stream up to its first words.
    FirstWords,
}

fn answer(upstream: &mut TcpStream, client: &mut TcpStream, extent: Extent) -> io::Result<()> {
    let (mut piece, mut all) = ([0; 4096], Vec::new());
    loop {
        let read = upstream.read(&mut piece)?;
        client.write_all(&piece[..read])?;
        all.extend_from_slice(&piece[..read]);
        if read == 0 || (extent == Extent::FirstWords && has_words(&String::from_utf8_lossy(&all))) {
            return Ok(());
        }
    }
}

/// Whether some words have come. One piece is not enough: `<` may begin a mark that is not text, and is kept back.
fn has_words(stream: &str) -> bool {
    stream.split(r#""content":""#).skip(1).filter(|text| !text.starts_with('"')).count() > 4
}
