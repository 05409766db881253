//! A fake server over streamable HTTP, in process.
//!
//! It has its own thread, like [`crate::ModelServer`]; dropping the handle stops it and closes every
//! connection. Parts of a script that concern processes (noise, standard error, grandchildren) have no effect here;
//! a server that exits closes every connection and stops answering.

mod answer;
mod behaviour;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc as channel, oneshot, watch};

pub use behaviour::{HttpAnswers, HttpBehaviour, HttpFault, HttpFaultKind, HttpSession, McpHttpRequest};

use super::act::{FakeAction, Id};
use super::conversation::{LIST_CHANGED, McpConversation};
use super::diary::McpDiary;
use super::script::McpScript;

/// A running fake server.
#[derive(Debug)]
pub struct McpHttpServer {
    address: SocketAddr,
    state: Arc<McpServerState>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl McpHttpServer {
    /// Plays a script on a free port of the loopback address, without HTTP faults.
    pub fn start(script: McpScript) -> io::Result<Self> {
        Self::with(script, HttpBehaviour::default())
    }

    /// Plays a script, with this HTTP behaviour.
    pub fn with(script: McpScript, behaviour: HttpBehaviour) -> io::Result<Self> {
        let state = Arc::new(McpServerState::new(script, behaviour));
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = mpsc::channel();
        let inside = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("fake-mcp-server".to_owned())
            .spawn(move || serve(&inside, &tell, stopped))?;
        let address = told.recv().map_err(io::Error::other)??;
        Ok(Self { address, state, stop: Some(stop), thread: Some(thread) })
    }

    /// The URL for a client.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Every request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<McpHttpRequest> {
        lock(&self.state.seen).clone()
    }

    /// How many requests had this MCP method.
    #[must_use]
    pub fn times(&self, method: &str) -> usize {
        lock(&self.state.seen).iter().filter(|request| request.body["method"] == method).count()
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

/// A part of the response to a request.
#[derive(Debug)]
enum ResponsePiece {
    Message(Value),
    Bytes(Vec<u8>),
    /// The beginning of a message, with nothing after it.
    Half(Vec<u8>),
}

/// The state that all connections share.
#[derive(Debug)]
struct McpServerState {
    behaviour: HttpBehaviour,
    diary: Option<McpDiary>,
    conversation: Mutex<McpConversation>,
    /// The streams of open requests by request id; under `null`, the stream for messages that belong to no request.
    streams: Mutex<HashMap<String, channel::UnboundedSender<ResponsePiece>>>,
    seen: Mutex<Vec<McpHttpRequest>>,
    sessions: Mutex<BTreeMap<String, u32>>,
    faults: Mutex<Vec<HttpFault>>,
    gone: watch::Sender<bool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(state: &Arc<McpServerState>, tell: &mpsc::Sender<io::Result<SocketAddr>>, stopped: oneshot::Receiver<()>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return drop(tell.send(Err(error))),
    };
    runtime.block_on(async {
        let opened = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        match opened.and_then(|listener| Ok((listener.local_addr()?, listener))) {
            Ok((address, listener)) => {
                tokio::spawn(accept(listener, Arc::clone(state)));
                let _ = tell.send(Ok(address));
                let _ = stopped.await;
            }
            Err(error) => drop(tell.send(Err(error))),
        }
    });
}

async fn accept(listener: TcpListener, state: Arc<McpServerState>) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let mut gone = state.gone.subscribe();
            tokio::select! {
                biased;
                _ = gone.wait_for(|gone| *gone) => {}
                // An error means that the client went away, which is no fault of the server.
                _ = state.attend(stream) => {}
            }
        });
    }
}

impl McpServerState {
    fn new(script: McpScript, behaviour: HttpBehaviour) -> Self {
        let diary = script.diary.as_deref().map(McpDiary::at);
        Self {
            faults: Mutex::new(behaviour.faults.clone()),
            behaviour,
            diary,
            conversation: Mutex::new(McpConversation::new(script, BTreeMap::new())),
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
            if then == answer::ConnectionFate::Close || request.header("connection") == Some("close") {
                break;
            }
        }
        Ok(())
    }

    /// Opens the stream of a request; `null` is the one for messages that belong to no request.
    fn open(&self, id: &Id) -> channel::UnboundedReceiver<ResponsePiece> {
        let (sender, receiver) = channel::unbounded_channel();
        lock(&self.streams).insert(id.to_string(), sender);
        receiver
    }

    fn close(&self, id: &Id) {
        lock(&self.streams).remove(&id.to_string());
    }

    /// Receives a message and performs the actions for it.
    fn hear(self: &Arc<Self>, message: &Value) {
        if let (Some(diary), Some(method)) = (&self.diary, message["method"].as_str()) {
            // If the diary can't be written, the test that reads it fails.
            let _ = diary.note_heard(method);
        }
        let acts = lock(&self.conversation).hear(message);
        self.perform(acts);
    }

    fn perform(self: &Arc<Self>, acts: Vec<FakeAction>) {
        for act in acts {
            match act {
                FakeAction::Say { about, message } => {
                    self.send(&about.unwrap_or_default(), ResponsePiece::Message(message));
                }
                FakeAction::Line { about, bytes } => self.send(&about, ResponsePiece::Bytes(bytes)),
                FakeAction::Half { about, message } => {
                    let text = message.to_string();
                    self.send(&about, ResponsePiece::Half(text.as_bytes()[..text.len() / 2].to_vec()));
                }
                FakeAction::After { ms, acts } => {
                    let later = Arc::clone(self);
                    tokio::spawn(async move {
                        tokio::time::sleep(Duration::from_millis(ms)).await;
                        later.perform(acts);
                    });
                }
                FakeAction::FloodForEver => drop(tokio::spawn(Arc::clone(self).flood())),
                FakeAction::Exit => drop(self.gone.send_replace(true)),
                FakeAction::NoteCall(call) => drop(self.diary.as_ref().map(|diary| diary.note_call(&call))),
                FakeAction::NoteCancelled(id) => self.cancelled(&id),
                FakeAction::Complain(_) | FakeAction::StopReading => {}
            }
        }
    }

    fn cancelled(&self, id: &Id) {
        drop(self.diary.as_ref().map(|diary| diary.note_cancelled(id)));
    }

    fn send(&self, about: &Id, piece: ResponsePiece) {
        if let Some(stream) = lock(&self.streams).get(&about.to_string()) {
            // A client that disconnected does not get it.
            let _ = stream.send(piece);
        }
    }

    async fn flood(self: Arc<Self>) {
        loop {
            for _ in 0..100 {
                self.send(&Value::Null, ResponsePiece::Message(json!({"jsonrpc": "2.0", "method": LIST_CHANGED})));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
