//! What a small model that writes scripts is helped with, on the real binary: a repeated script is not run, a figure is not
//! guessed, a path that is not there brings similar ones, and the new text of a program is written to its file.

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use super::sandbox::holds;
use crate::support::Bench;

const FLAGS: [&str; 6] = ["--preset", "local-model", "--dialect", "script", "--allow", "run_command"];
const CHANGES: &str = "open('a.txt', 'w').write('new\\n')";

fn python(script: &str) -> ScriptStep {
    ScriptStep::say(format!("```python\n{script}\n```"))
}

/// A bench whose model takes these steps; `None` where no sandbox holds scripts.
fn bench(steps: Vec<ScriptStep>) -> Option<Bench> {
    let bench = Bench::new(Script::of(steps));
    std::fs::write(bench.workspace().join("a.txt"), "old\n").expect("written");
    holds(&bench).then_some(bench)
}

/// Runs a request and returns how it ended.
fn end_of(bench: &Bench, request: &str) -> Value {
    let ran = bench.run(&[&["run", request, "--session", "s"], &FLAGS[..]].concat());
    let ends = of(bench, "RunEnded", "reason");
    bench.assert_whole("script");
    ends.last().cloned().unwrap_or_else(|| panic!("no end: {}", ran.stderr))
}

fn of(bench: &Bench, kind: &str, field: &str) -> Vec<Value> {
    let journal = bench.journal("s");
    let records = journal.iter().filter(|record| record["kind"] == kind);
    records.map(|record| record["body"][field].clone()).collect()
}

// proves L11, S2: a script that brought nothing is not run again; what was tried leaves the conversation, its result is told,
// and after three other tries the run is wrapped up
#[test]
fn after_a_repeated_script_the_run_starts_over() {
    let Some(bench) = bench(vec![python("print(7)"); 12]) else { return };
    assert_eq!(end_of(&bench, "Change old to new in a.txt."), "unfinished");
    assert_eq!(of(&bench, "CallStarted", "call").len(), 1);
    let requests = bench.server.requests();
    let temperatures: Vec<&Value> = requests.iter().map(|request| &request.body["temperature"]).collect();
    assert_eq!(temperatures, [0.1, 0.1, 0.4, 0.7, 0.9, 0.7]);
    let messages = requests[2].body["messages"].as_array().expect("messages").iter().skip(2);
    let told: String = messages.map(|message| message["content"].as_str().unwrap_or_default()).collect();
    let tried = "This script was run already, and brings the same again. Its result:\n7\n";
    assert!(told.contains(tried) && told.contains("a.txt has to be opened"), "{told}");
    assert!(!told.contains("```"), "no script of the model is left: {told}");
}

// proves L11: the same change is not made twice, and the run ends where the records show that all is done
#[test]
fn a_change_that_is_written_again_ends_the_run() {
    let appends = || python("open('a.txt', 'a').write('more\\n')");
    let Some(bench) = bench(vec![appends(), appends(), appends()]) else { return };
    assert_eq!(end_of(&bench, "Add the line more to a.txt."), "completed");
    assert_eq!(bench.read("a.txt").as_deref(), Some("old\nmore\n"));
    assert_eq!(of(&bench, "CallStarted", "call").len(), 1);
}

// proves L11: after a change a script may bring something else
#[test]
fn a_script_is_run_again_after_another_changed_files() {
    let reads = || python("print(open('a.txt').read())");
    let Some(bench) = bench(vec![reads(), python(CHANGES), reads(), ScriptStep::say("a.txt says new.")]) else {
        return;
    };
    assert_eq!(end_of(&bench, "Change old to new in a.txt, then show it."), "completed");
    assert_eq!(of(&bench, "CallFinished", "outcome"), ["ok", "ok", "ok"]);
}

// proves L11: a look that is taken again after a change ends nothing: the answer may be missing
#[test]
fn a_repeated_look_after_a_change_is_run_and_answered() {
    let looks = || python("print(open('a.txt').read())");
    let Some(bench) = bench(vec![python(CHANGES), looks(), looks(), ScriptStep::say("It was old.")]) else { return };
    assert_eq!(end_of(&bench, "Change old to new in a.txt and tell me the old value."), "completed");
    assert_eq!(of(&bench, "RunEnded", "answer"), ["It was old."]);
    assert_eq!(of(&bench, "CallFinished", "outcome"), ["ok", "ok", "ok"]);
}

// proves L11, S1: where files are ignored, a script that only looked is not taken for a change
#[test]
fn a_repeated_look_does_not_complete_a_run_where_files_are_ignored() {
    let Some(bench) = bench(vec![python("print(open('a.txt').read())"); 12]) else { return };
    std::fs::write(bench.workspace().join(".gitignore"), "target\n").expect("written");
    assert_eq!(end_of(&bench, "Change old to new in a.txt."), "unfinished");
}

// proves T4: a program that the request only uses is not overwritten
#[test]
fn a_program_that_is_only_used_stays_as_it_is() {
    let old = "def pages(lines):\n    return lines // 40\n\nprint(pages(95))\n";
    let steps = vec![python(&old.replace("95", "120")), ScriptStep::say("I can't write result.txt.")];
    let Some(bench) = bench(steps) else { return };
    std::fs::write(bench.workspace().join("pages.py"), old).expect("written");
    end_of(&bench, "Use pages.py to compute the pages of 120 lines and save the result to result.txt.");
    assert_eq!(bench.read("pages.py").as_deref(), Some(old));
}

// proves S1: a figure from files is computed
#[test]
fn a_guessed_figure_is_sent_back() {
    let Some(bench) = bench(vec![ScriptStep::say("It has 3 words.")]) else { return };
    // What only the wording of the reply suggests does not make the run a failure.
    assert_eq!(end_of(&bench, "How many words are in a.txt?"), "completed");
    assert_eq!(of(&bench, "Nudged", "faults"), vec![json!([{"is": "not_computed"}]); 3]);
    assert!(of(&bench, "Nudged", "text")[0].as_str().expect("a text").contains("not to be guessed"));
}

// proves T4: an error names paths like the one that is not there
#[test]
fn a_missing_path_brings_similar_ones() {
    let Some(bench) = bench(vec![python("open('b.txt')"), ScriptStep::say("It does not exist.")]) else { return };
    std::fs::create_dir(bench.workspace().join("deep")).expect("made");
    std::fs::write(bench.workspace().join("deep/b.txt"), "b\n").expect("written");
    end_of(&bench, "What does b.txt say?");
    let told = of(&bench, "CallFinished", "text")[0].as_str().expect("a text").to_owned();
    assert!(told.contains("\nSimilar paths are there: deep/b.txt\nFileNotFoundError"), "{told}");
}

// proves T4, T9: a corrected program is written to its file, told as such, and undone
#[test]
fn the_new_text_of_a_program_is_written() {
    let steps = vec![python("def double(x):\n    return 2 * x"), ScriptStep::say("I corrected double.py.")];
    let Some(bench) = bench(steps) else { return };
    let (old, new) = (
        "def double(x)\n    return 2 * x\n\nprint(double(4))\n",
        "def double(x):\n    return 2 * x\n\nprint(double(4))\n",
    );
    std::fs::write(bench.workspace().join("double.py"), old).expect("written");
    assert_eq!(end_of(&bench, "double.py has a mistake. Fix it."), "completed");
    assert_eq!(bench.read("double.py").as_deref(), Some(new));
    assert_eq!(of(&bench, "CallRequested", "repairs"), [json!(["file_text"])]);
    assert_eq!(bench.run(&["undo", "s"]).code, 0);
    assert_eq!(bench.read("double.py").as_deref(), Some(old));
}

// proves T4, L11: a program that was written and is shown again is not run, and ends the run
#[test]
fn a_program_that_is_shown_again_is_the_same_change() {
    let new = "def double(x):\n    return 2 * x\n\nprint(double(4))\n";
    let Some(bench) = bench(vec![python(new), python(new), ScriptStep::say("never asked")]) else { return };
    std::fs::write(bench.workspace().join("double.py"), new.replace("):", ")")).expect("written");
    assert_eq!(end_of(&bench, "double.py has a mistake. Fix it."), "completed");
    assert_eq!(of(&bench, "CallFinished", "outcome"), ["ok", "invalid_arguments"]);
    assert_eq!(of(&bench, "RunEnded", "answer"), ["The changes are made."]);
    assert_eq!(bench.read("double.py").as_deref(), Some(new));
}
