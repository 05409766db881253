//! The scripted server seen by a client: over a plain connection, byte by byte.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use windlass_testkit::{
    AfterSteps, BodyPoint, FaultKind, ModelServer, Scene, Script, ScriptStep, ScriptedCall, ServerOptions,
};

/// A client with one persistent connection.
struct Client(BufReader<TcpStream>);

struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
    /// Whether the body ended properly.
    ending: Ending,
}

#[derive(Debug, PartialEq, Eq)]
enum Ending {
    Proper,
    CutOff,
}

impl Client {
    fn of(server: &ModelServer) -> Self {
        Self(BufReader::new(TcpStream::connect(server.address()).unwrap()))
    }

    fn send(&mut self, body: &Value) {
        let body = body.to_string();
        let length = body.len();
        let head = format!("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
        self.0.get_mut().write_all((head + &body).as_bytes()).unwrap();
    }

    fn ask(&mut self, body: &Value) -> Answer {
        self.send(body);
        self.read().unwrap()
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.0.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
    }

    fn read(&mut self) -> Option<Answer> {
        let status = self.line()?.split(' ').nth(1)?.parse().unwrap();
        let headers: Vec<String> = std::iter::from_fn(|| self.line().filter(|line| !line.is_empty())).collect();
        let headers = headers.join("\n");
        let length = headers.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let (body, ending) = match length {
            Some(length) => self.take(length),
            None => self.chunks(),
        };
        Some(Answer { status, headers, body, ending })
    }

    fn take(&mut self, length: u64) -> (Vec<u8>, Ending) {
        let mut body = Vec::new();
        let read = self.0.by_ref().take(length).read_to_end(&mut body).unwrap_or_default();
        (body, if read as u64 == length { Ending::Proper } else { Ending::CutOff })
    }

    fn chunks(&mut self) -> (Vec<u8>, Ending) {
        let mut body = Vec::new();
        while let Some(size) = self.line() {
            let size = u64::from_str_radix(&size, 16).unwrap();
            body.extend(self.take(size).0);
            self.line();
            if size == 0 {
                return (body, Ending::Proper);
            }
        }
        (body, Ending::CutOff)
    }
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

fn prompt(text: &str) -> Value {
    json!({"model": "scripted", "messages": [{"role": "user", "content": text}]})
}

fn streamed(text: &str) -> Value {
    let mut request = prompt(text);
    request["stream"] = json!(true);
    request
}

/// The conversation after the model's reply and its tools' results.
fn answered(mut request: Value, answer: &Answer) -> Value {
    let message = answer.json()["choices"][0]["message"].clone();
    let results: Vec<Value> = message["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": "ok"}))
        .collect();
    let messages = request["messages"].as_array_mut().unwrap();
    messages.push(message);
    messages.extend(results);
    request
}

fn content(answer: &Answer) -> String {
    answer.json()["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_client_that_was_killed_and_asks_again_gets_the_same_reply() {
    let server = ModelServer::start(Script::of([
        ScriptStep::call("a", json!({})).and_call("b", json!({})),
        ScriptStep::say("done"),
    ]))
    .unwrap();
    let mut first = Client::of(&server);
    let one = first.ask(&prompt("go"));
    let request = answered(prompt("go"), &one);
    first.send(&request);
    drop(first);
    let again = Client::of(&server).ask(&prompt("go"));
    assert_eq!(again.json(), one.json());
    assert_eq!(content(&Client::of(&server).ask(&request)), "done");
    assert_eq!(server.refused(), Vec::<String>::new());
}

#[test]
fn a_reply_ends_before_the_first_stop_sequence_of_the_request() {
    let server = ModelServer::start(Script::of([ScriptStep::say("one</b> two</a> three")])).unwrap();
    let mut request = prompt("go");
    for (stop, said) in
        [(json!(["</a>", "</b>"]), "one"), (json!(["</a>"]), "one</b> two"), (json!(["x"]), "one</b> two</a> three")]
    {
        request["stop"] = stop;
        assert_eq!(content(&Client::of(&server).ask(&request)), said);
    }
}

#[test]
fn one_connection_serves_many_requests_streamed_and_whole() {
    let server = ModelServer::start(Script::of([ScriptStep::say("hello").thinking("hm")])).unwrap();
    let mut client = Client::of(&server);
    for _ in 0..50 {
        assert_eq!(content(&client.ask(&prompt("go"))), "hello");
        let stream = client.ask(&streamed("go"));
        assert!(stream.headers.contains("text/event-stream"));
        assert!(stream.text().ends_with("data: [DONE]\n\n"));
    }
    assert_eq!(server.count(), 100);
}

#[test]
fn a_chunked_request_is_read_too() {
    let server = ModelServer::start(Script::of([ScriptStep::say("hello")])).unwrap();
    let mut client = Client::of(&server);
    let body = prompt("go").to_string();
    let (front, back) = body.split_at(7);
    let chunks = format!("{:x}\r\n{front}\r\n{:x}\r\n{back}\r\n0\r\n\r\n", front.len(), back.len());
    let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for _ in 0..2 {
        client.0.get_mut().write_all((head.to_owned() + &chunks).as_bytes()).unwrap();
        assert_eq!(content(&client.read().unwrap()), "hello");
    }
}

#[test]
fn faults_strike_the_tries_they_name_and_then_the_step_is_answered() {
    let step = ScriptStep::say("at last")
        .fault(FaultKind::Status { code: 429, body: None, retry_after: Some("3".into()) }.times(2))
        .fault(FaultKind::status(503));
    let server = ModelServer::start(Script::of([step])).unwrap();
    let mut client = Client::of(&server);
    let answers: Vec<Answer> = (0..4).map(|_| client.ask(&prompt("go"))).collect();
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [429, 429, 503, 200]);
    assert!(answers[0].headers.contains("retry-after: 3"));
    assert_eq!(server.requests().iter().map(|request| request.faulty).collect::<Vec<_>>(), [true, true, true, false]);
}

#[test]
fn a_cut_stream_ends_early_and_a_refused_one_has_no_byte() {
    let step = ScriptStep::say("hello").fault(FaultKind::Cut { after: BodyPoint::Events(2) }).fault(FaultKind::Refuse);
    let server = ModelServer::start(Script::of([step])).unwrap();
    let cut = Client::of(&server).ask(&streamed("go"));
    assert_eq!((cut.ending, cut.status), (Ending::CutOff, 200));
    let mut refused = Client::of(&server);
    refused.send(&streamed("go"));
    assert!(refused.read().is_none());
    assert_eq!(Client::of(&server).ask(&streamed("go")).ending, Ending::Proper);
}

#[test]
fn an_idle_stream_sends_what_it_has_and_stays_open() {
    let step = ScriptStep::say("hello").fault(FaultKind::Idle { after: BodyPoint::Events(1) });
    let server = ModelServer::start(Script::of([step])).unwrap();
    let mut client = Client::of(&server);
    client.send(&streamed("go"));
    while client.line().unwrap() != "" {}
    let size = u64::from_str_radix(&client.line().unwrap(), 16).unwrap();
    assert!(client.take(size).0.starts_with(b"data: "));
    client.line();
    client.0.get_ref().set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
    let waited = client.0.read(&mut [0]).unwrap_err();
    assert_eq!(waited.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn an_endless_line_goes_on_until_the_client_has_had_enough() {
    let step = ScriptStep::say("hello").fault(FaultKind::EndlessLine { bytes: 200_000_000 });
    let server = ModelServer::start(Script::of([step])).unwrap();
    let mut client = Client::of(&server);
    client.send(&streamed("go"));
    let (bytes, _) = client.take(1_000_000);
    assert_eq!(bytes.len(), 1_000_000);
    drop(client);
    assert_eq!(content(&Client::of(&server).ask(&prompt("go"))), "hello");
}

#[test]
fn an_illegal_history_is_refused_and_kept() {
    let server = ModelServer::start(Script::of([ScriptStep::call("a", json!({})), ScriptStep::say("done")])).unwrap();
    let mut client = Client::of(&server);
    let mut request = answered(prompt("go"), &client.ask(&prompt("go")));
    request["messages"].as_array_mut().unwrap().pop();
    let answer = client.ask(&request);
    assert_eq!(answer.status, 400);
    assert_eq!(server.refused(), ["illegal request: call `call_0_0_0` has no result"]);
    assert_eq!(server.requests()[1].refused, Some(server.refused()[0].clone()));
}

#[test]
fn a_body_that_is_no_json_is_refused_and_kept_as_text() {
    let server = ModelServer::start(Script::of([ScriptStep::say("hello")])).unwrap();
    let mut client = Client::of(&server);
    let head = "POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer k\r\nContent-Length: 3\r\n\r\n{{{";
    client.0.get_mut().write_all(head.as_bytes()).unwrap();
    assert_eq!(client.read().unwrap().status, 400);
    let kept = &server.requests()[0];
    assert_eq!(kept.body, json!("{{{"));
    assert!(kept.headers.contains(&("authorization".to_owned(), "Bearer k".to_owned())));
}

#[test]
fn models_are_listed_and_other_paths_are_not_found() {
    let server = ModelServer::start(Script::default()).unwrap();
    let mut client = Client::of(&server);
    let mut get = |path: &str| {
        client.0.get_mut().write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
        client.read().unwrap()
    };
    assert_eq!(get("/v1/models").json()["data"][0]["id"], "scripted");
    assert_eq!(get("/v1/elsewhere").status, 404);
}

#[test]
fn a_quick_server_counts_replies_and_keeps_no_request() {
    let call = ScriptedCall { name: "todo".into(), arguments: json!({"n": "$STEP"}), id: None };
    let server = ModelServer::start(Script::turns(3, 100, &call).quick()).unwrap();
    let mut client = Client::of(&server);
    let mut request = prompt("go");
    for n in 1..=2 {
        let answer = client.ask(&request);
        let call = &answer.json()["choices"][0]["message"]["tool_calls"][0];
        assert_eq!(call["function"]["arguments"], format!(r#"{{"n":"{n}"}}"#));
        request = answered(request, &answer);
    }
    let last = client.ask(&request);
    assert_eq!(content(&last).len(), 100);
    assert_eq!(client.ask(&answered(request, &last)).status, 400);
    assert_eq!((server.count(), server.requests().len(), server.refused().len()), (4, 0, 1));
}

#[test]
fn a_log_has_one_line_for_each_request() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("requests.jsonl");
    let script = Script::default().scene(Scene::when("go", [ScriptStep::say("a")]).then(AfterSteps::RepeatLast));
    let options = ServerOptions { log: Some(log.clone()), ..ServerOptions::default() };
    let server = ModelServer::with(script, &options).unwrap();
    let mut client = Client::of(&server);
    let answer = client.ask(&prompt("go"));
    client.ask(&answered(prompt("go"), &answer));
    let text = std::fs::read_to_string(log).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let facts: Vec<_> = lines.iter().map(|line| json!([line["n"], line["step"], line["messages"]])).collect();
    assert_eq!(facts, [json!([1, 0, 1]), json!([2, 1, 2])]);
}

#[test]
fn hundreds_of_connections_are_served_at_once() {
    let server = ModelServer::start(Script::of([ScriptStep::say("hello")])).unwrap();
    let mut clients: Vec<Client> = (0..200).map(|_| Client::of(&server)).collect();
    for _ in 0..2 {
        for client in &mut clients {
            client.send(&prompt("go"));
        }
        for client in &mut clients {
            assert_eq!(content(&client.read().unwrap()), "hello");
        }
    }
    assert_eq!(server.count(), 400);
}

#[test]
fn a_dropped_server_closes_its_connections() {
    let server = ModelServer::start(Script::of([ScriptStep::say("hello")])).unwrap();
    let mut client = Client::of(&server);
    client.ask(&prompt("go"));
    drop(server);
    assert!(client.line().is_none());
}

#[test]
fn the_program_says_where_it_listens_and_stops_with_its_standard_input() {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_windlass-model-server"))
        .args(["--preset", "turns", "--turns", "2", "--tool", "todo", "--with-stdin"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap();
    let mut client = Client(BufReader::new(TcpStream::connect(address).unwrap()));
    let answer = client.ask(&prompt("go"));
    assert_eq!(content(&client.ask(&answered(prompt("go"), &answer))), "done");
    drop(program.stdin.take());
    assert!(program.wait().unwrap().success());
}

#[test]
fn the_program_explains_wrong_arguments() {
    for (arguments, words) in [
        (&["--preset", "nonsense"][..], "no preset `nonsense`"),
        (&["--port"][..], "--port needs a value"),
        (&[][..], "give one of --script and --preset"),
        (&["--script", "missing.json"][..], "missing.json: "),
    ] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_windlass-model-server")).args(arguments).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(words), "{said}");
    }
}
