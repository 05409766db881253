//! Writes journals directly, without the binary.

use std::path::Path;
use std::sync::Arc;

use windlass_store::{
    Batch, Entry, SealedBatch, SessionLog as _, SqliteOptions, SqliteStore, StoreError, Writer, hash_of,
};
use windlass_vocab::{Envelope, Json, Record, SessionId, Timestamp, Unknown};

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a thread").block_on(work)
}

fn store(data: &Path) -> SqliteStore {
    SqliteStore::open(data, SqliteOptions::default()).expect("a store")
}

/// Appends a record to a session; `write` may change the sealed batch before.
pub(crate) fn append(data: &Path, key: &str, record: Record, write: impl FnOnce(SealedBatch) -> SealedBatch) {
    block_on(async {
        let store = store(data);
        let session = store.find("local", key).await?.expect("a session");
        let mut writer = Writer::new(session, store.head(session).await?, 7);
        let sealed = writer.seal(Batch { at: Timestamp(1), entries: vec![Entry::new(record)], ..Batch::default() })?;
        Ok::<(), StoreError>(store.append(write(sealed)).await?)
    })
    .expect("appended");
}

/// A record of a kind that no version knows.
pub(crate) fn unknown() -> Record {
    Record::Unknown(Unknown { kind: "MoonPhased".into(), body: Json::parse(r#"{"phase":"full"}"#).expect("JSON") })
}

/// The same batch as a future version would write it.
pub(crate) fn of_version_two(mut sealed: SealedBatch) -> SealedBatch {
    let text = String::from_utf8(sealed.bytes).expect("text").replace(r#"{"v":1,"#, r#"{"v":2,"moon":"full","#);
    sealed.bytes = text.into_bytes();
    sealed.head.hash = hash_of(&sealed.bytes);
    let lines = std::str::from_utf8(&sealed.bytes).expect("text").lines();
    sealed.envelopes = lines.map(|line| Arc::new(Envelope::decode(line).expect("a record"))).collect();
    sealed
}

/// Copies a session's journal to another key, with every record passed through `change`.
pub(crate) fn rewrite(data: &Path, from: &str, to: &str, mut change: impl FnMut(&mut Envelope)) {
    let session: SessionId = "0198f3a0-0000-7000-8000-000000000009".parse().expect("an id");
    let rewritten = async {
        let store = store(data);
        let origin = store.find("local", from).await?.expect("a session");
        let mut records = store.read(origin, 0).await?;
        if let Record::SessionOpened(opened) = &mut records[0].record {
            opened.key = to.to_owned();
        }
        records.iter_mut().for_each(&mut change);
        let mut writer = Writer::new(session, windlass_store::Head::default(), 9);
        for batch in records.chunk_by(|_, next| next.batch.0 > 0) {
            let entry = |e: &Envelope| Entry { run: e.run, turn: e.turn, record: e.record.clone() };
            let entries = batch.iter().map(entry).collect();
            store.append(writer.seal(Batch { at: batch[0].at, entries, ..Batch::default() })?).await?;
        }
        Ok::<(), StoreError>(())
    };
    block_on(rewritten).expect("rewritten");
}

/// Writes a session with the first run of another one, again and again, and returns how many records it has.
pub(crate) fn lengthen(data: &Path, from: &str, to: &str, runs: u32) -> u64 {
    let session: SessionId = "0198f3a0-0000-7000-8000-00000000000a".parse().expect("an id");
    block_on(async {
        let store = store(data);
        let origin = store.find("local", from).await?.expect("a session");
        let mut records = store.read(origin, 0).await?;
        if let Record::SessionOpened(opened) = &mut records[0].record {
            opened.key = to.to_owned();
        }
        let of_run = |record: &Envelope| record.run.is_some() || matches!(record.record, Record::MessageAccepted(_));
        let begins = records.iter().position(of_run).expect("a run");
        let ends = records.iter().position(|record| matches!(record.record, Record::RunEnded(_))).expect("an end");
        let mut writer = Writer::new(session, windlass_store::Head::default(), 9);
        let mut batches = Vec::new();
        let mut seal = |records: &[Envelope]| {
            for batch in records.chunk_by(|_, next| next.batch.0 > 0) {
                let entry = |e: &Envelope| Entry { run: e.run, turn: e.turn, record: e.record.clone() };
                let entries = batch.iter().map(entry).collect();
                batches.push(writer.seal(Batch { at: batch[0].at, entries, ..Batch::default() })?);
            }
            Ok::<(), StoreError>(())
        };
        seal(&records[..begins])?;
        let lines: Vec<String> =
            records[begins..=ends].iter().map(|record| serde_json::to_string(record).expect("JSON")).collect();
        for run in 1..=runs {
            let renumbered = lines.iter().map(|line| {
                let line = line.replace("\"1.", &format!("\"{run}.")).replace("\"run\":1", &format!("\"run\":{run}"));
                Envelope::decode(&line.replace("message_id\":\"", &format!("message_id\":\"{run}-"))).expect("a record")
            });
            seal(&renumbered.collect::<Vec<_>>())?;
        }
        let length = writer.head.seq;
        store.restore(batches).await.expect("restored");
        Ok::<u64, StoreError>(length)
    })
    .expect("written")
}
