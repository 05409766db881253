//! Plan, execute, synthesize on the binary (S3): the plan is the scripted model's, its steps are child sessions.

#[cfg(target_os = "linux")]
use std::os::unix::process::ExitStatusExt as _;

use serde_json::{Value, json};
use windlass_testkit::{AfterSteps, FaultKind, Scene, Script, ScriptStep};

use crate::support::glass::Glass;
#[cfg(target_os = "linux")]
use crate::support::person::Attended;
use crate::support::{Bench, count};

/// The words by which the scenes know what a model is asked for.
const PLAN: &str = "Write the plan for this request";
const ANSWER: &str = "Write the answer to the request";

/// A bench with three files, of which each holds an old price.
fn bench(script: Script) -> Bench {
    let bench = Bench::new(script);
    for name in ["a.txt", "b.txt", "c.txt"] {
        std::fs::write(bench.workspace().join(name), "price: 10\n").expect("a file");
    }
    bench
}

fn script(plan: &str) -> Script {
    Script::default()
        .scene(Scene::when(PLAN, [ScriptStep::say(plan)]))
        .scene(Scene::when(ANSWER, [ScriptStep::say("All three prices are 12 now.")]))
}

/// The step in which a child changes a file.
fn changes(script: Script, step: &str, file: &str) -> Script {
    let edit = json!({"path": file, "old_text": "10", "new_text": "12"});
    script.scene(Scene::when(step, [ScriptStep::call("edit_file", edit), ScriptStep::say(format!("Changed {file}."))]))
}

fn three_files() -> Script {
    let script = script("FOR EACH FILE *.txt: change the price to 12");
    let script = changes(script, "This step (1 of 3)", "a.txt");
    let script = changes(script, "This step (2 of 3)", "b.txt");
    changes(script, "This step (3 of 3)", "c.txt")
}

const LINE: [&str; 5] = ["run", "Raise all prices to 12.", "--plan", "--session", "s"];

fn prices(bench: &Bench) -> Vec<String> {
    ["a.txt", "b.txt", "c.txt"].map(|name| bench.read(name).unwrap_or_default().trim().to_owned()).to_vec()
}

fn bodies<'a>(journal: &'a [Value], kind: &str) -> Vec<&'a Value> {
    journal.iter().filter(|record| record["kind"] == kind).map(|record| &record["body"]).collect()
}

/// The keys of the child sessions, in order.
fn children(bench: &Bench) -> Vec<String> {
    let parent = bench.journal("s")[0]["session"].as_str().expect("an id").to_owned();
    let listed = bench.run(&["sessions", "list", "--all"]);
    let mut keys: Vec<String> =
        listed.stdout.lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect();
    keys.retain(|key| key.starts_with(&format!("{parent}:")));
    keys.sort();
    keys
}

// proves S3, M9: the loop, not the model, goes from file to file
#[test]
fn a_plan_for_each_of_three_files_changes_all_three() {
    let bench = bench(three_files());
    let ran = bench.run(&LINE);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "All three prices are 12 now.\n"), "{}", ran.stderr);
    assert_eq!(prices(&bench), ["price: 12"; 3]);
    assert_eq!(bench.server.refused(), Vec::<String>::new());
    let journal = bench.journal("s");
    assert_eq!((count(&journal, "ChildSpawned"), count(&journal, "ChildReported")), (3, 3));
    let roles: Vec<&str> =
        bodies(&journal, "ModelReplied").iter().map(|body| body["role"].as_str().unwrap_or("turn")).collect();
    assert_eq!(roles, ["planner", "synthesis"]);
    let changed: Vec<&Value> = bodies(&journal, "ChildReported").iter().map(|body| &body["changed"]).collect();
    assert_eq!(changed, [&json!(["a.txt"]), &json!(["b.txt"]), &json!(["c.txt"])]);
    let plans = bodies(&journal, "PlanChanged");
    let last: Vec<&str> = plans.last().expect("a plan")["items"]
        .as_array()
        .expect("steps")
        .iter()
        .filter_map(|item| item["status"].as_str())
        .collect();
    assert_eq!(last, ["done"; 3]);
    // A step is shown the request, its file and what was done before it.
    let asked = bench.server.requests();
    let step = asked.iter().map(|request| request.body.to_string()).find(|body| body.contains("This step (2 of 3)"));
    let step = step.expect("the second step");
    for words in ["Raise all prices to 12.", "The file of this step: b.txt", "price: 10", "Changed a.txt."] {
        assert!(step.contains(words), "{words}: {step}");
    }
    // The planner and the writer of the answer have no tools.
    assert!(asked.first().expect("the plan").body["tools"].is_null());
    assert!(asked.last().expect("the answer").body["tools"].is_null());
    for words in ["step 1 of 3: a.txt: change the price to 12: done, changed a.txt", "step 3 of 3"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    bench.assert_whole("a plan");
}

/// The reasons with which the runs of the children ended.
fn child_ends(bench: &Bench) -> Vec<String> {
    let reason = |key: &String| {
        let journal = bench.journal(key);
        let ends = bodies(&journal, "RunEnded");
        assert_eq!((count(&journal, "MessageAccepted"), ends.len()), (1, 1), "{key}");
        ends[0]["reason"].as_str().unwrap_or_default().to_owned()
    };
    children(bench).iter().map(reason).collect()
}

// proves S3: children are found below their parent and go with it
#[test]
fn children_are_hidden_shown_with_their_parent_and_removed_with_it() {
    let bench = bench(three_files());
    bench.run(&LINE);
    assert_eq!(bench.keys(), ["s"]);
    let keys = children(&bench);
    assert_eq!(keys.len(), 3);
    let shown = bench.run(&["sessions", "show", "s"]);
    for key in &keys {
        assert!(shown.stdout.contains(key.as_str()), "{key}: {}", shown.stdout);
    }
    let opened = bench.journal(&keys[0])[0]["body"]["parent"].clone();
    assert_eq!(opened[1], "1.1.0", "{opened}");
    // What comes next without a name is the parent's business.
    let resumed = bench.run(&["resume"]);
    assert!(!resumed.stderr.contains(&keys[2]), "{}", resumed.stderr);
    let removed = bench.run(&["sessions", "rm", "s", "--yes"]);
    assert_eq!(removed.code, 0, "{}", removed.stderr);
    assert_eq!(bench.run(&["sessions", "list", "--all"]).stdout, "");
}

// proves S3: failing over carries the steps that are done
#[test]
fn a_step_that_fails_twice_hands_the_job_to_the_plain_loop() {
    let script = script("1. Change a.txt\n2. Change b.txt and c.txt");
    let script = changes(script, "This step (1 of 2)", "a.txt")
        .scene(Scene::when("This step (2 of 2)", [ScriptStep::say("never").fault(FaultKind::status(401).times(99))]));
    let both = ScriptStep::call("edit_file", json!({"path": "b.txt", "old_text": "10", "new_text": "12"}))
        .and_call("edit_file", json!({"path": "c.txt", "old_text": "10", "new_text": "12"}));
    let left = Scene::when("The job was begun by a plan", [both, ScriptStep::say("I did the rest.")]);
    let bench = bench(script.scene(left));
    let ran = bench.run(&LINE);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "I did the rest.\n"), "{}", ran.stderr);
    assert_eq!(
        (prices(&bench), child_ends(&bench)),
        (vec!["price: 12".to_owned(); 3], ["completed", "failed", "failed"].map(str::to_owned).to_vec())
    );
    let told = bench.server.requests().last().expect("a request").body.to_string();
    assert!(told.contains("1. Change a.txt: done. Changed a.txt."), "{told}");
    bench.assert_whole("a plan that fails");
}

// proves S3: what is not done is said by the loop, whatever the model claims
#[test]
fn a_file_that_can_not_be_done_is_named_in_the_answer() {
    let script = script("FOR EACH FILE a.txt, b.txt: change the price to 12");
    let script = changes(script, "This step (1 of 2)", "a.txt")
        .scene(Scene::when("This step (2 of 2)", [ScriptStep::say("never").fault(FaultKind::status(401).times(99))]));
    let bench = bench(script);
    let ran = bench.run(&LINE);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let answer = bodies(&bench.journal("s"), "RunEnded")[0]["answer"].as_str().unwrap_or_default().to_owned();
    assert!(answer.starts_with("All three prices are 12 now.\n\nNot done:\n- 2. b.txt: "), "{answer}");
    assert!(ran.stdout.contains("Not done:"), "{}", ran.stdout);
}

// proves M7: the children draw on their parent's limits
#[test]
fn a_limit_that_a_child_reaches_ends_the_run() {
    let script = script("FOR EACH FILE a.txt, b.txt: change the price to 12");
    let edit = json!({"path": "a.txt", "old_text": "10", "new_text": "12"});
    let first = ScriptStep::call("edit_file", edit).usage(59_000, 900);
    let script = script.scene(Scene::when("This step", [first, ScriptStep::say("never")]).then(AfterSteps::RepeatLast));
    let bench = bench(script);
    let ran = bench.run(&[&LINE[..], &["--max-run-tokens", "60000"]].concat());
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let journal = bench.journal("s");
    assert_eq!(bodies(&journal, "RunEnded")[0]["reason"], "budget_spent");
    assert_eq!((count(&journal, "ChildSpawned"), child_ends(&bench)), (1, vec!["budget_spent".to_owned()]));
    assert_eq!(bench.server.count(), 2, "the plan and one call of the child");
}

/// A plan whose second step waits for a slow model.
#[cfg(target_os = "linux")]
fn slow_second_step() -> Script {
    let script = script("FOR EACH FILE *.txt: change the price to 12");
    let edit = json!({"path": "b.txt", "old_text": "10", "new_text": "12"});
    let slow = ScriptStep::call("edit_file", edit).fault(FaultKind::Delay { ms: 600_000 }.times(1));
    let script = changes(script, "This step (1 of 3)", "a.txt");
    let script = script.scene(Scene::when("This step (2 of 3)", [slow, ScriptStep::say("Changed b.txt.")]));
    changes(script, "This step (3 of 3)", "c.txt")
}

// proves S3, L8: a stop of the parent stops the child
#[cfg(target_os = "linux")]
#[test]
fn a_stop_in_the_middle_of_a_plan_stops_the_child_and_the_run() {
    let bench = bench(slow_second_step());
    let mut child = bench.spawn(&LINE);
    bench.wait_for_requests(4, &mut child);
    let stopped = bench.run(&["stop", "s"]);
    assert_eq!(stopped.code, 0, "{}", stopped.stderr);
    let ran = crate::support::ran(child);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert_eq!(child_ends(&bench), ["completed", "cancelled"]);
    assert_eq!(prices(&bench), ["price: 12", "price: 10", "price: 10"]);
    bench.assert_whole("a stopped plan");
    bench.assert_nothing_survives("a stopped plan");
}

// proves S3, J3
#[cfg(target_os = "linux")]
#[test]
fn a_plan_killed_in_the_middle_of_a_step_goes_on_there() {
    for recovery in [&["resume", "s"][..], &["stop", "s"]] {
        let bench = bench(slow_second_step());
        let mut child = bench.spawn(&LINE);
        bench.wait_for_requests(4, &mut child);
        child.kill().expect("killed");
        assert_eq!(child.wait().expect("waited").signal(), Some(9));
        let ran = bench.run(recovery);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        if recovery[0] == "resume" {
            assert_eq!(ran.stdout, "All three prices are 12 now.\n", "{}", ran.stderr);
            assert_eq!(
                (prices(&bench), child_ends(&bench)),
                (vec!["price: 12".to_owned(); 3], vec!["completed".to_owned(); 3])
            );
        } else {
            assert_eq!(child_ends(&bench), ["completed", "cancelled"]);
            assert_eq!(bodies(&bench.journal("s"), "RunEnded")[0]["reason"], "cancelled");
        }
        bench.assert_whole("a plan that was killed");
    }
}

// proves S3, T8: the person at the parent's terminal answers for the child
#[cfg(target_os = "linux")]
#[test]
fn an_approval_that_a_child_needs_is_asked_and_given_at_the_parents_terminal() {
    let script = script("1. Look at a.txt\n2. Run it");
    let command = json!({"command": "echo ran >> ran.log"});
    let bench = bench(script.scene(Scene::when("This step (1 of 2)", [ScriptStep::say("It holds a price.")])).scene(
        Scene::when("This step (2 of 2)", [ScriptStep::call("run_command", command), ScriptStep::say("It ran.")]),
    ));
    let mut person = Attended::start(&bench, &LINE, &[]);
    let question = person.question().expect("a question");
    assert!(question.contains("echo ran >> ran.log") && question.contains("[y] yes, once"), "{question}");
    person.type_text("y\n");
    let ran = person.finish();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "All three prices are 12 now.\n"), "{}", ran.stderr);
    assert_eq!(bench.read("ran.log").as_deref(), Some("ran\n"));
    let journal = bench.journal("s");
    assert_eq!(bodies(&journal, "QuestionAsked")[0]["kind"]["about"], "step");
    assert_eq!((count(&journal, "QuestionAnswered"), child_ends(&bench).len()), (1, 2));
    bench.assert_whole("an approval in a plan");
}

// proves S3: for whom nobody answers, a child does without, as any run
#[test]
fn a_child_of_an_unattended_run_asks_nobody() {
    let script = script("1. Look at a.txt\n2. Run it");
    let command = json!({"command": "echo ran >> ran.log"});
    let bench = bench(script.scene(Scene::when("This step (1 of 2)", [ScriptStep::say("It holds a price.")])).scene(
        Scene::when("This step (2 of 2)", [ScriptStep::call("run_command", command), ScriptStep::say("I could not.")]),
    ));
    let ran = bench.run(&LINE);
    assert_eq!((ran.code, bench.read("ran.log")), (0, None), "{}", ran.stderr);
}

// proves T9, S3: what a plan changed is undone in the session that a person knows, the last change first
#[test]
fn the_changes_of_steps_are_undone_from_the_session_of_the_plan() {
    let bench = bench(three_files());
    assert_eq!(bench.run(&LINE).code, 0);
    let undone = bench.run(&["undo", "s"]);
    assert_eq!((undone.code, undone.stdout.as_str()), (0, "restored c.txt\n"), "{}", undone.stderr);
    assert_eq!(prices(&bench), ["price: 12", "price: 12", "price: 10"]);
    let again =
        undone.stderr.lines().find_map(|line| line.split_once("bring it back with: windlass ")).expect("a command");
    let words: Vec<&str> = again.1.split_whitespace().collect();
    assert_eq!(bench.run(&words[..4]).code, 0, "{}", undone.stderr);
    assert_eq!(prices(&bench), ["price: 12"; 3]);

    let mut glass = Glass::chat(&bench, &["--resume", "s"]);
    for (file, left) in [("c", ["12", "12", "10"]), ("b", ["12", "10", "10"]), ("a", ["10", "10", "10"])] {
        glass.wait_for_prompt();
        glass.say("/undo");
        glass.wait_for(&format!("restored {file}.txt"));
        glass.wait_for_prompt();
        assert_eq!(prices(&bench), left.map(|price| format!("price: {price}")));
    }
    glass.say("/undo");
    glass.wait_for("nothing to undo");
    bench.assert_whole("undone");
}
