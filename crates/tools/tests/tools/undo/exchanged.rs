//! A folder is replaced by a symlink while files are read or restored: the symlink is not followed.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use windlass_vocab::Change;

use super::*;

/// A workspace in which `open` is replaced by a symlink to `guarded` right before the n-th opening.
fn exchanging(room: &Room, nth: usize) -> Workspace {
    let (left, root) = (AtomicUsize::new(nth), room.path().to_owned());
    room.workspace().on_open(move || {
        if left.fetch_sub(1, Ordering::SeqCst) == 1 {
            renameat_with(CWD, root.join("open"), CWD, root.join("aside"), RenameFlags::EXCHANGE).unwrap();
        }
    })
}

// proves T9, X5
#[test]
fn neither_a_look_nor_an_undo_goes_through_a_link_that_was_exchanged_for_a_folder() {
    for nth in 1..=6 {
        let room = Room::new();
        for folder in ["open", "guarded"] {
            std::fs::create_dir(room.path().join(folder)).unwrap();
        }
        symlink("guarded", room.path().join("aside")).unwrap();
        room.write("guarded/key", "a treasure");
        room.write("open/key", "old");
        let secrets = Secrets::default();
        let before = room.workspace().keep(&[content("open/key")], &secrets);
        room.write("open/key", "new");
        let after = kept(&room.workspace(), &[content("open/key")]);
        let change = Change { was: after["open/key"].clone(), now: before.files["open/key"].clone() };
        let contents: HashMap<Hash, Arc<[u8]>> = before
            .contents
            .iter()
            .map(|content| (Hash(*blake3::hash(content).as_bytes()), Arc::clone(content)))
            .collect();
        let changes: Changes = [("open/key".to_owned(), change)].into();
        exchanging(&room, nth).restore(&changes, &contents, &secrets, "t");
        assert!(nth > 1 || room.path().join("open").is_symlink(), "nothing was opened, and nothing exchanged");
        assert_eq!(room.read("guarded/key"), "a treasure", "at {nth}");
        assert_eq!(std::fs::read_dir(room.path().join("guarded")).unwrap().count(), 1, "at {nth}");
    }
    let room = Room::new();
    for folder in ["open", "guarded"] {
        std::fs::create_dir(room.path().join(folder)).unwrap();
        room.write(&format!("{folder}/key"), folder);
    }
    symlink("guarded", room.path().join("aside")).unwrap();
    let looked = exchanging(&room, 1).keep(&[content("open/key")], &Secrets::default());
    assert!(room.path().join("open").is_symlink(), "nothing was opened, and nothing exchanged");
    assert!(looked.contents.iter().all(|content| **content != *b"guarded"), "{looked:?}");
}
