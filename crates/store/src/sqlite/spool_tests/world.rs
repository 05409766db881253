//! Any deeds of several processes: what they were told is stored is there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt as _;

use proptest::prelude::*;
use tokio::sync::oneshot;
use windlass_vocab::Envelope;

use super::super::Folder;
use super::super::claims::Owned;
use super::super::commit::{Committer, Upkeep};
use super::super::job::{Job, Pending};
use super::super::readers::{Readers, Sight};
use super::super::remove::Remove;
use super::super::write_lock::Patience;
use super::{batch, commit, committer, message, plain, rich, session};
use crate::conformance::sample;
use crate::projections::project;
use crate::{Batch, Head, StoreError, Writer, hash_of};

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
            self.append(number, super::batch(vec![sample::opened("ada", &number.to_string())]));
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
        self.process(process).keep_up(Upkeep::InAPause);
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
            Deed::KeepUp(process) => self.process(process).keep_up(Upkeep::InAPause),
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
                .with(Sight::Spool, move |reading| {
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

/// Does the deeds and looks after each.
fn holds(deeds: &[Deed]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut world = World::new();
        for deed in deeds {
            world.act(deed);
            world.check().await;
        }
        world.go_on_overtaken();
        world.check().await;
    });
}

#[test]
fn a_lap_is_begun_whatever_lap_the_file_names() {
    let session = [Deed::TakeOver(1, 1), Deed::Plain(0), Deed::Plain(0), Deed::TakeOver(0, 2)];
    let laps = [Deed::DieBetweenLaps(0), Deed::FailBetweenLaps(2), Deed::Plain(0), Deed::Plain(0)];
    holds(&[session, laps].concat());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_processes_do_what_they_stored_is_there(deeds in proptest::collection::vec(deed(), 1..60)) {
        // proves J1, J3, J5
        holds(&deeds);
    }
}
