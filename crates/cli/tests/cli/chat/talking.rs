//! Messages and answers: the first prompt, long messages, steering, resizing the terminal.

use serde_json::json;
use windlass_testkit::{BodyPoint, FaultKind, ReplyPace, Scene, Script, ScriptStep, WriteSplit};

use crate::support::Bench;
use crate::support::glass::Glass;

/// Streams the reply in small pieces.
const SLOW: ReplyPace = ReplyPace { latency_ms: 0, pause_ms: 5, writes: WriteSplit::Events, delta_chars: 6 };

/// A reply that stalls after its first words until the request is aborted.
fn stalls(text: &str) -> ScriptStep {
    ScriptStep::say(text).pace(SLOW).fault(FaultKind::Idle { after: BodyPoint::Events(3) }.times(u32::MAX))
}

// proves W2
#[test]
fn a_bare_windlass_opens_the_chat_and_answers_stream_in() {
    let bench = Bench::new(Script::of([ScriptStep::say("Hello to you.").pace(SLOW), ScriptStep::say("Again.")]));
    let mut glass = Glass::chat(&bench, &["--session", "notes"]);
    glass.wait_for_prompt();
    let banner = "Windlass 0.1.0 · scripted · $DIR/work
session notes
/help · Ctrl-C stops a run · Ctrl-D leaves
›";
    glass.assert_shows(&bench, banner);
    glass.say("hello");
    glass.wait_for("Hello to you.");
    glass.wait_for_prompt();
    glass.say("and again");
    glass.wait_for("Again.");
    glass.wait_for_prompt();
    glass.assert_shows(&bench, &format!("{banner} hello\n\nHello to you.\n› and again\n\nAgain.\n›"));
    glass.press("\u{4}");
    assert_eq!(glass.end(), 0);
    assert!(glass.text().contains("`windlass --resume notes --data-dir "), "{}", glass.text());
    assert_eq!(bench.last_request("user"), ["hello", "and again"]);
    bench.assert_whole("talked");
}

// proves W1: the line that takes a chat up again has the rules that it was begun with
#[test]
fn a_chat_is_taken_up_again_under_its_preset() {
    let bench = Bench::new(Script::of([ScriptStep::say("Hello to you.")]));
    let mut glass = Glass::chat(&bench, &["--session", "notes", "--preset", "assistant"]);
    glass.wait_for_prompt();
    glass.say("hello");
    glass.wait_for("Hello to you.");
    glass.wait_for_prompt();
    glass.press("\u{4}");
    assert_eq!(glass.end(), 0);
    assert!(glass.text().contains("`windlass --resume notes --preset assistant --data-dir "), "{}", glass.text());
}

#[test]
fn looking_in_leaves_no_session_behind() {
    let bench = Bench::new(Script::of([]));
    let mut glass = Glass::chat(&bench, &["chat"]);
    glass.wait_for_prompt();
    glass.say("/quit");
    assert_eq!(glass.end(), 0);
    assert_eq!(bench.keys(), Vec::<String>::new());
}

/// A bench whose run waits until the file `go` exists.
fn held(then: [Scene; 1]) -> Bench {
    let wait = json!({"command": "while [ ! -e go ]; do sleep 0.02; done"});
    let begin = Scene::when("begin", [ScriptStep::call("run_command", wait), ScriptStep::say("It was held.")]);
    Bench::new(then.into_iter().fold(Script::default().scene(begin), Script::scene))
}

fn let_go(bench: &Bench) {
    std::fs::write(bench.workspace().join("go"), "").expect("a file");
}

fn begun(bench: &Bench, arguments: &[&str]) -> Glass {
    let mut glass = Glass::chat(bench, &[&["--session", "k", "--allow", "run_command"], arguments].concat());
    glass.wait_for_prompt();
    glass.say("begin");
    glass.wait("a run", |screen| screen.lines().last() == Some("»"));
    glass
}

// proves L7: text typed during a run steers it
#[test]
fn typing_during_a_run_steers_it() {
    let bench = held([Scene::when("left", [ScriptStep::say("Turning left.")])]);
    let mut glass = begun(&bench, &[]);
    glass.press("go left");
    glass.wait("the line", |screen| screen.lines().last() == Some("» go left"));
    glass.press("\r");
    glass.wait_for("» go left\nthe model reads this at its next step");
    let_go(&bench);
    glass.wait_for("Turning left.");
    glass.wait_for_prompt();
    assert_eq!(bench.last_request("user"), ["begin", "go left"]);
    assert_eq!(bench.records("k", "RunStarted"), 1);
    bench.assert_whole("steered");
}

// proves L7: under a policy that queues, the chat reports the wait, and an unfinished line stays at the next prompt
#[test]
fn a_message_that_waits_is_said_to_wait_and_half_a_line_outlives_the_run() {
    let bench = held([Scene::when("then", [ScriptStep::say("Thereafter.")])]);
    let mut glass = begun(&bench, &["--preset", "operator"]);
    glass.say("then this");
    glass.wait_for("this waits until the run is done");
    glass.press("half a line");
    glass.wait("the line", |screen| screen.lines().last() == Some("» half a line"));
    let_go(&bench);
    glass.wait_for("› then this\n\nThereafter.");
    glass.wait("the line again", |screen| screen.lines().last() == Some("› half a line"));
    assert_eq!(bench.records("k", "RunStarted"), 2);
}

// proves L8: Ctrl-C tells which messages it drops, as /stop does
#[test]
fn ctrl_c_tells_that_waiting_messages_are_dropped() {
    let bench = held([Scene::when("then", [ScriptStep::say("Thereafter.")])]);
    let mut glass = begun(&bench, &["--preset", "operator"]);
    glass.say("then this");
    glass.wait_for("this waits until the run is done");
    glass.press("\u{3}");
    glass.wait_for("stopped 1 run, dropped 1 message that the model had not read");
    assert_eq!(bench.records("k", "RunStarted"), 1);
}

// The line being typed stays intact below the streamed reply.
#[test]
fn what_is_typed_is_not_torn_by_what_is_shown() {
    let words: String = (1..=200).map(|number| format!("word{number} ")).collect();
    let bench = Bench::new(Script::when("begin", [ScriptStep::say(words).pace(SLOW)]));
    let mut glass = Glass::chat(&bench, &["--session", "k"]);
    glass.wait_for_prompt();
    glass.say("begin");
    glass.wait_for("word5 ");
    glass.press("typed meanwhile");
    glass.wait("the line", |screen| screen.lines().last() == Some("» typed meanwhile"));
    glass.wait("more of both", |screen| {
        screen.contains("word150") && screen.lines().last() == Some("» typed meanwhile")
    });
    glass.wait("the line again", |screen| screen.lines().last() == Some("› typed meanwhile"));
    let shown = glass.text();
    assert_eq!(shown.matches("typed meanwhile").count(), 1, "{shown}");
    assert!(shown.contains("word200"), "{shown}");
}

// proves L7: a paste of any length is one message, and the terminal stays usable
#[test]
fn a_megabyte_is_pasted_at_once_and_sent_as_one_message() {
    let bench = Bench::new(Script::of([ScriptStep::say("That was long.")]));
    let mut glass = Glass::chat(&bench, &["--session", "k"]);
    glass.wait_for_prompt();
    let paste = "0123456789abcde\n".repeat(65_536);
    glass.press(&format!("read this: \u{1b}[200~{}\u{1b}[201~", paste.replace('\n', "\r")));
    glass.wait_for("› read this: [paste 1: 65536 lines]");
    glass.press(" please\r");
    glass.wait_for("That was long.");
    glass.wait_for_prompt();
    assert_eq!(bench.last_request("user"), [format!("read this: {paste} please")]);
}

#[test]
fn a_message_may_have_several_lines() {
    let bench = Bench::new(Script::of([ScriptStep::say("Three.")]));
    let mut glass = Glass::chat(&bench, &["--session", "k"]);
    glass.wait_for_prompt();
    glass.press("one\u{1b}\rtwo\\\r");
    glass.wait("another line", |screen| screen.ends_with("› one\ntwo\\"));
    glass.press("\u{1b}[200~three\rfour\u{1b}[201~\r");
    glass.wait_for("Three.");
    assert_eq!(bench.last_request("user"), ["one\ntwo\nthree\nfour"]);
}

#[test]
fn the_window_may_change_its_size_during_a_run() {
    let script = Script::default().scene(Scene::when("begin", [stalls("some words that never end")]));
    let bench = Bench::new(script);
    let mut glass = Glass::chat(&bench, &["--session", "k"]);
    glass.wait_for_prompt();
    glass.say("begin");
    glass.wait_for("some words");
    glass.resize(30, 10);
    let long = "a line that is longer than thirty columns are";
    glass.press(long);
    // Only the end of the line fits, on one row.
    glass.wait("the end of the line", |screen| screen.lines().last() == Some("» er than thirty columns are"));
    glass.press("\u{3}");
    glass.wait("the line at the prompt", |screen| screen.contains("› a line that is longer"));
    bench.assert_whole("resized");
}

// proves X1: the history contains no secrets, and no lines that begin with a blank
#[test]
fn the_history_is_kept_for_this_person_alone_without_secrets() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new(Script::when("", [ScriptStep::say("Noted.")]));
    let mut command = bench.command(&["--session", "k"]);
    command.env("TERM", "xterm").env("LANG", "C.UTF-8").env("DEPLOY_TOKEN", "s3cr3t-value");
    let mut glass = Glass::start(command);
    glass.wait_for_prompt();
    for (line, answer) in [("the token is s3cr3t-value", "value\n\nNoted."), (" not to be kept", "kept\n\nNoted.")] {
        glass.say(line);
        glass.wait(line, |screen| screen.contains(answer) && screen.lines().last() == Some("›"));
    }
    glass.say("/cost");
    glass.wait("the cost", |screen| screen.contains("session: ") && screen.lines().last() == Some("›"));
    // The up arrow brings the last line back.
    glass.press("\u{1b}[A");
    glass.wait("the line before", |screen| screen.lines().last() == Some("› /cost"));
    let path = bench.data().join("history");
    let kept = std::fs::read_to_string(&path).expect("a history");
    assert_eq!(kept, "#V2\nthe token is ⟦secret:DEPLOY_TOKEN⟧\n/cost\n");
    assert_eq!(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
}

// proves L11: a message during a run may say that a file changed, so no read result is reused across it
#[test]
fn a_file_that_a_person_says_they_fixed_is_read_again() {
    let read = || ScriptStep::call("read_file", json!({"path": "a.txt"}));
    let wait = json!({"command": "touch waits; while [ ! -e go ]; do sleep 0.02; done"});
    let begin = Scene::when("begin", [read(), ScriptStep::call("run_command", wait)]);
    let fixed = Scene::when("fixed", [read(), ScriptStep::say("I see it.")]);
    let bench = Bench::new(Script::default().scene(fixed).scene(begin));
    let file = bench.workspace().join("a.txt");
    std::fs::write(&file, "the same").expect("written");
    let mut glass = begun(&bench, &[]);
    glass.wait("the command", |_| bench.read("waits").is_some());
    glass.say("I fixed a.txt, read it again");
    glass.wait_for("the model reads this at its next step");
    let_go(&bench);
    glass.wait_for("I see it.");
    glass.wait_for_prompt();
    let results = bench.last_request("tool");
    assert_eq!((results[0].as_str(), results[2].as_str()), ("the same", "the same"));
    bench.assert_whole("read again");
}

// proves L8: a stop drops messages that no model has read yet
#[test]
fn what_was_typed_before_a_stop_does_not_go_out_with_the_next_request() {
    let bench = held([Scene::when("afterwards", [ScriptStep::say("Only that.")])]);
    let mut glass = begun(&bench, &[]);
    // A message sent before the first request would be part of it.
    glass.wait("the first request", |_| bench.server.count() > 0);
    glass.say("and delete everything");
    glass.wait_for("the model reads this at its next step");
    glass.say("/stop");
    glass.wait_for("stopped 1 run, dropped 1 message that the model had not read");
    glass.wait_for_prompt();
    glass.say("afterwards");
    glass.wait_for("Only that.");
    glass.wait_for_prompt();
    assert_eq!(bench.last_request("user"), ["begin", "afterwards"]);
    bench.assert_whole("stopped");
}

// proves C1: the files are read for each run, not once for a chat
#[test]
fn instructions_that_change_while_a_chat_is_open_hold_for_the_next_message() {
    let bench = Bench::new(Script::of(["One.", "Two.", "Three."].map(ScriptStep::say)));
    let file = bench.workspace().join("AGENTS.md");
    std::fs::write(&file, "Speak of ropes.\n").expect("written");
    let mut glass = Glass::chat(&bench, &["--session", "k"]);
    glass.wait_for_prompt();
    glass.say("first");
    glass.wait_for("One.");
    glass.wait_for_prompt();
    std::fs::write(&file, "Speak of sails.\n").expect("written");
    glass.say("second");
    glass.wait_for("Two.");
    glass.wait_for_prompt();
    let system = bench.last_request("system").concat();
    assert!(system.contains("Speak of sails.") && !system.contains("Speak of ropes."), "{system}");
    assert_eq!(bench.last_request("user"), ["first", "second"]);
    bench.assert_whole("changed instructions");
}
