//! What a person is told while a run takes long, and at its end.

use windlass_testkit::{ReplyPace, Script, ScriptStep};

use crate::support::Bench;
use crate::support::person::Attended;

fn slow() -> Bench {
    let pace = ReplyPace { latency_ms: 2_500, ..ReplyPace::default() };
    Bench::new(Script::of([ScriptStep { pace: Some(pace), ..ScriptStep::say("Aye.") }]))
}

// proves W2: the seconds of a wait are displayed, and at the end how to go on
#[test]
fn a_terminal_shows_the_seconds_and_how_to_go_on() {
    let bench = slow();
    let mut person = Attended::start(&bench, &["run", "go", "--session", "s"], &[("TERM", "xterm")]);
    // A late tick may skip a second.
    person.read_until_any(&(1..10).map(|seconds| format!("waiting for the model, {seconds} s")).collect::<Vec<_>>());
    let ran = person.finish();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("windlass: session `s`; `windlass --resume s --data-dir "), "{}", ran.stderr);
    let url = bench.server.base_url();
    let mut person = Attended::start(
        &bench,
        &["run", "go", "--session", "u", "--base-url", &url, "--allow", "run_command(ls *)", "--dialect", "lines"],
        &[("TERM", "xterm")],
    );
    assert_eq!(person.question(), None);
    let said = person.finish().stderr;
    assert!(
        said.contains(&format!(
            "`windlass --resume u --base-url {url} --dialect lines --allow 'run_command(ls *)' --data-dir "
        )),
        "{said}"
    );
    let mut person = Attended::start(&bench, &["run", "go", "--session", "t", "--json"], &[("TERM", "xterm")]);
    assert_eq!(person.question(), None);
    assert!(!person.finish().stderr.contains("--resume"));
}

// proves W2: a script's standard error gets no advice
#[test]
fn a_pipe_is_not_told_how_to_go_on() {
    let ran = Bench::new(Script::of([ScriptStep::say("Aye.")])).run(&["run", "go"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "Aye.\n", ""));
}
