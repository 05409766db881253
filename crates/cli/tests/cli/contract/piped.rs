//! Text piped in beside a prompt.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use windlass_testkit::{Script, ScriptStep};

use crate::support::{Bench, ran};

const JOINED: &str = "Why?\n\nStandard input (data for the request above):\n```\none\ntwo\n```";

/// Returns standard error without the notice that input is being read: the test clock runs 100 times as fast, so any
/// pipe may seem slow.
fn without_reading_notice(stderr: &str) -> String {
    stderr.lines().filter(|line| !line.starts_with("windlass: reading standard input")).collect()
}

// proves W2
#[test]
fn piped_text_is_joined_to_the_prompt() {
    let bench = Bench::new(Script::of([ScriptStep::say("So.")]));
    let asked = bench.run_with_input(&["run", "Why?", "--session", "s"], b"one\ntwo\n");
    assert_eq!((asked.code, asked.stdout.as_str(), without_reading_notice(&asked.stderr).as_str()), (0, "So.\n", ""));
    assert_eq!(bench.last_request("user"), [JOINED]);
}

// proves J5: the text of a message is its prompt and the piped text
#[test]
fn a_repeated_line_with_a_message_id_gets_its_answer_again_and_is_told_when_the_pipe_differs() {
    let bench = Bench::new(Script::of([ScriptStep::say("So.")]));
    let line = ["run", "Why?", "--message-id", "m"];
    for (piped, expected) in [(&b"one\ntwo\n"[..], ""), (b"one\ntwo\n", ""), (b"other\n", "with other words")] {
        let asked = bench.run_with_input(&line, piped);
        assert_eq!((asked.code, asked.stdout.as_str()), (0, "So.\n"), "{}", asked.stderr);
        let notices = without_reading_notice(&asked.stderr);
        assert!(notices.contains(expected) && notices.is_empty() == expected.is_empty(), "{notices}");
    }
    assert_eq!(bench.server.count(), 1);
}

#[test]
fn an_empty_pipe_and_no_input_leave_the_prompt_alone_and_bytes_that_are_no_text_are_refused() {
    let bench = Bench::new(Script::of([ScriptStep::say("So."), ScriptStep::say("So.")]));
    assert_eq!(bench.run_with_input(&["run", "Why?"], b"").code, 0);
    assert_eq!(bench.last_request("user"), ["Why?"]);
    assert_eq!(bench.run(&["run", "Why?"]).code, 0);
    assert_eq!(bench.last_request("user"), ["Why?"]);
    let refused = bench.run_with_input(&["run", "Why?"], b"\x7fELF\xff");
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("standard input is not valid UTF-8"), "{}", refused.stderr);
    assert_eq!(bench.server.count(), 2);
}

// proves W2: a process that waits for input says so
#[test]
fn a_pipe_that_stays_open_and_silent_is_told_and_read_once_it_ends() {
    let bench = Bench::new(Script::of([ScriptStep::say("So.")]));
    let mut child = bench.command(&["run", "Why?"]).stdin(Stdio::piped()).spawn().expect("the binary starts");
    let mut told = String::new();
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    stderr.read_line(&mut told).expect("a line");
    assert!(told.starts_with("windlass: reading standard input to its end"), "{told}");
    assert_eq!(bench.server.count(), 0);
    child.stdin.take().expect("a pipe").write_all(b"one\ntwo").expect("written");
    let asked = ran(child);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "So.\n"));
    assert_eq!(bench.last_request("user"), [JOINED]);
}
