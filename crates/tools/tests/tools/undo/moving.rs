//! Commands that move files, and their undo.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use windlass_tools::{Checkpoints, Secrets, SnapshotBounds, Workspace};
use windlass_vocab::{Changes, FileState, Hash};

use super::{Room, call, inode};

type LeftAlone = BTreeMap<String, String>;

/// Contents of larger files are not stored.
const LARGE: u64 = 8;
const CONTENT: &str = "longer than is kept";

fn shell(room: &Room, script: &str) {
    let status = std::process::Command::new("sh").args(["-ec", script]).current_dir(room.path()).status().unwrap();
    assert!(status.success(), "{script}");
}

/// The changes that undo a command, and the contents they need.
struct Back {
    changes: Changes,
    contents: HashMap<Hash, Arc<[u8]>>,
}

impl Back {
    fn of(room: &Room, script: &str) -> Self {
        let (workspace, secrets, mut checkpoints) = (room.workspace(), Secrets::default(), Checkpoints::default());
        let bounds = SnapshotBounds { file_bytes: LARGE, ..SnapshotBounds::WORKSPACE };
        let before = checkpoints.before(&workspace, call(0), bounds, &secrets);
        shell(room, script);
        let changes = checkpoints.after(&workspace, call(0), bounds, &secrets).changes;
        let named = |content: &Arc<[u8]>| (Hash(*blake3::hash(content).as_bytes()), Arc::clone(content));
        Self {
            changes: changes.iter().map(|(path, change)| (path.clone(), change.reversed())).collect(),
            contents: before.contents.iter().map(named).collect(),
        }
    }

    fn restore(&self, workspace: &Workspace) -> LeftAlone {
        workspace.restore(&self.changes, &self.contents, &Secrets::default(), "t")
    }

    /// Restores twice, as after a crash.
    fn done(&self, room: &Room) -> LeftAlone {
        let left = self.restore(&room.workspace());
        assert_eq!(self.restore(&room.workspace()), left, "again is no harm");
        left
    }
}

/// Returns the names of all top-level entries.
fn names(room: &Room) -> Vec<String> {
    let entries = std::fs::read_dir(room.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

// proves T9: a file moved into a folder that took its place comes back, stored or not, and the folder is removed
#[test]
fn a_file_that_was_moved_below_its_own_name_comes_back() {
    for content in ["short", CONTENT] {
        for script in ["mv x t; mkdir x; mv t x/x", "mv x t; mkdir -p x/d/e; mv t x/d/e/x; echo n > x/n"] {
            let room = Room::new();
            room.write("x", content);
            let which = inode(&room, "x");
            let back = Back::of(&room, script);
            assert_eq!(back.done(&room), LeftAlone::new(), "{script}");
            assert_eq!((room.read("x"), inode(&room, "x")), (content.to_owned(), which), "{script}");
            assert_eq!(names(&room), ["x"], "nothing else is left");
            let there = Back {
                changes: back.changes.iter().map(|(path, change)| (path.clone(), change.reversed())).collect(),
                contents: HashMap::from([(Hash(*blake3::hash(b"n\n").as_bytes()), Arc::from(&b"n\n"[..]))]),
            };
            assert_eq!(there.done(&room), LeftAlone::new(), "{script}");
            let moved = if script.contains("-p") { "x/d/e/x" } else { "x/x" };
            assert_eq!((room.read(moved), inode(&room, moved)), (content.to_owned(), which), "{script}");
        }
    }
}

// proves T9: no file is removed before it is at its destination
#[test]
fn a_moved_file_whose_place_is_not_free_stays_where_it_is() {
    for content in ["short", CONTENT] {
        let room = Room::new();
        room.write("x", content);
        let back = Back::of(&room, "mv x t; mkdir -p x/d; mv t x/d/x");
        room.write("x/theirs", "theirs");
        let left = back.done(&room);
        assert_eq!(left["x"], "other things are in it by now");
        assert_eq!(left["x/d/x"], "it could not be moved back");
        assert_eq!((room.read("x/d/x"), room.read("x/theirs")), (content.to_owned(), "theirs".to_owned()));
        let room = Room::new();
        room.write("x", content);
        let back = Back::of(&room, "mv x y");
        room.write("x", "theirs");
        let left = back.done(&room);
        assert_eq!(
            (left["x"].as_str(), left["y"].as_str()),
            ("it was changed meanwhile", "it could not be moved back")
        );
        assert_eq!((room.read("x"), room.read("y")), ("theirs".to_owned(), content.to_owned()));
    }
}

// proves T9: names that were passed on or swapped go back to the same files that had them
#[test]
fn files_that_took_each_others_names_get_their_own_back() {
    for script in ["mv b a; mv c b", "mv b t; mv c b; mv t c", "mv b t; mv c b; echo n > c", "mv b c; echo n > b"] {
        let room = Room::new();
        room.write("b", CONTENT);
        room.write("c", "short");
        let which = (inode(&room, "b"), inode(&room, "c"));
        assert_eq!(Back::of(&room, script).done(&room), LeftAlone::new(), "{script}");
        assert_eq!((room.read("b"), room.read("c")), (CONTENT.to_owned(), "short".to_owned()), "{script}");
        assert_eq!(inode(&room, "b"), which.0, "{script}");
        assert_eq!(names(&room), ["b", "c"], "{script}");
        let is_gone = script.ends_with("mv b c; echo n > b");
        assert!(is_gone || inode(&room, "c") == which.1, "{script}");
    }
}

// proves T9: a symlink that was replaced by a folder is restored, and the folder's content is removed
#[test]
fn a_link_that_became_a_folder_is_a_link_again() {
    let room = Room::new();
    std::os::unix::fs::symlink("nowhere", room.path().join("l")).unwrap();
    let back = Back::of(&room, "mv l t; mkdir -p l/d; mv t l/d/l; echo y > l/y");
    assert_eq!(back.done(&room), LeftAlone::new());
    assert_eq!(std::fs::read_link(room.path().join("l")).unwrap().to_str(), Some("nowhere"));
    assert_eq!(names(&room), ["l"]);
}

// proves T9: another file may get the inode number of a removed one
#[test]
fn a_file_is_not_taken_for_one_whose_number_it_got() {
    let unkept = |modified| FileState::Unkept { size: 20, modified, inode: 7 };
    let changes = Changes::from([
        ("a".to_owned(), windlass_vocab::Change { was: FileState::Absent, now: unkept(1) }),
        ("b".to_owned(), windlass_vocab::Change { was: unkept(2), now: FileState::Absent }),
    ]);
    let room = Room::new();
    let left = room.workspace().restore(&changes, &HashMap::new(), &Secrets::default(), "t");
    assert_eq!(left["a"], "its content was not kept");
}

// proves T9: a path that can't be read is reported neither as changed nor as behind a symlink
#[test]
fn what_can_not_be_looked_at_is_left_alone_and_said_to_be() {
    let (room, path) = (Room::new(), "x".repeat(300));
    let looked = room.workspace().snapshot_paths([path.as_str()], SnapshotBounds::PATHS, &Secrets::default());
    let state = looked.files[&path].clone();
    assert_eq!(state, FileState::OUT_OF_REACH);
    let link = FileState::Link { target: "x".into(), inode: None };
    let changes = Changes::from([(path.clone(), windlass_vocab::Change { was: link, now: FileState::Absent })]);
    let left = room.workspace().restore(&changes, &HashMap::new(), &Secrets::default(), "t");
    assert_eq!(left[&path], "it can't be reached any more");
}
