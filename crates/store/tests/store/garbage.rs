//! Whatever a file contains, import reports the error with its line, stores nothing and never panics.

use std::sync::LazyLock;

use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::sample::Index;
use windlass_store::conformance::sample;
use windlass_store::{Head, Import, ImportError, MemoryStore, SessionLog, StoreError, Writer, export};
use windlass_vocab::SessionId;

fn session() -> SessionId {
    "0198f3a0-0000-7000-8000-000000000001".parse().unwrap()
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

static JOURNAL: LazyLock<Vec<u8>> = LazyLock::new(|| {
    run(async {
        let store = MemoryStore::new();
        let mut writer = Writer::new(session(), Head::default(), 1);
        for batch in sample::every_kind(session()) {
            let batch = windlass_store::Batch { blobs: vec![vec![0xff; 9].into(), b"text"[..].into()], ..batch };
            store.append(writer.seal(batch).unwrap()).await.unwrap();
        }
        exported(&store).await
    })
});

async fn exported(store: &MemoryStore) -> Vec<u8> {
    let mut out = Vec::new();
    export(store, session(), &mut out).await.unwrap();
    out
}

/// Imports into an empty store and returns the stored bytes; after an error the store must be empty.
fn import_into_empty(bytes: &[u8]) -> Result<Vec<u8>, ImportError> {
    run(async {
        let store = MemoryStore::new();
        let imported = match Import::read(&mut &*bytes, 9) {
            Ok(import) => import.finish(&store).await,
            Err(error) => Err(error),
        };
        match imported {
            Ok(_) => Ok(exported(&store).await),
            Err(error) => {
                assert_eq!(store.head(session()).await.unwrap(), Head::default());
                Err(error)
            }
        }
    })
}

fn broken_line(bytes: &[u8]) -> u64 {
    match import_into_empty(bytes) {
        Err(ImportError::Line { line, .. }) => line,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_wrong_is_named_by_its_line() {
    let text = String::from_utf8(JOURNAL.clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let with = |n: usize, line: &str| {
        let mut lines = lines.clone();
        lines[n - 1] = line;
        lines.join("\n") + "\n"
    };
    assert_eq!(broken_line(b""), 1);
    assert_eq!(broken_line(b"<html>\n"), 1);
    assert_eq!(broken_line(br#"{"windlass":"recipe"}"#), 1);
    assert_eq!(broken_line(with(1, &lines[0].replace("journal", "recipe")).as_bytes()), 1);
    assert_eq!(broken_line(with(2, r#"{"blob":"00","text":""}"#).as_bytes()), 2);
    assert_eq!(broken_line(with(2, &lines[1].replace("base64\":\"", "base64\":\"!")).as_bytes()), 2);
    assert_eq!(broken_line(with(3, &lines[2].replace("text\":\"text", "text\":\"next")).as_bytes()), 3);
    assert_eq!(broken_line(with(4, "{}").as_bytes()), 4);
    assert_eq!(broken_line(with(4, lines[4]).as_bytes()), 4);
    assert_eq!(broken_line(with(8, &lines[7].replace("Tidy", "Burn")).as_bytes()), 14);
    assert_eq!(broken_line(text.trim_end().as_bytes()), lines.len() as u64);
    let another = with(1, &lines[0].replace("000001\"", "000002\""));
    assert_eq!(broken_line(another.as_bytes()), 5);
}

#[test]
fn a_journal_of_a_newer_version_is_left_alone() {
    let newer = String::from_utf8(JOURNAL.clone()).unwrap().replacen(r#""v":1"#, r#""v":2"#, 1);
    assert!(matches!(import_into_empty(newer.as_bytes()), Err(ImportError::Store(StoreError::Newer { found: 2 }))));
}

#[test]
fn a_journal_cut_short_is_refused_wherever_it_is_cut() {
    let whole = &*JOURNAL;
    assert!(import_into_empty(whole).unwrap() == *whole);
    let breaks = (0..whole.len()).filter(|at| whole[*at] == b'\n' || at % 97 == 0);
    for cut in breaks {
        for cut in [cut, cut + 1].into_iter().filter(|cut| *cut < whole.len()) {
            assert!(import_into_empty(&whole[..cut]).is_err(), "cut at {cut}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_are_taken_for_a_journal(bytes: Vec<u8>) {
        assert!(import_into_empty(&bytes).is_err());
    }

    #[test]
    fn a_changed_byte_changes_nothing_or_is_refused(at: Index, byte: u8) {
        let mut bytes = JOURNAL.clone();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        assert!(import_into_empty(&bytes).map_or(true, |stored| stored == *JOURNAL));
    }

    #[test]
    fn a_header_with_anything_after_it_never_panics(lines in any::<Vec<Vec<u8>>>()) {
        let header = JOURNAL.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let bytes = [&[header.to_vec()], &lines[..]].concat().join(&b'\n');
        assert!(import_into_empty(&bytes).is_err());
    }
}
