//! The kill matrix on the real binary, for every preset: SIGKILL before and after every journal write,
//! in the middle of a command and while a person is asked, counting effects on disk and looking for
//! survivors.

use std::os::unix::process::ExitStatusExt as _;

use crate::support::person::Attended;
use crate::support::{Bench, Ran};
use serde_json::json;
use windlass_testkit::{Script, Step};

/// Appends a line to `effects.log`, named after the call, and says so.
fn effect(n: u32) -> serde_json::Value {
    json!({ "command": format!("echo {n}:$WINDLASS_EFFECT_ID >> effects.log") })
}

/// How a run ends under a preset.
fn last(preset: &str, text: &str) -> Step {
    match preset {
        "task" => Step::call("task_completion", json!({ "result": text })),
        _ => Step::say(text),
    }
}

fn script(preset: &str) -> Script {
    if preset == "durable-chat" {
        // It offers the tools of servers alone, and there are none yet: a run is one model call (L1).
        return Script::of([last(preset, "All done.")]);
    }
    Script::of([
        Step::call("write_file", json!({"path": "a.txt", "content": "one\n"})),
        Step::call("run_command", effect(1)).and_call("list_directory", json!({"path": "."})),
        Step::call("edit_file", json!({"path": "a.txt", "old_text": "one", "new_text": "two"}))
            .and_call("run_command", effect(2)),
        Step::call("move_file", json!({"from": "a.txt", "to": "b.txt"})),
        last(preset, "All done."),
    ])
}

/// The default is killed as people have it, with every write synced; the others are quicker.
fn bench(preset: &str, script: Script) -> Bench {
    let bench = Bench::new(script);
    if preset == "default" { bench.synced() } else { bench }
}

/// Whether a person is asked what becomes of a command that was cut short, though nobody is there.
fn asks(preset: &str) -> bool {
    ["task", "operator"].contains(&preset)
}

/// How the two commands may have fared.
struct Allowed {
    /// How many of them took place at the least.
    done: usize,
    /// How often one took place a second time.
    repeated: usize,
}

impl Allowed {
    const UNDISTURBED: Self = Self { done: 2, repeated: 0 };

    /// After one death: where a person is asked, they have it run again; the others mark it interrupted.
    fn after_a_death(preset: &str) -> Self {
        if asks(preset) { Self { done: 2, repeated: 1 } } else { Self { done: 1, repeated: 0 } }
    }
}

/// What the workspace must look like in the end.
fn check(bench: &Bench, preset: &str, context: &str, allowed: &Allowed) {
    assert_eq!(bench.records("s", "MessageAccepted"), 1, "{context}");
    if preset == "durable-chat" {
        return;
    }
    assert_eq!(bench.read("b.txt").as_deref(), Some("two\n"), "{context}");
    assert_eq!(bench.read("a.txt"), None, "{context}");
    let log = bench.read("effects.log").unwrap_or_default();
    let effects: std::collections::BTreeSet<&str> = log.lines().collect();
    assert!((allowed.done..=2).contains(&effects.len()), "{context}: {log}");
    assert!(log.lines().count() - effects.len() <= allowed.repeated, "{context}: {log}");
}

/// Goes on until it is done; answers the question what became of a command with "run it again".
fn recover(bench: &Bench, preset: &str, context: &str) -> Ran {
    let ran = bench.run(&["run", "go", "--preset", preset, "--session", "s", "--message-id", "m", "--mode", "bypass"]);
    if ran.code != 6 {
        return ran;
    }
    assert!(asks(preset), "{context}: nobody is asked here: {}", ran.stderr);
    bench.run(&["resume", "s", "--answer", "run-again", "--mode", "bypass"])
}

fn matrix(preset: &str) -> usize {
    let line = ["run", "go", "--preset", preset, "--session", "s", "--message-id", "m", "--mode", "bypass"];
    let undisturbed = bench(preset, script(preset));
    let ran = undisturbed.run(&line);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{preset}: {}", ran.stderr);
    check(&undisturbed, preset, preset, &Allowed::UNDISTURBED);
    let batches = undisturbed.batches("s").len();
    assert!(batches > if preset == "durable-chat" { 3 } else { 8 }, "{preset}: {batches}");
    let mut checked = 0;
    for number in 1..=undisturbed.writes("s") {
        for side in ["before", "after"] {
            let context = format!("{preset}, killed {side} write {number}");
            let bench = bench(preset, script(preset));
            let died = bench.run_with(&line, &[("WINDLASS_TEST_DIE", &format!("{side}:{number}"))]);
            assert_eq!(died.code, -9, "{context}: {}", died.stderr);
            let ran = recover(&bench, preset, &context);
            assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{context}: {}", ran.stderr);
            check(&bench, preset, &context, &Allowed::after_a_death(preset));
            bench.assert_nothing_survives(&context);
            checked += 1;
        }
    }
    checked
}

/// A run whose command a person must allow.
fn asking_script(preset: &str) -> Script {
    Script::of([
        Step::call("write_file", json!({"path": "a.txt", "content": "one\n"})),
        Step::call("run_command", effect(1)),
        last(preset, "Allowed."),
    ])
}

/// The person was asked once, and the command took place as often as it may.
fn check_asked(bench: &Bench, preset: &str, context: &str, allowed: &Allowed) {
    let journal = bench.journal("s");
    let approvals = journal.iter().filter(|record| record["body"]["kind"]["about"] == "approval").count();
    assert_eq!(approvals, 1, "{context}: what was asked stays asked");
    assert_eq!(bench.records("s", "MessageAccepted"), 1, "{context}");
    let lines = bench.read("effects.log").unwrap_or_default().lines().count();
    let most = 1 + if asks(preset) || preset == "default" { allowed.repeated } else { 0 };
    assert!((allowed.done..=most).contains(&lines), "{context}: it took place {lines} times");
    bench.assert_whole(context);
}

/// Dies around every write of a run that waits for a person's yes, and gets it from the command line, or
/// from the person who types the line again.
fn approvals(preset: &str) -> usize {
    let line = ["run", "go", "--preset", preset, "--session", "s", "--message-id", "m"];
    let undisturbed = bench(preset, asking_script(preset));
    let ran = Attended::start(&undisturbed, &line, &[]).say_yes();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Allowed.\n"), "{preset}: {}", ran.stderr);
    check_asked(&undisturbed, preset, preset, &Allowed { done: 1, repeated: 0 });
    let appends = undisturbed.writes("s");
    let mut checked = 0;
    for number in 1..=appends {
        for side in ["before", "after"] {
            let context = format!("{preset}, asked, killed {side} write {number}");
            let bench = bench(preset, asking_script(preset));
            let died = Attended::start(&bench, &line, &[("WINDLASS_TEST_DIE", &format!("{side}:{number}"))]).say_yes();
            assert_eq!(died.code, -9, "{context}: {}", died.stderr);
            let mut ran = bench.run(&["resume", "s", "--answer", "yes"]);
            if ran.code == 2 {
                // Nothing waits for a yes: it was not asked yet, or is answered already.
                ran = Attended::start(&bench, &line, &[]).say_yes();
            }
            assert_eq!((ran.code, ran.stdout.as_str()), (0, "Allowed.\n"), "{context}: {}", ran.stderr);
            check_asked(&bench, preset, &context, &Allowed { done: usize::from(asks(preset)), repeated: 1 });
            bench.assert_nothing_survives(&context);
            checked += 1;
        }
    }
    checked + killed_at_the_question(preset)
}

/// Dies while the person thinks, twice, and is answered by another process.
fn killed_at_the_question(preset: &str) -> usize {
    let bench = bench(preset, asking_script(preset));
    let line = ["run", "go", "--preset", preset, "--session", "s", "--message-id", "m"];
    for _ in 0..2 {
        let mut asked = Attended::start(&bench, &line, &[]);
        assert!(asked.question().is_some_and(|question| question.contains("effects.log")), "{preset}");
        asked.kill();
    }
    let ran = bench.run(&["resume", "s", "--answer", "yes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Allowed.\n"), "{preset}: {}", ran.stderr);
    check_asked(&bench, preset, preset, &Allowed { done: 1, repeated: 0 });
    1
}

fn print_all(preset: &str) {
    let (plain, asked) = (matrix(preset), if preset == "durable-chat" { 0 } else { approvals(preset) });
    println!(
        "kill matrix on the binary: {preset}: {} ways to die, all recovered ({asked} of them around an approval)",
        plain + asked
    );
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

/// A run whose command changed three files and made a folder.
fn undoable() -> Bench {
    let command = json!({"command": "echo new > a; rm b; mkdir d; echo c > d/c"});
    let bench = Bench::new(Script::of([Step::call("run_command", command), Step::say("Done."), Step::say("On.")]));
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

// proves T9, J3: an undo in progress
#[test]
fn the_kill_matrix_on_the_binary_for_an_undo() {
    let undisturbed = undoable();
    let before = undisturbed.writes("s");
    let undone = undisturbed.run(&["undo", "s"]);
    assert!(undone.code == 0 && is_undone(&undisturbed), "{}", undone.stderr);
    let writes = (1..=undisturbed.writes("s") - before).flat_map(|n| [format!("before:{n}"), format!("after:{n}")]);
    // A file that goes, one replaced, one made, a folder that goes.
    let changes = (1..=4).map(|n| format!("restore:{n}"));
    let mut checked = 0;
    for death in writes.chain(changes) {
        for recovery in [&["undo", "s"][..], &["run", "go on", "--session", "s", "--mode", "bypass"]] {
            let context = format!("an undo killed at {death}, then {recovery:?}");
            let bench = undoable();
            let died = bench.run_with(&["undo", "s"], &[("WINDLASS_TEST_DIE", &death)]);
            assert_eq!(died.code, -9, "{context}: {}", died.stderr);
            let begun = bench.records("s", "UndoStarted") > 0;
            let recovered = bench.run(recovery);
            assert!([0, 2].contains(&recovered.code), "{context}: {}", recovered.stderr);
            if !begun && recovery[0] == "run" {
                assert!(!is_undone(&bench), "{context}: nothing was begun");
            } else {
                assert!(is_undone(&bench), "{context}");
                assert_eq!(bench.records("s", "Undone"), 1, "{context}");
                let leftover = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(".windlass");
                let mut entries = std::fs::read_dir(bench.workspace()).expect("a folder").flatten();
                assert!(!entries.any(|entry| leftover(&entry.file_name())), "{context}");
            }
            bench.assert_whole(&context);
            checked += 1;
        }
    }
    println!("kill matrix on the binary: an undo: {checked} ways to die, all recovered");
    assert!(checked >= 18, "{checked}");
}

// proves T7, J4
#[test]
fn a_kill_in_the_middle_of_a_command_leaves_no_survivors() {
    let command = "echo $WINDLASS_EFFECT_ID >> effects.log; \
        setsid sleep 300 & (trap '' TERM; sleep 300) & (sleep 300 & exec sleep 300) & \
        touch started; sleep 300";
    let call = || Step::call("run_command", json!({"command": command, "timeout_seconds": 200}));
    for preset in ["default", "local-model", "assistant", "task", "operator"] {
        let bench = bench(preset, Script::of([call(), last(preset, "Over it.")]));
        let line = ["run", "go", "--preset", preset, "--session", "s", "--message-id", "m", "--mode", "bypass"];
        let mut child = bench.spawn(&line);
        bench.wait_for_file("started", &mut child);
        child.kill().expect("killed");
        assert_eq!(child.wait().expect("waited").signal(), Some(9), "{preset}: it ended before it was killed");
        bench.assert_nothing_survives(preset);
        let ran = bench.run(&line);
        if asks(preset) {
            // Its policy asks a person, and nobody is here.
            assert_eq!(ran.code, 6, "{}", ran.stderr);
            let ran = bench.run(&["resume", "s", "--answer", "interrupt"]);
            assert_eq!((ran.code, ran.stdout.as_str()), (0, "Over it.\n"), "{}", ran.stderr);
        } else {
            assert_eq!((ran.code, ran.stdout.as_str()), (0, "Over it.\n"), "{preset}: {}", ran.stderr);
        }
        assert_eq!(bench.read("effects.log").unwrap_or_default().lines().count(), 1, "{preset}: done once");
    }
}
