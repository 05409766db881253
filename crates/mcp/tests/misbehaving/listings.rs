//! Servers whose listings are too long, wrong, endless, or different each time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass_mcp::NoticeKind;
use windlass_testkit::mcp::{FakeTool, Flood, ListingStyle, McpScript, ToolAction};
use windlass_tools::{Registry, Selection, ToolServers as _};
use windlass_vocab::{OutcomeKind, ToolSource};

use crate::room::{Room, SHORT_STARTUP, SLACK, ServerLimits};

crate::trials! {
    five_hundred_tools_over_fifty_pages_are_all_there,
    a_list_without_end_is_cut_and_told_of,
    a_list_that_never_comes_or_is_refused_makes_the_server_unavailable,
    a_tool_nested_too_deeply_is_left_out,
    broken_tools_are_left_out_and_the_others_stay,
    hostile_names_are_left_out_or_made_harmless,
    a_flood_of_changes_stops_nothing,
    a_server_that_grows_tools_may_and_they_come_with_the_next_run,
    a_description_that_changes_after_consent_is_told,
}

fn listing(listing: ListingStyle) -> McpScript {
    McpScript { listing, ..McpScript::echo() }
}

// proves P4
async fn five_hundred_tools_over_fifty_pages_are_all_there() {
    let paged = listing(ListingStyle::Paged { tools: 500, pages: 50 });
    let room = Room::of(ServerLimits::Long, [("old", paged.clone().legacy()), ("new", paged.modern())]);
    for server in ["old", "new"] {
        let state = room.connect(server).await.unwrap();
        assert_eq!(state.tools.len(), 501, "{server}");
        assert_eq!(room.call(&format!("{server}.tool_499"), json!({})).await.text, "tool_499 heard {}");
    }
    room.end().await;
}

// proves P2
async fn a_list_without_end_is_cut_and_told_of() {
    let room = Room::of(
        ServerLimits::Long,
        [("endless", listing(ListingStyle::Endless)), ("circular", listing(ListingStyle::Circular))],
    );
    for (server, tool, tools, pages) in [("endless", "tool_0", 100, 100), ("circular", "echo", 1, 2)] {
        let state = room.connect(server).await.unwrap();
        assert_eq!(state.tools.len(), tools, "{server}: what was listed is used, each tool once");
        let cut = room.notices_of(server).iter().any(|told| matches!(told, NoticeKind::ListingCut { .. }));
        assert!(cut, "{server}: {:?}", room.notices_of(server));
        // The server handles a call after all earlier requests.
        room.call(&format!("{server}.{tool}"), json!({})).await;
        assert_eq!(room.diary(server).times("tools/list"), pages, "{server}: nobody asks on");
    }
    room.end().await;
}

// proves P2
async fn a_list_that_never_comes_or_is_refused_makes_the_server_unavailable() {
    let room = Room::of(
        ServerLimits::Startup(SHORT_STARTUP),
        [("never", listing(ListingStyle::Never)), ("refuses", listing(ListingStyle::Refuses))],
    );
    let (_, refused) = tokio::join!(room.unavailable("never"), room.unavailable("refuses"));
    assert!(refused.contains("The list is lost"), "{refused}");
    room.end().await;
}

// proves P2, P4
async fn a_tool_nested_too_deeply_is_left_out() {
    let room = Room::with(ServerLimits::Long, listing(ListingStyle::Deep(5_000)));
    let state = room.connect("bad").await.unwrap();
    assert_eq!(room.names("bad"), Vec::<String>::new());
    assert!(matches!(&state.left_out[..], [out] if out.tool == "deep"), "{:?}", state.left_out);
    assert!(matches!(&room.notices_of("bad")[..], [NoticeKind::ToolSkipped { tool, .. }] if tool == "deep"));
    room.end().await;
}

fn raw(name: &str, schema: &Value) -> Value {
    json!({"name": name, "description": "Raw.", "inputSchema": schema})
}

// proves P4, T1
async fn broken_tools_are_left_out_and_the_others_stay() {
    let object = json!({"type": "object"});
    let tools = vec![
        raw("fine", &object),
        raw("text", &json!("object")),
        raw("null", &Value::Null),
        raw("list", &json!([])),
        raw("type", &json!({"type": 12})),
        raw("properties", &json!({"type": "object", "properties": 5})),
        raw("string", &json!({"type": "string"})),
        raw("pattern", &json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}})),
        raw("elsewhere", &json!({"$ref": "http://127.0.0.1:1/schema.json"})),
        raw("file", &json!({"$ref": "file:///etc/passwd"})),
        raw("circle", &json!({"$ref": "#"})),
        json!({"name": "bare"}),
        json!({"description": "nameless", "inputSchema": object}),
        json!({"name": 5, "inputSchema": object}),
        json!("a string"),
        json!(null),
        raw("last", &object),
    ];
    let room = Room::with(
        ServerLimits::Long,
        McpScript { tools: vec![FakeTool::new("fine", ToolAction::Echo)], ..listing(ListingStyle::Raw(tools)) },
    );
    let state = room.connect("bad").await.unwrap();
    let names: Vec<&str> = state.tools.iter().map(|tool| tool.name.bare()).collect();
    assert_eq!(names, ["fine", "null", "circle", "bare", "last"], "the others are no schemas of arguments");
    let skipped = room.notices_of("bad").iter().filter(|told| matches!(told, NoticeKind::ToolSkipped { .. })).count();
    assert_eq!((skipped, state.left_out.len()), (12, 12), "each is told of: {:?}", room.notices_of("bad"));
    assert_eq!(room.call("bad.fine", json!({})).await.text, "fine heard {}");
    // Every offered tool can be called without harm, even with an odd schema.
    for name in names {
        let outcome = room.call(&format!("bad.{name}"), json!({})).await;
        assert_ne!(outcome.kind, OutcomeKind::TimedOut, "{name}: {outcome:?}");
    }
    room.end().await;
}

// proves T1
async fn hostile_names_are_left_out_or_made_harmless() {
    let object = json!({"type": "object"});
    let hostile = [
        "",
        " ",
        "a b",
        "../../etc/passwd",
        "run_command",
        "local.run_command",
        "good.echo",
        "x\u{202e}y",
        "a\nb",
        "\u{1b}[2J",
        "naïve",
        "a__b",
        "${HOME}",
        "{\"a\":1}",
        "<tool>",
        "a.b.c",
        "__proto__",
        "null",
    ];
    let long = "n".repeat(5_000);
    let mut tools: Vec<Value> = hostile.iter().map(|name| raw(name, &object)).collect();
    tools.extend([
        raw(&long, &object),
        raw("twin", &object),
        raw("twin", &json!({"type": "object", "required": ["a"]})),
    ]);
    tools.extend([raw("Twin", &object), raw("fine", &object)]);
    let room = Room::with(ServerLimits::Long, listing(ListingStyle::Raw(tools)));
    let state = room.connect("bad").await.unwrap();
    let mut registry = Registry::new();
    registry.serve(Arc::new(room.servers.clone()));
    let offer = registry.offer(&Selection::from_iter([ToolSource::Mcp]));
    let of_bad = offer.specs().iter().filter(|spec| spec.name.server() == "bad");
    let mut wire: Vec<&str> = of_bad.map(|spec| spec.wire_name.as_str()).collect();
    assert_eq!(wire.len(), state.tools.len());
    for name in &wire {
        let safe = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        assert!(safe && !name.is_empty() && name.len() <= 64, "{name:?} is no name for a model");
        assert!(name.starts_with("bad"), "{name:?} could be taken for another's");
    }
    let all = wire.len();
    wire.sort_unstable();
    wire.dedup();
    assert_eq!(wire.len(), all, "two tools never have one name");
    for tool in &state.tools {
        assert!(!tool.name.0.chars().any(|c| c.is_control() || c == '\u{202e}'), "{:?}", tool.name);
    }
    assert!(room.names("bad").contains(&"fine".to_owned()));
    assert_eq!(room.names("bad").iter().filter(|name| *name == "twin").count(), 1);
    // `end` checks that the healthy server's tool still works.
    room.end().await;
}

// proves P4
async fn a_flood_of_changes_stops_nothing() {
    let flooding = |flood| McpScript { flood, ..McpScript::echo() };
    let room = Room::of(
        ServerLimits::Long,
        [
            ("old", flooding(Flood::Count(5_000)).legacy()),
            ("new", flooding(Flood::Count(5_000)).modern()),
            ("endless", flooding(Flood::Endless)),
        ],
    );
    for server in ["old", "new", "endless"] {
        room.connect(server).await.unwrap_or_else(|why| panic!("{server}: {why}"));
        for n in 0..10 {
            let outcome = room.call(&format!("{server}.echo"), json!({"n": n})).await;
            assert_eq!(outcome.text, format!(r#"echo heard {{"n":{n}}}"#), "{server}: {outcome:?}");
        }
        let listed = room.diary(server).times("tools/list");
        assert!(listed <= 20, "{server} was asked for its list {listed} times");
    }
    room.end().await;
}

// proves P4
async fn a_server_that_grows_tools_may_and_they_come_with_the_next_run() {
    let growing = McpScript::with([FakeTool::new("grow", ToolAction::GrowsTools)]);
    let room = Room::of(
        ServerLimits::Long,
        [("old", growing.clone().legacy()), ("new", growing.modern()), ("ever", listing(ListingStyle::Grows))],
    );
    for server in ["old", "new"] {
        room.connect(server).await.unwrap();
        assert_eq!(room.names(server), ["grow"]);
        room.call(&format!("{server}.grow"), json!({})).await;
        let begun = Instant::now();
        while room.names(server).len() < 2 {
            assert!(begun.elapsed() < SLACK, "{server}: the new tool is never seen: {:?}", room.names(server));
            room.servers.wake();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(room.call(&format!("{server}.tool_0"), json!({})).await.text, "tool_0 heard {}");
    }
    room.connect("ever").await.unwrap();
    assert_eq!(room.call("ever.tool_0", json!({})).await.text, "tool_0 heard {}");
    room.end().await;
}

// proves X4, P4
async fn a_description_that_changes_after_consent_is_told() {
    let changing = listing(ListingStyle::Changes);
    let tools = [FakeTool::new("grow", ToolAction::GrowsTools), FakeTool::new("echo", ToolAction::Echo)];
    let room = Room::with(ServerLimits::Long, McpScript { tools: tools.to_vec(), ..changing });
    room.connect("bad").await.unwrap();
    let before = room.tool("bad.echo").spec().description.clone();
    room.call("bad.grow", json!({})).await;
    let begun = Instant::now();
    let changed = |told: &NoticeKind| matches!(told, NoticeKind::ToolChanged { tool } if tool.contains("echo"));
    while !room.notices_of("bad").iter().any(changed) {
        assert!(begun.elapsed() < SLACK, "nobody is told: {before}, {:?}", room.notices_of("bad"));
        room.servers.wake();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    room.end().await;
}
