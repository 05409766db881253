//! Snapshots of files, and restoring them.

mod any_command;
mod exchanged;
mod moving;
mod replaced;

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use windlass_tools::{Checkpoints, PlannedChange, Secrets, SnapshotBounds, Workspace};
use windlass_vocab::{CallId, Changes, Coverage, FileState, Hash, RunId, TurnId};

/// A folder to work in.
struct Room(tempfile::TempDir);

impl Room {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn path(&self) -> &Path {
        self.0.path()
    }
    fn workspace(&self) -> Workspace {
        Workspace::open(self.path()).unwrap()
    }
    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.path().join(path), text).unwrap();
    }
    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }
}

fn call(index: u32) -> CallId {
    CallId { run: RunId(1), turn: TurnId(1), index }
}

fn content(path: &str) -> PlannedChange {
    PlannedChange::Content(path.to_owned())
}

fn kept(workspace: &Workspace, planned_changes: &[PlannedChange]) -> BTreeMap<String, FileState> {
    workspace.keep(planned_changes, &Secrets::default()).files
}

fn paths(files: &BTreeMap<String, FileState>) -> Vec<&str> {
    files.keys().map(String::as_str).collect()
}

// proves T9: the snapshot has the paths that will really change, as the operating system will resolve them
#[test]
fn a_path_is_kept_where_it_leads_with_the_folders_that_will_be_made() {
    let room = Room::new();
    room.write("a", "a");
    std::fs::create_dir(room.path().join("d")).unwrap();
    symlink("a", room.path().join("link")).unwrap();
    symlink("d", room.path().join("folder")).unwrap();
    symlink("/etc/passwd", room.path().join("out")).unwrap();
    let workspace = room.workspace();
    for (touch, want) in [
        (content("link"), vec!["a"]),
        (PlannedChange::Entry("link".into()), vec!["link"]),
        (content("folder/x"), vec!["d/x"]),
        (content("folder/new/../y"), vec!["d/new", "d/y"]),
        (content("new/deep/x"), vec!["new", "new/deep", "new/deep/x"]),
        (content("d/./../a"), vec!["a"]),
        (content("out"), vec![]),
        (content("../elsewhere"), vec![]),
        (content("a/below/a/file"), vec![]),
    ] {
        assert_eq!(paths(&kept(&workspace, std::slice::from_ref(&touch))), want, "{touch:?}");
    }
}

// proves T9, X1
#[test]
fn what_is_not_kept_is_said_and_why() {
    let room = Room::new();
    room.write("env", "KEY=sk-0123456789");
    let looked = room.workspace().keep(&[content("env")], &Secrets::new([("KEY", "sk-0123456789")]));
    assert_eq!(looked.coverage, Coverage::Partial { left_out: "with a secret in it: env".into() });
    assert!(looked.contents.is_empty() && matches!(looked.files["env"], FileState::Unkept { .. }));
}

/// Returns the changes that a checkpoint finds around a command.
fn around(
    room: &Room,
    checkpoints: &mut Checkpoints,
    n: u32,
    bounds: SnapshotBounds,
    command: impl FnOnce(),
) -> Changes {
    let (workspace, secrets) = (room.workspace(), Secrets::default());
    checkpoints.before(&workspace, call(n), bounds, &secrets);
    command();
    checkpoints.after(&workspace, call(n), bounds, &secrets).changes
}

fn changed(changes: &Changes) -> Vec<&str> {
    changes.keys().map(String::as_str).collect()
}

// proves T9
#[test]
fn what_a_command_changed_is_found_and_nothing_else() {
    let room = Room::new();
    for name in ["same", "edited", "gone", "mode"] {
        room.write(name, "old");
    }
    symlink("same", room.path().join("link")).unwrap();
    let changes = around(&room, &mut Checkpoints::default(), 0, SnapshotBounds::WORKSPACE, || {
        room.write("edited", "new");
        std::fs::remove_file(room.path().join("gone")).unwrap();
        std::fs::set_permissions(room.path().join("mode"), PermissionsExt::from_mode(0o700)).unwrap();
        std::fs::remove_file(room.path().join("link")).unwrap();
        symlink("edited", room.path().join("link")).unwrap();
        std::fs::create_dir(room.path().join("made")).unwrap();
        room.write("made/x", "x");
    });
    assert_eq!(changed(&changes), ["edited", "gone", "link", "made", "made/x", "mode"]);
    assert_eq!(changes["gone"].now, FileState::Absent);
    assert!(changes["link"].now.is_like(&FileState::Link { target: "edited".into(), inode: None }));
}

// proves T9: a path that only looks new is never treated as new
#[test]
fn files_that_were_ignored_or_beyond_the_bounds_are_never_taken_for_new() {
    let room = Room::new();
    room.write(".gitignore", "built\n*.log\n");
    std::fs::create_dir(room.path().join("built")).unwrap();
    room.write("built/x", "x");
    room.write("a.log", "log");
    let changes = around(&room, &mut Checkpoints::default(), 0, SnapshotBounds::WORKSPACE, || {
        room.write(".gitignore", "");
    });
    assert_eq!(changed(&changes), [".gitignore"]);
    let room = Room::new();
    for name in ["b", "c", "d"] {
        room.write(name, "x");
    }
    let few = SnapshotBounds { names: 2, ..SnapshotBounds::WORKSPACE };
    let changes = around(&room, &mut Checkpoints::default(), 0, few, || {
        std::fs::remove_file(room.path().join("b")).unwrap();
    });
    assert_eq!(changed(&changes), ["b"], "d is listed now, and was there before");
    let room = Room::new();
    room.write("z", "x");
    let changes = around(&room, &mut Checkpoints::default(), 0, few, || {
        for name in ["a", "b", "c"] {
            room.write(name, "x");
        }
    });
    assert_eq!(changed(&changes), ["a", "b"], "z is not listed any more, and is still there");
}

// proves T9: coverage is recorded
#[test]
fn a_checkpoint_says_what_it_left_out() {
    let room = Room::new();
    std::fs::create_dir(room.path().join(".git")).unwrap();
    room.write(".gitignore", "built\n");
    room.write("built", "x");
    room.write("large", &"x".repeat(2_000));
    let bounds = SnapshotBounds { file_bytes: 1_000, ..SnapshotBounds::WORKSPACE };
    let taken = Checkpoints::default().before(&room.workspace(), call(0), bounds, &Secrets::default()).taken;
    let Coverage::Partial { left_out } = taken.coverage else { panic!("{:?}", taken.coverage) };
    assert_eq!(left_out, "git's own: .git; ignored: built; too large: large");
    let empty = Room::new();
    let taken = Checkpoints::default().before(&empty.workspace(), call(0), bounds, &Secrets::default()).taken;
    assert_eq!((taken.coverage, taken.files.len()), (Coverage::Full, 0));
}

// proves T9: entries without content are not covered, and replacing them is no change
#[test]
fn a_socket_is_passed_over_and_a_new_one_is_told() {
    let room = Room::new();
    let _old = std::os::unix::net::UnixListener::bind(room.path().join("old")).unwrap();
    let (workspace, secrets, mut checkpoints) = (room.workspace(), Secrets::default(), Checkpoints::default());
    let taken = checkpoints.before(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets).taken;
    assert_eq!(taken.coverage, Coverage::Partial { left_out: "pipe, socket or device: old".into() });
    std::fs::remove_file(room.path().join("old")).unwrap();
    let _again = std::os::unix::net::UnixListener::bind(room.path().join("old")).unwrap();
    let _new = std::os::unix::net::UnixListener::bind(room.path().join("new")).unwrap();
    let changed = checkpoints.after(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets);
    assert_eq!(changed.changes, Changes::new());
    assert_eq!(changed.unseen.as_deref(), Some("it made what is no file, folder or link, and stays: new"));
}

// proves T9: the cost of the second checkpoint depends on the changes
#[test]
fn a_later_checkpoint_stores_only_what_is_otherwise() {
    let room = Room::new();
    room.write("a", "a");
    room.write("b", "b");
    let (workspace, secrets, mut checkpoints) = (room.workspace(), Secrets::default(), Checkpoints::default());
    let first = checkpoints.before(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets);
    assert_eq!((first.taken.since, first.taken.files.len(), first.contents.len()), (None, 2, 2));
    room.write("b", "other");
    checkpoints.after(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets);
    std::fs::remove_file(room.path().join("a")).unwrap();
    let second = checkpoints.before(&workspace, call(1), SnapshotBounds::WORKSPACE, &secrets);
    assert_eq!((second.taken.since, paths(&second.taken.files)), (Some(call(0)), vec!["a", "b"]));
    assert_eq!(second.taken.files["a"], FileState::Absent);
    assert_eq!(second.contents.len(), 1, "only b has a content that is not stored yet");
    checkpoints.after(&workspace, call(1), SnapshotBounds::WORKSPACE, &secrets);
    let third = checkpoints.before(&workspace, call(2), SnapshotBounds::WORKSPACE, &secrets);
    assert_eq!((third.taken.files.len(), third.contents.len()), (0, 0));
}

// proves T9, L9: concurrent calls
#[test]
fn what_another_call_changes_meanwhile_is_not_the_commands() {
    let room = Room::new();
    room.write("a", "a");
    room.write("b", "b");
    let (workspace, secrets, mut checkpoints) = (room.workspace(), Secrets::default(), Checkpoints::default());
    checkpoints.before(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets);
    checkpoints.others(&kept(&workspace, &[content("a"), content("new/x")]));
    for (path, text) in [("a", "theirs"), ("b", "the command's")] {
        room.write(path, text);
    }
    std::fs::create_dir(room.path().join("new")).unwrap();
    room.write("new/x", "theirs");
    let changes = checkpoints.after(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets).changes;
    assert_eq!(changed(&changes), ["b"]);
}

// proves T9: the data folder inside the workspace is never read nor written
#[test]
fn the_folder_of_windlass_itself_is_neither_kept_nor_put_back() {
    let room = Room::new();
    std::fs::create_dir(room.path().join("data")).unwrap();
    room.write("data/db", "db");
    room.write("a", "a");
    let workspace = room.workspace().without(&room.path().join("data")).unwrap();
    let secrets = Secrets::default();
    let taken = Checkpoints::default().before(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets).taken;
    assert_eq!((paths(&taken.files), taken.coverage), (vec!["a"], Coverage::Full));
    assert_eq!(kept(&workspace, &[content("data/db")]), BTreeMap::new());
    let blob = Hash(*blake3::hash(b"evil").as_bytes());
    let contents = HashMap::from([(blob, Arc::from(&b"evil"[..]))]);
    let there = room.workspace().snapshot_paths(["data/db"], SnapshotBounds::PATHS, &secrets).files["data/db"].clone();
    let change = windlass_vocab::Change { was: there, now: FileState::File { blob, mode: 0o600, inode: None } };
    let left = workspace.restore(&Changes::from([("data/db".into(), change)]), &contents, &secrets, "t");
    assert_eq!(left.len(), 1);
    assert_eq!(room.read("data/db"), "db");
}

// proves T9: a symlink put in place since is not followed
#[test]
fn nothing_is_put_back_through_a_link() {
    let room = Room::new();
    for folder in ["d", "elsewhere"] {
        std::fs::create_dir(room.path().join(folder)).unwrap();
        room.write(&format!("{folder}/x"), "old");
    }
    let (workspace, secrets) = (room.workspace(), Secrets::default());
    let before = workspace.keep(&[content("d/x")], &secrets);
    room.write("d/x", "new");
    let after = workspace.snapshot_paths(["d/x"], SnapshotBounds::PATHS, &secrets).files;
    std::fs::rename(room.path().join("d"), room.path().join("moved")).unwrap();
    room.write("elsewhere/x", "new");
    symlink("elsewhere", room.path().join("d")).unwrap();
    let change = windlass_vocab::Change { was: after["d/x"].clone(), now: before.files["d/x"].clone() };
    let contents = before.contents.iter().map(|content| (Hash(*blake3::hash(content).as_bytes()), Arc::clone(content)));
    let left = workspace.restore(&Changes::from([("d/x".into(), change)]), &contents.collect(), &secrets, "t");
    assert_eq!(left["d/x"], "it is no longer reached without a link");
    assert_eq!((room.read("elsewhere/x"), room.read("moved/x")), ("new".into(), "new".into()));
}

// proves T9: a command turns a file into a folder, or a folder into a file
#[test]
fn a_thing_that_became_another_kind_of_thing_becomes_itself_again() {
    let room = Room::new();
    room.write("file", "f");
    std::fs::create_dir(room.path().join("folder")).unwrap();
    room.write("folder/x", "x");
    std::fs::set_permissions(room.path().join("folder"), PermissionsExt::from_mode(0o750)).unwrap();
    let (workspace, secrets, mut checkpoints) = (room.workspace(), Secrets::default(), Checkpoints::default());
    let before = checkpoints.before(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets);
    std::fs::remove_file(room.path().join("file")).unwrap();
    std::fs::create_dir(room.path().join("file")).unwrap();
    room.write("file/y", "y");
    std::fs::remove_dir_all(room.path().join("folder")).unwrap();
    room.write("folder", "now a file");
    let changes = checkpoints.after(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets).changes;
    let back = changes.iter().map(|(path, change)| (path.clone(), change.reversed())).collect();
    let contents: HashMap<_, _> =
        before.contents.iter().map(|content| (Hash(*blake3::hash(content).as_bytes()), Arc::clone(content))).collect();
    assert_eq!(workspace.restore(&back, &contents, &secrets, "t"), BTreeMap::new());
    assert_eq!(workspace.restore(&back, &contents, &secrets, "t"), BTreeMap::new(), "again is no harm");
    let now = workspace.snapshot_paths(["file", "folder", "folder/x"], SnapshotBounds::PATHS, &secrets).files;
    for (path, state) in now {
        assert!(before.taken.files[&path].is_like(&state), "{path}: {state:?}");
    }
}

fn inode(room: &Room, path: &str) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&std::fs::symlink_metadata(room.path().join(path)).unwrap())
}

/// Restores every path to its state before `command`, twice, as after a crash.
fn undone(room: &Room, planned_changes: &[PlannedChange], command: impl FnOnce()) -> BTreeMap<String, String> {
    let (workspace, secrets) = (room.workspace(), Secrets::default());
    let before = workspace.keep(planned_changes, &secrets);
    command();
    let after = workspace.snapshot_paths(before.files.keys().map(String::as_str), SnapshotBounds::PATHS, &secrets);
    let change =
        |path: &String, was: &FileState| windlass_vocab::Change { was: after.files[path].clone(), now: was.clone() };
    let back = before.files.iter().map(|(path, was)| (path.clone(), change(path, was))).collect();
    let contents = before.contents.iter().chain(&after.contents);
    let contents = contents.map(|content| (Hash(*blake3::hash(content).as_bytes()), Arc::clone(content))).collect();
    let left = workspace.restore(&back, &contents, &secrets, "t");
    assert_eq!(workspace.restore(&back, &contents, &secrets, "t"), left, "again is no harm");
    left
}

fn moved(from: &str, to: &str) -> [PlannedChange; 2] {
    [PlannedChange::Moved(from.to_owned()), PlannedChange::Entry(to.to_owned())]
}

// proves T9: undo restores links, including hard links to the same file
#[test]
fn a_file_that_was_moved_is_moved_back_and_keeps_its_other_names() {
    for (from, to) in [("a", "new/z"), ("z", "a")] {
        let room = Room::new();
        room.write(from, "text");
        std::fs::hard_link(room.path().join(from), room.path().join("other")).unwrap();
        let left = undone(&room, &moved(from, to), || {
            std::fs::create_dir_all(room.path().join(to).parent().unwrap()).unwrap();
            std::fs::rename(room.path().join(from), room.path().join(to)).unwrap();
        });
        assert_eq!(left, BTreeMap::new());
        assert_eq!(inode(&room, from), inode(&room, "other"));
        assert!(!room.path().join(to).exists() && !room.path().join("new").exists());
    }
}

// proves T9: also if it was moved onto another file, whichever is restored first
#[test]
fn a_file_that_was_moved_onto_another_is_moved_back_and_the_other_is_made_again() {
    for (from, to) in [("a", "z"), ("z", "a")] {
        let room = Room::new();
        room.write(from, "moved");
        room.write(to, "replaced");
        let which = inode(&room, from);
        let left = undone(&room, &moved(from, to), || {
            std::fs::rename(room.path().join(from), room.path().join(to)).unwrap();
        });
        assert_eq!(left, BTreeMap::new());
        assert_eq!((inode(&room, from), room.read(from), room.read(to)), (which, "moved".into(), "replaced".into()));
    }
}

// proves T9
#[test]
fn a_moved_file_that_is_no_longer_what_was_moved_is_made_anew() {
    let room = Room::new();
    room.write("a", "old");
    let left = undone(&room, &moved("a", "b"), || {
        std::fs::rename(room.path().join("a"), room.path().join("b")).unwrap();
        room.write("b", "edited since");
    });
    assert_eq!((left, room.read("a"), room.path().join("b").exists()), (BTreeMap::new(), "old".into(), false));
}

// proves T9: a moved symlink stays a symlink
#[test]
fn a_link_that_was_moved_is_moved_back() {
    let room = Room::new();
    symlink("nowhere", room.path().join("a")).unwrap();
    let which = inode(&room, "a");
    let left = undone(&room, &moved("a", "b"), || {
        std::fs::rename(room.path().join("a"), room.path().join("b")).unwrap();
    });
    assert_eq!((left, inode(&room, "a")), (BTreeMap::new(), which));
}

// proves T9: a command moved files, one of them with two hard links
#[test]
fn what_a_command_moved_is_moved_back_name_by_name() {
    let room = Room::new();
    room.write("a", "x");
    std::fs::create_dir(room.path().join("d")).unwrap();
    std::fs::hard_link(room.path().join("a"), room.path().join("d/b")).unwrap();
    let which = inode(&room, "a");
    let changes = around(&room, &mut Checkpoints::default(), 0, SnapshotBounds::WORKSPACE, || {
        std::fs::rename(room.path().join("d"), room.path().join("e")).unwrap();
        std::fs::rename(room.path().join("a"), room.path().join("c")).unwrap();
        std::fs::hard_link(room.path().join("c"), room.path().join("third")).unwrap();
    });
    let back = changes.iter().map(|(path, change)| (path.clone(), change.reversed())).collect();
    let left = room.workspace().restore(&back, &HashMap::new(), &Secrets::default(), "t");
    assert_eq!(left, BTreeMap::new());
    assert_eq!((inode(&room, "a"), inode(&room, "d/b")), (which, which));
    for gone in ["c", "e", "third"] {
        assert!(!room.path().join(gone).exists(), "{gone}");
    }
}
