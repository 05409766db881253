//! Whatever a command does to files, and wherever a crash interrupts an undo, undo restores bytes, modes and
//! links, and an undo of the undo brings everything back.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use windlass_tools::{Checkpoints, Secrets, SnapshotBounds};
use windlass_vocab::{Change, Changes, FileState, Hash};

use super::{Room, call};

const PATHS: [&str; 9] = ["a", "b", "d", "d/a", "d/e", "d/e/a", "a/b", "a/b/c", "b/a"];

/// One step of a command; impossible steps are skipped.
#[derive(Clone, Debug)]
enum CommandStep {
    Write(&'static str, &'static str),
    Move(&'static str, &'static str),
    /// Moves a file into a folder that takes its place.
    Sink(&'static str, &'static str),
    Link(&'static str, &'static str),
    Name(&'static str, &'static str),
    Folder(&'static str),
    Remove(&'static str),
    Mode(&'static str, u32),
}

impl CommandStep {
    fn done(&self, root: &Path) -> std::io::Result<()> {
        let at = |path: &str| root.join(path);
        match self {
            Self::Write(path, text) => std::fs::write(at(path), text),
            Self::Move(from, to) => std::fs::rename(at(from), at(to)),
            Self::Sink(path, name) => {
                std::fs::rename(at(path), at("t"))?;
                std::fs::create_dir(at(path))?;
                std::fs::rename(at("t"), at(path).join(name))
            }
            Self::Link(path, target) => symlink(target, at(path)),
            Self::Name(path, other) => std::fs::hard_link(at(path), at(other)),
            Self::Folder(path) => std::fs::create_dir(at(path)),
            Self::Remove(path) if at(path).symlink_metadata()?.is_dir() => std::fs::remove_dir_all(at(path)),
            Self::Remove(path) => std::fs::remove_file(at(path)),
            Self::Mode(path, _) if at(path).symlink_metadata()?.is_symlink() => Ok(()),
            Self::Mode(path, mode) => std::fs::set_permissions(at(path), PermissionsExt::from_mode(*mode)),
        }
    }
}

fn command_step() -> impl Strategy<Value = CommandStep> {
    let path = || prop::sample::select(&PATHS[..]);
    prop_oneof![
        2 => (path(), prop::sample::select(&["one", "two", ""][..])).prop_map(|(path, text)| CommandStep::Write(path, text)),
        4 => (path(), path()).prop_map(|(from, to)| CommandStep::Move(from, to)),
        3 => (path(), prop::sample::select(&["a", "b"][..])).prop_map(|(path, name)| CommandStep::Sink(path, name)),
        1 => (path(), path()).prop_map(|(path, target)| CommandStep::Link(path, target)),
        1 => (path(), path()).prop_map(|(path, other)| CommandStep::Name(path, other)),
        2 => path().prop_map(CommandStep::Folder),
        2 => path().prop_map(CommandStep::Remove),
        1 => (path(), prop::sample::select(&[0o700, 0o755, 0o640][..])).prop_map(|(path, mode)| CommandStep::Mode(path, mode)),
    ]
}

/// The entry at each path: kind, permissions, bytes or target.
type Tree = BTreeMap<String, (char, u32, Vec<u8>)>;

fn tree(root: &Path, folder: &Path, tree: &mut Tree) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let what = if metadata.is_symlink() {
            ('l', 0, std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
        } else if metadata.is_dir() {
            ('d', metadata.mode(), Vec::new())
        } else {
            ('f', metadata.mode(), std::fs::read(&path).unwrap())
        };
        let is_folder = what.0 == 'd';
        tree.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), what);
        if is_folder {
            self::tree(root, &path, tree);
        }
    }
}

fn seen(room: &Room) -> Tree {
    let mut found = Tree::new();
    tree(room.path(), room.path(), &mut found);
    found
}

fn furnish(room: &Room) {
    std::fs::create_dir_all(room.path().join("d/e")).unwrap();
    for (path, text) in [("a", "A"), ("b", "B"), ("d/a", "DA"), ("d/e/a", "DEA")] {
        room.write(path, text);
    }
}

type Contents = HashMap<Hash, Arc<[u8]>>;

/// Restores, crashing before the n-th change, and restores again as the next process would.
fn restore(room: &Room, changes: &Changes, contents: &Contents, mark: &str, death: Option<u64>) {
    let steps = AtomicU64::new(0);
    let dying = room.workspace().on_restore(move || {
        if Some(steps.fetch_add(1, Ordering::SeqCst)) == death {
            resume_unwind(Box::new("dies"));
        }
    });
    let secrets = Secrets::default();
    let died = catch_unwind(AssertUnwindSafe(|| dying.restore(changes, contents, &secrets, mark)));
    let left = died.unwrap_or_else(|_| room.workspace().restore(changes, contents, &secrets, mark));
    assert_eq!(left, BTreeMap::new(), "{changes:#?}");
}

/// Returns a state as it is recorded: folders that a command created or moved are compared by their permissions only,
/// and paths below a symlink that it created count as absent.
fn recorded(state: &FileState) -> FileState {
    match state {
        FileState::Folder { .. } => state.clone().without_inode(),
        state if *state == FileState::OUT_OF_REACH => FileState::Absent,
        FileState::Absent | FileState::File { .. } | FileState::Link { .. } | FileState::Unkept { .. } => state.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    // proves T9, J3
    #[test]
    fn whatever_a_command_did_undo_restores_everything_and_undo_of_undo_brings_it_back(
        command_steps in prop::collection::vec(command_step(), 1..10),
        deaths in (prop::option::of(0..12u64), prop::option::of(0..12u64)),
    ) {
        let room = Room::new();
        furnish(&room);
        let (workspace, secrets, mut checkpoints) = (room.workspace(), Secrets::default(), Checkpoints::default());
        let before = seen(&room);
        let kept = checkpoints.before(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets).contents;
        for command_step in &command_steps {
            drop(command_step.done(room.path()));
        }
        let after = seen(&room);
        let changes = checkpoints.after(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets).changes;
        let now = workspace.snapshot_paths(changes.keys().map(String::as_str), SnapshotBounds::PATHS, &secrets);
        let contents: Contents = kept.iter().chain(&now.contents)
            .map(|content| (Hash(*blake3::hash(content).as_bytes()), Arc::clone(content))).collect();
        let back: Changes = changes.iter()
            .map(|(path, change)| (path.clone(), Change { was: recorded(&now.files[path]), now: change.was.clone() }))
            .collect();
        restore(&room, &back, &contents, "u1", deaths.0);
        prop_assert_eq!(seen(&room), before, "{:#?}", back);
        let forth = back.iter().map(|(path, change)| (path.clone(), change.reversed())).collect();
        restore(&room, &forth, &contents, "u2", deaths.1);
        prop_assert_eq!(seen(&room), after, "{:#?}", forth);
    }
}
