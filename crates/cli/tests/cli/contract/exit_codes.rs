//! Exit codes: 0 done, 1 failed, 3 cap or unfinished, 4 cancelled, 5 busy, 6 waiting. `usage.rs` proves code 2,
//! wrong use.

use std::process::Stdio;

use serde_json::json;
use windlass_testkit::{AfterSteps, BodyPoint, CountFrom, FaultKind, Scene, Script, ScriptStep};

use crate::support::{Bench, interrupt, ran, script_under, send_signal};

fn tireless_call() -> ScriptStep {
    ScriptStep::call("write_file", json!({"path": "a", "content": "$STEP"}))
}

/// A model that writes calls as text in every reply. No request tells it that tools are gone.
fn tireless_in_blocks() -> Script {
    let calls = Scene { steps: tireless_call().in_blocks(), then: AfterSteps::RepeatLast, ..Scene::default() };
    Script::default().scene(calls.counting(CountFrom::Whole))
}

/// A model that calls a tool in every reply, except to a request without tools.
fn tireless() -> Script {
    let calls = tireless_call();
    Script::default()
        .scene(Scene::without_tools([ScriptStep::say("One is done, two is not.")]))
        .scene(Scene::when("", [calls]).then(AfterSteps::RepeatLast))
}

// proves L3, L5, L6
#[test]
fn every_end_has_its_code_and_its_words() {
    let ends = |tool: &str, arguments| script_under("task", [ScriptStep::call(tool, arguments)]);
    let refused = ScriptStep::say("").fault(FaultKind::status(400));
    for (script, preset, code, stdout, stderr) in [
        (ends("task_completion", json!({"result": "All."})), "task", 0, "All.\n", ""),
        (ends("ask_question", json!({"question": "Which?"})), "task", 0, "Which?\n", ""),
        (ends("converse", json!({"message": "Hello."})), "task", 0, "Hello.\n", ""),
        (Script::of([refused.clone()]), "default", 1, "", "the run failed"),
        (Script::of([refused]), "default", 1, "", "windlass: `windlass retry s --data-dir "),
        (tireless_in_blocks(), "task", 3, "", "windlass: `windlass retry s --max-turns N --data-dir "),
        (tireless_in_blocks(), "task", 3, "", "Max tool iterations reached"),
        (tireless(), "default", 3, "One is done, two is not.\n", "not finished"),
        (tireless(), "operator", 3, "One is done, two is not.\n", "not finished"),
    ] {
        let bench = Bench::new(script);
        let ran = bench.run(&["run", "go", "--preset", preset, "--max-turns", "2", "--session", "s"]);
        let context = format!("{preset} → {code}: {}{}", ran.stdout, ran.stderr);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, stdout), "{context}");
        assert!(ran.stderr.contains(stderr), "{context}");
        assert_eq!(bench.records("s", "RunEnded"), 1, "{context}");
        bench.assert_whole(&context);
    }
}

/// A model whose reply hangs halfway the first time it is requested.
fn hangs() -> Script {
    let half = FaultKind::Idle { after: BodyPoint::Events(2) };
    Script::when("haul", [ScriptStep::say("Heave, and heave again, and once more.").fault(half)])
        .scene(Scene::when("next", [ScriptStep::say("Next.")]))
}

/// A command that runs for five minutes, with descendants that ignore signals or start their own session.
fn runs_for_ever() -> Script {
    let command = "(trap '' TERM INT; sleep 300) & setsid sleep 300 & touch started; sleep 300";
    let calls =
        ScriptStep::call("run_command", json!({"command": command})).and_call("list_directory", json!({"path": "."}));
    Script::when("haul", [calls]).scene(Scene::when("next", [ScriptStep::say("Next.")]))
}

const HAUL: [&str; 6] = ["run", "haul", "--session", "s", "--mode", "bypass"];

fn assert_cancelled(bench: &Bench, ran: &crate::support::Ran, context: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (4, ""), "{context}: {}", ran.stderr);
    assert!(ran.stderr.contains("stopped"), "{context}: {}", ran.stderr);
    bench.assert_nothing_survives(context);
    let next = bench.run(&["run", "next", "--session", "s"]);
    assert_eq!((next.code, next.stdout.as_str()), (0, "Next.\n"), "{context}: {}", next.stderr);
    bench.assert_whole(context);
}

// proves L8: a deadline interrupts a model call and a command
#[test]
fn a_deadline_stops_a_model_call_and_a_command() {
    for (context, script) in [("a model call", hangs()), ("a command", runs_for_ever())] {
        let bench = Bench::new(script);
        let begun = std::time::Instant::now();
        // One second on the scaled test clock, less than the idle timeout of the stream.
        let ran = bench.run(&[&HAUL[..], &["--deadline", "100s"]].concat());
        assert!(begun.elapsed().as_secs() < 20, "{context}: {:?}", begun.elapsed());
        assert!(ran.stderr.contains("deadline"), "{context}: {}", ran.stderr);
        assert_cancelled(&bench, &ran, context);
    }
}

// proves L8: Ctrl-C interrupts a model call, and the text streamed so far is kept
#[test]
fn ctrl_c_stops_a_model_call_and_keeps_what_was_said() {
    let bench = Bench::new(hangs());
    let mut command = bench.command(&[&HAUL[..], &["--json"]].concat());
    let mut child = command.spawn().expect("the binary starts");
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let mut seen = String::new();
    while !seen.contains("TextDelta") {
        seen.clear();
        assert!(std::io::BufRead::read_line(&mut stdout, &mut seen).expect("a line") > 0, "it ended too early");
    }
    interrupt(&child);
    std::io::Read::read_to_string(&mut stdout, &mut seen).expect("the rest");
    let ran = ran(child);
    assert_cancelled(&bench, &ran, "a model call");
    let replies = bench.journal("s").into_iter().filter(|record| record["kind"] == "ModelReplied");
    let partial: Vec<_> = replies.filter(|record| record["body"]["partial"] == true).collect();
    assert_eq!(partial.len(), 1);
    assert!(partial[0]["body"]["parts"][0]["text"].as_str().is_some_and(|text| text.starts_with("Heave")));
}

// proves L8, T7: Ctrl-C interrupts a command, and none of its processes survives
#[test]
fn ctrl_c_stops_a_command_and_all_it_started() {
    let bench = Bench::new(runs_for_ever());
    let mut child = bench.spawn(&HAUL);
    bench.wait_for_file("started", &mut child);
    interrupt(&child);
    assert_cancelled(&bench, &ran(child), "a command");
    let finished = bench.journal("s").into_iter().filter(|record| record["kind"] == "CallFinished");
    assert!(finished.map(|record| record["body"]["outcome"].clone()).any(|outcome| outcome == "cancelled"));
}

// proves L8, T7: a request to terminate and a closed terminal stop a run as Ctrl-C does
#[test]
fn sigterm_and_sighup_stop_a_run_as_ctrl_c_does() {
    for name in ["TERM", "HUP"] {
        let bench = Bench::new(runs_for_ever());
        let mut child = bench.spawn(&HAUL);
        bench.wait_for_file("started", &mut child);
        send_signal(&child, name);
        let ran = ran(child);
        assert!(ran.stderr.contains("`windlass retry s --mode bypass"), "{name}: {}", ran.stderr);
        assert_cancelled(&bench, &ran, name);
        assert_eq!(bench.records("s", "RunEnded"), 2, "{name}");
    }
}

// proves L8: a run that was started to survive its terminal is not stopped when the terminal closes
#[cfg(target_os = "linux")]
#[test]
fn sighup_is_still_ignored_under_nohup() {
    let waits = json!({"command": "touch started; until test -e go; do sleep 0.01; done", "timeout_seconds": 60});
    let bench = Bench::new(Script::of([ScriptStep::call("run_command", waits), ScriptStep::say("Done.")]));
    let usual = bench.command(&HAUL);
    let mut command = std::process::Command::new("nohup");
    command.arg(usual.get_program()).args(usual.get_args()).current_dir(bench.workspace()).env_clear();
    command.envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("nohup starts");
    bench.wait_for_file("started", &mut child);
    send_signal(&child, "HUP");
    std::thread::sleep(std::time::Duration::from_millis(100));
    std::fs::write(bench.workspace().join("go"), "").expect("written");
    let ran = ran(child);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Done.\n"), "{}", ran.stderr);
}

// proves J5
#[test]
fn a_session_in_use_is_busy_and_the_other_process_is_not_disturbed() {
    let waits = json!({"command": "touch started; until test -e go; do sleep 0.01; done", "timeout_seconds": 60});
    let bench = Bench::new(Script::of([ScriptStep::call("run_command", waits), ScriptStep::say("Mine.")]));
    let mut first = bench.spawn(&["run", "go", "--session", "s", "--message-id", "m", "--mode", "bypass"]);
    bench.wait_for_file("started", &mut first);
    let holder = format!("process {}", first.id());
    for line in
        [["run", "go", "--session", "s"].as_slice(), &["resume", "s"], &["retry", "s"], &["sessions", "rm", "s"]]
    {
        let second = bench.run(line);
        assert_eq!((second.code, second.stdout.as_str()), (5, ""), "{line:?}: {}", second.stderr);
        assert!(
            second.stderr.contains(&holder) && second.stderr.contains("wait until it is done"),
            "{}",
            second.stderr
        );
    }
    assert_eq!(bench.run(&["sessions", "show", "s"]).code, 0, "reading disturbs nobody");
    std::fs::write(bench.workspace().join("go"), "").expect("written");
    let first = ran(first);
    assert_eq!((first.code, first.stdout.as_str()), (0, "Mine.\n"), "{}", first.stderr);
    assert_eq!(bench.server.count(), 2);
    bench.assert_whole("busy");
}

// proves J4: the effect of a killed command is unknown, so a person is asked
#[test]
fn a_command_cut_short_waits_for_a_person_under_the_task_preset() {
    let steps = [
        ScriptStep::call(
            "run_command",
            json!({"command": "echo x >> ran; touch started; test -e second || sleep 300"}),
        ),
        ScriptStep::call("task_completion", json!({"result": "Over it."})),
    ];
    let bench = Bench::new(script_under("task", steps));
    let line = ["run", "go", "--preset", "task", "--session", "my work", "--message-id", "m", "--mode", "bypass"];
    let mut child = bench.spawn(&line);
    bench.wait_for_file("started", &mut child);
    child.kill().expect("killed");
    child.wait().expect("waited");
    // Repeated attempts keep waiting for the person; they do not count as a stuck run.
    for line in [line.as_slice(), &["resume", "my work"], &line, &line, &line] {
        let ran = bench.run(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (6, ""), "{}", ran.stderr);
        let what_to_type = "windlass resume 'my work' --answer run-again|interrupt";
        assert!(ran.stderr.contains("echo x >> ran") && ran.stderr.contains(what_to_type), "{}", ran.stderr);
    }
    let wrong = bench.run(&["resume", "my work", "--answer", "yes"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    std::fs::write(bench.workspace().join("second"), "").expect("written");
    let ran = bench.run(&["resume", "my work", "--answer", "run-again", "--mode", "bypass"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Over it.\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("run_command echo x"), "named, not numbered: {}", ran.stderr);
    assert_eq!(bench.read("ran").as_deref(), Some("x\nx\n"));
    bench.assert_whole("settled");
}
