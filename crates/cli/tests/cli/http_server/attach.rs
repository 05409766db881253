//! `windlass attach`: a chat at a terminal, and single messages, in a session of a server (W3, E1).

use std::process::Stdio;

use serde_json::{Value, json};
use windlass_testkit::{BodyPoint, FaultKind, Script, ScriptStep};

use crate::support::Bench;
use crate::support::glass::Glass;
use crate::support::served::Served;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Starts a server whose token outlives it.
fn serve(bench: &Bench, address: &str, arguments: &[&str]) -> Served {
    let line = [&["serve", "--address", address], arguments].concat();
    Served::started(bench.command(&line).env("WINDLASS_SERVE_TOKEN", TOKEN))
}

fn url(served: &Served) -> String {
    format!("http://{}", served.host)
}

/// Attaches a terminal to the server.
fn attach(bench: &Bench, served: &Served, arguments: &[&str]) -> Glass {
    let url = url(served);
    let line = [&["attach", url.as_str()], arguments].concat();
    let mut command = bench.command(&line);
    command.env("WINDLASS_TEST_CLOCK", "1").env("TERM", "xterm").env("LANG", "C.UTF-8").env("WINDLASS_TOKEN", TOKEN);
    Glass::start(command)
}

/// Sends standard input as one message.
fn pipe(bench: &Bench, url: &str, arguments: &[&str], token: &str, text: &str) -> crate::support::Ran {
    let line = [&["attach", url], arguments].concat();
    let mut command = bench.command(&line);
    let mut child = command.env("WINDLASS_TOKEN", token).stdin(Stdio::piped()).spawn().expect("the binary starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), text.as_bytes()).expect("written");
    crate::support::ran(child)
}

fn kill(served: &mut Served) {
    served.child.kill().expect("killed");
    served.child.wait().expect("ended");
}

// proves W3, T8, L7: a conversation at the terminal: the answer, a question asked in place, commands, and the way back
#[test]
fn a_terminal_talks_answers_and_comes_back() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "echo done > made.txt"})),
        ScriptStep::say("It is made."),
        ScriptStep::say("Nothing more."),
    ]));
    let served = serve(&bench, "127.0.0.1:0", &["--sandbox", "off"]);
    let mut glass = attach(&bench, &served, &[]);
    glass.wait_for_prompt();
    glass.say("make it");
    glass.wait_for("[y] yes, once");
    assert!(glass.text().contains("echo done"), "{}", glass.text());
    glass.say("y");
    glass.wait_for("It is made.");
    glass.wait_for_prompt();
    assert_eq!(bench.read("made.txt").as_deref(), Some("done\n"));
    glass.say("/hepl");
    glass.wait_for("did you mean /help?");
    glass.say("/retry");
    glass.wait_for("nothing to retry");
    glass.say("/status");
    glass.wait_for("runs so far: 1");
    glass.say("/fork");
    glass.wait_for("session page-");
    glass.wait_for_prompt();
    glass.say("and now?");
    glass.wait_for("Nothing more.");
    glass.wait_for_prompt();
    glass.say("/quit");
    assert_eq!(glass.end(), 0);
    let listed = served.get("/api/sessions").json();
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(2), "{listed}");
    assert!(glass.written().contains("takes this session up again"), "{}", glass.written());
    assert!(!glass.written().contains(TOKEN));
    let key = listed["sessions"][0]["key"].as_str().expect("a key");
    let mut again = attach(&bench, &served, &["--session", key]);
    again.wait_for("Nothing more.");
    again.wait_for_prompt();
    again.press("\u{4}");
    assert_eq!(again.end(), 0);
}

// proves L8: typing steers, and Ctrl-C stops the run at the server
#[test]
fn typing_steers_and_ctrl_c_stops_the_run() {
    let bench = Bench::new(Script::of([ScriptStep::call("run_command", json!({"command": "touch begun; sleep 600"}))]));
    let mut served = serve(&bench, "127.0.0.1:0", &["--sandbox", "off", "--allow", "run_command"]);
    let mut glass = attach(&bench, &served, &[]);
    glass.wait_for_prompt();
    glass.say("wait");
    bench.wait_for_file("begun", &mut served.child);
    glass.say("and be quick");
    glass.wait("the message's fate", |text| text.contains("this waits") || text.contains("reads this"));
    glass.press("\u{3}");
    glass.wait_for_prompt();
    assert!(glass.written().contains("stopped"), "{}", glass.written());
    let listed = served.get("/api/sessions").json();
    assert_eq!(listed["sessions"][0]["status"], json!("idle"), "{listed}");
    glass.say("/quit");
    assert_eq!(glass.end(), 0);
}

// proves E1, J3: a server that is killed in the middle of an answer and comes back: the chat goes on by itself, and the
// answer is there once
#[test]
fn a_killed_server_is_followed_again_without_a_lost_or_doubled_word() {
    let stalls = FaultKind::Idle { after: BodyPoint::Pieces(2) };
    let answer = "The first part of the answer, then the second part of the answer, and the end.";
    let bench = Bench::new(Script::of([ScriptStep::say(answer).fault(stalls), ScriptStep::say("Later.")]));
    let mut served = serve(&bench, "127.0.0.1:0", &[]);
    let mut glass = attach(&bench, &served, &[]);
    glass.wait_for_prompt();
    glass.say("tell me");
    glass.wait_for("The first part");
    kill(&mut served);
    glass.wait_for("reconnecting");
    let host = served.host.clone();
    let served = serve(&bench, &host, &[]);
    glass.wait_for("nothing was missed");
    glass.wait_for("and the end.");
    glass.wait_for_prompt();
    assert_eq!(glass.text().matches("The first part").count(), 1, "{}", glass.text());
    glass.say("and?");
    glass.wait_for("Later.");
    glass.wait_for_prompt();
    drop(served);
    glass.say("/quit");
    assert_eq!(glass.end(), 0);
}

// proves J3, T8: a question outlives the server that asked it
#[test]
fn a_question_is_answered_after_the_server_was_killed() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "echo once >> made.txt"})),
        ScriptStep::say("It is made."),
    ]));
    let mut served = serve(&bench, "127.0.0.1:0", &["--sandbox", "off"]);
    let mut glass = attach(&bench, &served, &[]);
    glass.wait_for_prompt();
    glass.say("make it");
    glass.wait_for("[y] yes, once");
    kill(&mut served);
    let host = served.host.clone();
    let _served = serve(&bench, &host, &["--sandbox", "off"]);
    glass.say("y");
    glass.wait_for("It is made.");
    glass.wait_for_prompt();
    assert_eq!(bench.read("made.txt").as_deref(), Some("once\n"));
    glass.say("/quit");
    assert_eq!(glass.end(), 0);
}

// proves W2, W3: what is piped in is one message; its answer alone is printed, or its events
#[test]
fn a_pipe_sends_one_message_and_gets_the_answer_alone() {
    let bench = Bench::new(Script::of([
        ScriptStep::say("Aye."),
        ScriptStep::say("Again."),
        ScriptStep::call("run_command", json!({"command": "true"})),
    ]));
    let served = serve(&bench, "127.0.0.1:0", &["--sandbox", "off"]);
    let url = url(&served);
    let said = pipe(&bench, &url, &[], TOKEN, "hello\n");
    assert_eq!((said.code, said.stdout.as_str()), (0, "Aye.\n"), "{said:?}");
    let listed = bench.command(&["attach", &url, "--list", "--json"]).env("WINDLASS_TOKEN", TOKEN).output();
    let listed = String::from_utf8(listed.expect("ended").stdout).expect("text");
    let session: Value = serde_json::from_str(listed.trim()).expect("a line of JSON");
    assert_eq!(session["title"], json!("hello"), "{listed}");
    let key = session["key"].as_str().expect("a key");
    let events = pipe(&bench, &url, &["--session", key, "--json"], TOKEN, "once more");
    assert_eq!(events.code, 0, "{events:?}");
    let records: Vec<Value> = events.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let last = records.last().expect("an end");
    assert_eq!((&last["kind"], &last["body"]["answer"]), (&json!("RunEnded"), &json!("Again.")), "{events:?}");
    assert!(records.iter().all(|event| event["run"] == json!(2) || event["run"].is_null()), "{events:?}");
    let waits = pipe(&bench, &url, &["--session", key], TOKEN, "run it");
    assert_eq!((waits.code, waits.stdout.as_str()), (6, ""), "{waits:?}");
    assert!(waits.stderr.contains(&format!("windlass attach {url}/ --session {key}")), "{waits:?}");
}

// proves W2: what is wrong is said in a sentence, with its exit code and without the token
#[test]
fn what_is_wrong_is_said_with_its_exit_code() {
    let bench = Bench::new(Script::default());
    let mut served = serve(&bench, "127.0.0.1:0", &[]);
    let (at, model) = (url(&served), bench.server.base_url());
    let wrong = "wrong-token-wrong-token";
    for (url, arguments, token, code, told) in [
        (at.as_str(), &[][..], wrong, 2, "no valid token"),
        (&at, &["--session", "nothing"], TOKEN, 2, "no session `nothing`"),
        (&at, &["--list"], wrong, 2, "--token-file"),
        (&at, &["--token-file", "no-such-file"], TOKEN, 2, "no-such-file"),
        (&model, &[], TOKEN, 2, "not a server of Windlass"),
        ("ftp://host", &[], TOKEN, 2, "http://"),
        (&format!("{at}/?code=x"), &[], TOKEN, 2, "lets a browser in"),
    ] {
        let ran = pipe(&bench, url, arguments, token, "hello");
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{url} {arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(told) && !ran.stderr.contains(token), "{url} {arguments:?}: {ran:?}");
    }
    let none = bench.run_with_input(&["attach", &at], b"hello");
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("needs a token"), "{none:?}");
    kill(&mut served);
    let refused = pipe(&bench, &at, &["--list"], TOKEN, "");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("is `windlass serve` running there?"), "{refused:?}");
}

// proves X1: a token is asked for without being shown
#[test]
fn a_token_is_typed_unseen() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let served = serve(&bench, "127.0.0.1:0", &[]);
    let url = url(&served);
    let mut command = bench.command(&["attach", &url]);
    command.env("WINDLASS_TEST_CLOCK", "1").env("TERM", "xterm").env("LANG", "C.UTF-8");
    let mut glass = Glass::start(command);
    glass.wait_for("as `windlass serve` printed it");
    glass.press(&format!("{TOKEN}\n"));
    glass.wait_for_prompt();
    glass.say("hello");
    glass.wait_for("Aye.");
    glass.wait_for_prompt();
    glass.say("/quit");
    assert_eq!(glass.end(), 0);
    assert!(!glass.written().contains(TOKEN), "{}", glass.written());
}

// proves W3: the server of the own data folder is found, and lets its own user in without a token to type
#[test]
fn the_own_server_is_found_with_its_token() {
    let bench = Bench::new(Script::of([ScriptStep::say("Here.")]));
    let alone = bench.run_with_input(&["attach"], b"anyone?");
    assert_eq!(alone.code, 2, "{alone:?}");
    assert!(alone.stderr.contains("no server of this data folder runs"), "{alone:?}");
    let served = serve(&bench, "127.0.0.1:0", &[]);
    let found = bench.run_with_input(&["attach", "--session", "s"], b"anyone?");
    assert_eq!((found.code, found.stdout.as_str()), (2, ""), "no session has that name: {found:?}");
    let said = bench.run_with_input(&["attach"], b"anyone?");
    assert_eq!((said.code, said.stdout.as_str()), (0, "Here.\n"), "{said:?}");
    let named = bench.run_with_input(&["attach", &url(&served)], b"anyone?");
    assert_eq!(named.code, 2, "an address that is given may be anybody's: {named:?}");
}
