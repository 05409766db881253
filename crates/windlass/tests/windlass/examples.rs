//! Runs every example as a program against a scripted server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use windlass_testkit::{FaultKind, ModelServer, Scene, Script, ScriptStep, conversation};

/// Returns the program of an example. Cargo builds the examples before the tests of a package, unless only some of its
/// tests are run.
fn program(name: &str) -> PathBuf {
    let tests = std::env::current_exe().expect("this program");
    let folder = tests.ancestors().nth(2).expect("the folder of the build");
    let program = folder.join("examples").join(name);
    if !program.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo).args(["build", "-p", "windlass", "--examples", "--locked"]).status();
        assert!(built.expect("cargo").success(), "the examples don't build");
    }
    program
}

/// Returns the command of an example that uses this server's model, in a folder of its own.
fn command(name: &str, server: &ModelServer, home: &Path) -> Command {
    let mut command = Command::new(program(name));
    // The example gets only the environment set here.
    command.env_clear().env("OPENAI_BASE_URL", server.base_url()).env("WINDLASS_MODEL", "scripted");
    command.env("HOME", home).env("PATH", "/usr/bin:/bin").current_dir(home).stdin(Stdio::null());
    command
}

/// Runs the example with a model that follows these steps; returns its output.
fn printed(name: &str, steps: impl IntoIterator<Item = ScriptStep>) -> (String, ModelServer) {
    let server = ModelServer::start(Script::of(steps)).expect("a server");
    let home = tempfile::tempdir().expect("a folder");
    let output = command(name, &server, home.path()).output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name} failed: {errors}");
    assert_eq!(server.refused(), Vec::<String>::new());
    (String::from_utf8(output.stdout).expect("text"), server)
}

/// Returns the tool results in the last request to the model.
fn results(server: &ModelServer) -> Vec<Value> {
    let body = server.requests().last().expect("a request").body.clone();
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    messages.into_iter().filter(|message| message["role"] == "tool").map(|message| message["content"].clone()).collect()
}

// proves W1
#[test]
fn minimal_says_hello() {
    assert_eq!(printed("minimal", [ScriptStep::say("Ahoy!")]).0, "Ahoy!\n");
}

// proves W1
#[test]
fn an_example_without_a_server_says_what_to_do() {
    let output = Command::new(program("minimal")).env_clear().output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("WINDLASS_MODEL") && said.contains("ollama:qwen3"), "{said}");
}

// proves W1, T5
#[test]
fn closure_tool_answers_from_its_deps_and_says_no() {
    let ask = |fruit: &str| ScriptStep::call("app__stock", json!({"fruit": fruit}));
    let (text, server) =
        printed("closure_tool", [ask("apple"), ask("plum"), ScriptStep::say("Three apples, no plums.")]);
    assert_eq!(text, "Three apples, no plums.\n");
    assert_eq!(results(&server), ["3 left", "no such fruit; there are: [\"apple\", \"pear\"]"]);
    let offered = &server.requests()[0].body["tools"][0]["function"];
    assert_eq!(offered["description"], "Says how many of a fruit are left.");
    assert_eq!(offered["parameters"]["properties"]["fruit"]["description"], "In the singular, in English.");
}

// proves W1
#[test]
fn derived_tool_books_and_sums() {
    let book =
        |purpose: &str, cents: i64| ScriptStep::call("app__book_amount", json!({"purpose": purpose, "cents": cents}));
    let steps = [
        book("a song", 2_000),
        book("nothing", 0),
        book("rope", -450),
        ScriptStep::call("app__balance", json!({})),
        ScriptStep::say("15.50 euros."),
    ];
    let (text, server) = printed("derived_tool", steps);
    assert_eq!(text, "15.50 euros.\n  2000 a song\n  -450 rope\n");
    assert_eq!(results(&server), ["Done.", "there is nothing to book: the amount is 0", "Done.", "1550"]);
}

// proves L10
#[test]
fn typed_output_sends_back_what_does_not_fit() {
    let steps = [
        ScriptStep::say("The Anna is a fine ship!"),
        ScriptStep::say(r#"{"name": "Anna", "length": "long", "masts": 3, "rig": "square"}"#),
        ScriptStep::say(r#"{"name": "Anna", "length": 52, "masts": 3, "rig": "square"}"#),
    ];
    let (text, server) = printed("typed_output", steps);
    assert_eq!(text, "Anna of 52 m with 3 masts, rig Square\n");
    let last = &server.requests()[2].body;
    assert_eq!(last["response_format"]["json_schema"]["name"], "Ship");
    let nudge = conversation(last).last().expect("a nudge")["content"].to_string();
    assert!(nudge.contains("/length"), "{nudge}");
}

// proves W1
#[test]
fn following_shows_words_and_calls() {
    let roll = || ScriptStep::call("app__roll_dice", json!({}));
    let (text, _) = printed("following", [roll(), roll(), ScriptStep::say("Two fours.")]);
    let call = "[app__roll_dice {}]\n[Ok: a four]\n";
    assert_eq!(text, format!("{call}{call}Two fours.\n[Completed after 3 turns, 30 tokens written]\n"));
}

// proves W1, L8
#[test]
fn cancelling_stops_the_run_in_the_middle_of_a_call() {
    let (text, _) = printed("cancelling", [ScriptStep::call("app__count", json!({"to": 1000}))]);
    assert_eq!(text, "it counts; stopping it\nthe run was cancelled\n");
}

// proves W1, J3
#[test]
fn resuming_goes_on_after_a_crash() {
    let haul = |number: u32| ScriptStep::call("app__haul", json!({"number": number}));
    let (text, _) = printed("resuming", [haul(1), haul(2), haul(3), ScriptStep::say("All are up.")]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("the first process ended with signal"), "{text}");
    assert_eq!(
        lines[1..],
        ["load 1", "taking it up where it was", "All are up.", "load 1", "load 2", "load 3"],
        "each load was hauled once"
    );
}

// proves W1, T8: calls that ask run only as the person says, and the model gets the reason of a no
#[test]
fn approvals_ask_the_person_about_each_call() {
    let home = tempfile::tempdir().expect("a folder");
    let letter = |to: &str| ScriptStep::call("app__send", json!({"to": to, "text": "The ship is in."}));
    let server = ModelServer::start(Script::of([letter("Ada"), letter("Bob"), ScriptStep::say("Ada knows.")]));
    let server = server.expect("a server");
    let mut command = command("approvals", &server, home.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    child.stdin.take().expect("input").write_all(b"y\nBob is at sea\n").expect("written");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.ends_with("Ada knows.\n") && text.matches("allow it?").count() == 2, "{text}");
    let results = results(&server);
    assert_eq!(results[0], "sent to Ada: The ship is in.");
    assert!(results[1].as_str().is_some_and(|text| text.contains("Bob is at sea")), "{results:?}");
}

// proves W1, T7, T8: commands run under the program itself as guard, and only those that a rule allows
#[test]
fn workspace_runs_the_commands_that_are_allowed() {
    let home = tempfile::tempdir().expect("a folder");
    let work = home.path().join("work");
    std::fs::create_dir(&work).expect("a folder");
    std::fs::write(work.join("log.txt"), "one\ntwo\n").expect("written");
    let run = |command: &str| ScriptStep::call("run_command", json!({"command": command}));
    let write = ScriptStep::call("write_file", json!({"path": "lines.txt", "content": "2\n"}));
    let steps = [run("wc -l log.txt"), run("rm log.txt"), write, ScriptStep::say("Two lines.")];
    let server = ModelServer::start(Script::of(steps)).expect("a server");
    let output = command("workspace", &server, home.path()).arg(&work).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Two lines.\n", "{output:?}");
    let results = results(&server);
    assert!(results[0].as_str().is_some_and(|text| text.contains("2 log.txt")), "{results:?}");
    assert!(results[1].as_str().is_some_and(|text| text.contains("Not allowed")), "{results:?}");
    assert!(work.join("log.txt").exists());
    assert_eq!(std::fs::read_to_string(work.join("lines.txt")).expect("written"), "2\n");
}

// proves W1, P1
#[test]
fn mcp_calls_a_tool_of_a_server_that_is_a_program() {
    let home = tempfile::tempdir().expect("a folder");
    let steps = [ScriptStep::call("time__now", json!({"zone": "Europe/Lisbon"})), ScriptStep::say("Noon.")];
    let server = ModelServer::start(Script::of(steps)).expect("a server");
    let mut command = command("mcp", &server, home.path());
    let output = command.arg(program("time_server")).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Noon.\n", "{output:?}");
    assert_eq!(results(&server), ["12:00"]);
}

/// Posts a text; returns the status and the body of the response.
fn posted(address: &str, path: &str, text: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address.trim_start_matches("http://")).expect("connected");
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", text.len());
    stream.write_all(format!("{head}{text}").as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), body.to_owned())
}

// proves W1: agents in a server have separate sessions, and an error is not returned as an answer
#[test]
fn several_agents_answer_in_sessions_of_their_own() {
    let home = tempfile::tempdir().expect("a folder");
    let refused = ScriptStep::say("").fault(FaultKind::status(401));
    let script = Script::when("fail", [refused]).scene(Scene::without_tools([ScriptStep::say("Aye.")]));
    let server = ModelServer::start(script).expect("a server");
    let mut command = command("several_agents", &server, home.path());
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it runs");
    let mut address = String::new();
    BufReader::new(child.stdout.take().expect("output")).read_line(&mut address).expect("an address");
    let say = |path: &str, text: &str| posted(address.trim(), path, text);
    assert_eq!(say("/pilot/harbour", "The Anna is in."), (200, "Aye.".to_owned()));
    assert_eq!(say("/pilot/harbour", "Which ship?"), (200, "Aye.".to_owned()));
    assert_eq!(say("/cook/harbour", "What is for dinner?"), (200, "Aye.".to_owned()));
    let history = |n: usize| server.requests()[n].body["messages"].to_string();
    assert!(history(1).contains("The Anna is in.") && history(1).contains("pilot"), "{}", history(1));
    assert!(!history(2).contains("The Anna is in.") && history(2).contains("cook"), "{}", history(2));
    let (status, text) = say("/cook/harbour", "Please fail.");
    assert_eq!(status, 502, "{text}");
    assert_eq!(say("/nobody/harbour", "Hello?").0, 404);
    child.kill().and_then(|()| child.wait()).expect("ended");
}
