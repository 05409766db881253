use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use windlass_store::PassageIndex;
use windlass_tools::{FileRules, Permissions, Secrets, Workspace};
use windlass_vocab::TextOrigin;

use super::{FindRequest, IndexedFolder, Indexer};
use crate::retrieval::file_source::FileSource;
use crate::retrieval::source::{ContextSource, Passage};

/// The text of all files: its words are rare enough to be found by.
const TEXT: &str = "The anchor hangs on its chain.\n";

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn folder(root: &Path, deny: &[&str], ask: &[&str]) -> IndexedFolder {
    let rules = |rules: &[&str]| rules.iter().map(|rule| rule.parse().unwrap()).collect();
    let permissions = Permissions { deny: rules(deny), ask: rules(ask), ..Permissions::default() };
    let secrets = Secrets::new([("KEY", "sk-aaaabbbbccccdddd")]);
    let workspace = Workspace::open(root).unwrap().without(&root.join("data")).unwrap().hiding(secrets);
    IndexedFolder { folder: Arc::new(workspace), rules: FileRules::of(Arc::new(permissions)), prefix: String::new() }
}

fn indexer(folder: IndexedFolder, requests: &Receiver<FindRequest>) -> Indexer<'_> {
    Indexer::new(vec![folder], PassageIndex::in_memory().unwrap(), requests)
}

/// Brings the index up to date, and returns where the words are found.
fn refreshed(indexer: &mut Indexer<'_>) -> Vec<String> {
    assert!(indexer.refresh(Instant::now() + Duration::from_secs(60)).is_ok());
    found(indexer)
}

fn found(indexer: &Indexer<'_>) -> Vec<String> {
    let mut found: Vec<String> =
        indexer.find("anchor chain", 20).unwrap().into_iter().map(|passage| passage.source).collect();
    found.sort();
    found
}

// proves C10: edits, deletions and new names are noticed; nothing is shown that has changed since it was indexed
#[test]
fn the_index_follows_edits_deletions_and_new_names() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let (_sender, requests) = channel();
    let mut indexer = indexer(folder(root, &[], &[]), &requests);
    write(root, &[("a.md", TEXT), ("deep/b.md", TEXT), ("c.md", "Nothing here.\n")]);
    assert_eq!(found(&indexer), [""; 0], "nothing is known before the first walk");
    assert_eq!(refreshed(&mut indexer), ["a.md:1-1", "deep/b.md:1-1"]);
    write(root, &[("a.md", "Something else.\n"), ("c.md", &format!("First.\n{TEXT}"))]);
    assert_eq!(found(&indexer), ["deep/b.md:1-1"], "edited since it was indexed");
    assert_eq!(refreshed(&mut indexer), ["c.md:1-2", "deep/b.md:1-1"]);
    fs::rename(root.join("c.md"), root.join("d.md")).unwrap();
    fs::remove_file(root.join("deep/b.md")).unwrap();
    assert_eq!(found(&indexer), [""; 0], "gone since it was indexed");
    assert_eq!(refreshed(&mut indexer), ["d.md:1-2"]);
    assert_eq!(indexer.index.files().unwrap().len(), 2);
    write(root, &[(".gitignore", "d.md\n")]);
    assert_eq!(refreshed(&mut indexer), [""; 0], "ignored by now");
}

// proves C10: a folder too large for one walk keeps what was indexed of it
#[test]
fn a_walk_that_was_cut_removes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("a.md", TEXT), ("b.md", TEXT)]);
    let (_sender, requests) = channel();
    let mut indexer = indexer(folder(dir.path(), &[], &[]), &requests);
    refreshed(&mut indexer);
    assert!(indexer.refresh(Instant::now()).is_ok());
    assert_eq!(indexer.index.files().unwrap().len(), 2);
    assert_eq!(refreshed(&mut indexer), ["a.md:1-1", "b.md:1-1"]);
}

// proves C10: who has waited long enough gets what is there, in the middle of a refresh
#[test]
fn a_search_does_not_wait_for_the_index() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("a.md", TEXT)]);
    let (sender, requests) = channel();
    let mut indexer = indexer(folder(dir.path(), &[], &[]), &requests);
    let (answer, mut answered) = tokio::sync::oneshot::channel();
    let since = Instant::now().checked_sub(Duration::from_secs(1)).unwrap();
    sender.send(FindRequest { message: "anchor chain".into(), most: 5, since, answer }).unwrap();
    assert_eq!(refreshed(&mut indexer), ["a.md:1-1"]);
    assert_eq!(answered.try_recv().unwrap().unwrap(), [], "it was answered before anything was indexed");
}

// proves C10, X1, X5: what the model may not read unasked is not shown, and secrets are replaced
#[test]
fn neither_hidden_files_nor_secrets_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    write(
        root,
        &[
            ("open.md", TEXT),
            ("denied/a.md", TEXT),
            ("asked/a.md", TEXT),
            ("ignored/a.md", TEXT),
            ("data/windlass.md", TEXT),
            (".git/a.md", TEXT),
            ("binary.bin", &format!("{TEXT}\0")),
            ("large.txt", &TEXT.repeat(20_000)),
            (".gitignore", "ignored/\n"),
            ("key.md", "anchor chain sk-aaaabbbbccccdddd\n"),
            ("name-sk-aaaabbbbccccdddd.md", TEXT),
        ],
    );
    std::os::unix::fs::symlink(root.join("denied/a.md"), root.join("link.md")).unwrap();
    let (_sender, requests) = channel();
    let mut indexer = indexer(folder(root, &["read(denied/)"], &["read(asked/)"]), &requests);
    assert_eq!(refreshed(&mut indexer), ["key.md:1-1", "open.md:1-1"]);
    let passages = indexer.find("anchor chain", 20).unwrap();
    let key = passages.iter().find(|passage| passage.source.starts_with("key.md")).unwrap();
    assert!(!key.text.contains("sk-aaaa") && key.text.starts_with("anchor chain "), "{}", key.text);
    assert_eq!(indexer.find("sk-aaaabbbbccccdddd", 20).unwrap(), [], "a secret finds nothing");
}

// proves X4: the origin goes with the text
#[test]
fn a_passage_of_a_file_that_nobody_has_checked_has_an_origin() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("a.md", TEXT)]);
    let (_sender, requests) = channel();
    let mut indexer = indexer(folder(dir.path(), &[], &[]), &requests);
    refreshed(&mut indexer);
    let [Passage { origin, text, .. }] = &indexer.find("anchor chain", 20).unwrap()[..] else { panic!("one passage") };
    assert_eq!(origin, &Some(TextOrigin::File { path: "a.md".into() }));
    assert_eq!(text, TEXT.trim_end());
}

// proves C10: of one file at most two passages, and no more than were asked for
#[test]
fn one_file_does_not_fill_the_answer() {
    let dir = tempfile::tempdir().unwrap();
    let long: String = (0..200).map(|number| format!("anchor chain {number}\n")).collect();
    write(dir.path(), &[("long.md", &long), ("b.md", TEXT), ("c.md", TEXT)]);
    let (_sender, requests) = channel();
    let mut indexer = indexer(folder(dir.path(), &[], &[]), &requests);
    let all = refreshed(&mut indexer);
    assert_eq!(all.iter().filter(|source| source.starts_with("long.md")).count(), 2, "{all:?}");
    assert_eq!(all.len(), 4);
    assert_eq!(indexer.find("anchor chain", 1).unwrap().len(), 1);
}

// proves C10: folders join by data, each with its own rules
#[test]
fn a_second_folder_is_found_under_its_prefix() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(one.path(), &[("a.md", TEXT)]);
    write(two.path(), &[("a.md", TEXT), ("private/a.md", TEXT)]);
    let (_sender, requests) = channel();
    let memory = IndexedFolder { prefix: "memory/".into(), ..folder(two.path(), &["read(private/)"], &[]) };
    let folders = vec![folder(one.path(), &[], &[]), memory];
    let mut indexer = Indexer::new(folders, PassageIndex::in_memory().unwrap(), &requests);
    assert_eq!(refreshed(&mut indexer), ["a.md:1-1", "memory/a.md:1-1"]);
}

/// Asks until something is found; the index is built meanwhile.
async fn wait_for(source: &FileSource) -> Vec<Passage> {
    let began = Instant::now();
    loop {
        let found = source.find("anchor chain", 5).await.unwrap();
        if !found.is_empty() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "nothing is found");
    }
}

// proves C10: a large folder is indexed while searches are answered, and the index is used by others
#[tokio::test]
async fn a_large_folder_is_indexed_in_the_background() {
    let dir = tempfile::tempdir().unwrap();
    let (root, index) = (dir.path().join("root"), dir.path().join("indexes/a.db"));
    let filler: String = (0..40).map(|number| format!("word{number} of a line in a file\n")).collect();
    for number in 0..5_000 {
        write(&root, &[(&format!("d{}/f{number}.txt", number % 50), &filler)]);
    }
    write(&root, &[("zzz.md", TEXT)]);
    let source = FileSource::new("the workspace", vec![folder(&root, &[], &[])], Some(index.clone()));
    let found = wait_for(&source).await;
    assert_eq!(found[0].source, "zzz.md:1-1");
    drop(source);
    let again = FileSource::new("the workspace", vec![folder(&root, &[], &[])], Some(index));
    assert_eq!(wait_for(&again).await[0].source, "zzz.md:1-1");
}

// proves C10: an index that can't be kept is an error of the source, each time it is tried
#[tokio::test]
async fn without_a_place_for_its_index_the_source_fails() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("a.md", TEXT), ("file", "")]);
    let index = dir.path().join("file/a.db");
    let source = FileSource::new("the workspace", vec![folder(dir.path(), &[], &[])], Some(index));
    for _ in 0..2 {
        assert!(source.find("anchor chain", 5).await.is_err());
    }
}
