//! The kill matrix of a run with a plan, on the real binary: SIGKILL before and after every journal write, of the parent and
//! of its children, with a step that runs a command and one for each of two files.

use serde_json::{Value, json};
use windlass_testkit::{KillTarget, Scene, Script, ScriptStep, count_ways_to_die};

use crate::support::{Bench, count};

const LINE: [&str; 9] = ["run", "go", "--plan", "--session", "s", "--message-id", "m", "--mode", "bypass"];

fn bench() -> Bench {
    let edit = |file: &str| ScriptStep::call("edit_file", json!({"path": file, "old_text": "one", "new_text": "two"}));
    let command = json!({"command": "echo $WINDLASS_EFFECT_ID >> effects.log"});
    let plan = "1. Note the effect\n2. FOR EACH FILE a.txt, b.txt: write two in place of one";
    let script = Script::default()
        .scene(Scene::when("Write the plan for this request", [ScriptStep::say(plan)]))
        .scene(Scene::when("Write the answer to the request", [ScriptStep::say("All done.")]))
        .scene(Scene::when("This step (1 of 3)", [ScriptStep::call("run_command", command), ScriptStep::say("Noted.")]))
        .scene(Scene::when("This step (2 of 3)", [edit("a.txt"), ScriptStep::say("a.txt is changed.")]))
        .scene(Scene::when("This step (3 of 3)", [edit("b.txt"), ScriptStep::say("b.txt is changed.")]));
    let bench = Bench::new(script);
    for name in ["a.txt", "b.txt"] {
        std::fs::write(bench.workspace().join(name), "one\n").expect("a file");
    }
    bench
}

fn changed(journal: &[Value]) -> Vec<Value> {
    let reports = journal.iter().filter(|record| record["kind"] == "ChildReported");
    reports.map(|record| record["body"]["reason"].clone()).collect()
}

/// Asserts that everything was done, and nothing twice.
fn check(bench: &Bench, context: &str) {
    for name in ["a.txt", "b.txt"] {
        assert_eq!(bench.read(name).as_deref(), Some("two\n"), "{context}: {name}");
    }
    let effects = bench.read("effects.log").unwrap_or_default();
    assert!(effects.lines().count() <= 1, "{context}: done twice: {effects}");
    let journal = bench.journal("s");
    for kind in ["MessageAccepted", "RunStarted", "RunEnded"] {
        assert_eq!(count(&journal, kind), 1, "{context}: {kind}");
    }
    assert_eq!((count(&journal, "ChildSpawned"), changed(&journal)), (3, vec![json!("completed"); 3]), "{context}");
    let parent = journal[0]["session"].as_str().expect("an id").to_owned();
    let listed = bench.run(&["sessions", "list", "--all"]);
    assert_eq!(listed.stdout.lines().count(), 4, "{context}: {}", listed.stdout);
    for index in 0..3 {
        let child = bench.journal(&format!("{parent}:1.1.{index}"));
        for kind in ["MessageAccepted", "RunStarted", "RunEnded", "CallRequested", "CallFinished"] {
            assert_eq!(count(&child, kind), 1, "{context}: child {index}: {kind}");
        }
    }
    assert_eq!(bench.server.refused(), Vec::<String>::new(), "{context}");
    bench.assert_whole(context);
    bench.assert_nothing_survives(context);
}

// proves S3, J2, J3, J4: nothing is done twice, whenever the process dies
#[test]
fn the_kill_matrix_on_the_binary_for_a_plan_ends_as_if_undisturbed() {
    let first = bench();
    let ran = first.run(&LINE);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{}", ran.stderr);
    check(&first, "undisturbed");
    assert_eq!(first.read("effects.log").unwrap_or_default().lines().count(), 1);
    let mut checked = 0;
    for write in 1.. {
        let mut died_once = false;
        for side in ["before", "after"] {
            let context = format!("a plan, killed {side}:{write}");
            let bench = bench();
            let died = bench.run_with(&LINE, &[("WINDLASS_TEST_DIE", &format!("{side}:{write}"))]);
            if died.code != -9 {
                // There are no more writes.
                assert_eq!(died.code, 0, "{context}: {}", died.stderr);
                continue;
            }
            died_once = true;
            bench.assert_nothing_survives(&context);
            let ran = bench.run(&LINE);
            assert_eq!((ran.code, ran.stdout.as_str()), (0, "All done.\n"), "{context}: {}", ran.stderr);
            check(&bench, &context);
            checked += 1;
        }
        if !died_once {
            break;
        }
    }
    count_ways_to_die(KillTarget::Binary, "a plan", checked).expect("as stated");
}
