//! Servers that write more than messages.

use serde_json::json;
use windlass_mcp::NoticeKind;
use windlass_testkit::mcp::{FakeTool, McpScript, Noise, ToolAction};
use windlass_vocab::OutcomeKind;

use crate::room::{Room, ServerLimits};

crate::trials! {
    noise_on_standard_output_is_told_and_survived,
    all_the_noise_at_once_is_survived_by_either_kind_of_server,
    a_flood_on_standard_error_stops_nothing,
    broken_utf8_in_an_answer_is_shown_as_what_it_is,
}

// proves P4
async fn noise_on_standard_output_is_told_and_survived() {
    let noises = [
        ("log", Noise::LogLines),
        ("blank", Noise::BlankLines),
        ("bom", Noise::Bom),
        ("crlf", Noise::Crlf),
        ("utf8", Noise::BrokenUtf8),
        ("json", Noise::StrayJson),
        ("long", Noise::LongLines),
    ];
    let room = Room::of(
        ServerLimits::Long,
        noises.map(|(server, noise)| (server, McpScript { noise: vec![noise], ..McpScript::echo() })),
    );
    for (server, _) in noises {
        room.connect(server).await.unwrap_or_else(|why| panic!("{server}: {why}"));
        let outcome = room.call(&format!("{server}.echo"), json!({"n": 7})).await;
        assert_eq!((outcome.kind, outcome.text.as_str()), (OutcomeKind::Ok, r#"echo heard {"n":7}"#), "{server}");
        assert!(
            room.notices_of(server).iter().any(|told| matches!(told, NoticeKind::Garbage { .. })),
            "{server} is told of"
        );
    }
    assert_eq!(room.notices_of("good"), Vec::new());
    room.end().await;
}

// proves P4
async fn all_the_noise_at_once_is_survived_by_either_kind_of_server() {
    let noise = vec![Noise::LogLines, Noise::BlankLines, Noise::Bom, Noise::Crlf, Noise::BrokenUtf8, Noise::StrayJson];
    let noisy = McpScript { noise, ..McpScript::echo() };
    let room = Room::of(ServerLimits::Long, [("old", noisy.clone().legacy()), ("new", noisy.modern())]);
    for server in ["old", "new"] {
        room.connect(server).await.unwrap_or_else(|why| panic!("{server}: {why}"));
        for n in 0..20 {
            let outcome = room.call(&format!("{server}.echo"), json!({"n": n})).await;
            assert_eq!(outcome.text, format!(r#"echo heard {{"n":{n}}}"#), "{server}");
        }
        assert!(
            room.notices_of(server).len() < 40,
            "what repeats is not told each time: {:?}",
            room.notices_of(server)
        );
    }
    room.end().await;
}

// proves P4
async fn a_flood_on_standard_error_stops_nothing() {
    let tools = [FakeTool::new("complain", ToolAction::Complains(8 << 20)), FakeTool::new("echo", ToolAction::Echo)];
    let room = Room::with(ServerLimits::Long, McpScript { stderr_bytes: 8 << 20, ..McpScript::with(tools) });
    room.connect("bad").await.unwrap();
    assert_eq!(room.call("bad.complain", json!({})).await.text, "complain heard {}");
    assert_eq!(room.call("bad.echo", json!({})).await.text, "echo heard {}");
    room.end().await;
}

// proves P4, T5
async fn broken_utf8_in_an_answer_is_shown_as_what_it_is() {
    let room = Room::with(
        ServerLimits::Long,
        McpScript::with([FakeTool::new("it", ToolAction::BrokenUtf8), FakeTool::new("echo", ToolAction::Echo)]),
    );
    room.connect("bad").await.unwrap();
    let outcome = room.call("bad.it", json!({})).await;
    assert_eq!(outcome.kind, OutcomeKind::Ok, "{outcome:?}");
    assert!(outcome.text.starts_with("caf\u{fffd}"), "{outcome:?}");
    assert_eq!(room.call("bad.echo", json!({})).await.text, "echo heard {}", "and it goes on");
    room.end().await;
}
