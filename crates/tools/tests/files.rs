//! The file tools, called as a run calls them: prepared, then run through the offer.

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use windlass_tools::{
    BoxFuture, CallContext, Commands, Offer, Permissions, Registry, SpilledResults, Verification, Workspace, builtins,
    ending_tools,
};
use windlass_vocab::{
    CallId, Ending, Json, Outcome, OutcomeKind, PlanItem, PlanStatus, ReplyCall, SessionId, ToolName, ToolSource,
    Verdict,
};

struct OneSpill;

impl SpilledResults for OneSpill {
    fn read(&self, call: CallId) -> BoxFuture<'_, Option<String>> {
        let text = (call == CallId::default()).then(|| (1..=9).map(|n| format!("line {n}\n")).collect());
        Box::pin(std::future::ready(text))
    }
}

struct Room {
    folder: tempfile::TempDir,
    offer: Offer,
}

impl Room {
    /// A workspace with these files in it. A path that ends in `/` is a folder.
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("ws");
        std::fs::create_dir(&root).unwrap();
        for (path, content) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let workspace = Arc::new(Workspace::open(&root).unwrap());
        let mut registry = Registry::new();
        let commands = Commands::new(None, folder.path().join("locks"));
        for tool in builtins(workspace, commands).into_iter().chain(ending_tools()) {
            registry.add(tool).unwrap();
        }
        let offer = registry.offer(&BTreeSet::from([ToolSource::BuiltIn, ToolSource::Ending]));
        Self { folder, offer }
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("ws")
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    fn call(&self, tool: &str, arguments: &Value) -> Outcome {
        let call = ReplyCall { name: tool.into(), arguments: arguments.to_string(), provider_id: None };
        let prepared = self.offer.prepare(&call, &Permissions::default(), &[]);
        assert!(matches!(prepared.verdict, Verdict::Allow | Verdict::Ask), "{:?}", prepared.verdict);
        let run = self.offer.run(&prepared.tool.unwrap(), context(), &prepared.arguments, Duration::from_secs(20));
        block_on(run)
    }

    fn ok(&self, tool: &str, arguments: &Value) -> String {
        let outcome = self.call(tool, arguments);
        assert_eq!(outcome.kind, OutcomeKind::Ok, "{}", outcome.text);
        outcome.text
    }

    fn refused(&self, tool: &str, arguments: &Value) -> String {
        let outcome = self.call(tool, arguments);
        assert_eq!(outcome.kind, OutcomeKind::ToolError, "{}", outcome.text);
        outcome.text
    }

    fn verify(&self, tool: &str, arguments: &Value) -> Verification {
        let name = ToolName(format!("local.{tool}"));
        block_on(self.offer.verify(&name, context(), &Json::from(arguments), Duration::from_secs(20)))
    }
}

fn context() -> CallContext {
    let session = SessionId(uuid::Uuid::nil());
    CallContext {
        session,
        call: CallId::default(),
        effect_id: CallId::default().effect_id(session),
        cancel: CancellationToken::new(),
        progress: Arc::new(|_| {}),
        spilled: Arc::new(OneSpill),
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

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
            ("move_file", json!({"from": "in.txt", "to": format!("{path}/new")})),
            ("search_files", json!({"pattern": "outside", "path": path})),
            ("list_directory", json!({"path": format!("{path}/..")})),
        ] {
            let outcome = room.call(tool, &arguments);
            assert_eq!(outcome.kind, OutcomeKind::ToolError, "{tool} {path}: {}", outcome.text);
            assert!(!outcome.text.contains("passwd:") && !outcome.text.contains("secret.txt  "), "{}", outcome.text);
        }
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "outside", "{path}");
        assert_eq!(room.text("in.txt"), "inside", "{path}");
    }
    let text = room.refused("read_file", &json!({"path": "/etc/passwd"}));
    assert!(text.contains("outside the workspace") && text.contains(&*room.root().to_string_lossy()), "{text}");
    assert!(room.refused("read_file", &json!({"path": "folder_link/secret.txt"})).contains("outside the workspace"));
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
    let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let swapper = {
        let (done, dir, aside, outside) = (Arc::clone(&done), dir.clone(), aside.clone(), outside.clone());
        std::thread::spawn(move || {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
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
            // In between the folder is missing, and a write may make it anew; where it lands is what counts.
            let _ = room.call("edit_file", &json!({"path": "dir/f.txt", "old_text": "side", "new_text": "side"}));
        }
    }
    done.store(true, std::sync::atomic::Ordering::Relaxed);
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
}

// proves T10
#[test]
fn pipes_devices_and_folders_are_refused_at_once() {
    let room = Room::with(&[("dir/x", "")]);
    let pipe = room.root().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(room.root().join("socket")).unwrap();
    for path in ["pipe", "socket", "dir"] {
        room.refused("read_file", &json!({"path": path}));
        room.refused("write_file", &json!({"path": path, "content": "x"}));
        room.refused("edit_file", &json!({"path": path, "old_text": "a", "new_text": "b"}));
    }
    assert!(room.ok("search_files", &json!({"pattern": "x"})).contains("no match in 1 files"));
    let listed = room.ok("list_directory", &json!({}));
    assert!(listed.starts_with("dir/\n") && listed.contains("pipe  [pipe"), "{listed}");
}

// proves T10
#[test]
fn a_directory_is_listed_folders_first_with_sizes_and_a_limit() {
    let room = Room::with(&[("b.txt", "12345"), ("a.txt", &"x".repeat(1234)), ("z/y", "")]);
    std::fs::write(room.root().join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"q\xff")), "")
        .unwrap();
    symlink("nowhere", room.root().join("l")).unwrap();
    assert_eq!(room.ok("list_directory", &json!({})), "z/\na.txt  1,234\nb.txt  5\nq\u{fffd}  0\nl -> nowhere");
    let few = room.ok("list_directory", &json!({"limit": 2}));
    assert!(few.starts_with("z/\na.txt  1,234\n[2 of 5 entries shown"), "{few}");
    assert!(room.refused("list_directory", &json!({"path": "a.txt"})).contains("not a directory"));
    assert!(room.refused("list_directory", &json!({"path": "none"})).contains("There is no `none`"));
}

// proves T10
#[test]
fn a_file_is_read_in_windows_that_join_to_the_whole() {
    let long: String = (1..=4000).map(|n| format!("line {n} é\n")).collect();
    let wide = format!("first\n{}漢\nlast", "漢".repeat(40_000));
    let room = Room::with(&[("short", "a\nb"), ("empty", ""), ("long", &long), ("wide", &wide)]);
    assert_eq!(room.ok("read_file", &json!({"path": "short"})), "a\nb");
    assert_eq!(room.ok("read_file", &json!({"path": "empty"})), "[the file is empty]");
    assert_eq!(room.ok("read_file", &json!({"path": "short", "offset": 2})), "b\n[from line 2 to the end of the file]");
    assert_eq!(
        room.ok("read_file", &json!({"path": "long", "offset": 3, "limit": 2})),
        "line 3 é\nline 4 é\n[lines 3 to 4 of a file of 45,893 bytes; go on with offset 5]"
    );
    assert!(room.refused("read_file", &json!({"path": "short", "offset": 9})).contains("it has 2 lines"));
    for (path, whole) in [("long", &long), ("wide", &wide)] {
        assert_eq!(&read_in_parts(&room, path), whole);
    }
}

/// Follows the notes from window to window.
fn read_in_parts(room: &Room, path: &str) -> String {
    let (mut whole, mut offset, mut column) = (String::new(), 1, 1);
    loop {
        let part = room.ok("read_file", &json!({"path": path, "offset": offset, "column": column}));
        let (text, note) = part.rsplit_once('[').unwrap();
        assert!(text.chars().count() <= 15_010, "{}", text.chars().count());
        let numbers = |name: &str| {
            let after = note.split_once(name)?.1;
            after.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse::<u64>().ok()
        };
        let next_column = numbers("column").unwrap_or(1);
        // A note after half a line stands on a line of its own.
        let added = next_column > 1 || !note.contains("go on");
        whole += if added { text.strip_suffix('\n').unwrap_or(text) } else { text };
        match numbers("go on with offset") {
            Some(next) => (offset, column) = (next, next_column),
            None => return if path == "long" { whole + "\n" } else { whole },
        }
    }
}

// proves T10
#[test]
fn binary_and_huge_files_are_met_without_reading_them() {
    let room = Room::with(&[("image", "")]);
    std::fs::write(room.root().join("image"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
    let text = room.refused("read_file", &json!({"path": "image"}));
    assert!(text.contains("PNG image") && text.contains("10 bytes"), "{text}");
    let huge = std::fs::File::create(room.root().join("huge")).unwrap();
    std::io::Write::write_all(&mut &huge, "text\n".repeat(4000).as_bytes()).unwrap();
    huge.set_len(2 << 30).unwrap();
    let text = room.ok("read_file", &json!({"path": "huge", "limit": 1}));
    assert!(text.starts_with("text\n[lines 1 to 1 of a file of 2,147,483,648 bytes"), "{text}");
    assert!(room.refused("edit_file", &json!({"path": "huge", "old_text": "a", "new_text": "b"})).contains("up to"));
    assert!(room.ok("search_files", &json!({"pattern": "text"})).contains("1 files over 10 MiB skipped"));
}

// proves T6
#[test]
fn a_truncated_result_is_read_on_by_its_call() {
    let room = Room::with(&[]);
    let text = room.ok("read_file", &json!({"path": "call:0.0.0", "offset": 8}));
    assert_eq!(text, "line 8\nline 9\n[from line 8 to the end of the file]");
    assert!(room.refused("read_file", &json!({"path": "call:1.1.1"})).contains("all of it was shown"));
    assert!(room.refused("read_file", &json!({"path": "call:x"})).contains("names no result"));
}

// proves T10
#[test]
fn a_file_is_written_whole_with_its_folders_and_keeps_its_mode() {
    let room = Room::with(&[("script", "old")]);
    let script = room.root().join("script");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o750)).unwrap();
    assert_eq!(room.ok("write_file", &json!({"path": "script", "content": "new é"})), "Wrote 6 bytes to script.");
    assert_eq!(room.text("script"), "new é");
    assert_eq!(script.metadata().unwrap().permissions().mode() & 0o777, 0o750);
    room.ok("write_file", &json!({"path": "a/b/c.txt", "content": ""}));
    assert_eq!(room.text("a/b/c.txt"), "");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o440)).unwrap();
    assert!(room.refused("write_file", &json!({"path": "script", "content": "x"})).contains("read-only"));
    assert!(room.refused("write_file", &json!({"path": "script/x", "content": "x"})).contains("directory"));
    for path in ["", ".", "..", "new/", "a/.."] {
        room.refused("write_file", &json!({"path": path, "content": "x"}));
    }
    assert_eq!(leftovers(&room.root()), Vec::<String>::new());
}

// proves J4
#[test]
fn what_a_crash_left_of_a_write_is_cleared_by_the_second_try() {
    let room = Room::with(&[("f", "old")]);
    let unfinished = format!(".windlass-{}.tmp", context().effect_id.as_str().replace(':', "-"));
    std::fs::write(room.root().join(&unfinished), "half").unwrap();
    room.ok("write_file", &json!({"path": "f", "content": "new"}));
    assert_eq!(room.text("f"), "new");
    assert_eq!(leftovers(&room.root()), Vec::<String>::new());
}

fn leftovers(root: &Path) -> Vec<String> {
    let names = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".windlass")).collect()
}

// proves X1
#[test]
fn a_placeholder_is_never_written() {
    let room = Room::with(&[("f", "key = \"?\"")]);
    for (tool, arguments) in [
        ("write_file", json!({"path": "f", "content": "key = ⟦secret:API_KEY⟧"})),
        ("edit_file", json!({"path": "f", "old_text": "?", "new_text": "⟦secret:API_KEY⟧"})),
        ("run_command", json!({"command": "echo ⟦secret:API_KEY⟧ > f"})),
    ] {
        assert!(room.refused(tool, &arguments).contains("Leave it out"), "{tool}");
    }
    assert_eq!(room.text("f"), "key = \"?\"");
}

// proves J4
#[test]
fn an_edit_is_made_once_and_can_be_asked_about() {
    let room = Room::with(&[("f", "one\r\ntwo\r\nthree\r\n")]);
    let arguments = json!({"path": "f", "old_text": "two\nthree", "new_text": "2\n3"});
    assert_eq!(room.verify("edit_file", &arguments), Verification::NotDone);
    assert_eq!(room.ok("edit_file", &arguments), "Edited f.");
    assert_eq!(room.text("f"), "one\r\n2\r\n3\r\n");
    assert_eq!(room.verify("edit_file", &arguments), Verification::Done(Outcome::ok("Edited f.")));
    assert!(room.refused("edit_file", &arguments).contains("does not occur"));
    std::fs::remove_file(room.root().join("f")).unwrap();
    assert_eq!(room.verify("edit_file", &arguments), Verification::Unknown);
    std::fs::write(room.root().join("latin1"), b"caf\xe9").unwrap();
    let text = room.refused("edit_file", &json!({"path": "latin1", "old_text": "c", "new_text": "k"}));
    assert!(text.contains("not UTF-8"), "{text}");
}

// proves J4
#[test]
fn a_move_is_made_once_replaces_nothing_unasked_and_can_be_asked_about() {
    let room = Room::with(&[("a", "A"), ("b", "B"), ("dir/x", "X")]);
    let onto_b = json!({"from": "a", "to": "b"});
    assert!(room.refused("move_file", &onto_b).contains("already a `b`"));
    assert_eq!((room.text("a"), room.text("b")), ("A".into(), "B".into()));
    let away = json!({"from": "a", "to": "new/place/a"});
    assert_eq!(room.verify("move_file", &away), Verification::NotDone);
    room.ok("move_file", &away);
    assert_eq!(room.text("new/place/a"), "A");
    assert_eq!(room.verify("move_file", &away), Verification::Done(Outcome::ok("Moved a to new/place/a.")));
    room.ok("move_file", &json!({"from": "new/place/a", "to": "b", "overwrite": true}));
    assert_eq!(room.text("b"), "A");
    assert_eq!(room.verify("move_file", &away), Verification::Unknown);
    room.ok("move_file", &json!({"from": "dir", "to": "folder"}));
    assert_eq!(room.text("folder/x"), "X");
    assert!(room.refused("move_file", &json!({"from": "b", "to": "folder"})).contains("is a directory"));
    assert!(room.refused("move_file", &json!({"from": "none", "to": "x"})).contains("There is no `none`"));
}

// proves T10
#[test]
fn a_search_finds_lines_and_names_and_leaves_out_what_git_does() {
    let room = Room::with(&[
        (".gitignore", "target/\n*.log\n!keep.log\n"),
        ("src/main.rs", "fn main() {\n    one();\n    two();\n}\nfn other() {}\n"),
        ("src/lib.rs", "// fn MAIN\r\n"),
        ("sub/.gitignore", "hidden.rs\n"),
        ("sub/hidden.rs", "fn main"),
        ("target/x.rs", "fn main"),
        ("a.log", "fn main"),
        ("keep.log", "fn main"),
        (".git/config", "fn main"),
    ]);
    std::fs::write(room.root().join("binary"), b"fn main\0").unwrap();
    let find = |arguments: Value| room.ok("search_files", &arguments);
    assert_eq!(
        find(json!({"pattern": r"fn \w+\("})),
        "src/main.rs:1: fn main() {\nsrc/main.rs:5: fn other() {}\n[1 binary files skipped]"
    );
    assert_eq!(find(json!({"pattern": "^fn main", "glob": "*.log"})), "keep.log:1: fn main");
    assert_eq!(
        find(json!({"pattern": "main$", "ignore_case": true, "path": "src/lib.rs"})),
        "src/lib.rs:1: // fn MAIN"
    );
    assert_eq!(find(json!({"pattern": "main", "path": "sub"})), "[no match in 1 files]");
    assert_eq!(
        find(json!({"pattern": "two", "context": 1, "glob": "src/**/*.rs"})),
        "src/main.rs-2-     one();\nsrc/main.rs:3:     two();\nsrc/main.rs-4- }"
    );
    assert_eq!(find(json!({"pattern": "main()", "literal": true, "path": "src"})), "src/main.rs:1: fn main() {");
    assert_eq!(find(json!({"pattern": "rs$", "in": "names"})), "src/lib.rs\nsrc/main.rs");
    assert_eq!(find(json!({"pattern": "", "in": "names", "glob": "*.log"})), "keep.log");
    assert!(find(json!({"pattern": "fn", "limit": 1})).contains("stopped at 1 matches"));
    assert!(room.refused("search_files", &json!({"pattern": "("})).contains("Set literal"));
    assert!(room.refused("search_files", &json!({"pattern": "x", "path": "none"})).contains("There is no `none`"));
}

#[test]
fn a_pattern_made_to_take_for_ever_takes_none() {
    let room = Room::with(&[("f", &"a".repeat(100_000))]);
    assert!(room.ok("search_files", &json!({"pattern": "(a+)+(a|aa)*b$"})).contains("no match"));
    room.refused("search_files", &json!({"pattern": "((a{1000}){1000}){1000}"}));
}

// proves T10
#[test]
fn the_plan_is_replaced_whole() {
    let room = Room::with(&[]);
    let items = json!([{"step": "dig", "status": "done"}, {"step": "fill", "status": "doing"}]);
    let outcome = room.call("todo", &json!({"items": items}));
    assert_eq!(outcome.text, "The plan has 2 steps, 1 of them done.\n[x] dig\n[>] fill");
    let item = |step: &str, status| PlanItem { step: step.into(), status };
    assert_eq!(outcome.plan, Some(vec![item("dig", PlanStatus::Done), item("fill", PlanStatus::Doing)]));
}

// proves L6
#[test]
fn an_ending_tool_answers_with_what_the_person_is_told() {
    let room = Room::with(&[]);
    for (tool, field, ending) in [
        ("task_completion", "result", Ending::Completed),
        ("ask_question", "question", Ending::Asked),
        ("converse", "message", Ending::Conversed),
    ] {
        assert_eq!(room.ok(tool, &json!({field: "All is well."})), "All is well.");
        assert!(room.refused(tool, &json!({field: " "})).contains("is empty"));
        let spec = room.offer.specs().iter().find(|spec| spec.wire_name == tool).unwrap();
        assert_eq!(spec.ending, Some(ending));
    }
}

// proves T7
#[test]
fn without_a_guard_no_command_is_run() {
    let room = Room::with(&[]);
    let outcome = room.call("run_command", &json!({"command": "touch ran"}));
    assert_eq!(outcome.kind, OutcomeKind::InfrastructureError);
    assert!(outcome.text.contains("Commands::guard"), "{}", outcome.text);
    assert!(!room.root().join("ran").exists());
}

// proves T8
#[test]
fn a_rule_sees_where_a_link_leads() {
    let room = Room::with(&[("keep/x", ""), ("free/y", "")]);
    symlink("../keep", room.root().join("free/link")).unwrap();
    let permissions = Permissions { deny: vec!["write_file(keep/*)".parse().unwrap()], ..Permissions::default() };
    let verdict = |path: &str| {
        let arguments = json!({"path": path, "content": ""}).to_string();
        let call = ReplyCall { name: "write_file".into(), arguments, provider_id: None };
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
    assert!(error.contains("/nowhere/at/all") && error.contains("--workspace"), "{error}");
}
