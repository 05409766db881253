//! A folder is replaced by a symlink after its path was checked: the call opens the checked folder, or nothing (X5).

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use windlass_tools::Permissions;
use windlass_vocab::{OutcomeKind, ReplyCall};

use super::room::Room;

const TREASURE: &str = "treasure";
/// More openings than any of these calls makes.
const OPENINGS: usize = 12;

fn exchange(root: &Path) {
    renameat_with(CWD, root.join("open"), CWD, root.join("aside"), RenameFlags::EXCHANGE).unwrap();
}

/// A folder `open`, a symlink to `guarded` beside it, and a hook that swaps the two right before the n-th opening.
struct Scene {
    room: Room,
    countdown: Arc<AtomicUsize>,
}

impl Scene {
    fn new(guarded: &str) -> Self {
        let countdown = Arc::new(AtomicUsize::new(0));
        let root: Arc<OnceLock<PathBuf>> = Arc::default();
        let hook = {
            let (countdown, root) = (Arc::clone(&countdown), Arc::clone(&root));
            move || {
                let left = countdown.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
                if left == Ok(1) {
                    exchange(root.get().unwrap());
                }
            }
        };
        let key = format!("{guarded}/key");
        let files = [("open/key", "common\n"), (&key, "common treasure\n"), ("notes", "plain\n")];
        let room = Room::built(&files, |workspace| workspace.on_open(hook));
        symlink(guarded, room.root().join("aside")).unwrap();
        root.set(room.root()).unwrap();
        Self { room, countdown }
    }

    /// Asserts that a swap before the first opening took place, because every call opens something.
    fn assert_exchanged_at_first(&self, nth: usize) {
        assert!(nth > 1 || self.countdown.load(Ordering::SeqCst) == 0, "nothing was opened");
    }

    fn guarded(&self, guarded: &str) -> BTreeMap<PathBuf, Option<String>> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.room.root().join(guarded)];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            found.insert(path.clone(), std::fs::read_to_string(path).ok());
        }
        found
    }
}

fn reads() -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": "open/key"})),
        ("list_directory", json!({"path": "open"})),
        ("search_files", json!({"pattern": TREASURE, "path": "open/key"})),
        ("search_files", json!({"pattern": TREASURE, "path": "open"})),
        ("search_files", json!({"pattern": TREASURE})),
    ]
}

fn writes() -> Vec<(&'static str, Value)> {
    vec![
        ("write_file", json!({"path": "open/key", "content": "x"})),
        ("write_file", json!({"path": "open/new", "content": "x"})),
        ("write_file", json!({"path": "open/sub/new", "content": "x"})),
        ("edit_file", json!({"path": "open/key", "old_text": "common", "new_text": "x"})),
        ("append_file", json!({"path": "open/key", "text": "x"})),
        ("append_file", json!({"path": "open/new", "text": "x"})),
        ("delete_file", json!({"path": "open/key"})),
        ("move_file", json!({"from": "open/key", "to": "moved"})),
        ("move_file", json!({"from": "notes", "to": "open/landed"})),
        ("move_file", json!({"from": "notes", "to": "open/sub/landed"})),
        ("move_file", json!({"from": "notes", "to": "open/key", "overwrite": true})),
    ]
}

// proves X5
#[test]
fn what_a_rule_denies_is_not_reached_through_a_link_that_is_exchanged_for_a_folder() {
    let deny = ["read(secrets/)", "write(secrets/)"].map(|rule| rule.parse().unwrap()).to_vec();
    let permissions = Permissions { deny, ..Permissions::default() };
    for (tool, arguments) in reads().into_iter().chain(writes()) {
        for nth in 1..=OPENINGS {
            let scene = Scene::new("secrets");
            let before = scene.guarded("secrets");
            scene.countdown.store(nth, Ordering::SeqCst);
            let outcome = scene.room.checked(&permissions, tool, &arguments);
            scene.assert_exchanged_at_first(nth);
            assert!(!outcome.text.contains(TREASURE), "{tool} {arguments} at {nth}: {}", outcome.text);
            assert_eq!(scene.guarded("secrets"), before, "{tool} {arguments} at {nth}: {}", outcome.text);
        }
    }
}

// proves X5: protected paths are checked before the call runs, and nobody was asked about this one
#[test]
fn what_is_protected_is_not_changed_through_a_link_that_is_exchanged_for_a_folder() {
    for (tool, arguments) in writes() {
        for nth in 1..=OPENINGS {
            let scene = Scene::new(".git");
            let before = scene.guarded(".git");
            scene.countdown.store(nth, Ordering::SeqCst);
            let outcome = scene.room.checked(&Permissions::default(), tool, &arguments);
            scene.assert_exchanged_at_first(nth);
            assert_eq!(scene.guarded(".git"), before, "{tool} {arguments} at {nth}: {}", outcome.text);
        }
    }
}

/// Asserts that a call does not access `.git` or `secrets` if its path leads there only after it was permitted.
fn cleared_then_exchanged(guarded: &str, permissions: &Permissions, tool: &str, arguments: &Value) {
    let scene = Scene::new(guarded);
    let before = scene.guarded(guarded);
    let call = ReplyCall { name: tool.into(), arguments: arguments.to_string(), provider_id: None, mended: None };
    let prepared = scene.room.offer.prepare(&call, permissions, &[]);
    let outcome = scene.room.run_cleared(permissions, &prepared, || exchange(&scene.room.root()));
    assert!(!outcome.text.contains("common treasure"), "{tool} {arguments}: {}", outcome.text);
    assert_eq!(scene.guarded(guarded), before, "{tool} {arguments}: {}", outcome.text);
    if arguments.get("path").is_some() {
        assert_eq!(outcome.kind, OutcomeKind::ToolError, "{tool} {arguments}");
        assert!(outcome.text.contains("leads elsewhere than when it was judged"), "{}", outcome.text);
    }
}

// proves X5: paths that need approval are checked before the call runs as well
#[test]
fn a_call_is_for_the_paths_it_was_cleared_for_and_no_others() {
    for (tool, arguments) in writes() {
        cleared_then_exchanged(".git", &Permissions::default(), tool, &arguments);
    }
    let asking = Permissions { ask: vec!["read(secrets/)".parse().unwrap()], ..Permissions::default() };
    for (tool, arguments) in reads() {
        cleared_then_exchanged("secrets", &asking, tool, &arguments);
    }
}

// proves T10: without a swap the paths are reached, through symlinks too
#[test]
fn links_inside_the_workspace_lead_where_they_lead() {
    let room = Room::with(&[("a/b/real", "text\n"), ("a/.gitignore", "left-out\n"), ("a/b/left-out", "text\n")]);
    symlink("a", room.root().join("link")).unwrap();
    symlink("../link/b/real", room.root().join("a/end")).unwrap();
    symlink("a/b", room.root().join("deep")).unwrap();
    let checked = |tool: &str, arguments: Value| {
        let outcome = room.checked(&Permissions::default(), tool, &arguments);
        assert_eq!(outcome.kind, OutcomeKind::Ok, "{tool} {arguments}: {}", outcome.text);
        outcome.text
    };
    assert_eq!(checked("read_file", json!({"path": "link/end"})), "text\n");
    assert_eq!(checked("read_file", json!({"path": "deep/../b/real"})), "text\n");
    assert_eq!(checked("search_files", json!({"pattern": "text", "path": "link/b"})), "link/b/real:1: text");
    checked("write_file", json!({"path": "link/new/file", "content": "x"}));
    checked("write_file", json!({"path": "none/../deep/../other", "content": "x"}));
    assert_eq!((room.text("a/new/file"), room.text("a/other")), ("x".to_owned(), "x".to_owned()));
    checked("edit_file", json!({"path": "link/end", "old_text": "text", "new_text": "word"}));
    assert_eq!(room.text("a/b/real"), "word\n");
    checked("move_file", json!({"from": "link/end", "to": "deep/c/end"}));
    assert!(room.root().join("a/b/c/end").is_symlink() && !room.root().join("a/end").is_symlink());
}

// proves X5: a move acts on the symlink itself, by the names of its folder
#[test]
fn a_link_in_a_folder_that_is_denied_is_not_moved_by_another_name_of_that_folder() {
    let room = Room::with(&[("kept/x", ""), ("other", "x")]);
    symlink("../other", room.root().join("kept/link")).unwrap();
    symlink("kept", room.root().join("k")).unwrap();
    let permissions = Permissions { deny: vec!["write(kept/)".parse().unwrap()], ..Permissions::default() };
    let outcome = room.checked(&permissions, "move_file", &json!({"from": "k/link", "to": "moved"}));
    assert_eq!(outcome.kind, OutcomeKind::Denied, "{}", outcome.text);
    assert!(room.root().join("kept/link").is_symlink());
}
