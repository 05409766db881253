//! Random actions of several processes on one folder: every batch that was reported as stored can be read.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use tokio::sync::oneshot;
use windlass_vocab::{CancelAsked, EndReason, Envelope, Record, SessionId, StopBy, Timestamp};

use super::append::AppendBatch;
use super::claims::OwnedCount;
use super::commit::Committer;
use super::folder::DataFolder;
use super::job::{Job, PendingJob};
use super::options::{Durability, SqliteOptions};
use super::queue::CommitPatience;
use super::read_only::Source;
use super::readers::{LogOnClose, ReadConnections};
use super::remove::RemoveSession;
use super::schema;
use crate::conformance::sample;
use crate::projections::project;
use crate::{AppendError, Batch, Entry, Head, SealedBatch, Writer, hash_of};

fn session(n: u8) -> SessionId {
    SessionId(uuid::Uuid::from_u128(u128::from(n) + 1))
}

fn batch(records: Vec<Record>) -> Batch {
    Batch { at: Timestamp(0), entries: records.into_iter().map(Entry::new).collect(), ..Batch::default() }
}

/// A batch that changes only the journal.
fn plain() -> Batch {
    batch(vec![CancelAsked { by: StopBy::Person }.into(), CancelAsked { by: StopBy::Person }.into()])
}

/// A batch that changes the session's row as well.
fn rich(n: u32) -> Batch {
    batch(match n % 2 {
        0 => vec![sample::run_started(n / 2)],
        _ => vec![sample::run_ended(EndReason::Completed)],
    })
}

/// A batch that changes the inbox as well.
fn message(n: u32) -> Batch {
    batch(vec![sample::accepted(&format!("m{n}"), "hi")])
}

fn committer(dir: &Path) -> Committer {
    let folder = DataFolder(dir.to_owned());
    let opened = schema::open(&folder, Durability::Normal).unwrap();
    let options = SqliteOptions { durability: Durability::Normal, ..SqliteOptions::default() };
    Committer::new(&folder, opened, options).unwrap()
}

fn commit(committer: &mut Committer, sealed: SealedBatch) -> Result<(), AppendError> {
    let (caller, mut answer) = oneshot::channel();
    let mut group: [Box<dyn Job>; 1] = [Box::new(PendingJob::new(AppendBatch(sealed), caller))];
    committer.commit(&mut group, CommitPatience::Wait).unwrap();
    group.into_iter().for_each(Job::answer);
    answer.try_recv().unwrap()
}

/// A few processes on one data folder, and the records reported to them as stored.
struct SeveralProcesses {
    dir: tempfile::TempDir,
    /// A process that died (`None`) is started again when it is needed.
    processes: [Option<Committer>; PROCESSES],
    writers: BTreeMap<u8, TestProcess>,
    overtaken: Vec<TestProcess>,
    stored: BTreeMap<u8, Vec<Envelope>>,
    readers: ReadConnections,
    writers_made: u64,
    batches_made: u32,
}

struct TestProcess {
    process: usize,
    writer: Writer,
}

#[derive(Clone, Debug)]
enum Action {
    Plain(u8),
    Rich(u8),
    Message(u8),
    /// Another process takes the session over.
    TakeOver(u8, usize),
    GoOnOvertaken,
    Remove(u8),
    Checkpoint(usize),
    /// The process dies and is started again.
    Die(usize),
}

const PROCESSES: usize = 3;

fn action() -> impl Strategy<Value = Action> {
    let (sessions, processes) = (0..2u8, 0..PROCESSES);
    prop_oneof![
        8 => sessions.clone().prop_map(Action::Plain),
        3 => sessions.clone().prop_map(Action::Rich),
        2 => sessions.clone().prop_map(Action::Message),
        2 => (sessions.clone(), processes.clone()).prop_map(|(session, process)| Action::TakeOver(session, process)),
        1 => Just(Action::GoOnOvertaken),
        1 => sessions.prop_map(Action::Remove),
        2 => processes.clone().prop_map(Action::Checkpoint),
        1 => processes.prop_map(Action::Die),
    ]
}

impl SeveralProcesses {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let processes = std::array::from_fn(|_| Some(committer(dir.path())));
        let readers = {
            let folder = DataFolder(dir.path().to_owned());
            ReadConnections::new(&folder, Source::Live(folder.database()), LogOnClose::Moved, OwnedCount::default())
        };
        Self {
            dir,
            processes,
            writers: BTreeMap::new(),
            overtaken: Vec::new(),
            stored: BTreeMap::new(),
            readers,
            writers_made: 0,
            batches_made: 0,
        }
    }

    fn process(&mut self, number: usize) -> &mut Committer {
        self.processes[number].get_or_insert_with(|| committer(self.dir.path()))
    }

    /// A writer with a new nonce.
    fn writer(&mut self, number: u8, head: Head) -> Writer {
        self.writers_made += 1;
        Writer::new(session(number), head, self.writers_made)
    }

    fn append(&mut self, number: u8, next: Batch) {
        if !self.writers.contains_key(&number) {
            let writer = self.writer(number, Head::default());
            self.writers.insert(number, TestProcess { process: usize::from(number), writer });
            self.append(number, batch(vec![sample::opened("ada", &number.to_string())]));
        }
        let owner = self.writers.get_mut(&number).unwrap();
        let sealed = owner.writer.seal(next).unwrap();
        let records = sealed.envelopes.iter().map(|envelope| Envelope::clone(envelope));
        self.stored.entry(number).or_default().extend(records);
        let process = owner.process;
        commit(self.process(process), sealed).unwrap();
    }

    fn take_over(&mut self, number: u8, process: usize) {
        self.append(number, plain());
        let before = self.writers[&number].writer.clone();
        let (old, epoch) = (self.writers[&number].process, before.head.epoch + 1);
        let writer = self.writer(number, before.head);
        self.writers.insert(number, TestProcess { process, writer });
        self.append(number, batch(vec![sample::lease(epoch)]));
        self.overtaken.push(TestProcess { process: old, writer: before });
    }

    /// Writers whose session was taken over try to append, some time later.
    fn go_on_overtaken(&mut self) {
        for TestProcess { process, mut writer } in std::mem::take(&mut self.overtaken) {
            // proves J5: it writes nothing more
            let refused = commit(self.process(process), writer.seal(plain()).unwrap());
            assert_eq!(refused, Err(AppendError::Conflict));
        }
    }

    fn remove(&mut self, number: u8) {
        let Some(owner) = self.writers.remove(&number) else { return };
        self.stored.remove(&number);
        let (caller, _answer) = oneshot::channel();
        let mut group: [Box<dyn Job>; 1] = [Box::new(PendingJob::new(RemoveSession(session(number)), caller))];
        self.process(owner.process).commit(&mut group, CommitPatience::Wait).unwrap();
    }

    fn act(&mut self, action: &Action) {
        match *action {
            Action::Plain(number) => self.append(number, plain()),
            Action::Rich(number) => {
                self.batches_made += 1;
                self.append(number, rich(self.batches_made));
            }
            Action::Message(number) => {
                self.batches_made += 1;
                self.append(number, message(self.batches_made));
            }
            Action::TakeOver(number, process) => self.take_over(number, process),
            Action::GoOnOvertaken => self.go_on_overtaken(),
            Action::Remove(number) => self.remove(number),
            Action::Checkpoint(process) => self.process(process).checkpoint(),
            Action::Die(process) => self.processes[process] = None,
        }
    }

    /// Reads return exactly the stored records, while others write.
    async fn check(&self) {
        for number in 0..2 {
            let stored = self.stored.get(&number).cloned().unwrap_or_default();
            let head = self.writers.get(&number).map(|owner| owner.writer.head).unwrap_or_default();
            let row = project(None, &stored).map(|fold| fold.row);
            let (read, before, batches, found, row_found, rows) = self
                .readers
                .with(move |reading| {
                    let session = session(number);
                    Ok((
                        reading.records(session, 0)?,
                        reading.records_before(session, u64::MAX >> 1, 2)?,
                        reading.batches(session)?,
                        reading.head(session)?,
                        reading.row(session)?,
                        reading.rows("ada")?,
                    ))
                })
                .await
                .unwrap();
            assert_eq!(read, stored);
            assert_eq!(found, head);
            assert_eq!(row_found, row);
            assert_eq!(rows.into_iter().find(|row| row.session == session(number)), row);
            assert!(batches.iter().all(|batch| hash_of(&batch.bytes) == batch.head.hash));
            assert_eq!(batches.last().map(|batch| batch.head).unwrap_or_default(), head);
            assert!(stored.ends_with(&before) && (before.len() >= 2 || before.len() == stored.len()), "{before:?}");
        }
    }
}

/// Executes the actions and checks the store after each.
fn holds(actions: &[Action]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut world = SeveralProcesses::new();
        for action in actions {
            world.act(action);
            world.check().await;
        }
        world.go_on_overtaken();
        world.check().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_processes_do_what_they_stored_is_there(actions in proptest::collection::vec(action(), 1..60)) {
        // proves J1, J3, J5
        holds(&actions);
    }
}
