//! Paths stay inside the workspace.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use windlass_tools::{Permissions, Workspace};
use windlass_vocab::{OutcomeKind, ReplyCall, Verdict};

use super::room::Room;

// proves T10
#[test]
fn no_path_leads_out_of_the_workspace() {
    let room = Room::with(&[("in.txt", "inside"), ("sub/x", "")]);
    let outside = room.folder.path().join("secret.txt");
    std::fs::write(&outside, "outside").unwrap();
    symlink(&outside, room.root().join("file_link")).unwrap();
    symlink("../secret.txt", room.root().join("relative_link")).unwrap();
    symlink(room.folder.path(), room.root().join("folder_link")).unwrap();
    symlink("..", room.root().join("sub/up")).unwrap();
    let absolute = outside.display().to_string();
    for path in [
        "../secret.txt",
        "sub/../../secret.txt",
        &absolute,
        "/etc/passwd",
        "file_link",
        "relative_link",
        "folder_link/secret.txt",
        "sub/up/../secret.txt",
        "sub/up/../../secret.txt",
        &format!("{}/../secret.txt", room.root().display()),
    ] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "broken"})),
            ("edit_file", json!({"path": path, "old_text": "outside", "new_text": "broken"})),
            ("append_file", json!({"path": path, "text": "broken"})),
            ("delete_file", json!({"path": format!("{path}/../secret.txt")})),
            ("move_file", json!({"from": "in.txt", "to": format!("{path}/new")})),
            ("search_files", json!({"pattern": "outside", "path": path})),
            ("list_directory", json!({"path": format!("{path}/..")})),
        ] {
            let outcome = room.call(tool, &arguments);
            assert_eq!(outcome.kind, OutcomeKind::InvalidArguments, "{tool} {path}: {}", outcome.text);
            assert!(!outcome.text.contains("passwd:") && !outcome.text.contains("secret.txt  "), "{}", outcome.text);
        }
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "outside", "{path}");
        assert_eq!(room.text("in.txt"), "inside", "{path}");
    }
    let text = room.wrong("read_file", &json!({"path": "/etc/passwd"}));
    assert!(text.contains("outside the workspace") && text.contains(&*room.root().to_string_lossy()), "{text}");
    assert!(room.wrong("read_file", &json!({"path": "folder_link/secret.txt"})).contains("outside the workspace"));
    assert!(!room.ok("search_files", &json!({"pattern": "outside"})).contains("secret"));
}

// proves T10
#[test]
fn a_link_swapped_in_during_the_call_is_not_followed_out() {
    let room = Room::with(&[("dir/f.txt", "inside\n")]);
    let outside = room.folder.path().join("out");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("f.txt"), "outside\n").unwrap();
    let (dir, aside) = (room.root().join("dir"), room.root().join("aside"));
    let done = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (done, dir, aside, outside) = (Arc::clone(&done), dir, aside, outside.clone());
        std::thread::spawn(move || {
            while !done.load(Ordering::Relaxed) {
                std::fs::rename(&dir, &aside).unwrap();
                symlink(&outside, &dir).unwrap();
                std::fs::remove_file(&dir).unwrap();
                std::fs::rename(&aside, &dir).unwrap();
            }
        })
    };
    for round in 0..300 {
        let read = room.call("read_file", &json!({"path": "dir/f.txt"})).text;
        assert!(!read.contains("outside\n"), "{read}");
        let found = room.call("search_files", &json!({"pattern": "outside"})).text;
        assert!(!found.contains("f.txt:"), "{found}");
        if round % 10 == 0 {
            // The folder may be missing for a moment, and a write may create it; only where it writes matters.
            let _ = room.call("edit_file", &json!({"path": "dir/f.txt", "old_text": "side", "new_text": "side"}));
        }
    }
    done.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert_eq!(std::fs::read_to_string(outside.join("f.txt")).unwrap(), "outside\n");
}

// proves T10
#[test]
fn absolute_paths_and_links_inside_the_workspace_work() {
    let room = Room::with(&[("a/real.txt", "text")]);
    symlink("a/real.txt", room.root().join("link")).unwrap();
    let absolute = room.root().join("a/real.txt").display().to_string();
    assert_eq!(room.ok("read_file", &json!({"path": absolute})), "text");
    assert_eq!(room.ok("read_file", &json!({"path": "./a/../a/real.txt"})), "text");
    room.ok("write_file", &json!({"path": "link", "content": "through"}));
    assert_eq!(room.text("a/real.txt"), "through");
    assert!(room.root().join("link").symlink_metadata().unwrap().is_symlink());
    symlink("nowhere", room.root().join("dangling")).unwrap();
    let text = room.missing("write_file", &json!({"path": "dangling", "content": "x"}));
    assert!(text.contains("`dangling` is a link that leads nowhere"), "{text}");
    assert!(!room.root().join("nowhere").exists());
}

// proves T10
#[test]
fn pipes_devices_and_folders_are_refused_at_once() {
    let room = Room::with(&[("dir/x", "")]);
    let pipe = room.root().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(room.root().join("socket")).unwrap();
    for path in ["pipe", "socket", "dir"] {
        room.wrong("read_file", &json!({"path": path}));
        room.wrong("write_file", &json!({"path": path, "content": "x"}));
        room.wrong("edit_file", &json!({"path": path, "old_text": "a", "new_text": "b"}));
    }
    assert!(room.ok("search_files", &json!({"pattern": "x"})).contains("no match in 1 files"));
    let listed = room.ok("list_directory", &json!({}));
    assert!(listed.starts_with("dir/\n") && listed.contains("pipe  [pipe"), "{listed}");
}

// proves T8
#[test]
fn a_rule_sees_where_a_link_leads() {
    let room = Room::with(&[("keep/x", ""), ("free/y", "")]);
    symlink("../keep", room.root().join("free/link")).unwrap();
    let permissions = Permissions { deny: vec!["write_file(keep/*)".parse().unwrap()], ..Permissions::default() };
    let verdict = |path: &str| {
        let arguments = json!({"path": path, "content": ""}).to_string();
        let call = ReplyCall { name: "write_file".into(), arguments, provider_id: None, mended: None };
        room.offer.prepare(&call, &permissions, &[]).verdict
    };
    assert_eq!(verdict("free/y"), Verdict::Allow);
    for path in ["keep/x", "keep/new", "free/link/x", "free/link/new", "free/../keep/x", "./keep//x"] {
        assert!(matches!(verdict(path), Verdict::Deny { .. }), "{path}");
    }
    let absolute = room.root().join("keep/x").display().to_string();
    assert!(matches!(verdict(&absolute), Verdict::Deny { .. }));
}

#[test]
fn a_workspace_that_is_not_there_is_told() {
    let error = Workspace::open("/nowhere/at/all").unwrap_err().to_string();
    assert!(error.contains("/nowhere/at/all"), "{error}");
}
