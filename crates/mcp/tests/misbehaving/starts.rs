//! Servers that start badly, slowly or not at all, and those of every revision.

use std::time::{Duration, Instant};

use serde_json::json;
use windlass_mcp::{ServerConfig, ServerTransport};
use windlass_testkit::mcp::{Greeting, McpScript, Probe, REVISIONS};
use windlass_tools::{ServerStage, ToolServers as _};

use crate::room::{Room, SHORT_STARTUP, STARTUP, ServerLimits, assert_none_left};

crate::trials! {
    a_server_that_exits_before_the_handshake_is_unavailable_at_once,
    a_server_that_exits_after_the_handshake_is_unavailable,
    a_server_that_never_answers_is_given_up_at_its_limit,
    a_server_that_refuses_or_talks_nonsense_is_unavailable,
    a_server_of_an_unknown_revision_is_unavailable,
    a_program_that_does_not_exist_is_unavailable_at_once,
    a_folder_that_does_not_exist_is_named,
    every_revision_is_spoken,
    a_legacy_server_is_met_whatever_it_does_with_the_probe,
    a_server_may_take_its_time_to_start,
    one_that_hangs_holds_up_nobody,
}

fn greeting(handshake: Greeting) -> McpScript {
    McpScript { handshake, ..McpScript::echo() }
}

// proves P2
async fn a_server_that_exits_before_the_handshake_is_unavailable_at_once() {
    let room = Room::with(ServerLimits::Long, greeting(Greeting::ExitsBefore));
    let begun = Instant::now();
    let why = room.unavailable("bad").await;
    assert!(why.contains("it would not start"), "its last words are told: {why}");
    assert!(begun.elapsed() < STARTUP, "its death is seen, not waited for: {:?}", begun.elapsed());
    room.end().await;
}

// proves P2, P3
async fn a_server_that_exits_after_the_handshake_is_unavailable() {
    for script in [greeting(Greeting::ExitsAfter).legacy(), greeting(Greeting::ExitsAfter).modern()] {
        let room = Room::with(ServerLimits::Long, script);
        room.unavailable("bad").await;
        room.end().await;
    }
}

// proves P2
async fn a_server_that_never_answers_is_given_up_at_its_limit() {
    let room = Room::of(
        ServerLimits::Startup(SHORT_STARTUP),
        [
            ("old", greeting(Greeting::Never).legacy()),
            ("silent", McpScript { probe: Probe::Ignores, ..greeting(Greeting::Never).legacy() }),
            ("new", greeting(Greeting::Never).modern()),
        ],
    );
    tokio::join!(room.unavailable("old"), room.unavailable("silent"), room.unavailable("new"));
    // A failed start leaves no process either.
    assert_none_left(&["old", "silent", "new"].map(|server| room.diary(server))).await;
    room.end().await;
}

// proves P2
async fn a_server_that_refuses_or_talks_nonsense_is_unavailable() {
    for handshake in [Greeting::Refuses, Greeting::Nonsense] {
        let room = Room::of(
            ServerLimits::Long,
            [("old", greeting(handshake.clone()).legacy()), ("new", greeting(handshake).modern())],
        );
        tokio::join!(room.unavailable("old"), room.unavailable("new"));
        room.end().await;
    }
}

// proves P1
async fn a_server_of_an_unknown_revision_is_unavailable() {
    for claimed in ["1999-12-31", "2099-01-01", "latest", ""] {
        let script = greeting(Greeting::Claims(claimed.to_owned()));
        let room = Room::of(ServerLimits::Long, [("old", script.clone().legacy()), ("new", script.modern())]);
        let (old, _) = tokio::join!(room.unavailable("old"), room.unavailable("new"));
        assert!(old.contains(claimed), "{old}");
        room.end().await;
    }
}

// proves P2
async fn a_program_that_does_not_exist_is_unavailable_at_once() {
    let reach = ServerTransport::Stdio {
        command: "no-such-program-anywhere".to_owned(),
        args: Vec::new(),
        env: std::collections::BTreeMap::new(),
        cwd: None,
    };
    let room = Room::beside(ServerLimits::Long.of(ServerConfig::new(reach)));
    let begun = Instant::now();
    let why = room.unavailable("bad").await;
    assert!(why.contains("no-such-program-anywhere"), "{why}");
    assert!(begun.elapsed() < STARTUP, "{:?}", begun.elapsed());
    room.end().await;
}

// proves P2
async fn a_folder_that_does_not_exist_is_named() {
    let (command, args, env) = ("true".to_owned(), Vec::new(), std::collections::BTreeMap::new());
    let reach = ServerTransport::Stdio { command, args, env, cwd: Some("/no/such/folder".into()) };
    let room = Room::beside(ServerLimits::Long.of(ServerConfig::new(reach)));
    let why = room.unavailable("bad").await;
    assert!(why.contains("/no/such/folder") && why.contains("`cwd`"), "{why}");
    room.end().await;
}

// proves P1
async fn every_revision_is_spoken() {
    let room =
        Room::of(ServerLimits::Long, REVISIONS.map(|revision| (revision, McpScript::echo().speaking(&[revision]))));
    for revision in REVISIONS {
        let state = room.connect(revision).await.unwrap();
        assert_eq!(state.revision.as_deref(), Some(revision));
        let outcome = room.call(&format!("{revision}.echo"), json!({})).await;
        assert_eq!(outcome.text, "echo heard {}", "{revision}: {outcome:?}");
    }
    room.end().await;
}

// proves P1
async fn a_legacy_server_is_met_whatever_it_does_with_the_probe() {
    let with = |probe| McpScript { probe, ..McpScript::echo().legacy() };
    let mut room = Room::of(
        ServerLimits::Long,
        [("refuses", with(Probe::Refuses)), ("ignores", with(Probe::Ignores)), ("dies", with(Probe::Dies))],
    );
    room.servers.wake();
    for server in ["refuses", "ignores", "dies"] {
        room.connect(server).await.unwrap_or_else(|why| panic!("{server}: {why}"));
        assert_eq!(room.call(&format!("{server}.echo"), json!({})).await.text, "echo heard {}");
    }
    // The kind of handshake is remembered: no server gets the wrong one twice.
    room.next().await;
    let probes = room.diary("refuses").times("server/discover");
    room.connect("refuses").await.unwrap();
    assert_eq!(room.diary("refuses").times("server/discover"), probes);
    room.end().await;
}

// proves P1
async fn a_server_may_take_its_time_to_start() {
    // The same fraction of its limit as 11 s of the usual 30: more than the silence after the probe.
    let slow = |script: McpScript| McpScript { starts_after_ms: 2_200, ..script };
    let room = Room::of(
        ServerLimits::Startup(Duration::from_secs(6)),
        [
            ("refuses", slow(McpScript::echo().legacy())),
            ("ignores", slow(McpScript { probe: Probe::Ignores, ..McpScript::echo().legacy() })),
            ("new", slow(McpScript::echo().modern())),
            ("both", slow(McpScript::echo())),
        ],
    );
    room.servers.wake();
    for server in ["refuses", "ignores", "new", "both"] {
        room.connect(server).await.unwrap_or_else(|why| panic!("{server}: {why}"));
        assert_eq!(room.call(&format!("{server}.echo"), json!({})).await.text, "echo heard {}", "{server}");
    }
    room.end().await;
}

// proves P2
async fn one_that_hangs_holds_up_nobody() {
    let room = Room::of(
        ServerLimits::Startup(SHORT_STARTUP),
        [
            ("hung", greeting(Greeting::Never)),
            ("gone", greeting(Greeting::ExitsBefore)),
            ("slow", McpScript { starts_after_ms: 60_000, ..McpScript::echo() }),
        ],
    );
    let begun = Instant::now();
    room.servers.wake();
    assert!(room.servers.awaited().contains(&"slow".to_owned()), "waking waits for nobody");
    room.servers.settled(vec!["good".to_owned()]).await;
    assert!(begun.elapsed() < STARTUP, "{:?}", begun.elapsed());
    room.assert_good().await;
    room.servers.settled(vec!["hung".to_owned(), "gone".to_owned(), "slow".to_owned()]).await;
    assert!(room.servers.awaited().is_empty());
    let stages = room.servers.stages();
    assert!(
        matches!(&stages["hung"], ServerStage::Missed { reason } if reason.contains("did not say who it is")),
        "{stages:?}"
    );
    // The server missed its start; only the next run wakes it again.
    let again = Instant::now();
    room.servers.settled(vec!["hung".to_owned()]).await;
    assert!(again.elapsed() < SHORT_STARTUP, "{:?}", again.elapsed());
    room.end().await;
}
