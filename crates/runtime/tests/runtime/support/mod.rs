//! A test world whose process can be stopped at any point: before or after any append, inside any model call, before or
//! after the effect of any tool call.

pub(crate) mod fates;
pub(crate) mod undoing;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use windlass_provider::{Model, ModelRequest, Segments, Sink};
use windlass_runtime::{
    AgentSettings, Breakers, FirstMessage, Hub, Instructions, Interest, OpenError, ScaledClock, Services, Session,
    SessionActivity, SessionChoice, SessionClosed,
};
use windlass_store::{
    AddressedCommand, Addressee, AllowedRule, AppendError, Blobs, BoxFuture, CommandState, ControlLane, ForgetOutcome,
    Head, Inbox, Inconsistency, KeepOutcome, KeptRule, Lease, Loss, MemoryStore, Ownership, PutOutcome, SealedBatch,
    SentCommand, SessionHolder, SessionList, SessionLog, SessionQuery, SessionRow, StoreError, StoredBatch,
    TakenCommand, UserRuleId, UserRules, WaitingMessage,
};
use windlass_testkit::{CountingTool, ScriptedModel, counts};
use windlass_tools::{
    AskPolicy, CallContext, Permissions, Registry, Secrets, ServerStage, Tool, ToolServers, Verification, ending_tools,
};
use windlass_vocab::{
    Answer, Attendance, CommandId, ControlOutcome, EffectClass, EffectId, Envelope, Failure, Hash, Json, MessageId,
    Outcome, Policy, QuestionOption, Record, Reply, RunEnded, SessionId, Timestamp, ToolSpec,
};

/// Before or after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// Where the process dies: around the n-th append, in the n-th model call, around the n-th effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    Append(Side, u64),
    Model(u64),
    Tool(Side, u64),
    /// Before the n-th change that an undo makes to files.
    Restore(u64),
    /// The process does not die: the commit that starts a journal succeeds, its answer is lost, and it is retried.
    Unheard,
    /// The outcome of this append is unknown, once: it was not stored, or it was.
    Unclear(Side, u64),
}

/// Counts the events of one process, and ends it at its point. A process that has ended does nothing more: the store
/// rejects its writes and none of its effects continues, although its driver is closed only afterwards and may still
/// receive results of other calls.
#[derive(Default)]
pub(crate) struct Bomb {
    target: Option<Point>,
    gone_off: AtomicBool,
    pub(crate) appends: AtomicU64,
    pub(crate) models: AtomicU64,
    pub(crate) tools: AtomicU64,
    pub(crate) restores: AtomicU64,
    pub(crate) went_off: Notify,
}

impl Bomb {
    pub(crate) fn at(target: Option<Point>) -> Arc<Self> {
        Arc::new(Self { target, ..Self::default() })
    }

    pub(crate) fn is(&self, point: Point) -> bool {
        self.target == Some(point)
    }

    /// Ends the process.
    pub(crate) fn blow(&self) {
        self.gone_off.store(true, Ordering::SeqCst);
        self.went_off.notify_one();
    }

    /// Whether the process reached its point.
    pub(crate) fn has_gone_off(&self) -> bool {
        self.gone_off.load(Ordering::SeqCst)
    }

    /// Returns unless the process ends at this point, or has ended.
    pub(crate) async fn pass(&self, point: Point) {
        if self.is(point) {
            self.blow();
        }
        if self.has_gone_off() {
            std::future::pending::<()>().await;
        }
    }
}

/// The store, which rejects writes of a process once the bomb has gone off.
pub(crate) struct Crashing {
    pub(crate) inner: Arc<MemoryStore>,
    pub(crate) bomb: Arc<Bomb>,
}

impl Crashing {
    /// Runs a write, with the two points around it where the process may end. The memory store writes when it is
    /// called, not when it is awaited, so `write` must include the call itself.
    async fn around(&self, write: impl Future<Output = Result<(), AppendError>>) -> Result<(), AppendError> {
        let number = self.bomb.appends.fetch_add(1, Ordering::SeqCst) + 1;
        self.pass(Point::Append(Side::Before, number))?;
        let unknown = || Err(AppendError::Unknown { why: "the connection died".into() });
        if self.bomb.is(Point::Unclear(Side::Before, number)) {
            return unknown();
        }
        write.await?;
        if self.bomb.is(Point::Unclear(Side::After, number)) {
            return unknown();
        }
        Ok(self.pass(Point::Append(Side::After, number))?)
    }

    /// Returns an error if the process ends at this point, or has ended.
    fn pass(&self, point: Point) -> Result<(), StoreError> {
        if self.bomb.is(point) {
            self.bomb.blow();
        }
        self.alive()
    }

    fn alive(&self) -> Result<(), StoreError> {
        if self.bomb.has_gone_off() { Err(StoreError::Closed) } else { Ok(()) }
    }
}

impl SessionLog for Crashing {
    fn append(&self, sealed: SealedBatch) -> BoxFuture<'_, Result<(), AppendError>> {
        Box::pin(self.around(async move { self.inner.append(sealed).await }))
    }
    fn restore(&self, batches: Vec<SealedBatch>) -> BoxFuture<'_, Result<(), AppendError>> {
        if self.bomb.is(Point::Unheard) && self.bomb.appends.fetch_add(1, Ordering::SeqCst) == 0 {
            return Box::pin(async move {
                self.inner.restore(batches).await?;
                Err(AppendError::Unknown { why: "the connection died".into() })
            });
        }
        Box::pin(self.around(async move { self.inner.restore(batches).await }))
    }
    fn read(&self, session: SessionId, after: u64) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        self.inner.read(session, after)
    }
    fn read_some(
        &self,
        session: SessionId,
        after_seq: u64,
        most_bytes: usize,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        self.inner.read_some(session, after_seq, most_bytes)
    }
    fn read_before(
        &self,
        session: SessionId,
        before: u64,
        most: u32,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        self.inner.read_before(session, before, most)
    }
    fn last_records(&self, sessions: Vec<SessionId>) -> BoxFuture<'_, Result<Vec<u64>, StoreError>> {
        self.inner.last_records(sessions)
    }
    fn head(&self, session: SessionId) -> BoxFuture<'_, Result<Head, StoreError>> {
        self.inner.head(session)
    }
    fn find<'a>(&'a self, owner: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<SessionId>, StoreError>> {
        self.inner.find(owner, key)
    }
    fn row(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionRow>, StoreError>> {
        self.inner.row(session)
    }
    fn sessions<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Vec<SessionRow>, StoreError>> {
        self.inner.sessions(owner)
    }
    fn list<'a>(&'a self, owner: &'a str, query: SessionQuery) -> BoxFuture<'a, Result<SessionList, StoreError>> {
        self.inner.list(owner, query)
    }
    fn session_count<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<u64, StoreError>> {
        self.inner.session_count(owner)
    }
    fn batches(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<StoredBatch>, StoreError>> {
        self.inner.batches(session)
    }
    fn check(&self) -> BoxFuture<'_, Result<Vec<Inconsistency>, StoreError>> {
        self.inner.check()
    }
    fn loss(&self) -> Option<Loss> {
        self.inner.loss()
    }
    fn accept_loss(&self) -> BoxFuture<'_, Result<Option<Loss>, StoreError>> {
        Box::pin(async move {
            self.alive()?;
            self.inner.accept_loss().await
        })
    }
    fn remove(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.alive()?;
            self.inner.remove(session).await
        })
    }
}

impl Ownership for Crashing {
    fn claim(&self, session: SessionId) -> BoxFuture<'_, Result<Lease, StoreError>> {
        self.inner.claim(session)
    }
    fn is_claimed(&self, session: SessionId) -> BoxFuture<'_, Result<bool, StoreError>> {
        self.inner.is_claimed(session)
    }
    fn holder(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionHolder>, StoreError>> {
        self.inner.holder(session)
    }
}

impl Inbox for Crashing {
    fn put(&self, session: SessionId, message: WaitingMessage) -> BoxFuture<'_, Result<PutOutcome, StoreError>> {
        Box::pin(async move {
            self.alive()?;
            self.inner.put(session, message).await
        })
    }
    fn waiting(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<WaitingMessage>, StoreError>> {
        self.inner.waiting(session)
    }
    fn drop_waiting(&self, session: SessionId) -> BoxFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move {
            self.alive()?;
            self.inner.drop_waiting(session).await
        })
    }
}

impl ControlLane for Crashing {
    fn send_command(&self, session: SessionId, command: SentCommand) -> BoxFuture<'_, Result<Addressee, StoreError>> {
        self.inner.send_command(session, command)
    }
    fn commands(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<AddressedCommand>, StoreError>> {
        self.inner.commands(now)
    }
    fn take_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<TakenCommand, StoreError>> {
        self.inner.take_command(id)
    }
    fn settle_command<'a>(
        &'a self,
        id: &'a CommandId,
        outcome: ControlOutcome,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.settle_command(id, outcome)
    }
    fn command_state<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>> {
        self.inner.command_state(id)
    }
    fn withdraw_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>> {
        self.inner.withdraw_command(id)
    }
}

impl UserRules for Crashing {
    fn keep_rule(&self, allowed: AllowedRule) -> BoxFuture<'_, Result<KeepOutcome, StoreError>> {
        self.inner.keep_rule(allowed)
    }
    fn rules_of<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Vec<KeptRule>, StoreError>> {
        self.inner.rules_of(user)
    }
    fn forget_rule<'a>(&'a self, user: &'a str, id: UserRuleId) -> BoxFuture<'a, Result<ForgetOutcome, StoreError>> {
        self.inner.forget_rule(user, id)
    }
}

impl Blobs for Crashing {
    fn blob(&self, hash: Hash) -> BoxFuture<'_, Result<Option<Arc<[u8]>>, StoreError>> {
        self.inner.blob(hash)
    }
}

struct CrashingModel {
    inner: ScriptedModel,
    bomb: Arc<Bomb>,
}

impl Model for CrashingModel {
    fn attempt(
        &self,
        request: &ModelRequest<'_>,
        segments: &mut Segments,
        sink: Sink,
    ) -> windlass_provider::BoxFuture<'static, Result<Reply, Failure>> {
        let attempt = self.inner.attempt(request, segments, sink);
        let bomb = Arc::clone(&self.bomb);
        Box::pin(async move {
            let number = bomb.models.fetch_add(1, Ordering::SeqCst) + 1;
            let reply = attempt.await;
            bomb.pass(Point::Model(number)).await;
            reply
        })
    }
}

struct CrashingTool {
    inner: Arc<dyn Tool>,
    bomb: Arc<Bomb>,
}

impl Tool for CrashingTool {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }
    fn run(&self, context: CallContext, arguments: Value) -> windlass_tools::BoxFuture<'static, Outcome> {
        let (inner, bomb) = (Arc::clone(&self.inner), Arc::clone(&self.bomb));
        Box::pin(async move {
            let number = bomb.tools.fetch_add(1, Ordering::SeqCst) + 1;
            bomb.pass(Point::Tool(Side::Before, number)).await;
            let outcome = inner.run(context, arguments).await;
            bomb.pass(Point::Tool(Side::After, number)).await;
            outcome
        })
    }
    fn verify(&self, context: CallContext, arguments: Value) -> windlass_tools::BoxFuture<'static, Verification> {
        self.inner.verify(context, arguments)
    }
    fn ask_policy(&self) -> AskPolicy {
        self.inner.ask_policy()
    }
    fn timeout(&self) -> Option<Duration> {
        self.inner.timeout()
    }
}

/// Servers whose tools end the process at the bomb's point.
struct CrashingServers {
    inner: Arc<dyn ToolServers>,
    bomb: Arc<Bomb>,
}

impl ToolServers for CrashingServers {
    fn wake(&self) {
        self.inner.wake();
    }
    fn names(&self) -> Vec<String> {
        self.inner.names()
    }
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let crashing = |inner| Arc::new(CrashingTool { inner, bomb: Arc::clone(&self.bomb) }) as Arc<dyn Tool>;
        self.inner.tools().into_iter().map(crashing).collect()
    }
    fn stages(&self) -> BTreeMap<String, ServerStage> {
        self.inner.stages()
    }
    fn settled(&self, servers: Vec<String>) -> windlass_tools::BoxFuture<'static, ()> {
        self.inner.settled(servers)
    }
}

/// Creates the servers of one process.
pub(crate) type Serve = Arc<dyn Fn() -> Arc<dyn ToolServers> + Send + Sync>;

/// What outlives every process: the store, the model's server, the disk.
pub(crate) struct World {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) model: ScriptedModel,
    pub(crate) dir: tempfile::TempDir,
    pub(crate) policy: Policy,
    pub(crate) attendance: Attendance,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) secrets: Vec<(String, String)>,
    /// The size of the model's window, where it is known.
    pub(crate) window: Option<u64>,
    pub(crate) servers: Option<Arc<dyn ToolServers>>,
    /// The servers of each process, and which of their tools may run.
    pub(crate) served: Option<(Serve, Vec<&'static str>)>,
}

/// A tool that never ends by itself, or one with a long result.
struct Extra(ToolSpec);

/// Length of that result, in characters.
pub(crate) const LONG_RESULT: usize = 100_000;

impl Tool for Extra {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }
    fn run(&self, context: CallContext, _: Value) -> windlass_tools::BoxFuture<'static, Outcome> {
        let long = self.0.name.bare() == "long";
        Box::pin(async move {
            if !long {
                context.cancel.cancelled().await;
            }
            Outcome::ok("x".repeat(LONG_RESULT))
        })
    }
}

fn extra(name: &str) -> Arc<dyn Tool> {
    let model = CountingTool::new(name, EffectClass::Once, std::path::Path::new(""));
    Arc::new(Extra(model.spec().clone()))
}

/// How one process ended.
pub(crate) enum End {
    Crashed,
    Ended(Box<RunEnded>),
}

pub(crate) const TOOLS: [(&str, EffectClass); 5] = [
    ("read", EffectClass::ReadOnly),
    ("set", EffectClass::Idempotent),
    ("book", EffectClass::Verifiable),
    ("pay", EffectClass::Once),
    ("gated", EffectClass::Once),
];

impl World {
    pub(crate) fn new(policy: Policy, model: ScriptedModel, attendance: Attendance) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        Self {
            store: Arc::new(MemoryStore::new()),
            model,
            dir,
            policy,
            attendance,
            deadline_ms: None,
            secrets: Vec::new(),
            window: None,
            servers: None,
            served: None,
        }
    }

    pub(crate) fn hub(&self, bomb: &Arc<Bomb>) -> Hub {
        let mut registry = Registry::new();
        for (name, effect) in TOOLS {
            let inner = Arc::new(CountingTool::new(name, effect, self.dir.path()));
            registry.add(Arc::new(CrashingTool { inner, bomb: Arc::clone(bomb) })).expect("a tool");
        }
        for tool in ending_tools().into_iter().chain([extra("stuck"), extra("long")]) {
            registry.add(tool).expect("a tool");
        }
        if let Some(servers) = &self.servers {
            registry.serve(Arc::clone(servers));
        }
        if let Some((serve, _)) = &self.served {
            registry.serve(Arc::new(CrashingServers { inner: serve(), bomb: Arc::clone(bomb) }));
        }
        let model: Arc<dyn Model> = Arc::new(CrashingModel { inner: self.model.clone(), bomb: Arc::clone(bomb) });
        Hub::new(Services {
            store: Arc::new(Crashing { inner: Arc::clone(&self.store), bomb: Arc::clone(bomb) }),
            models: Arc::new(HashMap::from([("scripted".into(), model)])),
            registry,
            secrets: Arc::new(Secrets::new(self.secrets.clone())),
            clock: Arc::new(ScaledClock::new(20_000)),
            breakers: Breakers::default(),
            spending: windlass_store::SpendingCounter::default(),
            guard_locks: None,
            context_sources: Vec::new(),
            workspace: None,
        })
    }

    pub(crate) fn agent(&self) -> AgentSettings {
        let ask = vec!["scripted.gated".parse().expect("a rule")];
        let deny = vec!["scripted.gated(*forbidden*)".parse().expect("a rule")];
        let allowed = TOOLS[..4].iter().map(|(name, _)| *name).chain(["stuck", "long"]);
        let allowed = allowed.map(|name| format!("scripted.{name}"));
        let served = self.served.iter().flat_map(|(_, allowed)| allowed.iter().map(|name| (*name).to_owned()));
        let allow = allowed.chain(served).map(|rule| rule.parse().expect("a rule")).collect();
        AgentSettings {
            name: "test".into(),
            policy: self.policy.clone(),
            models: vec![windlass_vocab::RunModel {
                window: self.window,
                ..windlass_vocab::RunModel::named("scripted")
            }],
            role_chains: BTreeMap::new(),
            instructions: Instructions::default(),
            permissions: Arc::new(Permissions { ask, allow, deny, ..Permissions::default() }),
            deadline_ms: self.deadline_ms,
            attendance: self.attendance,
            output: None,
        }
    }

    pub(crate) async fn open(&self, bomb: &Arc<Bomb>) -> Result<Session, OpenError> {
        self.hub(bomb).open(Self::opening(), self.agent()).await
    }

    pub(crate) fn opening() -> SessionChoice {
        SessionChoice { owner: "me".into(), key: "k".into(), workspace: None }
    }

    /// Runs one process: opens the session, sends the message under the same id each time, and works until the run ends
    /// or the bomb goes off.
    pub(crate) async fn process(&self, bomb: &Arc<Bomb>) -> End {
        let words = FirstMessage { message_id: MessageId("m".into()), message: "go".into() };
        let session = match self.attendance {
            Attendance::Unattended => {
                let hub = self.hub(bomb);
                let opening = hub.open_saying(Self::opening(), self.agent(), words, Interest::Runs);
                let Ok((session, ..)) = opening.await else { return End::Crashed };
                session
            }
            // A person opens a session and sends a message later, if ever.
            Attendance::Attended => {
                let Ok(session) = self.open(bomb).await else { return End::Crashed };
                if session.send(words.message_id, words.message).await.is_err() {
                    return End::Crashed;
                }
                session
            }
        };
        let end = tokio::select! {
            end = self.work(&session) => end,
            () = bomb.went_off.notified() => End::Crashed,
        };
        session.close().await;
        if bomb.has_gone_off() { End::Crashed } else { end }
    }

    async fn work(&self, session: &Session) -> End {
        loop {
            match session.settled().await {
                SessionActivity::Idle => {
                    let ended = self.records().into_iter().rev().find_map(|record| match record {
                        Record::RunEnded(ended) => Some(ended),
                        _ => None,
                    });
                    return End::Ended(Box::new(ended.expect("an idle session's run has ended")));
                }
                SessionActivity::Waiting(questions) => {
                    for asked in questions {
                        // In a world with its own servers the person fills in their forms.
                        let asked_by_server = self.served.as_ref().map(|_| QuestionOption::Submit);
                        let favourites = [QuestionOption::RunAgain, QuestionOption::Once];
                        let favourites = favourites.into_iter().chain(asked_by_server).chain([QuestionOption::No]);
                        let option = favourites.into_iter().find(|option| asked.options.contains(option));
                        let option = option.expect("an option");
                        let form = (option == QuestionOption::Submit).then(|| Json::from(&json!({"name": "Ada"})));
                        let answer = Answer { option, arguments: form, reason: None };
                        if session.answer(asked.question, answer).await.is_err() {
                            return End::Crashed;
                        }
                    }
                }
                SessionActivity::Closed(SessionClosed::Store(_) | SessionClosed::Closed) => return End::Crashed,
                SessionActivity::Working => {}
            }
        }
    }

    /// Returns the journal so far.
    pub(crate) fn records(&self) -> Vec<Record> {
        self.batches().into_iter().flatten().collect()
    }

    /// Returns the journal so far, by batches.
    pub(crate) fn batches(&self) -> Vec<Vec<Record>> {
        let envelopes = futures_now(async {
            match self.store.find("me", "k").await.expect("a store") {
                Some(session) => self.store.read(session, 0).await.expect("a store"),
                None => Vec::new(),
            }
        });
        let batches = envelopes.chunk_by(|_, next| next.batch.0 > 0);
        batches.map(|batch| batch.iter().map(|envelope| envelope.record.clone()).collect()).collect()
    }

    pub(crate) fn executed(&self) -> BTreeMap<EffectId, usize> {
        counts(self.dir.path()).expect("a folder").into_values().flatten().collect()
    }
}

/// Returns the value of a future of the memory store, which is always ready at once.
pub(crate) fn futures_now<T>(future: impl Future<Output = T>) -> T {
    use futures_util::FutureExt as _;
    future.now_or_never().expect("ready at once")
}
