//! Something of another kind is where a file or folder was, and files by the hundreds are restored.

use windlass_vocab::Change;

use super::*;

/// Restores the whole workspace to its state before `command`, twice, as after a crash; returns what was left alone.
fn after_command(room: &Room, command: impl FnOnce()) -> BTreeMap<String, String> {
    let (workspace, secrets, mut checkpoints) = (room.workspace(), Secrets::default(), Checkpoints::default());
    let before = checkpoints.before(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets);
    command();
    let changed = checkpoints.after(&workspace, call(0), SnapshotBounds::WORKSPACE, &secrets);
    let back: Changes = changed.changes.iter().map(|(path, change)| (path.clone(), Change::reversed(change))).collect();
    let hashed = |content: &Arc<[u8]>| (Hash(*blake3::hash(content).as_bytes()), Arc::clone(content));
    let contents: HashMap<Hash, Arc<[u8]>> = before.contents.iter().map(hashed).collect();
    let left = workspace.restore(&back, &contents, &secrets, "t");
    assert_eq!(workspace.restore(&back, &contents, &secrets, "t"), left, "again is no harm");
    left
}

// proves T9, X4: a file comes back where a link or an empty folder is, and a folder with its files where a link or a file is
#[test]
fn what_was_replaced_by_another_kind_is_restored() {
    let link: fn(&Path) = |path| symlink("/etc", path).unwrap();
    let file: fn(&Path) = |path| std::fs::write(path, "other").unwrap();
    let folder: fn(&Path) = |path| std::fs::create_dir(path).unwrap();
    for (number, (path, replace)) in [("a", link), ("a", folder), ("d", link), ("d", file)].into_iter().enumerate() {
        let room = Room::new();
        std::fs::create_dir_all(room.path().join("d/e")).unwrap();
        for (path, text) in [("a", "A"), ("d/b", "B"), ("d/e/c", "C")] {
            room.write(path, text);
        }
        let left = after_command(&room, || {
            let path = room.path().join(path);
            if path.is_dir() {
                std::fs::remove_dir_all(&path).unwrap();
            } else {
                std::fs::remove_file(&path).unwrap();
            }
            replace(&path);
        });
        assert_eq!(left, BTreeMap::new(), "{number}");
        assert_eq!(["a", "d/b", "d/e/c"].map(|path| room.read(path)), ["A", "B", "C"], "{number}");
        assert!(!room.path().join("d").is_symlink() && !room.path().join("a").is_symlink(), "{number}");
    }
}

// proves T9, X4: hundreds of files are restored without a wait for the disk for each, and no temporary file is left
#[test]
fn many_files_are_restored_at_once() {
    let room = Room::new();
    std::fs::create_dir_all(room.path().join("d/e")).unwrap();
    let name = |number: usize| format!("d/{}{number}", if number.is_multiple_of(2) { "e/" } else { "" });
    for number in 0..300 {
        room.write(&name(number), &format!("text {number}"));
    }
    let left = after_command(&room, || std::fs::remove_dir_all(room.path().join("d")).unwrap());
    assert_eq!(left, BTreeMap::new());
    for number in 0..300 {
        assert_eq!(room.read(&name(number)), format!("text {number}"));
    }
    let entries = |folder: &str| std::fs::read_dir(room.path().join(folder)).unwrap().count();
    assert_eq!((entries("d"), entries("d/e")), (151, 150));
}
