//! The kill matrix on the real binary: SIGKILL before and after every journal write and in the middle
//! of a command, counting effects on disk and looking for survivors.

#![allow(clippy::expect_used, clippy::panic)]

mod support;

use serde_json::json;
use support::{Bench, Ran};
use windlass_testkit::{Script, Step};

/// Appends a line to `effects.log`, named after the call, and says so.
fn effect(n: u32) -> serde_json::Value {
    json!({ "command": format!("echo {n}:$WINDLASS_EFFECT_ID >> effects.log") })
}

fn script(preset: &str) -> Script {
    let last = match preset {
        "task" => Step::call("task_completion", json!({"result": "All done."})),
        _ => Step::say("All done."),
    };
    Script::of([
        Step::call("write_file", json!({"path": "a.txt", "content": "one\n"})),
        Step::call("run_command", effect(1)).and_call("list_directory", json!({"path": "."})),
        Step::call("edit_file", json!({"path": "a.txt", "old_text": "one", "new_text": "two"}))
            .and_call("run_command", effect(2)),
        Step::call("move_file", json!({"from": "a.txt", "to": "b.txt"})),
        last,
    ])
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

    /// After one death: under `task` a person has it run again, the others mark it interrupted.
    fn after_a_death(preset: &str) -> Self {
        if preset == "task" { Self { done: 2, repeated: 1 } } else { Self { done: 1, repeated: 0 } }
    }
}

/// What the workspace must look like in the end.
fn check(bench: &Bench, context: &str, allowed: &Allowed) {
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
    assert_eq!(preset, "task", "{context}: only `task` asks here: {}", ran.stderr);
    bench.run(&["resume", "s", "--answer", "run-again", "--mode", "bypass"])
}

fn matrix(preset: &str) -> usize {
    let line = ["run", "go", "--preset", preset, "--session", "s", "--message-id", "m", "--mode", "bypass"];
    let undisturbed = Bench::new(script(preset));
    let ran = undisturbed.run(&line);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{preset}: {}", ran.stderr);
    check(&undisturbed, preset, &Allowed::UNDISTURBED);
    let appends = undisturbed.appends("s");
    assert!(appends > 8, "{preset}: {appends}");
    let mut checked = 0;
    for number in 1..=appends {
        for side in ["before", "after"] {
            let context = format!("{preset}, killed {side} write {number}");
            let bench = Bench::new(script(preset));
            let died = bench.run_with(&line, &[("WINDLASS_TEST_DIE", &format!("{side}:{number}"))]);
            assert_eq!(died.code, -9, "{context}: {}", died.stderr);
            let ran = recover(&bench, preset, &context);
            assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{context}: {}", ran.stderr);
            check(&bench, &context, &Allowed::after_a_death(preset));
            bench.assert_nothing_survives(&context);
            checked += 1;
        }
    }
    checked
}

// proves J3, J4, J2
#[test]
fn the_kill_matrix_on_the_binary_for_default() {
    println!("kill matrix on the binary: default: {} ways to die, all recovered", matrix("default"));
}

// proves J3, J4, J2
#[test]
fn the_kill_matrix_on_the_binary_for_local_model() {
    println!("kill matrix on the binary: local-model: {} ways to die, all recovered", matrix("local-model"));
}

// proves J3, J4, J2
#[test]
fn the_kill_matrix_on_the_binary_for_task() {
    println!("kill matrix on the binary: task: {} ways to die, all recovered", matrix("task"));
}

// proves T7, J4
#[test]
fn a_kill_in_the_middle_of_a_command_leaves_no_survivors() {
    let command = "echo $WINDLASS_EFFECT_ID >> effects.log; \
        setsid sleep 300 & (trap '' TERM; sleep 300) & (sleep 300 & exec sleep 300) & \
        touch started; sleep 300";
    let script = || {
        Script::of([
            Step::call("run_command", json!({"command": command, "timeout_seconds": 200})),
            Step::say("Over it."),
        ])
    };
    for preset in ["default", "local-model", "operator"] {
        let bench = Bench::new(script());
        let line = ["run", "go", "--preset", preset, "--session", "s", "--message-id", "m", "--mode", "bypass"];
        let mut child = bench.spawn(&line);
        bench.wait_for_file("started", &mut child);
        child.kill().expect("killed");
        child.wait().expect("waited");
        bench.assert_nothing_survives(preset);
        let ran = bench.run(&line);
        if preset == "operator" {
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
