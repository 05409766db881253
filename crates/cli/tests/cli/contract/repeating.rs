//! Repeating a command line: no message or call is repeated, and an interrupted run continues.

use serde_json::json;
use windlass_testkit::{FaultKind, Scene, Script, ScriptStep};

use crate::support::{Bench, Ran, ran};

/// The folder's last session is found by its time, so these runs need the real-time clock.
const REAL_TIME: (&str, &str) = ("WINDLASS_TEST_CLOCK", "1");

fn at_real_time(bench: &Bench, arguments: &[&str]) -> Ran {
    bench.run_with(arguments, &[REAL_TIME])
}

// proves J6
#[test]
fn a_finished_message_is_answered_again_without_asking_the_model() {
    let bench = Bench::new(Script::of([ScriptStep::say("Once."), ScriptStep::say("Twice.")]));
    for session in [["--session", "s"].as_slice(), &[]] {
        let line = [["run", "go", "--message-id", "m"].as_slice(), session].concat();
        let first = bench.run(&line);
        assert_eq!((first.code, first.stdout.as_str()), (0, "Once.\n"), "{}", first.stderr);
        let asked = bench.server.count();
        for _ in 0..2 {
            let again = bench.run(&line);
            assert_eq!((again.code, again.stdout.as_str()), (0, "Once.\n"), "{}", again.stderr);
        }
        assert_eq!(bench.server.count(), asked, "{session:?}");
    }
    for key in ["s", "message:m"] {
        assert_eq!(bench.records(key, "MessageAccepted"), 1, "{key}");
    }
    let other = bench.run(&["run", "go on", "--session", "s", "--message-id", "n"]);
    assert_eq!((other.code, other.stdout.as_str()), (0, "Twice.\n"), "another id is another message");
    bench.assert_whole("repeated");
}

// proves J6: a message id is never reused; a different text under a known id is reported
#[test]
fn other_words_under_a_known_id_are_said_to_go_nowhere() {
    let key = [("SECRET_KEY", "open-sesame-1234")];
    let steps = [ScriptStep::call("write_file", json!({"path": "a", "content": "x"})), ScriptStep::say("Done.")];
    let bench = Bench::new(Script::of(steps));
    let line = |words| ["run", words, "--session", "s", "--message-id", "m"];
    let die = [key[0], ("WINDLASS_TEST_DIE", "after:4")];
    assert_eq!(bench.run_with(&line("go open-sesame-1234"), &die).code, -9);
    // The first repetition finds the run unfinished, the second finished.
    for context in ["unfinished", "finished"] {
        let other = bench.run_with(&line("halt"), &key);
        assert_eq!((other.code, other.stdout.as_str()), (0, "Done.\n"), "{context}: {}", other.stderr);
        assert!(other.stderr.contains("message m was sent before with other words"), "{context}: {}", other.stderr);
    }
    let same = bench.run_with(&line("go open-sesame-1234"), &key);
    assert_eq!((same.code, same.stdout.as_str()), (0, "Done.\n"), "{}", same.stderr);
    assert!(!same.stderr.contains("other words"), "{}", same.stderr);
}

// proves J6: without a session the id is unique in the data folder, whatever the working directory
#[test]
fn a_message_id_without_a_session_holds_for_the_whole_data_folder() {
    let bench = Bench::new(Script::of([ScriptStep::say("Once.")]));
    let elsewhere = bench.dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    for folder in [bench.workspace(), elsewhere] {
        let mut command = bench.command(&["run", "go", "--message-id", "m"]);
        let ran = ran(command.current_dir(folder).spawn().expect("the binary starts"));
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Once.\n"), "{}", ran.stderr);
    }
    assert_eq!((bench.server.count(), bench.keys().len()), (1, 1));
}

// proves W2: the line that goes on names the server again where only a flag did
#[test]
fn the_command_that_tries_again_has_the_server_of_the_flag() {
    let bench = Bench::new(Script::of([ScriptStep::say("At last.").fault(FaultKind::status(401))]));
    let url = bench.server.base_url();
    let ran = bench.run(&["run", "go", "--session", "s", "--base-url", &url]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("`windlass retry s --base-url {url} --data-dir ")), "{}", ran.stderr);
}

// proves J6: a failed run stays failed for the same id, and only `retry` tries it again
#[test]
fn a_failed_message_says_so_again_and_retry_does_not_add_it_again() {
    let bench = Bench::new(Script::of([ScriptStep::say("At last.").fault(FaultKind::status(401))]));
    let line = ["run", "go", "--session", "s", "--message-id", "m"];
    for said in ["wants a key and none was given (401)", "`windlass retry s --data-dir "] {
        let ran = bench.run(&line);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    assert_eq!(bench.server.count(), 1);
    // Another model than the failed run's is named.
    let ran = bench.run(&["retry", "s", "--model", "other"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "At last.\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the run began with scripted; other tries it again"), "{}", ran.stderr);
    assert_eq!(bench.last_request("user"), ["go"]);
    assert_eq!(bench.records("s", "MessageAccepted"), 1);
    bench.assert_whole("retried");
    let nothing = bench.run(&["retry", "s"]);
    assert_eq!(nothing.code, 2);
    assert!(nothing.stderr.contains("nothing to retry in session `s`"), "{}", nothing.stderr);
    assert!(!nothing.stderr.contains("tries it again"), "{}", nothing.stderr);
}

// proves J6, J3: a repeated message is answered with the end of its newest try
#[test]
fn a_message_that_was_tried_again_is_answered_with_the_newest_try() {
    let bench = Bench::new(Script::of([ScriptStep::say("At last.").fault(FaultKind::status(401))]));
    let line = ["run", "go", "--session", "s", "--message-id", "m"];
    assert_eq!(bench.run(&line).code, 1);
    assert_eq!(bench.run_with(&["retry", "s"], &[("WINDLASS_TEST_DIE", "after:3")]).code, -9);
    // The retry was interrupted: the first repetition continues it, the second prints its answer.
    for context in ["cut short", "over"] {
        let ran = bench.run(&line);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "At last.\n"), "{context}: {}", ran.stderr);
    }
    assert_eq!((bench.records("s", "MessageAccepted"), bench.records("s", "RunStarted")), (1, 2));
    assert_eq!(bench.server.count(), 2, "the model is not asked again");
    bench.assert_whole("answered with the newest try");
}

// proves J3, J6
#[test]
fn an_unfinished_message_goes_on_under_its_id() {
    let steps = [ScriptStep::call("write_file", json!({"path": "a", "content": "x"})), ScriptStep::say("Done.")];
    for session in [["--session", "s"].as_slice(), &[]] {
        let bench = Bench::new(Script::of(steps.clone()));
        let line = [["run", "go", "--message-id", "m"].as_slice(), session].concat();
        assert_eq!(bench.run_with(&line, &[("WINDLASS_TEST_DIE", "after:4")]).code, -9);
        let ran = bench.run(&line);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Done.\n"), "{}", ran.stderr);
        let key = bench.keys().remove(0);
        assert_eq!(bench.records(&key, "MessageAccepted"), 1);
        assert_eq!(bench.records(&key, "CallFinished"), 1, "what was finished is not done again");
        bench.assert_whole("gone on");
    }
}

// proves J5, J6: processes that name no session do not affect each other
#[test]
fn the_same_line_several_times_at_once_is_so_many_runs() {
    let bench =
        Bench::new(Script::when("go", [ScriptStep::say("Gone.").fault(FaultKind::Delay { ms: 50 }.times(u32::MAX))]));
    // One run was interrupted: exactly one of the processes continues it.
    assert_eq!(bench.run_with(&["run", "go"], &[REAL_TIME, ("WINDLASS_TEST_DIE", "after:2")]).code, -9);
    let lines: Vec<_> = (0..6).map(|_| bench.spawn(&["run", "go"])).collect();
    for line in lines {
        let ran = ran(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Gone.\n"), "{}", ran.stderr);
    }
    assert_eq!(bench.keys().len(), 6);
    bench.assert_whole("side by side");
}

// proves J6, L8: a repeated message does not restart its stopped run, and names the command that retries it
#[test]
fn a_message_that_was_stopped_says_what_tries_it_again() {
    let bench = Bench::new(Script::of([ScriptStep::say("At last.").fault(FaultKind::Delay { ms: 120_000 })]));
    let line = ["run", "go", "--session", "s", "--message-id", "m", "--deadline", "100s"];
    for (count, said) in [(1, "stopped"), (1, "`windlass retry s --data-dir ")] {
        let ran = bench.run(&line);
        assert_eq!((ran.code, bench.server.count()), (4, count), "{}", ran.stderr);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let retried = bench.run(&["retry", "s"]);
    assert_eq!((retried.code, retried.stdout.as_str()), (0, "At last.\n"), "{}", retried.stderr);
}

// proves J3: a plain `run` that is killed and repeated
#[test]
fn the_same_line_after_a_kill_goes_on_and_another_begins_anew() {
    let wait = FaultKind::Delay { ms: 120_000 };
    let bench = Bench::new(
        Script::when("haul", [ScriptStep::say("Hauled.").fault(wait)])
            .scene(Scene::when("lower", [ScriptStep::say("Lowered.")])),
    );
    let mut command = bench.command(&["run", "haul away"]);
    let mut child = command.env(REAL_TIME.0, REAL_TIME.1).spawn().expect("the binary starts");
    bench.wait_for_requests(1, &mut child);
    child.kill().expect("killed");
    child.wait().expect("waited");
    let interrupted = bench.keys();
    assert_eq!(interrupted.len(), 1);
    let ran = at_real_time(&bench, &["run", "haul away"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Hauled.\n"), "{}", ran.stderr);
    assert_eq!(bench.keys(), interrupted, "no second session");
    assert_eq!(bench.records(&interrupted[0], "MessageAccepted"), 1);
    for (prompt, answer, sessions) in [("lower away", "Lowered.\n", 2), ("haul away", "Hauled.\n", 3)] {
        let ran = at_real_time(&bench, &["run", prompt]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, answer), "{}", ran.stderr);
        assert_eq!(bench.keys().len(), sessions, "{prompt}: what is finished, or other words, begin a session");
    }
    bench.assert_whole("killed and typed again");
}

// proves J3: a different prompt does not go to an interrupted run, which can still be resumed
#[test]
fn another_prompt_after_a_kill_leaves_the_cut_run_to_resume() {
    let bench = Bench::new(
        Script::when("haul", [ScriptStep::say("Hauled.")]).scene(Scene::when("lower", [ScriptStep::say("Lowered.")])),
    );
    let died = bench.run_with(&["run", "haul away"], &[REAL_TIME, ("WINDLASS_TEST_DIE", "after:2")]);
    assert_eq!(died.code, -9);
    let cut = bench.keys().remove(0);
    let ran = at_real_time(&bench, &["run", "lower away"]);
    assert_eq!((ran.code, ran.stdout.as_str(), bench.keys().len()), (0, "Lowered.\n", 2), "{}", ran.stderr);
    let resumed = bench.run(&["resume", &cut]);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "Hauled.\n"), "{}", resumed.stderr);
    let nothing = bench.run(&["resume", &cut]);
    assert_eq!(nothing.code, 2);
    assert!(nothing.stderr.contains("nothing to resume"), "{}", nothing.stderr);
    bench.assert_whole("resumed");
}

// proves J3: an interrupted session is found even if it is not the last one of the folder
#[test]
fn the_same_line_finds_its_run_behind_later_sessions() {
    let bench = Bench::new(
        Script::when("haul", [ScriptStep::say("Hauled.")]).scene(Scene::when("lower", [ScriptStep::say("Lowered.")])),
    );
    for prompt in ["haul away", "lower away"] {
        let died = bench.run_with(&["run", prompt], &[REAL_TIME, ("WINDLASS_TEST_DIE", "after:2")]);
        assert_eq!(died.code, -9);
    }
    for (prompt, answer) in [("haul away", "Hauled.\n"), ("lower away", "Lowered.\n")] {
        let ran = at_real_time(&bench, &["run", prompt]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, answer), "{}", ran.stderr);
        assert_eq!(bench.keys().len(), 2, "{prompt}: no new session");
    }
    bench.assert_whole("found");
}

// proves J3: a plain line goes on with what a plain line began; a named session belongs to who named it
#[test]
fn a_plain_line_never_goes_on_in_a_session_that_somebody_named() {
    let bench = Bench::new(Script::when("haul", [ScriptStep::say("Hauled.")]));
    let died =
        bench.run_with(&["run", "haul away", "--session", "notes"], &[REAL_TIME, ("WINDLASS_TEST_DIE", "after:2")]);
    assert_eq!(died.code, -9);
    let journal = bench.journal("notes");
    let ran = at_real_time(&bench, &["run", "haul away"]);
    assert_eq!((ran.code, ran.stdout.as_str(), bench.keys().len()), (0, "Hauled.\n", 2), "{}", ran.stderr);
    assert_eq!(bench.journal("notes"), journal);
}

// proves J3: what goes on, and which flags its run no longer heeds, is reported
#[test]
fn a_plain_line_that_goes_on_names_the_session_and_the_flags_that_do_not_count() {
    let bench = Bench::new(Script::when("haul", [ScriptStep::say("Hauled.")]));
    let died = bench.run_with(&["run", "haul away"], &[REAL_TIME, ("WINDLASS_TEST_DIE", "after:2")]);
    assert_eq!(died.code, -9);
    let key = bench.keys().remove(0);
    let other = at_real_time(&bench, &["run", "haul away", "--model", "other"]);
    assert_eq!((other.code, other.stderr.contains("goes on")), (0, false), "another model is another request");
    let ran = at_real_time(&bench, &["run", "haul away", "--max-turns", "3", "--tag", "x", "--model", "scripted"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Hauled.\n"), "{}", ran.stderr);
    let told =
        format!("session `{key}` had begun this request and goes on with it; for a new run only: --max-turns, --tag\n");
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
}

/// Starts a command and kills it once the model server has received `requests` requests in all.
fn killed_at_the_model(bench: &Bench, line: &[&str], requests: usize) {
    let mut child = bench.spawn(line);
    bench.wait_for_requests(requests, &mut child);
    child.kill().expect("killed");
    child.wait().expect("waited");
}

// proves J3, J6: a repeated text is compared with every message of the run and with waiting messages
#[test]
fn the_same_words_to_a_run_with_more_messages_are_not_said_again() {
    let wait = FaultKind::Delay { ms: 120_000 };
    let bench = Bench::new(Script::of([
        ScriptStep::call("list_directory", json!({"path": "."})).fault(wait.clone().times(2)),
        ScriptStep::say("Both.").fault(wait.times(1)),
        ScriptStep::say("Lowered."),
    ]));
    let (haul, lower) = (["run", "haul", "--session", "s"], ["run", "lower", "--session", "s"]);
    // The first message starts the run, the second waits; when repeated, the run reads it at its next turn.
    for (line, requests) in [(haul, 1), (lower, 2), (lower, 4)] {
        killed_at_the_model(&bench, &line, requests);
    }
    for (line, answer, said) in
        [(haul, "Both.\n", &["haul", "lower"][..]), (lower, "Lowered.\n", &["haul", "lower", "lower"])]
    {
        let ran = bench.run(&line);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, answer), "{}", ran.stderr);
        assert_eq!(bench.last_request("user"), said, "what is finished, and only that, is said anew");
    }
    bench.assert_whole("not said again");
}

// proves J6: a finished message is answered although another process has the session, and nothing is written
#[test]
fn a_finished_message_is_answered_while_another_run_is_open() {
    let wait = FaultKind::Delay { ms: 120_000 };
    let bench = Bench::new(Script::of([ScriptStep::say("Once."), ScriptStep::say("Twice.").fault(wait)]));
    let line = ["run", "go", "--session", "s", "--message-id", "m"];
    assert_eq!(bench.run(&line).stdout, "Once.\n");
    let mut child = bench.spawn(&["run", "go on", "--session", "s"]);
    bench.wait_for_requests(2, &mut child);
    let journal = bench.journal("s");
    let repeat = |context: &str| {
        let again = bench.run(&line);
        assert_eq!((again.code, again.stdout.as_str()), (0, "Once.\n"), "{context}: {}", again.stderr);
        let json = bench.run(&[line.as_slice(), &["--json"]].concat());
        assert_eq!((json.code, json.stdout.lines().count()), (0, 1), "{context}: {}", json.stderr);
        assert!(json.stdout.contains("\"RunEnded\"") && json.stdout.contains("Once."), "{context}: {}", json.stdout);
        assert_eq!(bench.journal("s"), journal, "{context}: nothing is touched");
    };
    repeat("another process has the session");
    child.kill().expect("killed");
    child.wait().expect("waited");
    repeat("the other run was cut short");
    assert_eq!(bench.run(&["resume", "s"]).stdout, "Twice.\n");
    bench.assert_whole("answered meanwhile");
}

// proves J3: only a run that has ended can be retried
#[test]
fn retry_leaves_an_open_run_alone() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let died = bench.run_with(&["run", "go", "--session", "s"], &[("WINDLASS_TEST_DIE", "after:2")]);
    assert_eq!(died.code, -9);
    let journal = bench.journal("s");
    let refused = bench.run(&["retry", "s"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("use `windlass resume`"), "{}", refused.stderr);
    assert_eq!((bench.journal("s"), bench.server.count()), (journal, 0));
    assert_eq!(bench.run(&["resume", "s"]).stdout, "Aye.\n");
}

// proves W2: `-c` means the same for `run` as for the chat
#[test]
fn a_line_can_go_on_with_the_last_session_of_its_folder() {
    let bench = Bench::new(Script::of(["One.", "Two.", "Three."].map(ScriptStep::say)));
    let none = at_real_time(&bench, &["run", "-c", "go"]);
    assert!(none.code == 2 && none.stderr.contains("this folder has no session yet"), "{}", none.stderr);
    assert_eq!(at_real_time(&bench, &["run", "first", "--session", "s"]).stdout, "One.\n");
    for line in [["run", "-c", "second"], ["-c", "run", "third"]] {
        let ran = at_real_time(&bench, &line);
        assert_eq!((ran.code, bench.keys()), (0, vec!["s".to_owned()]), "{line:?}: {}", ran.stderr);
    }
    assert_eq!(bench.last_request("user"), ["first", "second", "third"]);
}
