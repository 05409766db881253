//! Servers that don't exit, or leave other processes behind.

use serde_json::json;
use windlass_testkit::mcp::{FakeTool, Grandchild, Greeting, InputEndBehaviour, McpScript, ToolAction};
use windlass_vocab::OutcomeKind;

use crate::room::{Room, SHORT_STARTUP, ServerLimits, assert_none_left};

crate::trials! {
    one_that_ignores_the_end_and_the_signal_is_killed,
    grandchildren_go_with_their_server,
    grandchildren_of_a_server_that_died_or_never_started_go_too,
    servers_die_when_nobody_holds_them_any_more,
}

// proves P3, T7
async fn one_that_ignores_the_end_and_the_signal_is_killed() {
    let stubborn = McpScript { leaving: InputEndBehaviour::Never, ..McpScript::echo() };
    let room = Room::of(ServerLimits::Long, [("old", stubborn.clone().legacy()), ("new", stubborn.modern())]);
    for server in ["old", "new"] {
        room.connect(server).await.unwrap();
        assert_eq!(room.call(&format!("{server}.echo"), json!({})).await.text, "echo heard {}");
    }
    room.end().await;
}

const ALL: [Grandchild; 3] = [Grandchild::InGroup, Grandchild::InOwnSession, Grandchild::Deaf];

// proves P3, T7
async fn grandchildren_go_with_their_server() {
    let room = Room::with(ServerLimits::Long, McpScript { grandchildren: ALL.to_vec(), ..McpScript::echo() });
    room.connect("bad").await.unwrap();
    assert_eq!(room.diary("bad").survivors().len(), 4, "they are there");
    room.end().await;
}

// proves P3, T7
async fn grandchildren_of_a_server_that_died_or_never_started_go_too() {
    let with = |script: McpScript| McpScript { grandchildren: ALL.to_vec(), ..script };
    let room = Room::of(
        ServerLimits::Startup(SHORT_STARTUP),
        [
            ("before", with(McpScript { handshake: Greeting::ExitsBefore, ..McpScript::default() })),
            (
                "silent",
                with(McpScript {
                    handshake: Greeting::Never,
                    leaving: InputEndBehaviour::Never,
                    ..McpScript::default()
                }),
            ),
        ],
    );
    tokio::join!(room.unavailable("before"), room.unavailable("silent"));
    assert_none_left(&[room.diary("before"), room.diary("silent")]).await;
    room.end().await;

    let room = Room::with(ServerLimits::Long, with(McpScript::with([FakeTool::new("it", ToolAction::Dies)])));
    room.connect("bad").await.unwrap();
    assert_eq!(room.call("bad.it", json!({})).await.kind, OutcomeKind::InfrastructureError);
    room.end().await;
}

// proves P3, T7
async fn servers_die_when_nobody_holds_them_any_more() {
    let with = |script: McpScript| McpScript { grandchildren: ALL.to_vec(), ..script };
    let room = Room::of(
        ServerLimits::Long,
        [
            ("polite", with(McpScript::echo())),
            ("stubborn", with(McpScript { leaving: InputEndBehaviour::Never, ..McpScript::echo() })),
        ],
    );
    room.connect("polite").await.unwrap();
    room.connect("stubborn").await.unwrap();
    let diaries = [room.diary("polite"), room.diary("stubborn")];
    room.forget();
    assert_none_left(&diaries).await;
}
