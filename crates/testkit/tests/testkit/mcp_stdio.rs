//! The fake MCP servers over standard input and output follow their scripts, and break the rules that the
//! scripts tell them to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use windlass_testkit::mcp::{
    FakeTool, Flood, Grandchild, Greeting, InputEndBehaviour, ListingStyle, McpDiary, McpScript, Noise, Probe,
    ToolAction,
};

/// A minimal MCP client.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(script: &McpScript) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_windlass-mcp-fake"))
            .arg(script.to_json())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn greeted(script: &McpScript) -> Self {
        let mut client = Self::start(script);
        client.send(&json!({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}));
        assert_eq!(client.receive()["result"]["protocolVersion"], "2025-06-18");
        client
    }

    fn send(&mut self, message: &Value) {
        let mut line = message.to_string();
        line.push('\n');
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    fn call(&mut self, id: u32, tool: &str) {
        self.send(&json!({"id": id, "method": "tools/call", "params": {"name": tool, "arguments": {"n": id}}}));
    }

    fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        self.output.read_until(b'\n', &mut line).unwrap();
        line
    }

    fn receive(&mut self) -> Value {
        serde_json::from_slice(&self.line()).unwrap()
    }

    /// The remaining output until the server exits, and its exit status.
    fn rest(mut self) -> (Vec<u8>, std::process::ExitStatus) {
        drop(self.input.take());
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).unwrap();
        (rest, self.child.wait().unwrap())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Killing one that has already exited fails, which does no harm.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn one(does: ToolAction) -> McpScript {
    McpScript::with([FakeTool::new("it", does), FakeTool::new("echo", ToolAction::Echo)])
}

#[test]
fn ids_go_wrong_as_they_are_told_to() {
    let mut twice = Client::greeted(&one(ToolAction::Twice));
    twice.call(7, "it");
    assert_eq!((&twice.receive()["id"], &twice.receive()["id"]), (&json!(7), &json!(7)));

    let mut text = Client::greeted(&one(ToolAction::IdAsString));
    text.call(7, "it");
    assert_eq!(text.receive()["id"], "7");

    let mut held = Client::greeted(&one(ToolAction::HoldsBack));
    held.call(7, "it");
    held.call(8, "echo");
    assert_eq!((&held.receive()["id"], &held.receive()["id"]), (&json!(8), &json!(7)));
}

#[test]
fn a_server_dies_where_it_is_told_to() {
    let (rest, status) = Client::start(&McpScript { handshake: Greeting::ExitsBefore, ..McpScript::default() }).rest();
    assert!(rest.is_empty() && !status.success());

    let mut after = Client::start(&McpScript { handshake: Greeting::ExitsAfter, ..McpScript::default() });
    after.send(&json!({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}));
    assert!(after.receive()["result"].is_object());
    assert!(after.line().is_empty());

    let mut probed = Client::start(&McpScript { probe: Probe::Dies, ..McpScript::default() }.legacy());
    probed.send(&json!({"id": 0, "method": "server/discover"}));
    assert!(probed.line().is_empty());

    let mut dying = Client::greeted(&one(ToolAction::DiesAnswering));
    dying.call(1, "it");
    let half = dying.line();
    assert!(half.len() > 1000 && half.last() != Some(&b'\n'));
}

#[test]
fn noise_stands_around_every_message() {
    let noise = vec![Noise::LogLines, Noise::BlankLines, Noise::Bom, Noise::Crlf, Noise::BrokenUtf8, Noise::StrayJson];
    let mut client = Client::start(&McpScript { noise, ..McpScript::echo() });
    client.send(&json!({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}));
    let (bytes, _) = client.rest();
    let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    assert!(has(b"[INFO]") && has(b"\n\t\n") && has(b"\xef\xbb\xbf{") && has(b"}\r\n") && has(b"\xff\xfe"));
    assert!(std::str::from_utf8(&bytes).is_err());
}

#[test]
fn lists_are_paged_grown_and_without_end() {
    let page = |client: &mut Client, cursor: Option<&str>| {
        client.send(&json!({"id": 1, "method": "tools/list", "params": {"cursor": cursor}}));
        client.receive()["result"].clone()
    };
    let mut paged =
        Client::greeted(&McpScript { listing: ListingStyle::Paged { tools: 500, pages: 50 }, ..McpScript::echo() });
    let (mut cursor, mut tools, mut pages) = (None, 0, 0);
    loop {
        let result = page(&mut paged, cursor.as_deref());
        tools += result["tools"].as_array().unwrap().len();
        pages += 1;
        cursor = result["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((tools, pages), (501, 50));

    let mut growing = Client::greeted(&McpScript { listing: ListingStyle::Grows, ..McpScript::echo() });
    let counts: Vec<usize> = (0..3).map(|_| page(&mut growing, None)["tools"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [2, 3, 4]);

    let mut endless = Client::greeted(&McpScript { listing: ListingStyle::Endless, ..McpScript::echo() });
    assert_eq!(page(&mut endless, Some("4711"))["nextCursor"], "4712");

    let mut changing = Client::greeted(&McpScript { listing: ListingStyle::Changes, ..McpScript::echo() });
    assert_ne!(page(&mut changing, None)["tools"], page(&mut changing, None)["tools"]);
}

#[test]
fn a_flood_comes_after_the_greeting() {
    let mut client = Client::greeted(&McpScript { flood: Flood::Count(100), ..McpScript::echo() });
    for _ in 0..100 {
        assert_eq!(client.receive()["method"], "notifications/tools/list_changed");
    }
    client.call(1, "echo");
    assert_eq!(client.receive()["result"]["content"][0]["text"], r#"echo heard {"n":1}"#);
}

#[cfg(target_os = "linux")]
#[test]
fn one_that_stays_is_deaf_and_leaves_grandchildren_and_its_diary_knows_them_all() {
    let room = tempfile::tempdir().unwrap();
    let diary = McpDiary::at(room.path());
    let script = McpScript {
        leaving: InputEndBehaviour::Never,
        grandchildren: vec![Grandchild::InGroup, Grandchild::InOwnSession, Grandchild::Deaf],
        diary: Some(room.path().to_owned()),
        ..one(ToolAction::NeverAtFirst)
    };
    let mut client = Client::greeted(&script);
    client.send(&json!({"method": "notifications/cancelled", "params": {"requestId": 5}}));
    client.send(&json!({"id": 1, "method": "tools/call", "params": {"name": "it", "_meta": {"key": "e1"}}}));
    client.call(2, "it");
    assert_eq!(client.receive()["id"], 2, "the first is never answered");
    drop(client.input.take());
    let pid = client.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(diary.survivors().len(), 4);
    assert_eq!(diary.starts(), 1);
    assert_eq!(diary.cancelled(), [json!(5)]);
    assert_eq!(diary.calls_of("it")[0].meta["key"], "e1");
    assert_eq!(diary.times("tools/call"), 2);
    for pid in diary.survivors() {
        assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
    }
}
