//! A question left open, in a session that is resumed under other rules: the call is checked and asked about again.

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::person::Attended;

const COMMAND: &str = "echo x >> ran";

/// Returns a bench whose person left the question whether the command may run, and the text of the question.
fn left_open() -> (Bench, String) {
    let call = ScriptStep::call("run_command", json!({"command": COMMAND}));
    let bench = Bench::new(Script::of([call, ScriptStep::say("Well.")]));
    let line = ["run", "go", "--session", "s", "--sandbox", "workspace"];
    let mut asked = Attended::start(&bench, &line, &[]);
    let question = asked.question().expect("it asks");
    asked.kill();
    (bench, question)
}

/// Returns the part of a question that describes the call and its sandbox use.
fn preview_of(question: &str) -> &str {
    let from = question.find("Run `").unwrap_or_else(|| panic!("no preview: {question}"));
    let to = question.rfind('[').unwrap_or(question.len());
    question[from..to].trim_end()
}

fn is_whole(bench: &Bench, settlements: usize) {
    let journal = bench.journal("s");
    let about = |record: &&serde_json::Value| record["body"]["kind"]["about"] == "settlement";
    assert_eq!(journal.iter().filter(about).count(), settlements);
    assert_eq!(bench.run(&["replay", "s", "--check"]).code, 0);
    bench.assert_whole("judged again");
}

// proves X6, T8: a yes permits only what the question displays, and exactly that runs
#[test]
fn a_question_left_open_is_asked_anew_under_the_sandbox_of_who_resumes() {
    let (bench, before) = left_open();
    let mut resumed = Attended::start(&bench, &["resume", "s", "--sandbox", "off"], &[]);
    let after = resumed.question().expect("it asks");
    assert!(after.contains(COMMAND) && after.contains("not in a sandbox"), "{after}");
    assert_ne!(preview_of(&before), preview_of(&after));
    resumed.type_text("y\n");
    let ran = resumed.finish();
    assert_eq!((ran.code, ran.stdout.as_str(), bench.read("ran").as_deref()), (0, "Well.\n", Some("x\n")));
    is_whole(&bench, 0);
}

// proves X6, T8: resumed under the same rules, the question is the same
#[test]
fn a_question_left_open_is_asked_again_in_the_same_words_and_its_call_runs_once() {
    let (bench, before) = left_open();
    let mut again = Attended::start(&bench, &["resume", "s"], &[]);
    assert_eq!(preview_of(&again.question().expect("it asks")), preview_of(&before));
    again.kill();
    let mut resumed = Attended::start(&bench, &["resume", "s"], &[]);
    assert_eq!(preview_of(&resumed.question().expect("it asks")), preview_of(&before));
    assert_eq!(bench.read("ran"), None);
    resumed.type_text("y\n");
    let ran = resumed.finish();
    assert_eq!((ran.code, ran.stdout.as_str(), bench.read("ran").as_deref()), (0, "Well.\n", Some("x\n")));
    assert_eq!(bench.records("s", "QuestionAnswered"), 1);
    is_whole(&bench, 0);
}

// proves X6: if a current rule allows or forbids the call, nobody is asked
#[test]
fn a_question_left_open_is_not_asked_where_a_rule_of_today_answers_it() {
    for (flags, runs) in [(["--allow", "run_command"], true), (["--deny", "run_command"], false)] {
        let (bench, _) = left_open();
        let ran = Attended::start(&bench, &[&["resume", "s"], &flags[..]].concat(), &[]).finish();
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Well.\n"), "{flags:?}: {}", ran.stderr);
        assert_eq!(bench.read("ran").is_some(), runs, "{flags:?}");
        let told = bench.last_request("tool").concat();
        assert_eq!(told.contains("forbids it"), !runs, "{flags:?}: {told}");
        is_whole(&bench, 0);
    }
}

// proves T8, J3: a script can't say no for the person who was asked
#[test]
fn a_question_left_open_stays_open_for_a_command_without_a_terminal() {
    let call = ScriptStep::call("run_command", json!({"command": COMMAND}));
    for (first, again) in [
        (&["run", "go", "--session", "s"][..], &["resume", "s"][..]),
        (&["run", "go", "--session", "s"], &["run", "go", "--session", "s"]),
        (&["run", "go", "--session", "s"], &["run", "something else", "--session", "s"]),
        (&["run", "go"], &["run", "go"]),
    ] {
        let bench = Bench::new(Script::of([call.clone(), ScriptStep::say("Well.")]));
        let mut asked = Attended::start(&bench, first, &[]);
        asked.question().expect("it asks");
        asked.kill();
        let key = bench.keys().remove(0);
        for _ in 0..5 {
            let waits = bench.run_with(again, &[("WINDLASS_TEST_CLOCK", "1")]);
            assert_eq!((waits.code, waits.stdout.as_str()), (6, ""), "{again:?}: {}", waits.stderr);
            let answer = format!("answer with: windlass resume {key} --answer ");
            assert!(waits.stderr.contains(COMMAND) && waits.stderr.contains(&answer), "{again:?}: {}", waits.stderr);
        }
        assert_eq!((bench.records(&key, "QuestionAnswered"), bench.server.count()), (0, 1), "{again:?}");
        let ran = bench.run(&["resume", &key, "--answer", "yes"]);
        assert_eq!((ran.code, bench.read("ran").as_deref()), (0, Some("x\n")), "{again:?}: {}", ran.stderr);
        bench.assert_whole("answered by a person");
    }
}

// proves X6, T8: an answer on the command line counts only for the question that was displayed
#[test]
fn an_answer_given_with_resume_is_not_for_a_question_that_shows_something_else() {
    let (bench, _) = left_open();
    let waits = bench.run(&["resume", "s", "--answer", "yes", "--sandbox", "off"]);
    assert!(waits.code == 6 && waits.stderr.contains("not in a sandbox"), "{}: {}", waits.code, waits.stderr);
    assert_eq!(bench.read("ran"), None);
    let ran = bench.run(&["resume", "s", "--answer", "yes", "--sandbox", "off"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), bench.read("ran").as_deref()),
        (0, "Well.\n", Some("x\n")),
        "{}",
        ran.stderr
    );
    is_whole(&bench, 0);
}

// proves X6, T8: a no on the command line takes precedence over any rule
#[test]
fn a_no_given_with_resume_counts_whatever_the_rules_of_today_allow() {
    let (bench, _) = left_open();
    let ran = bench.run(&["resume", "s", "--answer", "no", "--allow", "run_command"]);
    assert_eq!((ran.code, ran.stdout.as_str(), bench.read("ran")), (0, "Well.\n", None), "{}", ran.stderr);
    assert!(ran.stderr.contains("denied: a person said no"), "{}", ran.stderr);
    is_whole(&bench, 0);
}

// proves X6, J4: a stored yes counts if the question would be the same; with a weaker sandbox it is asked again
#[test]
fn a_yes_to_a_process_that_died_counts_where_the_same_would_be_shown() {
    for (flags, asked) in [(&[][..], 1), (&["--sandbox", "off"], 2)] {
        let (bench, _) = left_open();
        // The process dies after it stored the answer and before the snapshot: the call is permitted and has not run.
        let died = Attended::start(&bench, &["resume", "s"], &[("WINDLASS_TEST_DIE", "after:4")]).say_yes();
        assert_eq!((died.code, bench.read("ran")), (-9, None), "{}", died.stderr);
        assert_eq!((bench.records("s", "QuestionAnswered"), bench.records("s", "SnapshotTaken")), (1, 0));
        let before = bench.records("s", "QuestionAsked");
        let ran = Attended::start(&bench, &[&["resume", "s"], flags].concat(), &[]).say_yes();
        assert_eq!((ran.code, bench.read("ran").as_deref()), (0, Some("x\n")), "{flags:?}: {}", ran.stderr);
        assert_eq!(bench.records("s", "QuestionAsked") - before + 1, asked, "{flags:?}");
        is_whole(&bench, 0);
    }
}
