//! Widely used servers over stdio: connect, list, call, and end without leaving a process.

use std::process::Command;

use serde_json::{Value, json};
use windlass_conformance::person;
use windlass_mcp::ConnectionState;
use windlass_tools::ToolServers as _;
use windlass_vocab::{ElicitationKind, Outcome, OutcomeKind};

use crate::room::{Room, from_npm, from_python, npm, python};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn structured(outcome: &Outcome) -> Value {
    serde_json::from_str(outcome.structured.as_ref().unwrap().as_str()).unwrap()
}

// proves P1, T6
#[tokio::test]
async fn server_everything_gives_words_structure_and_images() {
    let Some(npm) = npm() else { return };
    let room = Room::new(folder(), [from_npm(&npm, "everything", "mcp-server-everything", &[])]);
    let state = room.connect("everything").await;
    assert_eq!((state.state, state.revision.as_deref()), (ConnectionState::Connected, Some("2025-11-25")));

    let echo = room.call("everything.echo", json!({"message": "Grüße"})).await;
    assert_eq!(echo.outcome.text, "Echo: Grüße");
    let sum = room.call("everything.get-sum", json!({"a": 2, "b": 3.5})).await;
    assert!(sum.outcome.text.contains("5.5"), "{}", sum.outcome.text);

    let weather = room.call("everything.get-structured-content", json!({"location": "Chicago"})).await.outcome;
    assert!(structured(&weather)["structuredContent"]["temperature"].is_number(), "{weather:?}");

    let image = room.call("everything.get-tiny-image", json!({})).await.outcome;
    assert!(image.text.contains("[image, "), "{}", image.text);
    let [kept] = &*image.images else { panic!("one image: {image:?}") };
    assert!(kept.media_type == "image/png" && kept.content.starts_with(b"\x89PNG"), "{kept:?}");
    let kept = structured(&image)["content"][0].clone();
    assert!(kept["type"] == "image" && kept["data"].is_null(), "the image is not kept twice: {kept}");
    room.close().await;
}

// proves P4
#[tokio::test]
async fn server_everything_shows_progress_and_asks_the_person() {
    let Some(npm) = npm() else { return };
    let room = Room::new(folder(), [from_npm(&npm, "everything", "mcp-server-everything", &[])]);
    room.connect("everything").await;

    let long = room.call("everything.trigger-long-running-operation", json!({"duration": 0.06, "steps": 3})).await;
    assert_eq!(long.progress, "1/3\n2/3\n3/3\n");

    // Tools that depend on the client's capabilities are listed only after the handshake.
    let form = room.call("everything.trigger-elicitation-request", json!({})).await;
    assert!(
        matches!(&form.asked[..], [asked] if matches!(asked.wants, ElicitationKind::Form { .. })),
        "{:?}",
        form.asked
    );
    assert!(form.outcome.text.contains("It was a dark and stormy night."), "{}", form.outcome.text);

    let arguments = json!({"url": "https://example.com/agree", "errorPath": true});
    let visits = room.call("everything.trigger-url-elicitation", arguments).await.asked;
    assert!(
        visits.len() == 2 && visits.iter().all(|asked| matches!(asked.wants, ElicitationKind::Visit { .. })),
        "{visits:?}"
    );

    let roots = room.call("everything.get-roots-list", json!({})).await.outcome.text;
    assert!(roots.contains(room.dir.path().to_str().unwrap()), "{roots}");
    // Windlass declares that it offers no sampling, and supports no tasks.
    for tool in room.servers.tools() {
        let name = tool.spec().name.to_string();
        assert!(!name.contains("sampling") && !name.contains("research"), "{name}");
    }
    room.close().await;
}

// proves P1
#[tokio::test]
async fn server_filesystem_reads_and_writes_where_it_may() {
    let Some(npm) = npm() else { return };
    let dir = folder();
    std::fs::write(dir.path().join("notes.txt"), "one\ntwo\nthree\n").unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (notes, copy, outside) = (path("notes.txt"), path("copy.txt"), path("../outside.txt"));
    let entry = from_npm(&npm, "files", "mcp-server-filesystem", &[dir.path()]);
    let room = Room::new(dir, [entry]);
    room.connect("files").await;
    let read = room.call("files.read_text_file", json!({"path": notes, "head": 2})).await.outcome;
    assert_eq!(read.text.trim_end(), "one\ntwo");
    room.call("files.write_file", json!({"path": copy, "content": "four"})).await;
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), "four");
    let refused =
        person::call(room.tool("files.read_text_file").await.as_ref(), &json!({"path": outside})).await.outcome;
    assert!(refused.kind == OutcomeKind::ToolError && refused.text.contains("denied"), "{refused:?}");
    room.close().await;
}

// proves P1
#[tokio::test]
async fn server_memory_remembers_from_one_process_to_the_next() {
    let Some(npm) = npm() else { return };
    let dir = folder();
    let (name, mut entry) = from_npm(&npm, "memory", "mcp-server-memory", &[]);
    entry["env"] = json!({"MEMORY_FILE_PATH": dir.path().join("memory.jsonl")});
    let room = Room::new(dir, [(name, entry.clone())]);
    room.connect("memory").await;
    let ada = json!({"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]});
    room.call("memory.create_entities", json!({"entities": [ada]})).await;
    let Room { dir, servers, .. } = room;
    servers.shutdown().await;

    let room = Room::new(dir, [(name, entry)]);
    room.connect("memory").await;
    let graph = room.call("memory.read_graph", json!({})).await.outcome;
    assert_eq!(structured(&graph)["structuredContent"]["entities"][0]["observations"][0], "wrote the first program");
    room.close().await;
}

// proves P1
#[tokio::test]
async fn server_sequential_thinking_keeps_count() {
    let Some(npm) = npm() else { return };
    let room = Room::new(folder(), [from_npm(&npm, "thinking", "mcp-server-sequential-thinking", &[])]);
    let tool = "thinking.sequentialthinking";
    let thought =
        |number: u32| json!({"thought": "so", "nextThoughtNeeded": true, "thoughtNumber": number, "totalThoughts": 3});
    room.connect("thinking").await;
    room.call(tool, thought(1)).await;
    let second = room.call(tool, thought(2)).await.outcome;
    assert_eq!(structured(&second)["structuredContent"]["thoughtHistoryLength"], 2);
    room.close().await;
}

// proves P1
#[tokio::test]
async fn server_git_tells_of_a_repository() {
    let Some(python) = python() else { return };
    let dir = folder();
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(dir.path()).args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]).args(words);
        assert!(command.output().unwrap().status.success(), "{words:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "The first of all"]);
    std::fs::write(dir.path().join("new.txt"), "new").unwrap();
    let path = dir.path().to_str().unwrap().to_owned();
    let room = Room::new(dir, [from_python(&python, "git", "mcp-server-git", &["--repository", &path])]);
    room.connect("git").await;
    let log = room.call("git.git_log", json!({"repo_path": path})).await.outcome.text;
    assert!(log.contains("The first of all") && log.contains("Ada"), "{log}");
    let status = room.call("git.git_status", json!({"repo_path": path})).await.outcome.text;
    assert!(status.contains("new.txt"), "{status}");
    room.close().await;
}

// proves P1
#[tokio::test]
async fn server_time_converts_a_time() {
    let Some(python) = python() else { return };
    let room = Room::new(folder(), [from_python(&python, "time", "mcp-server-time", &["--local-timezone", "Etc/UTC"])]);
    room.connect("time").await;
    let arguments = json!({"source_timezone": "Asia/Tokyo", "time": "12:30", "target_timezone": "Etc/UTC"});
    let time = room.call("time.convert_time", arguments).await.outcome;
    assert!(time.text.contains("T03:30:00+00:00"), "{}", time.text);
    room.close().await;
}

// proves P2
#[tokio::test]
async fn a_server_that_dies_at_its_start_is_reported_and_the_others_go_on_and_prints_who_is_there() {
    let (Some(npm), Some(python)) = (npm(), python()) else { return };
    let dir = folder();
    let database = dir.path().join("test.db").display().to_string();
    let root = dir.path().to_owned();
    let entries = [
        from_npm(&npm, "everything", "mcp-server-everything", &[]),
        from_npm(&npm, "filesystem", "mcp-server-filesystem", &[&root]),
        from_npm(&npm, "memory", "mcp-server-memory", &[]),
        from_npm(&npm, "thinking", "mcp-server-sequential-thinking", &[]),
        from_python(&python, "git", "mcp-server-git", &[]),
        from_python(&python, "time", "mcp-server-time", &["--local-timezone", "Etc/UTC"]),
        from_python(&python, "sqlite", "mcp-server-sqlite", &["--db-path", &database]),
    ];
    let names: Vec<String> = entries.iter().map(|(name, _)| (*name).to_owned()).collect();
    let room = Room::new(dir, entries);
    room.servers.wake();
    assert_eq!(room.servers.awaited().len(), names.len());
    room.servers.settled(names).await;
    for state in room.servers.states() {
        let name = state.name.as_str();
        if name == "sqlite" {
            assert_eq!(state.state, ConnectionState::Failed);
            let why = state.last_error.unwrap();
            assert!(why.contains("exit") && why.contains("list_resources"), "{why}");
            println!("{name}: {why}");
        } else {
            assert_eq!(state.state, ConnectionState::Connected, "{name}: {:?}", state.last_error);
            println!("{name}: {}, revision {}", state.about.unwrap(), state.revision.unwrap());
        }
    }
    let told = room.notices();
    assert_eq!(told.iter().filter(|told| told.contains("`sqlite` is not available")).count(), 1, "{told:?}");
    room.call("everything.echo", json!({"message": "still there"})).await;
    room.call("time.get_current_time", json!({"timezone": "Etc/UTC"})).await;
    room.close().await;
}
