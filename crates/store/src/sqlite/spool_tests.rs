//! Several processes, a spool and a database: what was answered with `Ok` is there, in order, whoever dies when.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use proptest::prelude::*;
use tokio::sync::oneshot;
use windlass_vocab::{At, CancelAsked, EndReason, Envelope, LeaseTaken, Record, SessionId, StopBy};

use super::append::Append;
use super::claims::Owned;
use super::commit::Committer;
use super::job::{Job, Pending};
use super::readers::Readers;
use super::remove::Remove;
use super::stow::stowed;
use super::write_lock::Patience;
use super::{Durability, Folder, SqliteOptions, SqliteStore, schema};
use crate::conformance::sample;
use crate::projections::project;
use crate::{Batch, Entry, Head, Sealed, SessionLog, StoreError, Writer, hash_of, verify};

/// A length that a few batches reach.
const SHORT: u64 = 2_500;

fn session(n: u8) -> SessionId {
    SessionId(uuid::Uuid::from_u128(u128::from(n) + 1))
}

fn batch(records: Vec<Record>) -> Batch {
    Batch { at: At(0), entries: records.into_iter().map(Entry::new).collect(), ..Batch::default() }
}

/// A batch that changes nothing but the journal.
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

/// A batch that takes a transaction.
fn message(n: u32) -> Batch {
    batch(vec![sample::accepted(&format!("m{n}"), "hi")])
}

fn committer(dir: &Path) -> Committer {
    let folder = Folder(dir.to_owned());
    let opened = schema::open(&folder, Durability::Normal).unwrap();
    let options = SqliteOptions { durability: Durability::Normal, ..SqliteOptions::default() };
    let mut committer = Committer::new(&folder, opened, &options).unwrap();
    committer.lap_from(SHORT);
    committer
}

fn commit(committer: &mut Committer, sealed: Sealed) -> Result<(), StoreError> {
    let (caller, mut answer) = oneshot::channel();
    let mut group: [Box<dyn Job>; 1] = [Box::new(Pending::new(Append(sealed), caller))];
    committer.commit(&mut group, Patience::Wait).unwrap();
    group.into_iter().for_each(Job::answer);
    answer.try_recv().unwrap()
}

fn lap_on_disk(dir: &Path) -> u64 {
    u64::from_le_bytes(*fs::read(dir.join("spool")).unwrap()[8..].first_chunk().unwrap())
}

/// A few processes on one data folder, and what they were told is stored.
struct World {
    dir: tempfile::TempDir,
    /// A process that died begins again when it is needed.
    processes: [Option<Committer>; PROCESSES],
    writers: BTreeMap<u8, Owner>,
    overtaken: Vec<Owner>,
    stored: BTreeMap<u8, Vec<Envelope>>,
    readers: Readers,
    writers_made: u64,
    batches_made: u32,
}

struct Owner {
    process: usize,
    writer: Writer,
}

#[derive(Clone, Debug)]
enum Deed {
    Plain(u8),
    Rich(u8),
    Message(u8),
    /// Another process takes the session over.
    TakeOver(u8, usize),
    GoOnOvertaken,
    Remove(u8),
    KeepUp(usize),
    /// The process dies and another begins.
    Die(usize),
    /// The process dies behind the commit that ends a lap of the spool, before the next is begun.
    DieBetweenLaps(usize),
    /// The process can't name the lap it begins.
    FailBetweenLaps(usize),
    Stow(usize),
}

const PROCESSES: usize = 3;

fn deed() -> impl Strategy<Value = Deed> {
    let (sessions, processes) = (0..2u8, 0..PROCESSES);
    prop_oneof![
        8 => sessions.clone().prop_map(Deed::Plain),
        3 => sessions.clone().prop_map(Deed::Rich),
        2 => sessions.clone().prop_map(Deed::Message),
        2 => (sessions.clone(), processes.clone()).prop_map(|(session, process)| Deed::TakeOver(session, process)),
        1 => Just(Deed::GoOnOvertaken),
        1 => sessions.prop_map(Deed::Remove),
        3 => processes.clone().prop_map(Deed::KeepUp),
        1 => processes.clone().prop_map(Deed::Die),
        1 => processes.clone().prop_map(Deed::DieBetweenLaps),
        1 => processes.clone().prop_map(Deed::FailBetweenLaps),
        1 => processes.prop_map(Deed::Stow),
    ]
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let processes = std::array::from_fn(|_| Some(committer(dir.path())));
        let readers = Readers::new(&Folder(dir.path().to_owned()), Owned::default());
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

    /// A writer unlike all others.
    fn writer(&mut self, number: u8, head: Head) -> Writer {
        self.writers_made += 1;
        Writer::new(session(number), head, self.writers_made)
    }

    fn append(&mut self, number: u8, batch: Batch) {
        if !self.writers.contains_key(&number) {
            let writer = self.writer(number, Head::default());
            self.writers.insert(number, Owner { process: usize::from(number), writer });
            self.append(number, self::batch(vec![sample::opened("ada", &number.to_string())]));
        }
        let owner = self.writers.get_mut(&number).unwrap();
        let sealed = owner.writer.seal(batch).unwrap();
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
        self.writers.insert(number, Owner { process, writer });
        self.append(number, batch(vec![sample::lease(epoch)]));
        self.overtaken.push(Owner { process: old, writer: before });
    }

    /// Whoever was overtaken tries to go on, some time later.
    fn go_on_overtaken(&mut self) {
        for Owner { process, mut writer } in std::mem::take(&mut self.overtaken) {
            // proves J5: it writes nothing more
            let refused = commit(self.process(process), writer.seal(plain()).unwrap());
            assert_eq!(refused, Err(StoreError::Conflict));
        }
    }

    fn remove(&mut self, number: u8) {
        let Some(owner) = self.writers.remove(&number) else { return };
        self.stored.remove(&number);
        let (caller, _answer) = oneshot::channel();
        let mut group: [Box<dyn Job>; 1] = [Box::new(Pending::new(Remove(session(number)), caller))];
        self.process(owner.process).commit(&mut group, Patience::Wait).unwrap();
    }

    /// Begins a lap, but the file goes on naming the one before.
    fn begin_unnamed(&mut self, process: usize) {
        let spool = self.dir.path().join("spool");
        let before = fs::read(&spool).unwrap();
        self.process(process).keep_up();
        let file = fs::File::options().write(true).open(&spool).unwrap();
        file.write_all_at(&before[..16], 0).unwrap();
    }

    fn act(&mut self, deed: &Deed) {
        match *deed {
            Deed::Plain(number) => self.append(number, plain()),
            Deed::Rich(number) => {
                self.batches_made += 1;
                self.append(number, rich(self.batches_made));
            }
            Deed::Message(number) => {
                self.batches_made += 1;
                self.append(number, message(self.batches_made));
            }
            Deed::TakeOver(number, process) => self.take_over(number, process),
            Deed::GoOnOvertaken => self.go_on_overtaken(),
            Deed::Remove(number) => self.remove(number),
            Deed::KeepUp(process) => self.process(process).keep_up(),
            Deed::Die(process) => self.processes[process] = None,
            Deed::DieBetweenLaps(process) => {
                self.begin_unnamed(process);
                self.processes[process] = None;
            }
            Deed::FailBetweenLaps(process) => self.begin_unnamed(process),
            Deed::Stow(process) => self.process(process).close(),
        }
    }

    /// What is read is what was stored, beside whoever writes.
    async fn check(&self) {
        for number in 0..2 {
            let stored = self.stored.get(&number).cloned().unwrap_or_default();
            let head = self.writers.get(&number).map(|owner| owner.writer.head).unwrap_or_default();
            let row = project(None, &stored).map(|fold| fold.row);
            let (read, before, batches, found, row_found, rows) = self
                .readers
                .with_spool(move |reading| {
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_processes_do_what_they_stored_is_there(deeds in proptest::collection::vec(deed(), 1..60)) {
        // proves J1, J3, J5
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut world = World::new();
            for deed in &deeds {
                world.act(deed);
                world.check().await;
            }
            world.go_on_overtaken();
            world.check().await;
        });
    }
}

/// Appends to a session until the spool has been begun anew, as one process; gives the records.
fn until_next_lap(dir: &Path, committer: &mut Committer, writer: &mut Writer) -> usize {
    let (lap, mut records) = (lap_on_disk(dir), 0);
    while lap_on_disk(dir) == lap {
        let sealed = writer.seal(plain()).unwrap();
        records += sealed.envelopes.len();
        commit(committer, sealed).unwrap();
        committer.keep_up();
    }
    records
}

fn opened_session(committer: &mut Committer) -> Writer {
    let mut writer = Writer::new(session(1), Head::default(), 1);
    commit(committer, writer.seal(batch(vec![sample::opened("ada", "notes")])).unwrap()).unwrap();
    writer
}

#[tokio::test]
async fn batches_wait_on_the_spool_and_are_stowed_many_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut committer = committer(dir.path());
    let mut writer = opened_session(&mut committer);
    let rows = |committer: &Committer| -> u32 {
        committer.connection().query_row("SELECT count(*) FROM batches", [], |row| row.get(0)).unwrap()
    };
    for _ in 0..3 {
        commit(&mut committer, writer.seal(plain()).unwrap()).unwrap();
    }
    assert_eq!(rows(&committer), 1);
    committer.close();
    assert_eq!(rows(&committer), 4);
    until_next_lap(dir.path(), &mut committer, &mut writer);
    assert_eq!(u64::from(rows(&committer)), writer.head.seq.div_ceil(2));
    assert_eq!(stowed(committer.connection()).unwrap().lap, lap_on_disk(dir.path()));
    assert!(fs::metadata(dir.path().join("spool")).unwrap().len() < SHORT + 2_000, "it is used again");
}

#[tokio::test]
async fn a_spool_cut_short_anywhere_loses_only_what_is_behind() {
    // proves J9: after loss of power a journal ends with a whole batch, and goes on
    let dir = tempfile::tempdir().unwrap();
    let mut committer = committer(dir.path());
    let mut writer = opened_session(&mut committer);
    for _ in 0..3 {
        commit(&mut committer, writer.seal(plain()).unwrap()).unwrap();
    }
    let spool = fs::read(dir.path().join("spool")).unwrap();
    for cut in (0..spool.len()).step_by(41).chain([spool.len()]) {
        let copy = tempfile::tempdir().unwrap();
        for name in ["windlass.db", "windlass.db-wal"] {
            fs::copy(dir.path().join(name), copy.path().join(name)).unwrap();
        }
        fs::write(copy.path().join("spool"), &spool[..cut]).unwrap();
        let store = SqliteStore::open(copy.path(), SqliteOptions::default());
        let store = match store {
            Err(StoreError::Foreign { .. }) if (1..16).contains(&cut) => continue,
            store => store.unwrap(),
        };
        let head = store.head(session(1)).await.unwrap();
        assert!(head.seq % 2 == 1 && head.seq <= 7, "cut at {cut}: {head:?}");
        assert_eq!(head.seq == 7, cut == spool.len(), "cut at {cut}");
        let mut successor = Writer::new(session(1), head, 2);
        for _ in 0..2 {
            store.append(successor.seal(plain()).unwrap()).await.unwrap();
        }
        assert_eq!(store.head(session(1)).await.unwrap(), successor.head);
        verify(&store, session(1)).await.unwrap();
    }
}

#[tokio::test]
async fn a_spool_from_another_time_is_told() {
    // proves J9: a database put back without its spool is not written on
    let dir = tempfile::tempdir().unwrap();
    let mut committer = committer(dir.path());
    let mut writer = opened_session(&mut committer);
    committer.close();
    drop(committer);
    let old = fs::read(dir.path().join("windlass.db")).unwrap();
    let mut committer = self::committer(dir.path());
    until_next_lap(dir.path(), &mut committer, &mut writer);
    drop(committer);
    fs::write(dir.path().join("windlass.db"), old).unwrap();
    let error = SqliteStore::open(dir.path(), SqliteOptions::default()).unwrap_err();
    assert!(matches!(&error, StoreError::Damaged { what } if what.contains("newer than the database")), "{error:?}");
    fs::write(dir.path().join("spool"), "Dear diary").unwrap();
    let error = SqliteStore::open(dir.path(), SqliteOptions::default()).unwrap_err();
    assert_eq!(error, StoreError::Foreign { path: dir.path().join("spool") });
    fs::remove_file(dir.path().join("spool")).unwrap();
    assert_eq!(SqliteStore::open(dir.path(), SqliteOptions::default()).unwrap().head(session(1)).await.unwrap().seq, 1);
}

#[tokio::test]
async fn a_database_of_the_first_version_gets_a_spool() {
    // proves J7
    let dir = tempfile::tempdir().unwrap();
    let mut committer = committer(dir.path());
    let mut writer = opened_session(&mut committer);
    committer.close();
    committer.connection().execute_batch("DROP TABLE spool; PRAGMA user_version = 1").unwrap();
    drop(committer);
    fs::remove_file(dir.path().join("spool")).unwrap();
    let mut committer = self::committer(dir.path());
    for _ in 0..2 {
        commit(&mut committer, writer.seal(plain()).unwrap()).unwrap();
    }
    drop(committer);
    let store = SqliteStore::open(dir.path(), SqliteOptions::default()).unwrap();
    assert_eq!(store.head(session(1)).await.unwrap(), writer.head);
    verify(&store, session(1)).await.unwrap();
}

#[tokio::test]
async fn whoever_missed_a_lap_of_the_spool_knows_nothing_by_heart() {
    // proves J5
    let dir = tempfile::tempdir().unwrap();
    let (mut old, mut new) = (committer(dir.path()), committer(dir.path()));
    let mut overtaken = opened_session(&mut old);
    commit(&mut old, overtaken.seal(plain()).unwrap()).unwrap();
    let mut writer = Writer::new(session(1), overtaken.head, 2);
    commit(&mut new, writer.seal(batch(vec![sample::lease(1)])).unwrap()).unwrap();
    until_next_lap(dir.path(), &mut new, &mut writer);
    assert_eq!(commit(&mut old, overtaken.seal(plain()).unwrap()), Err(StoreError::Conflict));
}

#[tokio::test]
async fn slips_beyond_a_window_are_seen_by_others() {
    let dir = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (committer(dir.path()), committer(dir.path()));
    one.lap_from(u64::MAX);
    let mut writer = opened_session(&mut one);
    let long: Record = LeaseTaken { epoch: 0, holder: "h".repeat(20_000) }.into();
    for _ in 0..20 {
        commit(&mut one, writer.seal(batch(vec![long.clone()])).unwrap()).unwrap();
    }
    let readers = Readers::new(&Folder(dir.path().to_owned()), Owned::default());
    let head = readers.with_spool(|reading| reading.head(session(1))).await.unwrap();
    assert_eq!(head, writer.head);
    let mut successor = Writer::new(session(1), head, 2);
    commit(&mut other, successor.seal(batch(vec![sample::lease(1)])).unwrap()).unwrap();
    assert_eq!(commit(&mut one, writer.seal(plain()).unwrap()), Err(StoreError::Conflict));
}

#[tokio::test]
async fn what_the_database_lost_with_the_power_takes_its_slips_along() {
    // proves J9: with NORMAL the tail may be lost, but what is left is whole
    let dir = tempfile::tempdir().unwrap();
    let mut committer = committer(dir.path());
    committer.lap_from(u64::MAX);
    let mut writer = opened_session(&mut committer);
    for _ in 0..2 {
        commit(&mut committer, writer.seal(plain()).unwrap()).unwrap();
    }
    let (lasts, kept) = (writer.head, tempfile::tempdir().unwrap());
    for name in ["windlass.db", "windlass.db-wal"] {
        fs::copy(dir.path().join(name), kept.path().join(name)).unwrap();
    }
    let mut other = Writer::new(session(2), Head::default(), 2);
    for batch in [message(1), plain()] {
        commit(&mut committer, writer.seal(batch).unwrap()).unwrap();
    }
    for batch in [batch(vec![sample::opened("ada", "other")]), plain(), rich(0)] {
        commit(&mut committer, other.seal(batch).unwrap()).unwrap();
    }
    fs::copy(dir.path().join("spool"), kept.path().join("spool")).unwrap();
    let store = SqliteStore::open(kept.path(), SqliteOptions::default()).unwrap();
    assert_eq!(store.head(session(1)).await.unwrap(), lasts);
    assert_eq!(store.head(session(2)).await.unwrap(), Head::default());
    assert_eq!(store.sessions("ada").await.unwrap().len(), 1);
    let mut successor = Writer::new(session(1), lasts, 3);
    store.append(successor.seal(message(1)).unwrap()).await.unwrap();
    store.append(successor.seal(plain()).unwrap()).await.unwrap();
    assert_eq!(verify(&store, session(1)).await.unwrap().records, successor.head.seq);
}

#[tokio::test]
async fn a_spool_that_was_removed_takes_nothing_more() {
    // proves J9: an append that answers Ok can be found again
    let dir = tempfile::tempdir().unwrap();
    let mut committer = committer(dir.path());
    let mut writer = opened_session(&mut committer);
    commit(&mut committer, writer.seal(plain()).unwrap()).unwrap();
    let (spool, head) = (dir.path().join("spool"), writer.head);
    fs::remove_file(&spool).unwrap();
    let gone = StoreError::Gone { path: spool };
    assert_eq!(commit(&mut committer, writer.seal(plain()).unwrap()), Err(gone.clone()));
    let readers = Readers::new(&Folder(dir.path().to_owned()), Owned::default());
    assert_eq!(readers.with_spool(|reading| reading.head(session(1))).await, Err(gone));
    // What was answered with Ok is saved on the way out.
    committer.close();
    drop(committer);
    let found = SqliteStore::open(dir.path(), SqliteOptions::default()).unwrap().head(session(1)).await.unwrap();
    assert!(found.seq >= head.seq, "{found:?}");
}

#[tokio::test]
async fn a_lock_that_was_removed_is_made_again_and_everybody_comes_to_it() {
    // proves J5: two processes never write at once, nor past each other
    let dir = tempfile::tempdir().unwrap();
    let mut one = committer(dir.path());
    let mut writer = opened_session(&mut one);
    fs::remove_file(dir.path().join("write.lock")).unwrap();
    let mut other = committer(dir.path());
    let lock = fs::File::open(dir.path().join("write.lock")).unwrap();
    lock.lock().unwrap();
    let (caller, _answer) = oneshot::channel();
    let append = Append(writer.seal(plain()).unwrap());
    let mut group: [Box<dyn Job>; 1] = [Box::new(Pending::new(append, caller))];
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| one.commit(&mut group, Patience::Wait).unwrap());
        // It has nothing to do but to wait for the lock that is there now.
        for _ in 0..50 {
            std::thread::yield_now();
            assert!(!writing.is_finished());
        }
        lock.unlock().unwrap();
    });
    let mut successor = Writer::new(session(1), writer.head, 2);
    commit(&mut other, successor.seal(batch(vec![sample::lease(1)])).unwrap()).unwrap();
    assert_eq!(commit(&mut one, writer.seal(plain()).unwrap()), Err(StoreError::Conflict));
}
