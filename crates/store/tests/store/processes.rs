//! Several processes on one file. A child is this very test binary, given a part to play by an environment variable.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use windlass_store::conformance::sample;
use windlass_store::{
    Batch, Durability, Entry, Head, Inbox, Ownership, SessionHolder, SessionLog, SqliteOptions, SqliteStore,
    StoreError, Writer, verify,
};
use windlass_vocab::{SessionId, Timestamp};

const PROCESSES: u128 = 16;
const BATCHES: u64 = 40;
const PART: &str = "WINDLASS_TEST_PART";
const FOLDER: &str = "WINDLASS_TEST_FOLDER";

fn session(n: u128) -> SessionId {
    SessionId(uuid::Uuid::from_u128(n))
}

fn open(dir: &Path) -> SqliteStore {
    SqliteStore::open(dir, SqliteOptions { durability: Durability::Normal, ..SqliteOptions::default() }).unwrap()
}

fn child(dir: &Path, part: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::a_child_plays_its_part", "--nocapture"])
        .env(PART, part)
        .env(FOLDER, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Not a test by itself: the entry point of the children.
#[tokio::test]
async fn a_child_plays_its_part() {
    let (Ok(part), Some(dir)) = (std::env::var(PART), std::env::var_os(FOLDER)) else { return };
    let store = open(Path::new(&dir));
    if part == "hold" {
        let _lease = store.claim(session(1)).await.unwrap();
        println!("holding");
        loop {
            std::thread::park();
        }
    }
    hammer(&store, part.parse().unwrap()).await;
}

/// Appends to its own session and puts messages into one that all children share.
async fn hammer(store: &SqliteStore, n: u128) {
    let _lease = store.claim(session(n)).await.unwrap();
    let mut writer = Writer::new(session(n), Head::default(), 1);
    let opened = Batch { entries: vec![Entry::new(sample::opened("ada", &n.to_string()))], ..Batch::default() };
    store.append(writer.seal(opened).unwrap()).await.unwrap();
    for turn in 0..BATCHES {
        let entries = vec![Entry::new(sample::call_finished(0, &"x".repeat(2_000), None))];
        let batch = Batch { at: Timestamp(0), entries, ..Batch::default() };
        store.append(writer.seal(batch).unwrap()).await.unwrap();
        if turn % 10 == 0 {
            store.put(session(0), sample::waiting(&format!("{n}-{turn}"), "hello")).await.unwrap();
        }
    }
    assert_eq!(store.head(session(n)).await.unwrap(), writer.head);
}

#[tokio::test]
async fn sixteen_processes_share_one_file_without_a_failure() {
    // proves J5
    let dir = tempfile::tempdir().unwrap();
    let children: Vec<_> = (1..=PROCESSES).map(|n| child(dir.path(), &n.to_string())).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let store = open(dir.path());
    for n in 1..=PROCESSES {
        assert_eq!(verify(&store, session(n)).await.unwrap().records, BATCHES + 1);
    }
    assert_eq!(store.waiting(session(0)).await.unwrap().len() as u64, PROCESSES as u64 * BATCHES / 10);
    assert_eq!(store.sessions("ada").await.unwrap().len() as u128, PROCESSES);
}

#[tokio::test]
async fn a_backup_taken_while_processes_write_is_whole() {
    // proves J9
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut large = Writer::new(session(99), Head::default(), 1);
    let opened = Batch {
        entries: vec![Entry::new(sample::opened("ada", "large"))],
        blobs: vec![vec![7; 9 * 1024 * 1024].into()],
        ..Batch::default()
    };
    store.append(large.seal(opened).unwrap()).await.unwrap();
    let children: Vec<_> = (1..=4).map(|n| child(dir.path(), &n.to_string())).collect();
    let mut counts = Vec::new();
    for n in 0..3 {
        let to = dir.path().join("backups").join(n.to_string());
        let held = store.backup(&to).await.unwrap();
        assert_eq!((held.broken.as_slice(), held.loss), (&[][..], None));
        // The backup is a data folder like any other, and can be written to.
        let copy = open(&to);
        assert_eq!((copy.loss(), copy.sessions("ada").await.unwrap().len() as u64), (None, held.sessions));
        let mut writer = Writer::new(session(99), copy.head(session(99)).await.unwrap(), 5);
        let next = Batch { entries: vec![Entry::new(sample::lease(2))], ..Batch::default() };
        copy.append(writer.seal(next).unwrap()).await.unwrap();
        assert_eq!(verify(&copy, session(99)).await.unwrap().records, 2);
        assert!(store.backup(&to).await.unwrap_err().to_string().contains("is not empty"));
        counts.push(held.records);
    }
    assert!(counts.is_sorted(), "{counts:?}");
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let last = dir.path().join("last");
    assert_eq!(store.backup(&last).await.unwrap().records, 1 + 4 * (BATCHES + 1));
    assert_eq!(open(&last).waiting(session(0)).await.unwrap(), store.waiting(session(0)).await.unwrap());
}

#[tokio::test]
async fn a_session_is_freed_by_the_death_of_its_owner() {
    // proves J5
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut holder = child(dir.path(), "hold");
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("holding")));
    assert_eq!(
        store.claim(session(1)).await.unwrap_err(),
        StoreError::Busy { holder: format!("process {}", holder.id()) }
    );
    // A server says who drives a session that it only follows.
    let read_only = SqliteStore::open_read_only(dir.path(), dir.path()).unwrap();
    for store in [&store, &read_only] {
        assert_eq!(store.holder(session(1)).await.unwrap(), Some(SessionHolder { process: Some(holder.id()) }));
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(store.holder(session(1)).await.unwrap(), None);
    store.claim(session(1)).await.unwrap();
}
