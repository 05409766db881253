//! Servers that misbehave over HTTP.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use windlass_mcp::ServerConfig;
use windlass_testkit::mcp::{
    AskBack, FakeTool, HttpAnswers, HttpBehaviour, HttpFault, HttpFaultKind, HttpSession, McpHttpServer, McpScript,
    ToolAction,
};
use windlass_vocab::OutcomeKind;

use crate::room::{Room, SHORT_CALL, SHORT_STARTUP, STARTUP, ServerLimits};

crate::trials! {
    every_revision_and_every_form_of_answer_is_understood_over_http,
    a_handshake_that_goes_wrong_makes_the_server_unavailable,
    an_answer_that_goes_wrong_is_an_error_of_the_call,
    an_answer_that_never_comes_is_stopped_at_its_limit_and_told,
    a_session_the_server_forgot_is_begun_anew,
    one_that_dies_over_http_is_an_error_and_then_unavailable,
    huge_deep_and_broken_answers_over_http_stop_nothing,
    nobody_listens_at_all,
}

fn room(limits: ServerLimits, server: &McpHttpServer) -> Room {
    Room::beside(limits.of(ServerConfig::http(server.url())))
}

fn doing(does: ToolAction) -> McpScript {
    McpScript::with([FakeTool::new("it", does), FakeTool::new("echo", ToolAction::Echo)])
}

fn with(script: McpScript, fault: HttpFault) -> McpHttpServer {
    McpHttpServer::with(script, HttpBehaviour { faults: vec![fault], ..HttpBehaviour::default() }).unwrap()
}

const KINDS: [fn() -> HttpFaultKind; 9] = [
    || HttpFaultKind::Status(500, Vec::new()),
    || HttpFaultKind::Status(403, Vec::new()),
    || HttpFaultKind::Status(429, vec![("Retry-After".to_owned(), "3600".to_owned())]),
    || HttpFaultKind::Page,
    || HttpFaultKind::NotJson,
    || HttpFaultKind::Closes,
    || HttpFaultKind::Holds,
    || HttpFaultKind::OnlyComments,
    || HttpFaultKind::EndsEarly,
];

// proves P1
async fn every_revision_and_every_form_of_answer_is_understood_over_http() {
    for answers in [HttpAnswers::Events, HttpAnswers::Json] {
        for session in [HttpSession::Kept, HttpSession::None] {
            for revision in ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
                let behaviour = HttpBehaviour { answers, session, ..HttpBehaviour::default() };
                let server = McpHttpServer::with(McpScript::echo().speaking(&[revision]), behaviour).unwrap();
                let room = room(ServerLimits::Long, &server);
                let context = format!("{answers:?}, {session:?}, {revision}");
                let state = room.connect("bad").await.unwrap_or_else(|why| panic!("{context}: {why}"));
                assert_eq!(state.revision.as_deref(), Some(revision), "{context}");
                assert_eq!(room.call("bad.echo", json!({})).await.text, "echo heard {}", "{context}");
                room.servers.shutdown().await;
            }
        }
    }
}

// proves P2
async fn a_handshake_that_goes_wrong_makes_the_server_unavailable() {
    let checks = KINDS.iter().flat_map(|kind| {
        [McpScript::echo().legacy(), McpScript::echo().modern()].map(|script| async {
            let server = with(script, HttpFault { on: None, times: u32::MAX, kind: kind() });
            let room = room(ServerLimits::Startup(SHORT_STARTUP), &server);
            let why = room.unavailable("bad").await;
            assert!(!why.is_empty(), "{:?}", kind());
            room.servers.shutdown().await;
        })
    });
    join_all(checks).await;
}

// proves T5
async fn an_answer_that_goes_wrong_is_an_error_of_the_call() {
    let checks = KINDS.iter().flat_map(|kind| {
        [McpScript::echo().legacy(), McpScript::echo().modern()].map(|script| async {
            let modern = script.revisions.len() == 1;
            let server = with(script, HttpFault::on("tools/call", kind()).times(1));
            let room = room(ServerLimits::Calls(SHORT_CALL), &server);
            room.connect("bad").await.unwrap();
            let outcome = room.call("bad.echo", json!({})).await;
            let is_silent = matches!(kind(), HttpFaultKind::Holds | HttpFaultKind::OnlyComments);
            let failed = if is_silent { OutcomeKind::TimedOut } else { OutcomeKind::InfrastructureError };
            assert_eq!(outcome.kind, failed, "{:?}, modern {modern}: {outcome:?}", kind());
            let next = room.call("bad.echo", json!({})).await;
            assert_eq!(next.text, "echo heard {}", "after {:?}, modern {modern}: {next:?}", kind());
            room.servers.shutdown().await;
        })
    });
    join_all(checks).await;
}

// proves T7, P4
async fn an_answer_that_never_comes_is_stopped_at_its_limit_and_told() {
    for script in [doing(ToolAction::Never).legacy(), doing(ToolAction::Never).modern()] {
        let dir = tempfile::tempdir().unwrap();
        let server = McpHttpServer::start(McpScript { diary: Some(dir.path().to_owned()), ..script }).unwrap();
        let room = room(ServerLimits::Calls(SHORT_CALL), &server);
        room.connect("bad").await.unwrap();
        let begun = Instant::now();
        assert_eq!(room.call("bad.it", json!({})).await.kind, OutcomeKind::TimedOut);
        assert!(begun.elapsed() >= SHORT_CALL);
        let diary = windlass_testkit::mcp::McpDiary::at(dir.path());
        while diary.cancelled().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(10), "the server was never told");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(room.call("bad.echo", json!({})).await.text, "echo heard {}");
        room.servers.shutdown().await;
    }
}

// proves P3
async fn a_session_the_server_forgot_is_begun_anew() {
    let behaviour = HttpBehaviour { session: HttpSession::ForgottenAfter(5), ..HttpBehaviour::default() };
    let server = McpHttpServer::with(McpScript::echo().legacy(), behaviour).unwrap();
    let room = room(ServerLimits::Long, &server);
    room.connect("bad").await.unwrap();
    for _ in 0..20 {
        let outcome = room.call("bad.echo", json!({})).await;
        assert_eq!(outcome.text, "echo heard {}", "it goes on in a new session: {outcome:?}");
    }
    assert!(server.times("initialize") > 1);
    room.end().await;
}

// proves P3
async fn one_that_dies_over_http_is_an_error_and_then_unavailable() {
    let server = McpHttpServer::start(doing(ToolAction::Dies)).unwrap();
    let room = room(ServerLimits::Long, &server);
    room.connect("bad").await.unwrap();
    for tool in ["bad.it", "bad.echo"] {
        let outcome = room.call(tool, json!({})).await;
        assert_eq!(outcome.kind, OutcomeKind::InfrastructureError, "{outcome:?}");
    }
    room.end().await;
}

// proves T5, T6
async fn huge_deep_and_broken_answers_over_http_stop_nothing() {
    let tools = [
        FakeTool::new("big", ToolAction::Big(32 << 20)),
        FakeTool::new("deep", ToolAction::Deep(5_000)),
        FakeTool::new("broken", ToolAction::BrokenUtf8),
        FakeTool::new("half", ToolAction::StopsAnswering),
        FakeTool::new("twice", ToolAction::Twice),
        FakeTool::new("roots", ToolAction::AsksBack(AskBack::Roots)),
        FakeTool::new("echo", ToolAction::Echo),
    ];
    for answers in [HttpAnswers::Events, HttpAnswers::Json] {
        let behaviour = HttpBehaviour { answers, ..HttpBehaviour::default() };
        let server = McpHttpServer::with(McpScript::with(tools.clone()), behaviour).unwrap();
        let room = room(ServerLimits::Calls(Duration::from_secs(4)), &server);
        room.connect("bad").await.unwrap();
        for (tool, kind) in [
            ("big", OutcomeKind::Ok),
            ("deep", OutcomeKind::InfrastructureError),
            ("broken", OutcomeKind::InfrastructureError),
            ("half", OutcomeKind::InfrastructureError),
            ("twice", OutcomeKind::Ok),
            // The newest revision has no such request; a server that sends it gets no answer.
            ("roots", OutcomeKind::TimedOut),
        ] {
            // A server can't send requests within a single JSON response.
            if tool != "roots" || answers == HttpAnswers::Events {
                let outcome = room.call(&format!("bad.{tool}"), json!({})).await;
                assert_eq!(outcome.kind, kind, "{tool}, {answers:?}: {}", outcome.text);
            }
            let next = room.call("bad.echo", json!({})).await;
            assert_eq!(next.text, "echo heard {}", "after {tool}, {answers:?}: {next:?}");
        }
        room.servers.shutdown().await;
    }
    let server = with(McpScript::echo(), HttpFault::on("tools/call", HttpFaultKind::EndlessEvent).times(1));
    // Shorter than it takes to send as much as is read at most.
    let room = room(ServerLimits::Calls(Duration::from_millis(700)), &server);
    room.connect("bad").await.unwrap();
    let outcome = room.call("bad.echo", json!({})).await;
    assert_eq!(outcome.kind, OutcomeKind::TimedOut, "{outcome:?}");
    room.end().await;
}

// proves P2
async fn nobody_listens_at_all() {
    let url = McpHttpServer::start(McpScript::echo()).unwrap().url();
    let room = Room::beside(ServerLimits::Long.of(ServerConfig::http(url)));
    let begun = Instant::now();
    room.unavailable("bad").await;
    assert!(begun.elapsed() < STARTUP, "{:?}", begun.elapsed());
    room.end().await;
}
