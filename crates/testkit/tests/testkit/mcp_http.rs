//! The fake MCP server over HTTP.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use windlass_testkit::mcp::{
    AskBack, FakeTool, HttpAnswers, HttpBehaviour, HttpFault, HttpFaultKind, HttpSession, McpDiary, McpHttpServer,
    McpScript, ToolAction,
};

fn open(server: &McpHttpServer, message: &Value, headers: &str) -> TcpStream {
    let host = server.url().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
    let body = message.to_string();
    let mut stream = TcpStream::connect(&host).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    stream
}

/// Reads until `end`.
fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let (mut text, mut byte) = (Vec::new(), [0]);
    while !text.ends_with(end.as_bytes()) && stream.read(&mut byte).unwrap() > 0 {
        text.push(byte[0]);
    }
    String::from_utf8(text).unwrap()
}

/// The whole answer to a message, as far as it was received.
fn ask(server: &McpHttpServer, message: &Value, headers: &str) -> String {
    let mut text = String::new();
    // A server that exited resets the connection; the bytes received before count.
    let _ = open(server, message, headers).read_to_string(&mut text);
    text
}

fn greeting() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}})
}

fn call(tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}})
}

const SESSION: &str = "Mcp-Session-Id: session-1\r\n";

#[test]
fn a_session_begins_goes_on_and_is_forgotten() {
    let behaviour = HttpBehaviour { session: HttpSession::ForgottenAfter(1), ..HttpBehaviour::default() };
    let server = McpHttpServer::with(McpScript::echo(), behaviour).unwrap();
    assert!(ask(&server, &greeting(), "").contains("Mcp-Session-Id: session-1"));
    assert!(ask(&server, &call("echo"), "").contains("400"));
    assert!(ask(&server, &call("echo"), SESSION).contains("echo heard {}"));
    assert!(ask(&server, &call("echo"), SESSION).contains("404"));
    assert_eq!(server.times("tools/call"), 3);
}

#[test]
fn what_is_asked_back_goes_out_on_the_stream_of_its_call() {
    let script = McpScript::with([FakeTool::new("ask", ToolAction::AsksBack(AskBack::Roots))]);
    let server = McpHttpServer::start(script).unwrap();
    ask(&server, &greeting(), "");
    let mut asked = open(&server, &call("ask"), SESSION);
    assert!(read_until(&mut asked, "}\n\n\r\n").contains("roots/list"));
    let answer = json!({"jsonrpc": "2.0", "id": "ask-1", "result": {"roots": []}});
    assert!(ask(&server, &answer, SESSION).contains("202"));
    assert!(read_until(&mut asked, "0\r\n\r\n").contains("answered"));
}

#[test]
fn a_client_that_hangs_up_gives_up_its_call() {
    let room = tempfile::tempdir().unwrap();
    let script = McpScript {
        diary: Some(room.path().to_owned()),
        ..McpScript::with([FakeTool::new("never", ToolAction::Never)])
    };
    let behaviour = HttpBehaviour { session: HttpSession::None, ..HttpBehaviour::default() };
    let server = McpHttpServer::with(script, behaviour).unwrap();
    ask(&server, &greeting(), "");
    let mut stream = open(&server, &call("never"), "");
    read_until(&mut stream, "\r\n\r\n");
    drop(stream);
    let begun = std::time::Instant::now();
    while McpDiary::at(room.path()).cancelled().is_empty() && begun.elapsed().as_secs() < 10 {
        std::thread::yield_now();
    }
    assert_eq!(McpDiary::at(room.path()).cancelled(), [json!(1)]);
}

#[test]
fn the_newest_revision_needs_its_headers() {
    let server = McpHttpServer::start(McpScript::echo()).unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    assert!(ask(&server, &list, "").contains("-32020"));
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";
    assert!(ask(&server, &list, headers).contains("\"echo\""));
}

#[test]
fn faults_befall_their_method_so_many_times() {
    let faults = vec![HttpFault::on("initialize", HttpFaultKind::Status(503, Vec::new())).times(1)];
    let behaviour = HttpBehaviour { answers: HttpAnswers::Json, faults, ..HttpBehaviour::default() };
    let server = McpHttpServer::with(McpScript::echo(), behaviour).unwrap();
    assert!(ask(&server, &greeting(), "").contains("503"));
    let greeted = ask(&server, &greeting(), "");
    assert!(greeted.contains("application/json") && greeted.contains("session-1"));
}

#[test]
fn a_server_that_exits_closes_every_connection_and_answers_no_more() {
    let server = McpHttpServer::start(McpScript::with([FakeTool::new("die", ToolAction::Dies)])).unwrap();
    ask(&server, &greeting(), "");
    ask(&server, &call("die"), SESSION);
    assert_eq!(ask(&server, &greeting(), ""), "");
}
