//! A workspace with real file tools, whose process can be stopped at any point of the run and of every undo after it.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use windlass_machine::{Force, Obstacle, preset};
use windlass_provider::Model;
use windlass_runtime::{
    AgentSettings, Breakers, Hub, Instructions, ScaledClock, Services, Session, SessionActivity, SessionChoice,
    UndoError, UndoReport, UndoRequest,
};
use windlass_store::{MemoryStore, SessionLog as _};
use windlass_testkit::{Script, ScriptStep, ScriptedModel};
use windlass_tools::{
    BoxFuture, CallContext, Commands, Mode, Permissions, PlannedChange, Registry, Secrets, Tool, Verification,
    Workspace, builtins,
};
use windlass_vocab::{Attendance, MessageId, Outcome, Record, SnapshotKind, ToolSpec, UndoId, Undoable};

use super::{Bomb, Crashing, Point, Side};

/// What one call does.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Write(&'static str, String),
    Edit(&'static str, &'static str, &'static str),
    Move(&'static str, &'static str, Overwrite),
    Append(&'static str, &'static str),
    Delete(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overwrite {
    Yes,
    No,
}

impl Operation {
    fn step(&self) -> ScriptStep {
        match self {
            Self::Write(path, content) => ScriptStep::call("write_file", json!({"path": path, "content": content})),
            Self::Edit(path, old, new) => {
                ScriptStep::call("edit_file", json!({"path": path, "old_text": old, "new_text": new}))
            }
            Self::Append(path, text) => ScriptStep::call("append_file", json!({"path": path, "text": text})),
            Self::Delete(path) => ScriptStep::call("delete_file", json!({"path": path})),
            Self::Move(from, to, overwrite) => {
                let overwrite = *overwrite == Overwrite::Yes;
                ScriptStep::call("move_file", json!({"from": from, "to": to, "overwrite": overwrite}))
            }
        }
    }
}

/// The state of each path: kind, permissions, bytes or target.
pub(crate) type Tree = BTreeMap<String, (char, u32, Vec<u8>)>;

/// Returns everything below `root`.
pub(crate) fn tree(root: &Path) -> Tree {
    fn visit(root: &Path, folder: &Path, tree: &mut Tree) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = path.symlink_metadata().expect("metadata");
            let name = path.strip_prefix(root).expect("inside").display().to_string();
            let mode = metadata.permissions().mode() & 0o7777;
            if metadata.is_symlink() {
                let target = std::fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes();
                tree.insert(name, ('l', 0, target));
            } else if metadata.is_dir() {
                tree.insert(name, ('d', mode, Vec::new()));
                visit(root, &path, tree);
            } else {
                tree.insert(name, ('f', mode, std::fs::read(&path).expect("a file")));
            }
        }
    }
    let mut found = Tree::new();
    visit(root, root, &mut found);
    found
}

/// A tool that can be stopped before or after its effect.
struct Fragile {
    inner: Arc<dyn Tool>,
    bomb: Arc<Bomb>,
}

impl Tool for Fragile {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }
    fn snapshot_kind(&self) -> SnapshotKind {
        self.inner.snapshot_kind()
    }
    fn planned_changes(&self, arguments: &Value) -> Vec<PlannedChange> {
        self.inner.planned_changes(arguments)
    }
    fn verify(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Verification> {
        self.inner.verify(context, arguments)
    }
    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let (inner, bomb) = (Arc::clone(&self.inner), Arc::clone(&self.bomb));
        Box::pin(async move {
            let number = bomb.tools.fetch_add(1, Ordering::SeqCst) + 1;
            bomb.pass(Point::Tool(Side::Before, number)).await;
            let outcome = inner.run(context, arguments).await;
            bomb.pass(Point::Tool(Side::After, number)).await;
            outcome
        })
    }
}

/// What outlives every process.
pub(crate) struct Undoing {
    pub(crate) store: Arc<MemoryStore>,
    model: ScriptedModel,
    pub(crate) dir: tempfile::TempDir,
    /// Number of processes that reached the point where they were to die.
    pub(crate) deaths: AtomicUsize,
}

/// A process that takes longer than this hangs.
const LONG: Duration = Duration::from_secs(60);

/// How a process ended.
pub(crate) enum Ended<T> {
    Crashed,
    With(T),
}

impl Undoing {
    pub(crate) fn new(operations: &[Operation]) -> Self {
        let steps = operations.iter().map(Operation::step).chain([ScriptStep::say("Done.")]);
        let model = ScriptedModel::new(Script::of(steps));
        let dir = tempfile::tempdir().expect("a folder");
        Self { store: Arc::new(MemoryStore::new()), model, dir, deaths: AtomicUsize::new(0) }
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    fn hub(&self, bomb: &Arc<Bomb>) -> Hub {
        let counts = Arc::clone(bomb);
        let workspace = Workspace::open(self.root()).expect("a workspace").on_restore(move || {
            let number = counts.restores.fetch_add(1, Ordering::SeqCst) + 1;
            if counts.is(Point::Restore(number)) {
                // The panic ends the driver, as a crash would end the process.
                counts.blow();
                std::panic::resume_unwind(Box::new("the end of this process"));
            }
        });
        let workspace = Arc::new(workspace);
        let mut registry = Registry::new();
        for inner in builtins(Arc::clone(&workspace), Commands::new(None, std::env::temp_dir())) {
            registry.add(Arc::new(Fragile { inner, bomb: Arc::clone(bomb) })).expect("a tool");
        }
        let model: Arc<dyn Model> = Arc::new(self.model.clone());
        Hub::new(Services {
            store: Arc::new(Crashing { inner: Arc::clone(&self.store), bomb: Arc::clone(bomb) }),
            models: Arc::new(HashMap::from([("scripted".into(), model)])),
            registry,
            secrets: Arc::new(Secrets::default()),
            clock: Arc::new(ScaledClock::new(20_000)),
            breakers: Breakers::default(),
            spending: windlass_store::SpendingCounter::default(),
            guard_locks: None,
            context_sources: Vec::new(),
            workspace: Some(workspace),
        })
    }

    fn agent() -> AgentSettings {
        AgentSettings {
            name: "test".into(),
            policy: preset("default").expect("a preset"),
            models: vec![windlass_vocab::RunModel::named("scripted")],
            role_chains: BTreeMap::new(),
            instructions: Instructions::default(),
            permissions: Arc::new(Permissions { mode: Mode::Bypass, ..Permissions::default() }),
            deadline_ms: None,
            attendance: Attendance::Unattended,
            output: None,
        }
    }

    /// Runs one process: opens the session, does `work` in it, and ends or dies; deaths are counted.
    async fn process<T, F: Future<Output = Ended<T>>>(
        &self,
        bomb: &Arc<Bomb>,
        work: impl FnOnce(Session) -> F,
    ) -> Ended<T> {
        let ended = self.live(bomb, work).await;
        if !bomb.has_gone_off() {
            return ended;
        }
        self.deaths.fetch_add(1, Ordering::SeqCst);
        Ended::Crashed
    }

    async fn live<T, F: Future<Output = Ended<T>>>(
        &self,
        bomb: &Arc<Bomb>,
        work: impl FnOnce(Session) -> F,
    ) -> Ended<T> {
        let opening = SessionChoice { owner: "me".into(), key: "k".into(), workspace: None };
        let Ok(session) = self.hub(bomb).open(opening, Self::agent()).await else { return Ended::Crashed };
        let done = async {
            tokio::select! {
                done = work(session.clone()) => done,
                () = bomb.went_off.notified() => Ended::Crashed,
            }
        };
        let done = tokio::time::timeout(LONG, done).await.expect("it hangs");
        session.close().await;
        done
    }

    /// Runs the whole script, after a crash from where it was.
    pub(crate) async fn run(&self, bomb: &Arc<Bomb>) -> Ended<()> {
        self.process(bomb, |session| async move {
            if session.send(MessageId("m".into()), "go").await.is_err() {
                return Ended::Crashed;
            }
            match session.settled().await {
                SessionActivity::Idle => Ended::With(()),
                SessionActivity::Closed(_) => Ended::Crashed,
                other => panic!("{other:?}"),
            }
        })
        .await
    }

    /// Undoes `of`, or the last call; with force only where a crash left it unknown who changed what.
    pub(crate) async fn undo(&self, bomb: &Arc<Bomb>, of: Option<Undoable>) -> Ended<Option<UndoReport>> {
        self.process(bomb, |session| async move {
            // An undo that another process left unfinished comes first.
            if let SessionActivity::Closed(_) = session.settled().await {
                return Ended::Crashed;
            }
            let mut request = UndoRequest { of, ..UndoRequest::default() };
            loop {
                match session.undo(request).await {
                    Ok(report) => return Ended::With(Some(report)),
                    Err(UndoError::Nothing | UndoError::TakenBack { .. }) => return Ended::With(None),
                    Err(UndoError::Closed(_)) => return Ended::Crashed,
                    Err(UndoError::Conflicts(conflicts)) => {
                        let unknown = |obstacle| obstacle == Obstacle::LeftUnknown;
                        assert!(conflicts.iter().all(|shown| unknown(shown.conflict.obstacle)), "{conflicts:#?}");
                        request.force = Force::Yes;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        })
        .await
    }

    /// Runs the script, dying at each of `deaths` in turn.
    pub(crate) async fn run_dying(&self, deaths: &[Point]) {
        for death in deaths.iter().map(|point| Some(*point)).chain([None]) {
            if let Ended::With(()) = self.run(&Bomb::at(death)).await {
                return;
            }
        }
        panic!("it never ended");
    }

    /// Undoes every call, last first; the n-th undo dies where `dies` says. Returns how many there were.
    pub(crate) async fn undo_all(&self, dies: impl Fn(usize) -> Option<Point>) -> usize {
        for number in 0.. {
            let before = self.undos().len();
            let mut ended = self.undo(&Bomb::at(dies(number)), None).await;
            while let Ended::Crashed = ended {
                // The next opener of the session finishes an undo that was started; one that was not is started again.
                ended = match self.run(&Bomb::at(None)).await {
                    Ended::Crashed => Ended::Crashed,
                    Ended::With(()) if self.undos().len() > before => Ended::With(None),
                    Ended::With(()) => self.undo(&Bomb::at(None), None).await,
                };
            }
            if let Ended::With(None) = ended
                && self.undos().len() == before
            {
                return number;
            }
        }
        unreachable!("it ends")
    }

    /// Undoes every undo, last first, so that everything is as after the run.
    pub(crate) async fn redo_all(&self) {
        for undo in self.undos().into_iter().rev() {
            let Ended::With(Some(report)) = self.undo(&Bomb::at(None), Some(Undoable::Undo(undo))).await else {
                panic!("{undo} can't be undone")
            };
            assert_eq!(report.left_alone, BTreeMap::new());
        }
    }

    /// Returns the finished undos.
    pub(crate) fn undos(&self) -> Vec<UndoId> {
        let undone = |record: &Record| match record {
            Record::Undone(undone) => Some(undone.undo),
            _ => None,
        };
        self.records().iter().filter_map(undone).collect()
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        super::futures_now(async {
            match self.store.find("me", "k").await.expect("a store") {
                Some(session) => {
                    let envelopes = self.store.read(session, 0).await.expect("a store");
                    envelopes.into_iter().map(|envelope| envelope.record).collect()
                }
                None => Vec::new(),
            }
        })
    }
}
