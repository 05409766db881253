//! A fake server over streamable HTTP, in process.
//!
//! It has a thread of its own, like [`crate::ModelServer`]; dropping the handle stops it and closes every
//! connection. What a script says of processes (noise, standard error, grandchildren) has no meaning here;
//! a server that exits closes every connection and answers no more.

mod answer;
mod manners;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc as channel, oneshot, watch};

pub use manners::{HttpAnswers, HttpFault, HttpFaultKind, HttpManners, HttpSession, McpHttpRequest};

use super::act::{Act, Id};
use super::conversation::{Conversation, LIST_CHANGED};
use super::diary::McpDiary;
use super::script::McpScript;

/// A running fake server.
#[derive(Debug)]
pub struct McpHttpServer {
    address: SocketAddr,
    house: Arc<House>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl McpHttpServer {
    /// Plays a script on a free port of the loopback address, politely.
    pub fn start(script: McpScript) -> io::Result<Self> {
        Self::with(script, HttpManners::default())
    }

    /// Plays a script, with these manners.
    pub fn with(script: McpScript, manners: HttpManners) -> io::Result<Self> {
        let house = Arc::new(House::new(script, manners));
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = mpsc::channel();
        let inside = Arc::clone(&house);
        let thread = std::thread::Builder::new()
            .name("fake-mcp-server".to_owned())
            .spawn(move || serve(&inside, &tell, stopped))?;
        let address = told.recv().map_err(io::Error::other)??;
        Ok(Self { address, house, stop: Some(stop), thread: Some(thread) })
    }

    /// Where a client finds it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Every request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<McpHttpRequest> {
        lock(&self.house.seen).clone()
    }

    /// How many requests carried this method of the protocol.
    #[must_use]
    pub fn times(&self, method: &str) -> usize {
        lock(&self.house.seen).iter().filter(|request| request.body["method"] == method).count()
    }
}

impl Drop for McpHttpServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What is sent in the course of a request.
#[derive(Debug)]
enum Piece {
    Message(Value),
    Bytes(Vec<u8>),
    /// The beginning of something, and then no more.
    Half(Vec<u8>),
}

/// What all connections share.
#[derive(Debug)]
struct House {
    manners: HttpManners,
    diary: Option<McpDiary>,
    conversation: Mutex<Conversation>,
    /// The streams of open requests by their id, and those that nobody asked for by `null`.
    streams: Mutex<HashMap<String, channel::UnboundedSender<Piece>>>,
    seen: Mutex<Vec<McpHttpRequest>>,
    sessions: Mutex<BTreeMap<String, u32>>,
    faults: Mutex<Vec<HttpFault>>,
    gone: watch::Sender<bool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(house: &Arc<House>, tell: &mpsc::Sender<io::Result<SocketAddr>>, stopped: oneshot::Receiver<()>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return drop(tell.send(Err(error))),
    };
    runtime.block_on(async {
        let opened = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        match opened.and_then(|listener| Ok((listener.local_addr()?, listener))) {
            Ok((address, listener)) => {
                tokio::spawn(accept(listener, Arc::clone(house)));
                let _ = tell.send(Ok(address));
                let _ = stopped.await;
            }
            Err(error) => drop(tell.send(Err(error))),
        }
    });
}

async fn accept(listener: TcpListener, house: Arc<House>) {
    while let Ok((stream, _)) = listener.accept().await {
        let house = Arc::clone(&house);
        tokio::spawn(async move {
            let mut gone = house.gone.subscribe();
            tokio::select! {
                biased;
                _ = gone.wait_for(|gone| *gone) => {}
                // An error is a client that went away: its own affair.
                _ = house.attend(stream) => {}
            }
        });
    }
}

impl House {
    fn new(script: McpScript, manners: HttpManners) -> Self {
        let diary = script.diary.as_deref().map(McpDiary::at);
        Self {
            faults: Mutex::new(manners.faults.clone()),
            manners,
            diary,
            conversation: Mutex::new(Conversation::new(script, BTreeMap::new())),
            streams: Mutex::default(),
            seen: Mutex::default(),
            sessions: Mutex::default(),
            gone: watch::Sender::new(false),
        }
    }

    async fn attend(self: &Arc<Self>, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut connection = tokio::io::BufReader::new(stream);
        while let Some(request) = crate::http::HttpRequest::read(&mut connection).await? {
            let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
            let request = McpHttpRequest { method: request.method, headers: request.headers, body };
            lock(&self.seen).push(request.clone());
            let then = answer::answer(self, &request, &mut connection).await?;
            if then == answer::Then::Close || request.header("connection") == Some("close") {
                break;
            }
        }
        Ok(())
    }

    /// Opens the stream of a request; `null` is the one that nobody asked for.
    fn open(&self, id: &Id) -> channel::UnboundedReceiver<Piece> {
        let (sender, receiver) = channel::unbounded_channel();
        lock(&self.streams).insert(id.to_string(), sender);
        receiver
    }

    fn close(&self, id: &Id) {
        lock(&self.streams).remove(&id.to_string());
    }

    /// Hears a message and does what is to be done.
    fn hear(self: &Arc<Self>, message: &Value) {
        if let (Some(diary), Some(method)) = (&self.diary, message["method"].as_str()) {
            // A diary that can't be kept is missed by the test that reads it.
            let _ = diary.note_heard(method);
        }
        let acts = lock(&self.conversation).hear(message);
        self.perform(acts);
    }

    fn perform(self: &Arc<Self>, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Say { about, message } => self.send(&about.unwrap_or_default(), Piece::Message(message)),
                Act::Line { about, bytes } => self.send(&about, Piece::Bytes(bytes)),
                Act::Half { about, message } => {
                    let text = message.to_string();
                    self.send(&about, Piece::Half(text.as_bytes()[..text.len() / 2].to_vec()));
                }
                Act::After { ms, acts } => {
                    let later = Arc::clone(self);
                    tokio::spawn(async move {
                        tokio::time::sleep(Duration::from_millis(ms)).await;
                        later.perform(acts);
                    });
                }
                Act::FloodForEver => drop(tokio::spawn(Arc::clone(self).flood())),
                Act::Exit => drop(self.gone.send_replace(true)),
                Act::NoteCall(call) => drop(self.diary.as_ref().map(|diary| diary.note_call(&call))),
                Act::NoteCancelled(id) => self.cancelled(&id),
                Act::Complain(_) | Act::StopReading => {}
            }
        }
    }

    fn cancelled(&self, id: &Id) {
        drop(self.diary.as_ref().map(|diary| diary.note_cancelled(id)));
    }

    fn send(&self, about: &Id, piece: Piece) {
        if let Some(stream) = lock(&self.streams).get(&about.to_string()) {
            // A client that hung up does not hear it.
            let _ = stream.send(piece);
        }
    }

    async fn flood(self: Arc<Self>) {
        loop {
            for _ in 0..100 {
                self.send(&Value::Null, Piece::Message(json!({"jsonrpc": "2.0", "method": LIST_CHANGED})));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
