use std::path::Path;

use super::{IndexedFile, IndexedPassage, IndexedStamp, PassageIndex, SearchWords};

fn stamp(size: u64) -> IndexedStamp {
    IndexedStamp { size, modified: -1, inode: u64::MAX }
}

/// A file whose passages are these, of one line each.
fn file(path: &str, passages: &[&str]) -> IndexedFile {
    let passage =
        |(line, text): (u32, &&str)| IndexedPassage { first_line: line, last_line: line, text: (*text).to_owned() };
    IndexedFile { path: path.into(), stamp: stamp(1), passages: (1..).zip(passages).map(passage).collect() }
}

fn index(files: &[IndexedFile]) -> PassageIndex {
    let mut index = PassageIndex::in_memory().unwrap();
    index.put(files).unwrap();
    index
}

/// The places found for a message, as `path:line`.
fn found(index: &PassageIndex, message: &str) -> Vec<String> {
    let places = index.find(&SearchWords::of(message), 5).unwrap();
    places.into_iter().map(|place| format!("{}:{}", place.path, place.first_line)).collect()
}

fn phrases(message: &str) -> Vec<String> {
    SearchWords::of(message).words().iter().map(super::search_words::SearchWord::phrase).collect()
}

// proves C10: nothing in a message is FTS5 syntax
#[test]
fn every_word_of_a_message_is_quoted_and_common_words_are_not_looked_for() {
    for (message, want) in [
        ("Where is the retry limit?", &["\"retry\"", "\"limit\""][..]),
        ("retry AND NOT limit OR NEAR(bow stern, 2)", &["\"retry\"", "\"limit\"", "\"near\"", "\"bow\"", "\"stern\""]),
        (
            "\"bow\" 'stern' bow* ^bow {body}: +bow -bow path:bow",
            &["\"bow\"", "\"stern\"", "\"body\"", "\"path:bow\"", "\"path\""],
        ),
        ("retry_after src/main.rs", &["\"retry_after\"", "\"src/main.rs\"", "\"retry\"", "\"src\""]),
        ("bow\0stern", &["\"bow\"", "\"stern\""]),
        ("👋🏽 🚢 ⚓", &[]),
        ("Thanks, go on!", &[]),
        ("", &[]),
        ("été naïve Straße", &["\"été\"", "\"naïve\"", "\"Straße\""]),
        ("錨", &["\"錨\""]),
    ] {
        let got: Vec<String> = phrases(message);
        let want: Vec<String> = want.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(
            got.iter().map(|word| word.to_lowercase()).collect::<Vec<_>>(),
            want.iter().map(|word| word.to_lowercase()).collect::<Vec<_>>(),
            "{message:?}"
        );
    }
}

// proves C10
#[test]
fn no_message_is_an_error_for_the_index() {
    let index = index(&[file("a.md", &["the anchor and its chain"])]);
    let operators =
        ["AND", "OR", "NOT", "NEAR", "NEAR(", "*", "^", ":", "-", "+", "(", ")", "{", "}", "\"", "\"\"", "'"];
    for operator in operators {
        for message in [
            operator.to_owned(),
            format!("anchor {operator} chain"),
            format!("{operator}anchor{operator}chain{operator}"),
            format!("{operator} {operator} anchor chain \0 {operator}"),
        ] {
            index.find(&SearchWords::of(&message), 5).unwrap_or_else(|error| panic!("{message:?}: {error}"));
        }
        assert_eq!(found(&index, &format!("anchor {operator} chain")), ["a.md:1"], "{operator}");
    }
}

// proves C10: a long message costs no more than a short one, and its start and its end count
#[test]
fn of_a_long_message_the_start_and_the_end_are_looked_at() {
    let filler: String = (0..100_000).map(|number| format!("filler{number}é ")).collect();
    assert!(filler.len() > 1 << 20);
    let words = phrases(&format!("anchor {filler} chain"));
    assert_eq!((words.len(), words[0].as_str(), words[31].as_str()), (32, "\"anchor\"", "\"chain\""));
    assert_eq!(phrases(&"x".repeat(1 << 20)), [""; 0], "no word is that long");
}

// proves C10: by BM25, names and paths before prose; what has one word of several is left out
#[test]
fn the_best_passage_comes_first_and_a_poor_one_not_at_all() {
    let files = [
        file(
            "docs/ship.md",
            &["The anchor hangs at the bow.", "A chain holds the anchor: anchor, chain, anchor chain."],
        ),
        file("src/windlass.rs", &["fn haul_anchor(chain: Chain) {}", "struct Pawl;"]),
        file("README.md", &["Nothing of interest here."]),
    ];
    let index = index(&files);
    assert_eq!(found(&index, "Which chain holds the anchor?"), ["docs/ship.md:2", "src/windlass.rs:1"]);
    assert_eq!(found(&index, "what does haul_anchor do"), ["src/windlass.rs:1"], "a name alone is enough");
    assert_eq!(found(&index, "explain windlass.rs"), ["src/windlass.rs:2", "src/windlass.rs:1"], "so is a path");
    assert_eq!(found(&index, "chains and anchors"), found(&index, "chain anchor"), "the same word in other forms");
    assert_eq!(found(&index, "pawl"), ["src/windlass.rs:2"], "the only word of the message");
    assert_eq!(found(&index, "pawl mizzen topsail halyard"), [""; 0], "one word of four");
    assert_eq!(found(&index, "rudder"), [""; 0]);
}

// proves C10
#[test]
fn a_word_that_is_everywhere_finds_nothing() {
    let files: Vec<IndexedFile> =
        (0..100).map(|number| file(&format!("{number}.txt"), &["ship anchor", "ship sail mast"])).collect();
    let mut index = index(&files);
    assert_eq!(found(&index, "ship anchor sail"), [""; 0]);
    index.put(&[file("hold.txt", &["ship bilge rats"])]).unwrap();
    assert_eq!(found(&index, "bilge rats of the ship"), ["hold.txt:1"]);
}

// proves C10
#[test]
fn a_file_replaces_what_was_known_of_it_and_one_that_is_removed_is_gone() {
    let mut index = index(&[file("a", &["anchor chain"]), file("b", &["anchor chain"])]);
    index.put(&[IndexedFile { stamp: stamp(2), ..file("a", &["topsail halyard"]) }]).unwrap();
    assert_eq!(found(&index, "anchor chain"), ["b:1"]);
    assert_eq!(found(&index, "topsail halyard"), ["a:1"]);
    assert_eq!(index.files().unwrap()["a"], stamp(2));
    index.remove(&["b".into(), "not there".into()]).unwrap();
    assert_eq!(found(&index, "anchor chain"), [""; 0]);
    assert_eq!(index.files().unwrap().len(), 1);
}

// proves C10: the index is a cache
#[test]
fn an_index_that_cant_be_read_is_built_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("passages/a.db");
    let mode = |path: &Path| std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions());
    let fill = |index: &mut PassageIndex| index.put(&[file("a", &["anchor chain"])]).unwrap();
    fill(&mut PassageIndex::open(&path).unwrap());
    assert_eq!(mode(&path) & 0o777, 0o600);
    assert_eq!(found(&PassageIndex::open(&path).unwrap(), "anchor chain"), ["a:1"], "it is kept");
    for damage in [&b"not a database, but long enough to look at as one"[..], &[0; 100], b"SQLite format 3\0garbage"] {
        std::fs::write(&path, damage.repeat(100)).unwrap();
        let mut index = PassageIndex::open(&path).unwrap();
        assert_eq!(index.files().unwrap().len(), 0);
        fill(&mut index);
        assert_eq!(found(&index, "anchor chain"), ["a:1"]);
    }
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    assert_eq!(PassageIndex::open(&path).unwrap().files().unwrap().len(), 0, "of another version");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    PassageIndex::open(&path).unwrap_err();
}

// proves C10: two processes share an index
#[test]
fn an_index_can_be_open_twice() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let (mut one, two) = (PassageIndex::open(&path).unwrap(), PassageIndex::open(&path).unwrap());
    one.put(&[file("a", &["anchor chain"])]).unwrap();
    assert_eq!(found(&two, "anchor chain"), ["a:1"]);
}
