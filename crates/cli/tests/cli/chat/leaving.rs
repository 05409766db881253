//! Stopping a run, leaving the chat, and resuming.

use windlass_testkit::{BodyPoint, FaultKind, ReplyPace, Scene, Script, ScriptStep, WriteSplit};

use crate::support::Bench;
use crate::support::glass::Glass;

/// A reply that stalls after its first words, the first time only.
fn stalls(text: &str) -> ScriptStep {
    let pace = ReplyPace { latency_ms: 0, pause_ms: 1, writes: WriteSplit::Events, delta_chars: 6 };
    ScriptStep::say(text).pace(pace).fault(FaultKind::Idle { after: BodyPoint::Events(3) }.times(1))
}

fn bench() -> Bench {
    Bench::new(
        Script::default()
            .scene(Scene::when("begin", [stalls("some words and then the rest")]))
            .scene(Scene::when("more", [ScriptStep::say("Here is more.")])),
    )
}

fn under_way(bench: &Bench) -> Glass {
    let mut glass = Glass::chat(bench, &["--session", "k"]);
    glass.wait_for_prompt();
    glass.say("begin");
    glass.wait_for("some words");
    glass
}

// proves L8
#[test]
fn ctrl_c_stops_the_run_and_the_chat_goes_on() {
    let bench = bench();
    let mut glass = under_way(&bench);
    glass.press("\u{3}");
    glass.wait_for_prompt();
    glass.say("more");
    glass.wait_for("Here is more.");
    glass.wait_for_prompt();
    assert!(bench.run(&["sessions", "show", "k"]).stdout.contains("the run ended: stopped: some words"));
    bench.assert_whole("stopped");
}

// proves J9: the chat ends, because there is no session left to resume
#[test]
fn a_chat_whose_data_folder_is_removed_ends_and_says_so() {
    let call = ScriptStep::call("run_command", serde_json::json!({"command": "rm -rf ../data"}));
    let bench = Bench::new(Script::of([call, ScriptStep::say("All is well.")]));
    // Inside the sandbox the command could not remove the data folder.
    let mut glass = Glass::chat(&bench, &["--session", "k", "--mode", "bypass", "--sandbox", "off"]);
    glass.wait_for_prompt();
    glass.say("go");
    glass.wait_for("The journal is lost");
    assert!(!glass.written().contains("--resume"), "{:?}", glass.written());
    assert_eq!(glass.end(), 5);
}

// proves L8: pressing Ctrl-C twice leaves the chat
#[test]
fn ctrl_c_twice_leaves() {
    let bench = bench();
    let mut glass = under_way(&bench);
    glass.press("\u{3}");
    glass.wait_for_prompt();
    glass.press("\u{3}");
    assert_eq!(glass.end(), 0);
    // Twice at an empty prompt leaves too; with text on the line, Ctrl-C only clears it.
    let mut glass = Glass::chat(&bench, &[]);
    glass.wait_for_prompt();
    glass.press("half a line");
    glass.wait_for("half a line");
    glass.press("\u{3}");
    glass.wait_for_prompt();
    glass.press("\u{3}");
    glass.wait_for("Ctrl-C again leaves");
    glass.wait_for_prompt();
    glass.press("\u{3}");
    assert_eq!(glass.end(), 0);
}

// proves J3: closing the terminal, killing the process or quitting during a run loses nothing
#[test]
fn whatever_way_a_run_is_left_it_goes_on_when_it_is_continued() {
    for way in ["close", "kill", "/quit", "hang up"] {
        let bench = bench();
        let mut glass = under_way(&bench);
        match way {
            "close" => {
                glass.close();
                assert_eq!(glass.end(), 0, "{way}");
            }
            "kill" => {
                glass.child.kill().expect("killed");
                glass.end();
            }
            "hang up" => {
                let id = glass.child.id().to_string();
                let sent = std::process::Command::new("kill").args(["-HUP", &id]).status().expect("kill");
                assert!(sent.success());
                assert_eq!(glass.end(), 0, "{way}");
            }
            quit => {
                glass.say(quit);
                assert_eq!(glass.end(), 0, "{way}");
                assert!(
                    glass.text().contains("`windlass --resume k --data-dir ")
                        && glass.text().contains(" goes on with it"),
                    "{}",
                    glass.text()
                );
            }
        }
        let mut glass = Glass::chat(&bench, &["--continue"]);
        glass.wait_for("some words and then the rest");
        glass.wait_for_prompt();
        assert!(glass.text().contains("› begin"), "what was said is shown again: {}", glass.text());
        assert_eq!(bench.records("k", "RunStarted"), 1, "{way}");
        bench.assert_whole(way);
    }
}

#[test]
fn a_session_that_is_continued_shows_its_title_and_what_was_said() {
    let bench = bench();
    let mut glass = Glass::chat(&bench, &[]);
    glass.wait_for_prompt();
    glass.say("tell me more");
    glass.wait_for("Here is more.");
    glass.wait_for_prompt();
    glass.press("\u{4}");
    glass.end();
    let listed = bench.run(&["sessions", "list"]).stdout;
    assert!(listed.starts_with("chat-") && listed.ends_with("  tell me more\n"), "{listed}");
    let mut glass = Glass::chat(&bench, &["-c"]);
    glass.wait_for_prompt();
    let key = listed.split_whitespace().next().expect("a key");
    let expected = format!(
        "Windlass 0.1.0 · scripted · $DIR/work
session {key}: tell me more
/help · Ctrl-C stops a run · Ctrl-D leaves
› tell me more
Here is more.
›"
    );
    glass.assert_shows(&bench, &expected);
}

#[test]
fn only_a_session_that_is_there_can_be_resumed() {
    let bench = bench();
    for arguments in [&["--resume", "nothing"][..], &["--continue"]] {
        let ran = bench.run(arguments);
        assert!(ran.code == 2 && ran.stderr.contains("session"), "{arguments:?}: {}", ran.stderr);
    }
}

// proves W2
#[test]
fn options_before_a_command_count_and_those_it_does_not_take_are_refused_instead_of_forgotten() {
    let bench = bench();
    let ran = bench.run(&["--model", "another", "run", "more"]);
    assert!(ran.code == 0 && bench.server.count() == 1, "{}", ran.stderr);
    let asked: Vec<_> = bench.server.requests().iter().map(|request| request.body["model"].clone()).collect();
    assert_eq!(asked, ["another"]);
    let refused = bench.run(&["--model", "another", "sessions", "list"]);
    assert!(refused.code == 2 && refused.stderr.contains("does not take"), "{}", refused.stderr);
}

// proves W2: an old answer is rendered as it was when it arrived
#[test]
fn a_session_that_is_continued_shows_its_answers_rendered() {
    let bench = Bench::new(Script::of([ScriptStep::say("It is **bold** and `code`.\n\n- one\n- two\n")]));
    assert_eq!(bench.run(&["run", "go"]).code, 0);
    let mut glass = Glass::chat(&bench, &["-c"]);
    glass.wait_for_prompt();
    let screen = glass.text();
    assert!(screen.contains("It is bold and code.") && !screen.contains("**"), "{screen}");
}
