//! Journals that every version must be able to load.
//!
//! The files under `fixtures/journals/v1` were written once and are never changed after a release; a later version adds
//! a folder beside them.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use windlass_store::conformance::sample;
use windlass_store::{BODY_LIMIT, Blobs, Import, MemoryStore, SessionLog, export, hash_of, verify};
use windlass_vocab::{Envelope, Record};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/journals/v1")
}

fn fixtures() -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 6);
    files
}

#[tokio::test]
async fn every_journal_ever_written_can_be_read_and_holds() {
    // proves J7, J11
    let mut kinds = BTreeSet::new();
    for file in fixtures() {
        let bytes = fs::read(&file).unwrap();
        let store = MemoryStore::new();
        let session = Import::read(&mut bytes.as_slice(), 9).unwrap().finish(&store).await.unwrap();
        verify(&store, session).await.unwrap();
        let mut out = Vec::new();
        export(&store, session, &mut out).await.unwrap();
        assert!(out == bytes, "{} comes out changed", file.display());
        kinds.extend(store.read(session, 0).await.unwrap().iter().map(|envelope| envelope.record.kind().to_owned()));
    }
    let missing: Vec<_> = Record::KINDS.iter().filter(|kind| !kinds.contains(**kind)).collect();
    assert!(missing.is_empty(), "no fixture has {missing:?}");
    assert!(kinds.contains(sample::unknown().kind()));
}

#[test]
fn every_line_is_written_as_it_was_read() {
    // proves J7: this version writes the same bytes as the version that wrote the file
    let mut records = 0;
    for file in fixtures() {
        for line in fs::read_to_string(file).unwrap().lines().filter(|line| line.contains(r#","body":"#)) {
            let envelope = Envelope::decode(line).unwrap();
            let mut written = Vec::new();
            envelope.encode_into(&mut written).unwrap();
            assert_eq!(std::str::from_utf8(&written).unwrap(), line);
            // Events elsewhere have the same form.
            assert_eq!(serde_json::to_string(&envelope).unwrap(), line);
            records += 1;
        }
    }
    assert!(records > 25);
}

#[tokio::test]
async fn contents_beside_the_journal_can_be_read() {
    let bytes = fs::read(folder().join("contents.jsonl")).unwrap();
    let store = MemoryStore::new();
    let session = Import::read(&mut bytes.as_slice(), 9).unwrap().finish(&store).await.unwrap();
    let records = store.read(session, 0).await.unwrap();
    assert!(matches!(&records[1].record, Record::MessageAccepted(message) if message.text.len() > BODY_LIMIT));
    assert_eq!(store.blob(hash_of(BINARY)).await.unwrap().as_deref(), Some(BINARY));
}

const BINARY: &[u8] = &[0xff, 0x00, 0x80];
