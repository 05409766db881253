//! Questions in the middle of a run.

use serde_json::json;
use windlass_testkit::{Scene, Script, Step};

use crate::support::Bench;
use crate::support::glass::Glass;

const OFFER: &str = "[n] no  [y] yes, once  [s] yes, for this session\n[a] always  [e] edit\n";

fn bench(command: &str) -> Bench {
    let call = || Step::call("run_command", json!({"command": command}));
    Bench::new(Script::of([call(), call(), Step::say("Aye.")]))
}

/// A chat that was asked about its first command.
fn asked(bench: &Bench) -> Glass {
    let mut glass = Glass::chat(bench, &["--session", "k"]);
    glass.wait_for_prompt();
    glass.say("go");
    glass.wait_for(OFFER);
    glass.wait("room for an answer", |screen| screen.lines().last() == Some("?"));
    glass
}

fn answer(glass: &mut Glass, line: &str) {
    glass.wait("room for an answer", |screen| screen.lines().last() == Some("?"));
    glass.say(line);
    glass.wait(line, |screen| screen.contains(&format!("\n? {line}\n")));
}

// proves T8
#[test]
fn each_call_is_asked_about_with_a_preview_and_the_answer_counts() {
    for (answers, ran_so_often) in [(&["y", "n"][..], 1), (&["no", "yes"], 1), (&["s"], 2), (&["what?", "n", "n"], 0)] {
        let bench = bench("echo x >> log");
        let mut glass = asked(&bench);
        let expected = "Windlass 0.1.0 · scripted · $DIR/work
session k
/help · Ctrl-C stops a run · Ctrl-D leaves
› go

Run `echo x >> log`
  echo x >> log
  in $DIR/work
[n] no  [y] yes, once  [s] yes, for this session
[a] always  [e] edit
?";
        glass.assert_shows(&bench, expected);
        for line in answers {
            answer(&mut glass, line);
        }
        glass.wait_for("Aye.");
        glass.wait_for_prompt();
        let log = bench.read("log").unwrap_or_default();
        assert_eq!(log.lines().count(), ran_so_often, "{answers:?}");
        bench.assert_whole("asked");
    }
}

// proves T8: always holds for the session, and how to make it last is said
#[test]
fn always_allows_it_in_this_session_and_shows_the_rule_to_keep() {
    let bench = bench("echo x");
    let mut glass = asked(&bench);
    answer(&mut glass, "a");
    glass.wait_for("  [permissions]\n  allow = [\"run_command(echo *)\"]");
    glass.wait_for("Aye.");
    glass.wait_for_prompt();
    assert_eq!(bench.records("k", "QuestionAsked"), 1);
}

// proves T8: edit and run
#[test]
fn a_command_is_edited_at_the_prompt_and_run_as_edited() {
    let bench = bench("echo x >> log");
    let mut glass = asked(&bench);
    answer(&mut glass, "e");
    glass.wait_for("edit: echo x >> log");
    glass.press("book\r");
    answer(&mut glass, "n");
    glass.wait_for("Aye.");
    assert_eq!((bench.read("logbook").as_deref(), bench.read("log")), (Some("x\n"), None));
    bench.assert_whole("edited");
}

// proves T8: what does not fit the tool is not run
#[test]
fn arguments_are_edited_in_the_persons_editor_until_they_fit() {
    let call = Step::call("run_command", json!({"command": "echo x >> log", "timeout_seconds": 5}));
    let bench = Bench::new(Script::of([call, Step::say("Aye.")]));
    // Writes what does not fit the first time, and what does the second.
    let editor = bench.dir.path().join("editor");
    let script = "#!/bin/sh\nif [ -e seen ]; then sed -i 's/>> log/>> book/; s/\"soon\"/5/' \"$1\"\n\
                  else touch seen; sed -i 's/: 5/: \"soon\"/' \"$1\"; fi\n";
    std::fs::write(&editor, script).expect("a program");
    let made = std::process::Command::new("chmod").arg("+x").arg(&editor).status().expect("chmod");
    assert!(made.success());
    let mut command = bench.command(&["--session", "k"]);
    command.env("TERM", "xterm").env("LANG", "C.UTF-8").env("WINDLASS_TEST_CLOCK", "1").env("EDITOR", &editor);
    let mut glass = Glass::start(command);
    glass.wait_for_prompt();
    glass.say("go");
    answer(&mut glass, "e");
    glass.wait_for("timeout_seconds");
    glass.wait_for("Aye.");
    assert_eq!((bench.read("book").as_deref(), bench.read("log")), (Some("x\n"), None));
}

// proves T8: an editor that goes wrong leaves the question, and says so
#[test]
fn an_editor_that_fails_or_empties_the_text_changes_nothing() {
    for (editor, said) in [("false", "false failed (exit status: 1)"), (": >", "nothing is changed")] {
        let bench = bench("echo x >> log");
        let mut command = bench.command(&["--session", "k"]);
        command.env("TERM", "xterm").env("LANG", "C.UTF-8").env("WINDLASS_TEST_CLOCK", "1").env("EDITOR", editor);
        let mut glass = Glass::start(command);
        glass.wait_for_prompt();
        glass.say("go");
        answer(&mut glass, "e");
        glass.wait_for(said);
        answer(&mut glass, "n");
        answer(&mut glass, "n");
        glass.wait_for("Aye.");
        assert_eq!(bench.read("log"), None, "{editor}");
    }
}

// proves L8: a stop is seen while a person is being asked
#[test]
fn a_stop_at_a_question_stops_the_run_and_nothing_ran() {
    for keys in ["\u{3}", "/STOP\r"] {
        let bench = bench("echo x >> log");
        let mut glass = asked(&bench);
        glass.press(keys);
        glass.wait_for_prompt();
        assert_eq!(bench.read("log"), None);
        assert!(bench.run(&["sessions", "show", "k"]).stdout.contains("Cancelled"));
        bench.assert_whole("stopped");
    }
}

// proves T8: whoever was typing when the question came does not answer it by accident
#[test]
fn what_was_typed_before_the_question_is_kept_for_after_it() {
    let wait = json!({"command": "while [ ! -e go ]; do sleep 0.02; done"});
    let call = Step::call("run_command", json!({"command": "echo x >> log"}));
    let script = Scene::when("begin", [Step::call("run_command", wait), call, Step::say("Aye.")]);
    let bench = Bench::new(Script::default().scene(script));
    let mut glass = Glass::chat(&bench, &["--session", "k"]);
    glass.wait_for_prompt();
    glass.say("begin");
    answer(&mut glass, "y");
    glass.wait("a run", |screen| screen.lines().last() == Some("»"));
    glass.press("yes but");
    glass.wait("the line", |screen| screen.lines().last() == Some("» yes but"));
    std::fs::write(bench.workspace().join("go"), "").expect("a file");
    glass.wait("the question", |screen| screen.matches(OFFER).count() == 2);
    answer(&mut glass, "n");
    glass.wait("the line again", |screen| screen.lines().last() == Some("› yes but"));
    assert_eq!(bench.read("log"), None);
}

// proves J3, T8: a question outlives the process and is asked again
#[test]
fn a_question_that_was_left_is_asked_again_when_the_session_is_taken_up() {
    let bench = bench("echo x >> log");
    let mut glass = asked(&bench);
    glass.press("\u{4}");
    assert_eq!(glass.end(), 0);
    assert!(glass.text().contains("`windlass --resume k` goes on with it"), "{}", glass.text());
    let mut glass = Glass::chat(&bench, &["--resume", "k"]);
    glass.wait_for("› go\n");
    answer(&mut glass, "s");
    glass.wait_for("allowed for this session: run_command(echo x >> log)");
    glass.wait_for("Aye.");
    let ran = glass.text().matches("• run_command(command=echo x >> log)").count();
    assert_eq!(ran, 2, "a call asked for before is named too: {}", glass.text());
    assert_eq!(bench.read("log").as_deref(), Some("x\nx\n"));
    bench.assert_whole("asked again");
}

// proves J4: what became of a call that a crash cut short is asked
#[test]
fn a_command_cut_short_by_a_crash_is_asked_about() {
    let wait = Step::call("run_command", json!({"command": "touch begun; while :; do sleep 0.02; done"}));
    let bench = Bench::new(Script::of([wait, Step::say("Aye.")]));
    let mut glass = asked(&bench);
    answer(&mut glass, "y");
    bench.wait_for_file("begun", &mut glass.child);
    glass.child.kill().expect("killed");
    glass.end();
    let mut glass = Glass::chat(&bench, &["--continue"]);
    glass.wait_for("[r] run again  [i] leave it interrupted");
    answer(&mut glass, "i");
    glass.wait_for("Aye.");
    glass.wait_for_prompt();
    bench.assert_whole("settled");
    glass.press("\u{4}");
    glass.end();
    bench.assert_nothing_survives("settled");
}
