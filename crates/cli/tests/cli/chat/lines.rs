//! Without a terminal: each input line is a message, and only answers go to standard output.

use windlass_testkit::{AfterSteps, FaultKind, Scene, Script, ScriptStep};

use crate::support::Bench;

// proves W2
#[test]
fn each_line_of_a_pipe_is_a_message_and_only_answers_come_out() {
    let script = Script::default()
        .scene(Scene::when("one", [ScriptStep::say("First.")]))
        .scene(Scene::when("two", [ScriptStep::say("Second,\nwith a line more.")]));
    let bench = Bench::new(script);
    let ran = bench.run_with_input(&["--session", "k"], b"one\n\n  \ntwo");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "First.\nSecond,\nwith a line more.\n"), "{}", ran.stderr);
    assert_eq!(bench.last_request("user"), ["one", "two"]);
    let listed = bench.run(&["sessions", "list"]).stdout;
    assert!(listed.trim_end().ends_with("  one"), "{listed}");
    bench.assert_whole("piped");
}

// proves W2: exit codes by outcome
#[test]
fn the_exit_code_is_that_of_the_last_run() {
    let refused = ScriptStep::say("never").fault(FaultKind::status(400).times(u32::MAX));
    let script = Script::default()
        .scene(Scene::when("good", [ScriptStep::say("Fine.")]).then(AfterSteps::RepeatLast))
        .scene(Scene::when("bad", [refused]));
    let bench = Bench::new(script);
    assert_eq!(bench.run_with_input(&["chat"], b"good\nbad\n").code, 1);
    assert_eq!(bench.run_with_input(&["chat"], b"bad\ngood\n").code, 0);
}

#[test]
fn nothing_and_no_text_end_with_2() {
    let bench = Bench::new(Script::default());
    for (input, expected) in
        [(&b""[..], "the prompt is empty"), (b" \n\n", "the prompt is empty"), (b"a\xff\n", "UTF-8")]
    {
        let ran = bench.run_with_input(&[], input);
        assert!(ran.code == 2 && ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

// proves W6: commands work here too; their output does not go to standard output
#[test]
fn commands_in_a_pipe_are_obeyed() {
    let bench =
        Bench::new(Script::default().scene(Scene::when("", [ScriptStep::say("Aye.")]).then(AfterSteps::RepeatLast)));
    let ran = bench.run_with_input(&["--session", "k"], b"one\n/new\ntwo\n/quit\nthree\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\nAye.\n"));
    assert!(ran.stderr.contains("New session started."), "{}", ran.stderr);
    assert_eq!((bench.keys().len(), bench.last_request("user")), (2, vec!["two".to_owned()]));
}

// proves W6: a script can't correct an unknown command, so the chat ends there
#[test]
fn a_command_that_does_not_exist_ends_a_pipe_with_2_and_two_slashes_send_it() {
    let bench =
        Bench::new(Script::default().scene(Scene::when("", [ScriptStep::say("Aye.")]).then(AfterSteps::RepeatLast)));
    let ran = bench.run_with_input(&["--session", "k"], b"//hepl\n/usr/bin/x\n/hepl\nnever\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, "Aye.\nAye.\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("there is no command /hepl: did you mean /help?"), "{}", ran.stderr);
    assert_eq!(bench.last_request("user"), ["/hepl", "/usr/bin/x"]);
}

#[test]
fn with_json_every_event_is_a_line() {
    let bench = Bench::new(Script::when("one", [ScriptStep::say("First.")]));
    let ran = bench.run_with_input(&["--json", "--session", "k"], b"one\n");
    let kinds: Vec<String> = ran
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).expect("JSON")["kind"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    assert!(
        kinds.contains(&"MessageAccepted".to_owned()) && kinds.last().is_some_and(|kind| kind == "RunEnded"),
        "{kinds:?}"
    );
}
