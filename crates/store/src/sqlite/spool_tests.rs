//! Several processes, a spool and a database: what was answered with `Ok` is there, in order, whoever dies when.

mod world;

use std::fs;
use std::path::Path;

use tokio::sync::oneshot;
use windlass_vocab::{At, CancelAsked, EndReason, LeaseTaken, Record, SessionId, StopBy};

use super::append::Append;
use super::claims::Owned;
use super::commit::{Committer, Upkeep};
use super::job::{Job, Pending};
use super::readers::{Readers, Sight};
use super::stow::stowed;
use super::write_lock::Patience;
use super::{Durability, Folder, SqliteOptions, SqliteStore, schema};
use crate::conformance::sample;
use crate::{Batch, Entry, Head, Sealed, SessionLog, StoreError, Writer, verify};

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
    let mut committer = Committer::new(&folder, opened, options).unwrap();
    committer.lap_from(SHORT);
    committer
}

fn commit(committer: &mut Committer, sealed: Sealed) -> Result<(), StoreError> {
    commit_together(committer, vec![sealed])
}

/// In one group; gives the first error.
fn commit_together(committer: &mut Committer, batches: Vec<Sealed>) -> Result<(), StoreError> {
    let hand_in = |sealed| {
        let (caller, answer) = oneshot::channel();
        (Box::new(Pending::new(Append(sealed), caller)) as Box<dyn Job>, answer)
    };
    let (mut group, answers): (Vec<_>, Vec<_>) = batches.into_iter().map(hand_in).unzip();
    committer.commit(&mut group, Patience::Wait).unwrap();
    group.into_iter().for_each(Job::answer);
    answers.into_iter().try_for_each(|mut answer| answer.try_recv().unwrap())
}

fn rows(committer: &Committer) -> u32 {
    committer.connection().query_row("SELECT count(*) FROM batches", [], |row| row.get(0)).unwrap()
}

fn lap_on_disk(dir: &Path) -> u64 {
    u64::from_le_bytes(*fs::read(dir.join("spool")).unwrap()[8..].first_chunk().unwrap())
}

/// Appends to a session until the spool has been begun anew, as one process; gives the records.
fn until_next_lap(dir: &Path, committer: &mut Committer, writer: &mut Writer) -> usize {
    let (lap, mut records) = (lap_on_disk(dir), 0);
    while lap_on_disk(dir) == lap {
        let sealed = writer.seal(plain()).unwrap();
        records += sealed.envelopes.len();
        commit(committer, sealed).unwrap();
        committer.keep_up(Upkeep::InAPause);
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
async fn a_group_as_large_as_the_spool_may_be_long_takes_no_transaction() {
    let dir = tempfile::tempdir().unwrap();
    let mut committer = committer(dir.path());
    let mut writer = opened_session(&mut committer);
    let long = || batch(vec![sample::call_finished(0, &"x".repeat(16_000), None)]);
    let batches = (0..60).map(|_| writer.seal(long()).unwrap()).collect();
    commit_together(&mut committer, batches).unwrap();
    assert_eq!((rows(&committer), writer.head.seq), (1, 61));
    committer.close();
    assert_eq!(rows(&committer), 61);
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
    fs::write(dir.path().join("spool"), "").unwrap();
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
    let head = readers.with(Sight::Spool, |reading| reading.head(session(1))).await.unwrap();
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
async fn slips_that_follow_nothing_do_not_follow_a_session_that_begins_again() {
    // proves J9: records that were answered with Ok are kept before any that the power left behind
    let dir = tempfile::tempdir().unwrap();
    let mut committer = committer(dir.path());
    let database = fs::read(dir.path().join("windlass.db")).unwrap();
    let mut lost = opened_session(&mut committer);
    for _ in 0..2 {
        commit(&mut committer, lost.seal(plain()).unwrap()).unwrap();
    }
    // The first slip would follow where it ends, or does not.
    for batches in [vec![], vec![plain()]] {
        let kept = tempfile::tempdir().unwrap();
        fs::write(kept.path().join("windlass.db"), &database).unwrap();
        fs::copy(dir.path().join("spool"), kept.path().join("spool")).unwrap();
        let open = || SqliteStore::open(kept.path(), SqliteOptions::default()).unwrap();
        let (store, mut again) = (open(), Writer::new(session(1), Head::default(), 9));
        for batch in [vec![batch(vec![sample::opened("ada", "notes")])], batches].concat() {
            store.append(again.seal(batch).unwrap()).await.unwrap();
        }
        assert_eq!(store.head(session(1)).await.unwrap(), again.head);
        drop(store);
        assert_eq!(verify(&open(), session(1)).await.unwrap().records, again.head.seq);
    }
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
    assert_eq!(readers.with(Sight::Spool, |reading| reading.head(session(1))).await, Err(gone));
    // What was answered with Ok is saved on the way out, and nothing is missing then.
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
