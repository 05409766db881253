//! The records of snapshots and undos.

use windlass_vocab::{
    Change, Changes, Coverage, FileState, FilesChanged, Record, SnapshotTaken, UndoId, UndoStarted, Undoable, Undone,
};

use super::{BLOB, CALL, every, tool, vary};

fn states() -> Vec<FileState> {
    every!(FileState:
        Absent,
        File { blob: BLOB, mode: 0o644, inode: Some(5) },
        Link { target: "a".into(), inode: Some(5) },
        Folder { mode: 0o755, inode: Some(5) },
        Unkept { size: 9, modified: 8, inode: 7 },
    )
}

fn changes() -> Changes {
    let change = |now| Change { was: FileState::Absent, now };
    let paths = (0..).map(|number: u32| format!("folder/{number}~.txt"));
    paths.zip(states().into_iter().map(change)).collect()
}

fn reasons() -> std::collections::BTreeMap<String, String> {
    [("b.txt".to_owned(), "it was not kept".to_owned())].into()
}

pub(super) fn records() -> Vec<Record> {
    let mut all: Vec<Record> = vec![
        FilesChanged {
            call: CALL,
            changes: changes(),
            unseen: Some("large files".into()),
            restored: vec!["a.txt".into()],
            lost: reasons(),
        }
        .into(),
        Undone { undo: UndoId(1), left_alone: reasons(), told: "It was undone.".into() }.into(),
    ];
    let taken = || SnapshotTaken {
        call: CALL,
        coverage: Coverage::Full,
        since: Some(CALL),
        files: changes().into_iter().map(|(path, change)| (path, change.now)).collect(),
    };
    let coverage = every!(Coverage: Full, Partial { left_out: "b.txt".into() }, None { why: "too large".into() });
    vary!(all, taken(), SnapshotTaken.coverage, coverage);
    let started = || UndoStarted {
        undo: UndoId(1),
        of: Undoable::Call(CALL),
        tool: Some(tool()),
        changes: changes(),
        unable: reasons(),
    };
    vary!(all, started(), UndoStarted.of, every!(Undoable: Call(CALL), Undo(UndoId(1))));
    all
}
