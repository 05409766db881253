//! Servers that answer badly, twice, wrongly, late or not at all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use windlass_testkit::mcp::{FakeTool, McpScript, ToolAction};
use windlass_tools::CallContext;
use windlass_vocab::{OutcomeKind, Wait, WaitFor};

use crate::room::{CALL, Room, SHORT_CALL, SLACK, ServerLimits, context, nobody};

crate::trials! {
    one_that_dies_over_a_call_is_an_error_at_once_and_starts_again,
    one_that_dies_every_time_is_given_up,
    one_that_never_answers_is_stopped_at_its_limit_and_told,
    what_is_waited_for_is_said_with_its_limit,
    one_that_reads_no_more_holds_up_nobody,
    a_stop_reaches_the_server_and_ends_the_call_at_once,
    ids_that_go_wrong_never_reach_another_call,
    a_late_answer_is_nobodys,
    answers_out_of_order_reach_their_calls,
    a_huge_answer_is_taken_whole_or_is_an_error_at_once,
    an_answer_too_deep_is_an_error_at_once,
    a_result_that_breaks_its_own_promise_is_an_error,
    a_result_of_the_wrong_shape_is_shown_as_it_came,
    errors_of_tool_and_protocol_are_told_apart,
    calls_in_flight_when_a_server_dies_all_end,
}

// proves P2: every wait is reported
async fn what_is_waited_for_is_said_with_its_limit() {
    let room = Room::with(ServerLimits::Calls(Duration::from_secs(3)), doing(ToolAction::Never));
    room.connect("bad").await.unwrap();
    let (told, heard) = std::sync::mpsc::channel();
    let waits = Arc::new(move |wait| drop(told.send(wait)));
    let outcome = room.tool("bad.it").run(CallContext { waits, ..context(&nobody()) }, json!({})).await;
    assert_eq!(outcome.kind, OutcomeKind::TimedOut, "{outcome:?}");
    let wait = Wait { what: WaitFor::Answer("bad.it".into()), limit_ms: 3_000 };
    assert_eq!(heard.try_iter().collect::<Vec<_>>(), [wait], "once");
    room.end().await;
}

fn doing(does: ToolAction) -> McpScript {
    McpScript::with([FakeTool::new("it", does), FakeTool::new("echo", ToolAction::Echo)])
}

// proves P3, T5
async fn one_that_dies_over_a_call_is_an_error_at_once_and_starts_again() {
    for does in [ToolAction::Dies, ToolAction::DiesAnswering] {
        let room = Room::of(ServerLimits::Long, [("old", doing(does.clone()).legacy()), ("new", doing(does).modern())]);
        for server in ["old", "new"] {
            room.connect(server).await.unwrap();
            let begun = Instant::now();
            let outcome = room.call(&format!("{server}.it"), json!({})).await;
            assert_eq!(outcome.kind, OutcomeKind::InfrastructureError, "{outcome:?}");
            assert!(begun.elapsed() < CALL, "its death is seen: {:?}", begun.elapsed());
            let outcome = room.call(&format!("{server}.echo"), json!({})).await;
            assert_eq!(outcome.text, "echo heard {}", "it was started again: {outcome:?}");
            assert_eq!(room.diary(server).starts(), 2, "{server}");
        }
        room.end().await;
    }
}

// proves P3
async fn one_that_dies_every_time_is_given_up() {
    let room = Room::with(ServerLimits::Long, doing(ToolAction::Dies));
    room.connect("bad").await.unwrap();
    for _ in 0..3 {
        assert_eq!(room.call("bad.it", json!({})).await.kind, OutcomeKind::InfrastructureError);
    }
    assert!(room.diary("bad").starts() <= 4, "it is not started for ever: {}", room.diary("bad").starts());
    room.end().await;
}

// proves T7, P4
async fn one_that_never_answers_is_stopped_at_its_limit_and_told() {
    let room = Room::of(
        ServerLimits::Calls(SHORT_CALL),
        [
            ("old", doing(ToolAction::Never).legacy()),
            ("new", doing(ToolAction::Never).modern()),
            ("half", doing(ToolAction::StopsAnswering)),
        ],
    );
    for server in ["old", "new", "half"] {
        room.connect(server).await.unwrap();
        let outcome = room.call(&format!("{server}.it"), json!({})).await;
        assert_eq!(outcome.kind, OutcomeKind::TimedOut, "{server}: {outcome:?}");
        assert_eq!(room.diary(server).starts(), 1, "{server} is not killed for it");
    }
    for server in ["old", "new"] {
        wait_for_cancelled(&room, server).await;
        assert_eq!(room.call(&format!("{server}.echo"), json!({})).await.text, "echo heard {}", "and it goes on");
    }
    room.end().await;
}

// proves T7, P3
async fn one_that_reads_no_more_holds_up_nobody() {
    let room = Room::with(ServerLimits::Calls(SHORT_CALL), doing(ToolAction::StopsReading));
    room.connect("bad").await.unwrap();
    // More than the pipe's buffer.
    let long = "x".repeat(1 << 20);
    for _ in 0..3 {
        let outcome = room.call("bad.it", json!({ "long": long })).await;
        assert_eq!(outcome.kind, OutcomeKind::TimedOut, "{}", outcome.text);
    }
    room.end().await;
}

// proves L8, P3, P4
async fn a_stop_reaches_the_server_and_ends_the_call_at_once() {
    let room = Room::of(
        ServerLimits::Long,
        [("old", doing(ToolAction::Never).legacy()), ("new", doing(ToolAction::Never).modern())],
    );
    for server in ["old", "new"] {
        room.connect(server).await.unwrap();
        let around = nobody();
        let call = room.tool(&format!("{server}.it")).run(context(&around), json!({}));
        let begun = Instant::now();
        let stopped = async {
            while room.diary(server).calls().is_empty() {
                assert!(begun.elapsed() < SLACK, "{server}: the call never arrived");
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            around.cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(call, stopped);
        assert_eq!(outcome.kind, OutcomeKind::Cancelled, "{server}: {outcome:?}");
        wait_for_cancelled(&room, server).await;
        assert_eq!(room.call(&format!("{server}.echo"), json!({})).await.text, "echo heard {}", "{server}");
        assert_eq!(room.diary(server).starts(), 1, "{server} is not killed for it");
    }
    room.end().await;
}

async fn wait_for_cancelled(room: &Room, server: &str) {
    let begun = Instant::now();
    while room.diary(server).cancelled().is_empty() {
        assert!(begun.elapsed() < SLACK, "{server} was never told that nobody waits any more");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

// proves P4
async fn ids_that_go_wrong_never_reach_another_call() {
    let room = Room::of(
        ServerLimits::Calls(SHORT_CALL),
        [
            ("twice", doing(ToolAction::Twice)),
            ("stray", doing(ToolAction::StrayId)),
            ("text", doing(ToolAction::IdAsString)),
            ("wrong", doing(ToolAction::WrongId)),
        ],
    );
    for server in ["twice", "stray", "text"] {
        room.connect(server).await.unwrap();
        for n in 0..5 {
            let outcome = room.call(&format!("{server}.it"), json!({"n": n})).await;
            assert_eq!(outcome.text, format!(r#"it heard {{"n":{n}}}"#), "{server}: {outcome:?}");
            let outcome = room.call(&format!("{server}.echo"), json!({"n": n})).await;
            assert_eq!(outcome.text, format!(r#"echo heard {{"n":{n}}}"#), "{server}: {outcome:?}");
        }
    }
    room.connect("wrong").await.unwrap();
    assert_eq!(room.call("wrong.it", json!({})).await.kind, OutcomeKind::TimedOut);
    assert_eq!(room.call("wrong.echo", json!({})).await.text, "echo heard {}");
    room.end().await;
}

// proves P4
async fn a_late_answer_is_nobodys() {
    let room = Room::with(ServerLimits::Calls(SHORT_CALL), doing(ToolAction::HoldsBack));
    room.connect("bad").await.unwrap();
    assert_eq!(room.call("bad.it", json!({"n": 1})).await.kind, OutcomeKind::TimedOut);
    // The late answer arrives right after the first of these calls.
    for n in [2, 3] {
        let outcome = room.call("bad.echo", json!({"n": n})).await;
        assert_eq!(outcome.text, format!(r#"echo heard {{"n":{n}}}"#), "{outcome:?}");
    }
    room.end().await;
}

// proves P4
async fn answers_out_of_order_reach_their_calls() {
    let room = Room::with(ServerLimits::Long, doing(ToolAction::HoldsBack));
    room.connect("bad").await.unwrap();
    let held = room.call("bad.it", json!({"n": 1}));
    let freed = async {
        while room.diary("bad").calls().is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        room.call("bad.echo", json!({"n": 2})).await
    };
    let (held, freed) = tokio::join!(held, freed);
    assert_eq!((held.text.as_str(), freed.text.as_str()), (r#"it heard {"n":1}"#, r#"echo heard {"n":2}"#));
    room.end().await;
}

// proves T6, T7
async fn a_huge_answer_is_taken_whole_or_is_an_error_at_once() {
    let huge = doing(ToolAction::Big(32 << 20));
    // A debug build on a loaded machine needs time for this much data.
    let room = Room::with(ServerLimits::Calls(Duration::from_secs(40)), huge.clone());
    room.connect("bad").await.unwrap();
    let outcome = room.call("bad.it", json!({})).await;
    assert_eq!((outcome.kind, outcome.text.len()), (OutcomeKind::Ok, 32 << 20));
    assert_eq!(room.call("bad.echo", json!({})).await.text, "echo heard {}", "and it goes on");
    room.end().await;

    let room = Room::narrow(16 << 20, &huge);
    room.connect("bad").await.unwrap();
    let outcome = room.call("bad.it", json!({})).await;
    assert_eq!(outcome.kind, OutcomeKind::InfrastructureError, "{}", outcome.text);
    assert!(outcome.text.contains("longer than the limit"), "{}", outcome.text);
    assert_eq!(room.call("bad.echo", json!({})).await.text, "echo heard {}", "and it goes on");
    room.end().await;
}

// proves T5
async fn an_answer_too_deep_is_an_error_at_once() {
    let room = Room::with(ServerLimits::Long, doing(ToolAction::Deep(5_000)));
    room.connect("bad").await.unwrap();
    let outcome = room.call("bad.it", json!({})).await;
    assert_eq!(outcome.kind, OutcomeKind::InfrastructureError, "{outcome:?}");
    assert_eq!(room.call("bad.echo", json!({})).await.text, "echo heard {}", "and it goes on");
    room.end().await;
}

// proves T5
async fn a_result_that_breaks_its_own_promise_is_an_error() {
    let promise = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let text = json!([{"type": "text", "text": "here"}]);
    let tool = |name: &str, structured: serde_json::Value| {
        let result = json!({"content": text, "structuredContent": structured});
        FakeTool::new(name, ToolAction::Result(result)).promising(promise.clone())
    };
    let tools = [
        tool("kept", json!({"n": 5})),
        tool("broken", json!({"n": "five"})),
        tool("other", json!([1])),
        FakeTool::new("missing", ToolAction::Result(json!({"content": text}))).promising(promise.clone()),
        FakeTool::new("absurd", ToolAction::Echo).promising(json!({"type": 12})),
    ];
    let room = Room::with(ServerLimits::Long, McpScript::with(tools));
    room.connect("bad").await.unwrap();
    let kept = room.call("bad.kept", json!({})).await;
    assert_eq!(kept.kind, OutcomeKind::Ok, "{kept:?}");
    assert!(kept.structured.is_some(), "{kept:?}");
    for tool in ["broken", "other", "missing"] {
        let outcome = room.call(&format!("bad.{tool}"), json!({})).await;
        assert_eq!(outcome.kind, OutcomeKind::ToolError, "{tool}: {outcome:?}");
    }
    assert!(!room.names("bad").contains(&"absurd".to_owned()), "a promise nobody can check is not offered");
    room.end().await;
}

// proves T5: the model sees the result as it came
async fn a_result_of_the_wrong_shape_is_shown_as_it_came() {
    let shapes = [
        json!(null),
        json!(5),
        json!("done"),
        json!([]),
        json!({}),
        json!({"content": "text"}),
        json!({"content": [{"type": "text"}]}),
        json!({"content": [{"type": "hologram", "data": 1}]}),
        json!({"resultType": "unheard_of"}),
    ];
    let tools =
        shapes.iter().enumerate().map(|(n, shape)| FakeTool::new(&format!("t{n}"), ToolAction::Result(shape.clone())));
    let room = Room::with(ServerLimits::Long, McpScript::with(tools));
    room.connect("bad").await.unwrap();
    for (n, shape) in shapes.iter().enumerate() {
        let outcome = room.call(&format!("bad.t{n}"), json!({})).await;
        assert_eq!((outcome.kind, outcome.text), (OutcomeKind::Ok, shape.to_string()), "{shape}");
    }
    assert_eq!(room.diary("bad").starts(), 1);
    room.end().await;
}

// proves T5
async fn errors_of_tool_and_protocol_are_told_apart() {
    let room = Room::with(
        ServerLimits::Long,
        McpScript::with([
            FakeTool::new("fails", ToolAction::Fails("no such city".to_owned())),
            FakeTool::new("invalid", ToolAction::Refuses(-32602)),
            FakeTool::new("broken", ToolAction::Refuses(-32603)),
        ]),
    );
    room.connect("bad").await.unwrap();
    let outcome = room.call("bad.fails", json!({})).await;
    assert_eq!((outcome.kind, outcome.text.as_str()), (OutcomeKind::ToolError, "no such city"));
    // proves L11: errors that the model can fix are distinguished from failures
    for (tool, kind) in [("invalid", OutcomeKind::InvalidArguments), ("broken", OutcomeKind::ToolError)] {
        let outcome = room.call(&format!("bad.{tool}"), json!({})).await;
        assert_eq!(outcome.kind, kind, "{outcome:?}");
        assert!(outcome.text.contains("The server says no"), "{outcome:?}");
    }
    room.end().await;
}

// proves P3
async fn calls_in_flight_when_a_server_dies_all_end() {
    let tools = [FakeTool::new("wait", ToolAction::Never), FakeTool::new("die", ToolAction::Dies)];
    let room = Room::with(ServerLimits::Long, McpScript::with(tools));
    room.connect("bad").await.unwrap();
    let waiting = futures_util::future::join_all((0..10).map(|_| room.call("bad.wait", json!({}))));
    let dying = async {
        while room.diary("bad").calls_of("wait").len() < 10 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        room.call("bad.die", json!({})).await
    };
    let (waiting, dying) = tokio::join!(waiting, dying);
    assert_eq!(dying.kind, OutcomeKind::InfrastructureError, "{dying:?}");
    for outcome in waiting {
        assert_eq!(outcome.kind, OutcomeKind::InfrastructureError, "at once, not at the limit: {outcome:?}");
    }
    room.end().await;
}
