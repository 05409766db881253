//! The kill matrix on the real binary, for every preset: SIGKILL before and after every journal write, during a
//! command and during a question. Counts effects on disk and looks for surviving processes.

use std::os::unix::process::ExitStatusExt as _;

use crate::support::deaths::{Death, Fates, Person, Rules, Seen, Undisturbed};
use crate::support::person::Attended;
use crate::support::{Bench, Ran, count, script_under, writes};
use serde_json::{Value, json};
use windlass_testkit::{KillTarget, Script, ScriptStep, count_ways_to_die};

/// A command that appends its effect id, which ends in the call's id, to `effects.log`.
fn effect() -> Value {
    json!({ "command": "echo $WINDLASS_EFFECT_ID >> effects.log" })
}

/// The last step of a run under a preset.
fn last(preset: &str, text: &str) -> ScriptStep {
    match preset {
        "task" => ScriptStep::call("task_completion", json!({ "result": text })),
        _ => ScriptStep::say(text),
    }
}

/// A job with every class of effect that the built-in tools have.
fn job(preset: &str) -> Vec<ScriptStep> {
    if preset == "durable-chat" {
        // This preset offers only tools of servers, and there are none: a run is one model call (L1).
        return vec![last(preset, "All done.")];
    }
    vec![
        ScriptStep::call("write_file", json!({"path": "a.txt", "content": "one\n"})),
        ScriptStep::call("run_command", effect()).and_call("list_directory", json!({"path": "."})),
        ScriptStep::call("edit_file", json!({"path": "a.txt", "old_text": "one", "new_text": "two"}))
            .and_call("run_command", effect()),
        ScriptStep::call("move_file", json!({"from": "a.txt", "to": "b.txt"})),
        ScriptStep::call("append_file", json!({"path": "added.log", "text": "added"})),
        ScriptStep::call("delete_file", json!({"path": "old.txt"})),
        last(preset, "All done."),
    ]
}

/// A run whose command a person must allow.
fn asking(preset: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::call("write_file", json!({"path": "a.txt", "content": "one\n"})),
        ScriptStep::call("run_command", effect()),
        last(preset, "Allowed."),
    ]
}

/// A file that is there before the run.
const OLD: (&str, &str) = ("old.txt", "old\n");

/// The default preset is killed with its normal durability, every write synced; the others run faster without.
fn bench(preset: &str, steps: Vec<ScriptStep>) -> Bench {
    let bench = Bench::new(script_under(preset, steps));
    std::fs::write(bench.workspace().join(OLD.0), OLD.1).expect("a file");
    if preset == "default" { bench.synced() } else { bench }
}

/// Asserts that the tools were offered to the model in the preset's own dialect.
fn assert_dialect(bench: &Bench, preset: &str) {
    for request in bench.server.requests() {
        let text = preset == "task";
        assert_eq!(request.body["stop"] == json!(["</tool>"]), text, "{preset}: {}", request.body["stop"]);
        assert_eq!(request.body["tools"].is_array(), !text && preset != "durable-chat", "{preset}");
    }
}

/// How often each call has taken place, according to the files of the workspace.
fn seen(bench: &Bench, undisturbed: &Undisturbed) -> Seen {
    let log = bench.read("effects.log").unwrap_or_default();
    let (a, b) = (bench.read("a.txt"), bench.read("b.txt"));
    let there = |text: &str| usize::from(a.iter().chain(&b).any(|content| content == text));
    let calls = undisturbed.courses().iter().filter_map(|course| {
        let times = match course.tool.as_str() {
            "local.run_command" => log.lines().filter(|line| line.ends_with(&format!(":{}", course.call))).count(),
            "local.write_file" => usize::from(a.is_some() || b.is_some()),
            "local.edit_file" => there("two\n"),
            "local.move_file" => usize::from(b.is_some() && a.is_none()),
            "local.append_file" => bench.read("added.log").unwrap_or_default().lines().count(),
            "local.delete_file" => usize::from(bench.read(OLD.0).is_none()),
            _ => return None,
        };
        Some((course.call.clone(), times))
    });
    calls.collect()
}

/// Asserts the final state of the workspace and the journal, except what became of each call.
fn check(bench: &Bench, journal: &[Value], files: &[(&str, &str)], context: &str) {
    assert_eq!((count(journal, "MessageAccepted"), count(journal, "RunEnded")), (1, 1), "{context}");
    let commands: Vec<&str> = journal
        .iter()
        .filter(|record| record["body"]["tool"] == "local.run_command")
        .filter_map(|record| record["body"]["effect_id"].as_str())
        .collect();
    let log = bench.read("effects.log");
    let mut effects = log.iter().flat_map(|log| log.lines());
    assert!(effects.all(|effect| commands.contains(&effect)), "{context}: {log:?}, not of {commands:?}");
    let added = bench.read("added.log");
    let mut lines = added.iter().flat_map(|added| added.lines());
    assert!(lines.all(|line| line == "added"), "{context}: {added:?}");
    let logs = log.as_ref().map(|_| "effects.log").into_iter().chain(added.as_ref().map(|_| "added.log"));
    let mut expected: Vec<&str> = files.iter().map(|(name, _)| *name).chain(logs).collect();
    expected.sort_unstable();
    let entries = std::fs::read_dir(bench.workspace()).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    assert_eq!(names, expected, "{context}");
    for (name, content) in files {
        assert_eq!(bench.read(name).as_deref(), Some(*content), "{context}: {name}");
    }
    bench.assert_whole(context);
    bench.assert_nothing_survives(context);
}

/// How many questions of a kind were asked.
fn asked(journal: &[Value], about: &str) -> usize {
    journal.iter().filter(|record| record["body"]["kind"]["about"] == about).count()
}

fn line(preset: &str) -> Vec<&str> {
    vec!["run", "go", "--preset", preset, "--session", "s", "--message-id", "m"]
}

fn bypassing(preset: &str) -> Vec<&str> {
    [line(preset), vec!["--mode", "bypass"]].concat()
}

/// Resumes the run to its end; answers a question about an interrupted command with "run it again".
fn recover(bench: &Bench, preset: &str) -> (Ran, usize) {
    let ran = bench.run(&bypassing(preset));
    if ran.code != 6 {
        return (ran, 1);
    }
    (bench.run(&["resume", "s", "--answer", "run-again", "--mode", "bypass"]), 2)
}

fn matrix(preset: &str) -> usize {
    let files: &[_] = if preset == "durable-chat" { &[OLD] } else { &[("b.txt", "two\n")] };
    let first = bench(preset, job(preset));
    let ran = first.run(&bypassing(preset));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{preset}: {}", ran.stderr);
    assert_dialect(&first, preset);
    if preset == "durable-chat" {
        assert_eq!(first.server.count(), 1, "without tools a run is one model call");
    }
    let undisturbed = Undisturbed::of(&first, Rules::of(preset, Person::Away));
    check(&first, &first.journal("s"), files, preset);
    let deaths = undisturbed.deaths();
    for death in &deaths {
        let context = format!("{preset}, killed {death}");
        let bench = bench(preset, job(preset));
        let died = bench.run_with(&bypassing(preset), &[("WINDLASS_TEST_DIE", &death.to_string())]);
        assert_eq!(died.code, -9, "{context}: {}", died.stderr);
        bench.assert_nothing_survives(&context);
        let at_death = seen(&bench, &undisturbed);
        let (ran, processes) = recover(&bench, preset);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{context}: {}", ran.stderr);
        let journal = bench.journal("s");
        let questions = check_fates(&bench, &journal, &undisturbed, *death, &at_death, &context);
        // If a question was asked, a second process gives the answer.
        assert_eq!(processes, 1 + usize::from(questions > 0), "{context}");
        let opened = undisturbed.has_left(*death, "RunStarted") && !undisturbed.has_left(*death, "RunEnded");
        assert_eq!(count(&journal, "RunResumed"), if opened { processes } else { 0 }, "{context}");
        check(&bench, &journal, files, &context);
    }
    deaths.len()
}

/// Asserts what became of every call after this death. Returns how many questions about that were asked.
fn check_fates(
    bench: &Bench,
    journal: &[Value],
    undisturbed: &Undisturbed,
    death: Death,
    at_death: &Seen,
    context: &str,
) -> usize {
    let expected = undisturbed.fates(death, journal, at_death, context);
    assert_eq!(Fates::read(journal, &seen(bench, undisturbed)), expected, "{context}: what became of each call");
    assert_eq!(asked(journal, "settlement"), expected.questions(), "{context}");
    assert_eq!(bench.server.count(), undisturbed.requests_after(death), "{context}: requests");
    expected.questions()
}

/// Kills the process around every write of a run that needs approval. If the question was recorded, it is answered
/// on the command line; otherwise the person repeats the command line.
fn approvals(preset: &str) -> usize {
    let files = [("a.txt", "one\n"), OLD];
    let first = bench(preset, asking(preset));
    let ran = Attended::start(&first, &line(preset), &[]).say_yes();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Allowed.\n"), "{preset}: {}", ran.stderr);
    let undisturbed = Undisturbed::of(&first, Rules::of(preset, Person::There));
    check(&first, &first.journal("s"), &files, preset);
    let deaths = undisturbed.deaths();
    for death in &deaths {
        let context = format!("{preset}, asked, killed {death}");
        let bench = bench(preset, asking(preset));
        let dies = death.to_string();
        let died = Attended::start(&bench, &line(preset), &[("WINDLASS_TEST_DIE", &dies)]).say_yes();
        assert_eq!(died.code, -9, "{context}: {}", died.stderr);
        bench.assert_nothing_survives(&context);
        let at_death = seen(&bench, &undisturbed);
        let waits = undisturbed.has_left(*death, "QuestionAsked") && !undisturbed.has_left(*death, "QuestionAnswered");
        let ran = if waits {
            bench.run(&["resume", "s", "--answer", "yes"])
        } else {
            Attended::start(&bench, &line(preset), &[]).say_yes()
        };
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Allowed.\n"), "{context}: {}", ran.stderr);
        let journal = bench.journal("s");
        check_fates(&bench, &journal, &undisturbed, *death, &at_death, &context);
        assert_eq!(approvals_that_count(&journal), 1, "{context}: one question is there to be answered");
        check(&bench, &journal, &files, &context);
    }
    deaths.len() + killed_at_the_question(preset)
}

/// Kills the process twice while its question is open; another process gets the answer.
fn killed_at_the_question(preset: &str) -> usize {
    let bench = bench(preset, asking(preset));
    for _ in 0..2 {
        let mut asked = Attended::start(&bench, &line(preset), &[]);
        assert!(asked.question().is_some_and(|question| question.contains("effects.log")), "{preset}");
        asked.kill();
    }
    let ran = bench.run(&["resume", "s", "--answer", "yes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Allowed.\n"), "{preset}: {}", ran.stderr);
    let journal = bench.journal("s");
    assert_eq!((approvals_that_count(&journal), asked(&journal, "settlement")), (1, 0), "{preset}");
    assert_eq!(count(&journal, "CallSettled"), 0, "{preset}: nothing was cut short");
    assert_eq!(bench.read("effects.log").unwrap_or_default().lines().count(), 1, "{preset}: done once");
    bench.assert_whole(preset);
    1
}

/// The number of approval questions, without those that a later process withdrew and asked again.
fn approvals_that_count(journal: &[Value]) -> usize {
    let withdrawn = |record: &Value| record["body"]["withdrawn"].as_array().map_or(0, Vec::len);
    asked(journal, "approval") - journal.iter().map(withdrawn).sum::<usize>()
}

fn counted(matrix: &str, ways: usize) {
    count_ways_to_die(KillTarget::Binary, matrix, ways).expect("as stated");
}

fn print_all(preset: &str) {
    let (plain, asked) = (matrix(preset), if preset == "durable-chat" { 0 } else { approvals(preset) });
    counted(preset, plain);
    if asked > 0 {
        counted(&format!("{preset}, around an approval"), asked);
    }
}

// proves J3, J4, J2, T8
#[test]
fn the_kill_matrix_on_the_binary_for_default() {
    print_all("default");
}

// proves J3, J4, J2, T8
#[test]
fn the_kill_matrix_on_the_binary_for_local_model() {
    print_all("local-model");
}

// proves J3, J4, J2, T8
#[test]
fn the_kill_matrix_on_the_binary_for_task() {
    print_all("task");
}

// proves J3, J4, J2, T8
#[test]
fn the_kill_matrix_on_the_binary_for_assistant() {
    print_all("assistant");
}

// proves J3, J4, J2, T8
#[test]
fn the_kill_matrix_on_the_binary_for_operator() {
    print_all("operator");
}

// proves J3, J2, L1
#[test]
fn the_kill_matrix_on_the_binary_for_durable_chat() {
    print_all("durable-chat");
}

/// A bench with a run whose command changed three files and created a folder.
fn undoable() -> Bench {
    let command = json!({"command": "echo new > a; rm b; mkdir d; echo c > d/c"});
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", command),
        ScriptStep::say("Done."),
        ScriptStep::say("On."),
    ]));
    for name in ["a", "b"] {
        std::fs::write(bench.workspace().join(name), "old\n").expect("a file");
    }
    let ran = bench.run(&["run", "go", "--session", "s", "--mode", "bypass"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    bench
}

fn is_undone(bench: &Bench) -> bool {
    let old = |name: &str| bench.read(name).as_deref() == Some("old\n");
    old("a") && old("b") && !bench.workspace().join("d").exists()
}

/// How far an undo had come when its process was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Undo {
    NotBegun,
    Begun,
    Done,
}

/// Every point at which an undo with these writes can be killed, and how far it has come there.
fn deaths_of_an_undo(writes: &[Vec<Value>]) -> Vec<(String, Undo)> {
    let after = |kept: usize| {
        let has = |kind: &str| writes[..kept].iter().flatten().any(|record| record["kind"] == kind);
        match (has("UndoStarted"), has("Undone")) {
            (_, true) => Undo::Done,
            (true, false) => Undo::Begun,
            (false, false) => Undo::NotBegun,
        }
    };
    let around =
        (1..=writes.len()).flat_map(|n| [(format!("before:{n}"), after(n - 1)), (format!("after:{n}"), after(n))]);
    // The four restore steps: a file removed, one replaced, one created, a folder removed.
    around.chain((1..=4).map(|n| (format!("restore:{n}"), Undo::Begun))).collect()
}

// proves T9, J3: an undo killed in progress
#[test]
fn the_kill_matrix_on_the_binary_for_an_undo() {
    let undisturbed = undoable();
    let before = writes(undisturbed.journal("s")).len();
    let undone = undisturbed.run(&["undo", "s"]);
    assert!(undone.code == 0 && is_undone(&undisturbed), "{}", undone.stderr);
    let deaths = deaths_of_an_undo(&writes(undisturbed.journal("s"))[before..]);
    let recoveries = [&["undo", "s"][..], &["run", "go on", "--session", "s", "--mode", "bypass"]];
    for (death, reached) in &deaths {
        for recovery in recoveries {
            let context = format!("an undo killed at {death}, then {recovery:?}");
            let bench = undoable();
            let died = bench.run_with(&["undo", "s"], &[("WINDLASS_TEST_DIE", death)]);
            assert_eq!(died.code, -9, "{context}: {}", died.stderr);
            let left = bench.journal("s");
            let counts = (count(&left, "UndoStarted"), count(&left, "Undone"));
            let begun = usize::from(*reached != Undo::NotBegun);
            assert_eq!(counts, (begun, usize::from(*reached == Undo::Done)), "{context}: left behind");
            let recovered = bench.run(recovery);
            // A completed undo can't be done a second time.
            let refused = *reached == Undo::Done && recovery[0] == "undo";
            assert_eq!(recovered.code, if refused { 2 } else { 0 }, "{context}: {}", recovered.stderr);
            // A run does not start an undo, but any command on the session completes one that was started.
            let expected = usize::from(*reached != Undo::NotBegun || recovery[0] == "undo");
            let journal = bench.journal("s");
            assert_eq!((count(&journal, "UndoStarted"), count(&journal, "Undone")), (expected, expected), "{context}");
            assert_eq!(is_undone(&bench), expected == 1, "{context}");
            let leftover = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(".windlass");
            let mut entries = std::fs::read_dir(bench.workspace()).expect("a folder").flatten();
            assert!(!entries.any(|entry| leftover(&entry.file_name())), "{context}");
            bench.assert_whole(&context);
        }
    }
    counted("an undo", deaths.len() * recoveries.len());
}

// proves T7, J4
#[test]
fn the_kill_matrix_in_the_middle_of_a_command_leaves_no_survivors() {
    let command = "echo $WINDLASS_EFFECT_ID >> effects.log; \
        setsid sleep 300 & (trap '' TERM; sleep 300) & (sleep 300 & exec sleep 300) & \
        touch started; sleep 300";
    let call = || ScriptStep::call("run_command", json!({"command": command, "timeout_seconds": 200}));
    let presets = ["default", "local-model", "assistant", "task", "operator"];
    for preset in presets {
        let bench = bench(preset, vec![call(), last(preset, "Over it.")]);
        let line = bypassing(preset);
        let mut child = bench.spawn(&line);
        bench.wait_for_file("started", &mut child);
        child.kill().expect("killed");
        assert_eq!(child.wait().expect("waited").signal(), Some(9), "{preset}: it ended before it was killed");
        bench.assert_nothing_survives(preset);
        let ran = bench.run(&line);
        if ["task", "operator"].contains(&preset) {
            // Its policy asks a person, and nobody is present.
            assert_eq!(ran.code, 6, "{}", ran.stderr);
            let ran = bench.run(&["resume", "s", "--answer", "interrupt"]);
            assert_eq!((ran.code, ran.stdout.as_str()), (0, "Over it.\n"), "{}", ran.stderr);
        } else {
            assert_eq!((ran.code, ran.stdout.as_str()), (0, "Over it.\n"), "{preset}: {}", ran.stderr);
        }
        assert_eq!(bench.read("effects.log").unwrap_or_default().lines().count(), 1, "{preset}: done once");
        let journal = bench.journal("s");
        let finished = journal.iter().find(|record| record["kind"] == "CallFinished").expect("a result");
        assert_eq!(finished["body"]["outcome"], "interrupted", "{preset}");
    }
    counted("in the middle of a command", presets.len());
}
