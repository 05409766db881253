//! The kill matrix of a run that needs a summary first, on the real binary: SIGKILL before and after every journal
//! write of that run, and while the model is writing the summary.

use std::os::unix::process::ExitStatusExt as _;

use crate::support::{Bench, count, writes};
use serde_json::Value;
use windlass_testkit::{AfterSteps, FaultKind, KillTarget, ModelServer, Scene, Script, ScriptStep, count_ways_to_die};

/// The start of the request for a summary.
const SUMMARY_REQUEST: &str = "The conversation above is about to be left out";
/// How many messages come before the one that needs a summary.
const EARLIER: usize = 3;

/// Answers every request with this step.
fn always(step: ScriptStep) -> Script {
    Script::default().scene(Scene::when("", [step]).then(AfterSteps::RepeatLast))
}

fn server(step: ScriptStep) -> ModelServer {
    ModelServer::start(always(step)).expect("a server")
}

/// A bench with a small window and no tools, so that a few long messages fill it. The summary is written by the first of
/// these servers that answers.
fn bench(summaries: &[&ModelServer]) -> Bench {
    let bench = Bench::new(always(ScriptStep::say("Noted.")));
    let folder = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&folder).expect("a folder");
    let names: Vec<String> = summaries.iter().map(|server| format!("'{}#s'", server.base_url())).collect();
    let settings = format!(
        "[roles]\nsummary = [{}]\n[policy]\ntools = []\nhistory = 'summarised'\n[models.scripted]\nwindow = 4700\n",
        names.join(", ")
    );
    std::fs::write(folder.join("windlass.toml"), settings).expect("written");
    for number in 0..EARLIER {
        let ran = bench.run(&line(&message(number)).iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Noted.\n"), "{}", ran.stderr);
    }
    assert_eq!(count(&bench.journal("s"), "Compacted"), 0, "nothing is left out yet");
    bench
}

fn message(number: usize) -> (String, String) {
    (format!("m{number}"), format!("{number}: {}", "remember this ".repeat(430)))
}

fn line((id, text): &(String, String)) -> Vec<String> {
    ["run", text, "--session", "s", "--message-id", id].map(str::to_owned).to_vec()
}

/// What must be equal in two journals: the records of the last run, without those of the processes. A failed attempt that
/// was not recorded before the process was killed is not repeated by the server, so it may be missing.
fn story(journal: &[Value]) -> Vec<(String, String)> {
    let started = journal.iter().rposition(|record| record["kind"] == "MessageAccepted").expect("a message");
    let of_process =
        |record: &&Value| !["LeaseTaken", "RunResumed", "AttemptFailed"].iter().any(|kind| record["kind"] == *kind);
    let told = |record: &Value| {
        let body = &record["body"];
        let parts = ["method", "summary", "mode", "answer", "reason", "parts", "role"].map(|field| &body[field]);
        (record["kind"].to_string(), format!("{parts:?}"))
    };
    journal[started..].iter().filter(of_process).map(told).collect()
}

fn run(bench: &Bench, environment: &[(&str, &str)]) -> crate::support::Ran {
    let line = line(&message(EARLIER));
    bench.run_with(&line.iter().map(String::as_str).collect::<Vec<_>>(), environment)
}

// proves J3, J2, C5, M9: a summary in flight
#[test]
fn the_kill_matrix_on_the_binary_for_a_summary_ends_as_if_undisturbed() {
    let fails_once = FaultKind::Status { code: 503, body: None, retry_after: None };
    let summaries = [ScriptStep::say("THE SUMMARY"), ScriptStep::say("THE SUMMARY").fault(fails_once.times(1))];
    let mut checked = 0;
    for summary in &summaries {
        let writer = server(summary.clone());
        let undisturbed = bench(&[&writer]);
        let before = writes(undisturbed.journal("s")).len();
        let ran = run(&undisturbed, &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Noted.\n"), "{}", ran.stderr);
        let journal = undisturbed.journal("s");
        let expected = story(&journal);
        assert_eq!(count(&journal, "Compacted"), 1, "{expected:?}");
        for death in (1..=writes(journal).len() - before).flat_map(|n| [format!("before:{n}"), format!("after:{n}")]) {
            let context = format!("a summary, killed {death}");
            let writer = server(summary.clone());
            let bench = bench(&[&writer]);
            let died = run(&bench, &[("WINDLASS_TEST_DIE", &death)]);
            assert_eq!(died.code, -9, "{context}: {}", died.stderr);
            let ran = run(&bench, &[]);
            assert_eq!((ran.code, ran.stdout.as_str()), (0, "Noted.\n"), "{context}: {}", ran.stderr);
            assert_eq!(story(&bench.journal("s")), expected, "{context}");
            assert_eq!([bench.server.refused(), writer.refused()].concat(), Vec::<String>::new(), "{context}");
            bench.assert_whole(&context);
            bench.assert_nothing_survives(&context);
            checked += 1;
        }
        if summary == &summaries[0] {
            checked += killed_in_flight(&expected);
        }
    }
    count_ways_to_die(KillTarget::Binary, "a summary", checked).expect("as stated");
}

/// Kills the process while the model writes the summary.
fn killed_in_flight(expected: &[(String, String)]) -> usize {
    let slow = ScriptStep::say("THE SUMMARY").fault(FaultKind::Delay { ms: 600_000 }.times(1));
    let writer = server(slow);
    let bench = bench(&[&writer]);
    let line = line(&message(EARLIER));
    let mut child = bench.spawn(&line.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(writer.wait_for_requests(1), "it asks for a summary");
    child.kill().expect("killed");
    assert_eq!(child.wait().expect("waited").signal(), Some(9), "it ended before it was killed");
    assert_eq!(count(&bench.journal("s"), "Compacted"), 0, "the summary was not there yet");
    let ran = run(&bench, &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Noted.\n"), "{}", ran.stderr);
    assert_eq!(story(&bench.journal("s")), expected);
    bench.assert_whole("a summary, killed in flight");
    1
}

// proves M9, X1: a role names its chain, and a server that is named only there gets no key of another
#[test]
fn a_summary_is_written_by_the_models_of_its_role() {
    let down = FaultKind::Status { code: 404, body: None, retry_after: None };
    let (first, second) =
        (server(ScriptStep::say("never").fault(down.times(9))), server(ScriptStep::say("BY ANOTHER")));
    let bench = bench(&[&first, &second]);
    let ran = run(&bench, &[("WINDLASS_API_KEY", "for-the-first")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Noted.\n"), "{}", ran.stderr);
    let journal = bench.journal("s");
    let compacted = journal.iter().find(|record| record["kind"] == "Compacted").expect("a compaction");
    assert_eq!(compacted["body"]["summary"], "BY ANOTHER");
    let replied = journal.iter().find(|record| record["body"]["role"] == "summary").expect("a summary");
    assert_eq!(replied["body"]["model"], format!("{}#s", second.base_url()));
    assert_eq!((first.count(), second.count()), (1, 1));
    for server in [&first, &second] {
        let has_key = |headers: &[(String, String)]| headers.iter().any(|(name, _)| name == "authorization");
        assert!(server.requests().iter().all(|request| !has_key(&request.headers)));
    }
    let asked = bench.server.requests();
    assert!(asked.iter().all(|request| !request.body.to_string().contains(SUMMARY_REQUEST)), "only for turns");
}
