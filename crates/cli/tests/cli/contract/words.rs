//! How `run` takes the prompt and prints the answer, or events with `--json`.

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;

#[test]
fn the_prompt_is_the_argument_or_standard_input_and_the_answer_alone_comes_out() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye."), ScriptStep::say("Aye."), ScriptStep::say("Aye.")]));
    for ran in [
        bench.run(&["run", "say aye", "--session", "s"]),
        bench.run_with_input(&["run", "-", "--session", "s"], b"say aye\n"),
        bench.run_with_input(&["run", "--session", "s"], b"say aye"),
    ] {
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "Aye.\n", ""));
    }
    assert_eq!(bench.last_request("user"), ["say aye"; 3]);
    bench.assert_whole("three ways in");
}

#[test]
fn progress_and_text_beside_calls_go_to_standard_error() {
    let looks = ScriptStep { text: "Let me look.".into(), ..ScriptStep::call("list_directory", json!({"path": "."})) };
    let bench = Bench::new(Script::of([looks, ScriptStep::say("Nothing there.\nReally.")]));
    let ran = bench.run(&["run", "look"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Nothing there.\nReally.\n"));
    assert!(ran.stderr.contains("Let me look.") && ran.stderr.contains("list_directory ."), "{}", ran.stderr);
}

// proves S2: an empty or incomplete answer is reported as such
#[test]
fn an_empty_answer_and_one_that_was_cut_off_are_told() {
    let cut = ScriptStep { finish: Some("length".into()), ..ScriptStep::say("Half of") };
    for (step, code, stdout, said) in [
        (cut, 3, "Half of\n", "the answer was cut off by the length limit"),
        (
            ScriptStep::say(""),
            3,
            "The model's last reply was empty: it does not say what is done and what is not.\n",
            "the work is not finished",
        ),
    ] {
        let bench = Bench::new(Script::of([step]));
        let ran = bench.run(&["run", "go", "--preset", "durable-chat"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, stdout), "{}", ran.stderr);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}

// proves E1, E2 on the binary: with `--json` every record is a line, in order, as stored
#[test]
fn with_json_every_record_is_a_line_as_it_is_stored() {
    let steps = [
        ScriptStep::call("list_directory", json!({"path": "."})),
        ScriptStep::say("Nothing there, I am afraid, Captain."),
    ];
    let bench = Bench::new(Script::of(steps));
    let ran = bench.run(&["run", "look", "--session", "s", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let events: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (records, deltas): (Vec<Value>, Vec<Value>) = events.into_iter().partition(|event| event["seq"].is_u64());
    assert_eq!(records, bench.journal("s"));
    let seqs: Vec<u64> = records.iter().filter_map(|record| record["seq"].as_u64()).collect();
    assert!(seqs.iter().copied().eq(1..=seqs.len() as u64), "{seqs:?}");
    assert_eq!(records.last().expect("records")["kind"], "RunEnded");
    let said = deltas.iter().filter(|delta| delta["kind"] == "TextDelta");
    let said: String = said.filter_map(|delta| delta["body"]["text"].as_str()).collect();
    assert_eq!(said, "Nothing there, I am afraid, Captain.");
}

#[test]
fn with_json_a_failure_is_an_event_and_a_sentence_on_standard_error() {
    let bench = Bench::new(Script::of([ScriptStep::say("").fault(windlass_testkit::FaultKind::status(400))]));
    let ran = bench.run(&["run", "go", "--json"]);
    assert_eq!(ran.code, 1);
    let last: Value = serde_json::from_str(ran.stdout.lines().last().expect("lines")).expect("JSON");
    assert_eq!((&last["kind"], &last["body"]["reason"]), (&json!("RunEnded"), &json!("failed")));
    assert!(ran.stderr.starts_with("windlass: the run failed: "), "{}", ran.stderr);
}

// proves C1 in part: the project's instructions precede the conversation
#[test]
fn the_instructions_of_the_project_are_in_the_system_message() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    std::fs::write(bench.workspace().join("AGENTS.md"), "Always splice the mainbrace.\n").expect("written");
    assert_eq!(bench.run(&["run", "go"]).code, 0);
    let system = bench.last_request("system").concat();
    assert!(system.contains("Always splice the mainbrace."), "{system}");
    assert!(system.contains(&bench.workspace().display().to_string()), "the model is told where it works: {system}");
}

#[test]
fn a_reader_of_standard_output_that_goes_away_is_no_failure() {
    let bench = Bench::new(Script::of([ScriptStep::call("todo", json!({"items": []})), ScriptStep::say("Aye.")]));
    for arguments in [["run", "go", "--session", "a"].as_slice(), &["run", "go", "--session", "b", "--json"]] {
        let mut command = bench.command(arguments);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let child = command.stdout(writer).spawn().expect("the binary starts");
        // `command` holds the pipe's write end, which must not stay open here.
        drop(command);
        let ran = crate::support::ran(child);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    bench.assert_whole("closed outputs");
}
