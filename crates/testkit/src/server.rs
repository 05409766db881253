//! Plays a script over HTTP, as a server of every wire: the path of a request says which one is spoken.
//!
//! The server has its own thread and sends bytes that it rendered once, so that neither the client's
//! runtime nor its clock affects it. Dropping the handle stops it and closes every connection.
//!
//! ```
//! use windlass_testkit::{ModelServer, Script, ScriptStep};
//!
//! let server = ModelServer::start(Script::of([ScriptStep::say("hello")]))?;
//! assert!(server.base_url().starts_with("http://127.0.0.1:"));
//! assert!(server.requests().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;
use windlass_provider::WireKind;

use crate::http::HttpRequest;
use crate::legality::order_legality;
use crate::plan::{AnswerDelivery, Plan, PlanEnd, chunk};
use crate::position::{ScriptPosition, asks_for_stream, count_replies};
use crate::prompt_cache::PromptCacheModel;
use crate::recorded_request::{RecordedRequest, ServerLog};
use crate::request::{message_list, read_request};
use crate::script::{Inspection, ReplyPace, Script, ScriptStep, TokenCounting};
use crate::stage::{Cue, ScriptPlayer};
use crate::wire::{self, step_text};

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 4096;

/// A running server.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    state: Arc<ModelServerState>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Where a server listens and whether it logs requests to a file.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The port on the loopback address; 0 lets the system choose.
    pub port: u16,
    /// A file to which each request is appended as a JSON line. Without one, requests are kept in memory.
    pub log: Option<PathBuf>,
}

/// The state that all connections share.
#[derive(Debug)]
struct ModelServerState {
    stage: ScriptPlayer,
    seen: Mutex<ServerLog>,
    /// Notified of every request that was counted.
    arrived: Condvar,
    ready: Mutex<HashMap<PlanKey, Arc<Plan>>>,
    cache: Mutex<PromptCacheModel>,
}

/// What an answer without faults depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PlanKey {
    wire: WireKind,
    scene: usize,
    number: usize,
    asked: AnswerDelivery,
}

impl ModelServer {
    /// Plays `script` on a free port of the loopback address.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::with(script, &ServerOptions::default())
    }

    /// Plays `script` with these options.
    pub fn with(script: Script, options: &ServerOptions) -> io::Result<Self> {
        let seen = Mutex::new(ServerLog::open(options.log.as_deref())?);
        let state = Arc::new(ModelServerState {
            stage: ScriptPlayer::new(script),
            seen,
            arrived: Condvar::new(),
            ready: Mutex::default(),
            cache: Mutex::default(),
        });
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = mpsc::channel();
        let (port, inside) = (options.port, Arc::clone(&state));
        let thread = std::thread::Builder::new()
            .name("scripted-model".to_owned())
            .spawn(move || serve(port, inside, &tell, stopped))?;
        let address = told.recv().map_err(io::Error::other)??;
        Ok(Self { address, state, stop: Some(stop), thread: Some(thread) })
    }

    /// The base URL for a client; it ends in `/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests so far that ask about the server and its models, in order of arrival.
    #[must_use]
    pub fn questions(&self) -> Vec<RecordedRequest> {
        lock(&self.state.seen).questions.clone()
    }

    /// Every request so far that is no question about the server and its models, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.state.seen).kept.clone()
    }

    /// How many requests were received, without questions about the server and its models.
    #[must_use]
    pub fn count(&self) -> usize {
        lock(&self.state.seen).count
    }

    /// Waits until this many requests were received, without questions about the server and its models. Returns whether
    /// they came within a minute.
    #[must_use]
    pub fn wait_for_requests(&self, count: usize) -> bool {
        let seen = lock(&self.state.seen);
        let waited = self.state.arrived.wait_timeout_while(seen, Duration::from_secs(60), |seen| seen.count < count);
        waited.unwrap_or_else(PoisonError::into_inner).0.count >= count
    }

    /// Why requests were refused: illegal requests, and those for which the script has no reply.
    #[must_use]
    pub fn refused(&self) -> Vec<String> {
        lock(&self.state.seen).refused.clone()
    }

    /// Waits while the server runs; that is, for ever unless its thread dies.
    pub fn join(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The main loop of a server's thread. Returning drops the runtime and every connection with it.
fn serve(
    port: u16,
    state: Arc<ModelServerState>,
    tell: &mpsc::Sender<io::Result<SocketAddr>>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return drop(tell.send(Err(error))),
    };
    runtime.block_on(async {
        let opened = listen(port).and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = match opened {
            Ok(opened) => opened,
            Err(error) => return drop(tell.send(Err(error))),
        };
        tokio::spawn(accept(listener, state));
        let _ = tell.send(Ok(address));
        let _ = stopped.await;
    });
}

fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    socket.listen(BACKLOG)
}

async fn accept(listener: TcpListener, state: Arc<ModelServerState>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let state = Arc::clone(&state);
                tokio::spawn(async move {
                    // An error here means that the client went away, which is no fault of the server.
                    let _ = state.attend(stream).await;
                });
            }
            // Out of file descriptors: some connection must close first.
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

impl ModelServerState {
    /// Answers the requests of one connection, one after another.
    async fn attend(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut connection = BufReader::with_capacity(16 * 1024, stream);
        while let Some(request) = HttpRequest::read(&mut connection).await? {
            let closing = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
            let plan = self.answer(request);
            perform(&plan, &mut connection).await?;
            if closing || plan.end != PlanEnd::KeepAlive {
                break;
            }
        }
        Ok(())
    }

    fn answer(&self, request: HttpRequest) -> Arc<Plan> {
        let wire = wire::wire_of(&request.method, &request.path);
        if let (Some(wire), Inspection::Quick) = (wire, self.stage.script.inspection) {
            return self.answer_quickly(wire, &request.body);
        }
        let body = serde_json::from_slice(&request.body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&request.body).into_owned()));
        let mut record = RecordedRequest {
            n: 0,
            messages: wire.and_then(|wire| message_list(wire, &body).as_array()).map_or(0, Vec::len),
            method: request.method,
            path: request.path,
            headers: request.headers,
            scene: None,
            step: None,
            faulty: false,
            refused: None,
            body,
            raw: request.body,
        };
        let plan = match wire {
            Some(wire) => self.answer_call(wire, &mut record),
            None => self.answer_question(&record),
        };
        let is_question =
            wire.is_none() && (record.method == "GET" || self.stage.script.answers.contains_key(&record.path));
        if is_question {
            lock(&self.seen).questions.push(record);
        } else {
            lock(&self.seen).keep(record);
            self.arrived.notify_all();
        }
        plan
    }

    /// Answers a request that is no model call.
    fn answer_question(&self, record: &RecordedRequest) -> Arc<Plan> {
        match self.stage.script.answers.get(&record.path) {
            Some(answer) => Arc::new(Plan::answer(200, "application/json", answer.to_string().into_bytes())),
            None => elsewhere(record),
        }
    }

    fn answer_call(&self, wire: WireKind, record: &mut RecordedRequest) -> Arc<Plan> {
        let asked = if record.body["stream"] == true { AnswerDelivery::Streamed } else { AnswerDelivery::Whole };
        let read = read_request(wire, &record.body);
        let cue = read
            .and_then(|request| order_legality(&request.messages).map(|()| request))
            .map_err(|what| format!("illegal request: {what}"))
            .and_then(|request| self.stage.cue(&ScriptPosition::of_request(&request)));
        match cue {
            Ok(cue) => {
                record.scene = Some(cue.scene);
                record.step = Some(cue.number);
                record.faulty = cue.fault.is_some();
                let cut = cut_at_stop(cue.step, &wire::stop_sequences(wire, &record.body));
                match self.counted(wire, &record.raw, &cue, cut) {
                    Some(step) => Arc::new(Plan::of(wire, &Cue { step: &step, ..cue }, self.pace(cue.step), asked)),
                    None => self.ready(wire, &cue, asked),
                }
            }
            Err(why) => {
                let plan = Plan::error(wire, 400, &why);
                record.refused = Some(why);
                Arc::new(plan)
            }
        }
    }

    /// Returns the step with the counts of this request, where they are measured and it is answered.
    fn counted(&self, wire: WireKind, raw: &[u8], cue: &Cue<'_>, cut: Option<ScriptStep>) -> Option<ScriptStep> {
        let measured = self.stage.script.counting == TokenCounting::Measured && cue.fault.is_none();
        if !measured {
            return cut;
        }
        let step = cut.unwrap_or_else(|| cue.step.clone());
        let completion = step.usage.unwrap_or_default().completion;
        let usage = Some(lock(&self.cache).count(wire, raw, completion));
        Some(ScriptStep { usage, ..step })
    }

    fn answer_quickly(&self, wire: WireKind, body: &[u8]) -> Arc<Plan> {
        let asked = if asks_for_stream(body) { AnswerDelivery::Streamed } else { AnswerDelivery::Whole };
        lock(&self.seen).count += 1;
        self.arrived.notify_all();
        match self.stage.numbered(0, count_replies(wire, body)) {
            Ok(cue) => self.ready(wire, &cue, asked),
            Err(why) => {
                let plan = Plan::error(wire, 400, &why);
                lock(&self.seen).refused.push(why);
                Arc::new(plan)
            }
        }
    }

    /// The plan for a cue: cached if it has no fault.
    fn ready(&self, wire: WireKind, cue: &Cue<'_>, asked: AnswerDelivery) -> Arc<Plan> {
        let pace = self.pace(cue.step);
        if cue.fault.is_some() {
            return Arc::new(Plan::of(wire, cue, pace, asked));
        }
        let key = PlanKey { wire, scene: cue.scene, number: cue.number, asked };
        let mut ready = lock(&self.ready);
        Arc::clone(ready.entry(key).or_insert_with(|| Arc::new(Plan::of(wire, cue, pace, asked))))
    }

    fn pace<'a>(&'a self, step: &'a ScriptStep) -> &'a ReplyPace {
        step.pace.as_ref().unwrap_or(&self.stage.script.pace)
    }
}

/// The step cut before the first stop sequence of the request, as a server does. `None` if it contains none.
fn cut_at_stop(step: &ScriptStep, sequences: &[&str]) -> Option<ScriptStep> {
    let end = sequences.iter().filter_map(|sequence| step.text.find(sequence)).min()?;
    Some(ScriptStep { text: step.text[..end].to_owned(), ..step.clone() })
}

/// Answers requests that are no model calls: the list of models, or an error.
fn elsewhere(record: &RecordedRequest) -> Arc<Plan> {
    Arc::new(if record.method == "GET" && record.path.split('?').next().is_some_and(|path| path.ends_with("/models")) {
        let list = json!({"object": "list", "data": [{"id": step_text::MODEL, "object": "model", "created": 0, "owned_by": "windlass"}]});
        Plan::answer(200, "application/json", list.to_string().into_bytes())
    } else if record.method == "GET" && record.path == "/" {
        // By this answer the client recognizes a server on the person's own machine.
        Plan::answer(200, "text/plain; charset=utf-8", b"Ollama is running".to_vec())
    } else {
        Plan::error(WireKind::Chat, 404, &format!("the scripted server has nothing at {}", record.path))
    })
}

async fn perform(plan: &Plan, connection: &mut BufReader<TcpStream>) -> io::Result<()> {
    pause(plan.wait_ms).await;
    for (at, write) in plan.writes.iter().enumerate() {
        if at > 0 {
            pause(plan.pause_ms).await;
        }
        connection.write_all(write).await?;
    }
    match plan.end {
        PlanEnd::KeepAlive | PlanEnd::Close => Ok(()),
        PlanEnd::Hold => {
            let mut rest = [0; 512];
            while connection.read(&mut rest).await? > 0 {}
            Ok(())
        }
        PlanEnd::Flood(bytes) => {
            let block = chunk(&[b'x'; 64 * 1024]);
            let mut sent = 0;
            while sent < bytes {
                connection.write_all(&block).await?;
                sent += block.len() as u64;
            }
            Ok(())
        }
    }
}

async fn pause(ms: u64) {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}
