//! Output that nobody reads: a terminal paused with Ctrl-S, a pipe whose reader sleeps. It holds up neither the run nor
//! a stop.

use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::tcgetattr;
use serde_json::Value;
use windlass_testkit::{BodyPoint, FaultKind, Script, ScriptStep};

use crate::support::glass::Glass;
use crate::support::{Bench, Ran, ends_unread, interrupt, pty, ran};

const RUN: [&str; 6] = ["run", "go", "--session", "s", "--preset", "default"];

/// More than a pipe or a terminal holds.
fn long_text() -> String {
    (0..12_000).map(|n| format!("word{n} and so on\n")).collect()
}

/// A long reply that never ends.
fn endless() -> Bench {
    Bench::new(Script::of([ScriptStep::say(long_text()).fault(FaultKind::Idle { after: BodyPoint::Events(8000) })]))
}

fn start(bench: &Bench, line: &[&str]) -> Child {
    bench.command(line).env("WINDLASS_TEST_CLOCK", "1").spawn().expect("the binary starts")
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}: never");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until nothing more fits into the pipe, which need not hold as many bytes as it could then.
fn wait_until_full(pipe: impl AsFd) {
    let path = format!("/proc/self/fd/{}", pipe.as_fd().as_raw_fd());
    let other_end = std::fs::OpenOptions::new().write(true).open(path).expect("its other end");
    wait_until("the pipe is full", || !has_room(&other_end));
}

fn has_room(end: impl AsFd) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(&end, PollFlags::OUT)], Some(&now)).expect("polled") > 0
}

/// Waits until nothing more can be written to the terminal, for a while: the system moves what was written from one
/// buffer to another, which makes room.
fn wait_until_stuck(end: &OwnedFd) {
    let mut in_a_row = 0;
    wait_until("the terminal is full", || {
        in_a_row = if has_room(end) { 0 } else { in_a_row + 1 };
        in_a_row == 20
    });
}

/// Asserts that the last run of the session was stopped by a person.
fn assert_cancelled(bench: &Bench) {
    let journal = bench.journal("s");
    let end = journal.last().expect("a record");
    assert_eq!((end["kind"].as_str(), end["body"]["reason"].as_str()), (Some("RunEnded"), Some("cancelled")), "{end}");
}

fn stop(bench: &Bench) -> Ran {
    let stopped = bench.run(&["stop", "s"]);
    assert_eq!((stopped.code, stopped.stdout.as_str()), (0, "stopped 1 run\n"), "{}", stopped.stderr);
    stopped
}

// proves L8, W2: a stop reaches a run whose output nobody reads
#[test]
fn a_run_whose_pipe_nobody_reads_is_stopped() {
    let bench = endless();
    let child = start(&bench, &[&RUN[..], &["--json"]].concat());
    wait_until_full(child.stdout.as_ref().expect("a pipe"));
    stop(&bench);
    assert_cancelled(&bench);
    // The rest is printed once there is a reader, up to the end of the run.
    let run = ran(child);
    assert_eq!(run.code, 4);
    let last: Value = serde_json::from_str(run.stdout.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["kind"], "RunEnded");
    bench.assert_whole("stopped");
}

// proves L8, W2: Ctrl-C is a stop, and ends the process although its output never drains
#[test]
fn ctrl_c_ends_a_run_whose_pipe_nobody_reads() {
    let bench = endless();
    let mut child = start(&bench, &[&RUN[..], &["--json"]].concat());
    wait_until_full(child.stdout.as_ref().expect("a pipe"));
    interrupt(&child);
    assert_eq!(ends_unread(&mut child), 4);
    assert_cancelled(&bench);
    bench.assert_whole("interrupted");
}

/// Starts a run whose progress goes to a terminal paused with Ctrl-S.
fn start_paused(bench: &Bench) -> (OwnedFd, OwnedFd, Child) {
    let person = pty::open();
    let end = pty::other_end(&person);
    rustix::io::write(&person, b"\x13").expect("typed");
    wait_until_stuck(&end);
    let mut command = bench.command(&RUN);
    command.env("WINDLASS_TEST_CLOCK", "1").env("TERM", "xterm");
    command.stdin(pty::other_end(&person)).stderr(pty::other_end(&person)).stdout(Stdio::null());
    (person, end, command.spawn().expect("the binary starts"))
}

// proves L8, W2: Ctrl-S pauses the terminal, not the run
#[test]
fn a_run_at_a_paused_terminal_goes_on_and_is_stopped() {
    let bench = endless();
    let (_person, _end, mut child) = start_paused(&bench);
    bench.wait_for_requests(1, &mut child);
    stop(&bench);
    assert_cancelled(&bench);
    interrupt(&child);
    assert_eq!(ends_unread(&mut child), 4);
    bench.assert_whole("stopped");
}

// proves L8, W2: the run is cancelled by the first Ctrl-C
#[test]
fn ctrl_c_ends_a_run_at_a_paused_terminal() {
    let bench = endless();
    let (_person, _end, mut child) = start_paused(&bench);
    bench.wait_for_requests(1, &mut child);
    interrupt(&child);
    assert_eq!(ends_unread(&mut child), 4);
    assert_cancelled(&bench);
}

// proves W2: a follower whose output nobody reads ends at Ctrl-C
#[test]
fn ctrl_c_ends_a_follower_whose_pipe_nobody_reads() {
    let bench = Bench::new(Script::of([ScriptStep::say(long_text())]));
    assert_eq!(bench.run(&RUN).code, 0);
    let mut child = start(&bench, &["follow", "s"]);
    wait_until_full(child.stdout.as_ref().expect("a pipe"));
    interrupt(&child);
    assert_eq!(ends_unread(&mut child), 4);
}

// proves W2, E1: a reader that comes late gets every record, in order, although the run was over long before
#[test]
fn a_slow_reader_gets_every_record() {
    let bench = Bench::new(Script::of([ScriptStep::say(long_text())]));
    let child = start(&bench, &[&RUN[..], &["--json"]].concat());
    wait_until_full(child.stdout.as_ref().expect("a pipe"));
    wait_until("the run ends", || bench.records("s", "RunEnded") == 1);
    let run = ran(child);
    assert_eq!(run.code, 0);
    let events: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let seqs = |records: &[Value]| records.iter().filter_map(|record| record["seq"].as_u64()).collect::<Vec<_>>();
    assert_eq!(seqs(&events), seqs(&bench.journal("s")));
    let answer = bench.run(&["run", "go", "--session", "s2", "--preset", "default"]);
    assert_eq!((answer.code, answer.stdout), (0, long_text()));
}

/// How a stuck chat is ended.
#[derive(Clone, Copy, Debug)]
enum ChatEnding {
    /// Its run is stopped from elsewhere, then it is asked to terminate.
    Terminate,
    Interrupt,
    CtrlC,
}

/// The terminal's modes, for comparison.
fn modes(terminal: &OwnedFd) -> String {
    let modes = tcgetattr(terminal).expect("its modes");
    format!("{:?} {:?} {:?}", modes.input_modes, modes.local_modes, modes.special_codes)
}

// proves L8, W2: a chat whose terminal nobody reads is stopped from elsewhere, and ended by Ctrl-C and by a signal; the
// shell gets its terminal back as it was
#[test]
fn a_chat_at_a_stuck_terminal_is_stopped_and_ended() {
    for ending in [ChatEnding::Terminate, ChatEnding::Interrupt, ChatEnding::CtrlC] {
        let bench = endless();
        let before = modes(&pty::other_end(&pty::open()));
        let mut glass = Glass::chat(&bench, &["--session", "s", "--preset", "default"]);
        glass.wait_for_prompt();
        glass.say("go");
        bench.wait_for_requests(1, &mut glass.child);
        let end = glass.other_end();
        assert_ne!(modes(&end), before, "the chat reads single keys");
        wait_until_stuck(&end);
        let code = match ending {
            ChatEnding::Terminate => {
                stop(&bench);
                assert_cancelled(&bench);
                terminate(&glass.child);
                0
            }
            ChatEnding::Interrupt => {
                interrupt(&glass.child);
                4
            }
            ChatEnding::CtrlC => {
                glass.press("\u{3}");
                4
            }
        };
        assert_eq!(ends_unread(&mut glass.child), code, "{ending:?}");
        assert_eq!(modes(&end), before, "{ending:?}");
        assert_cancelled(&bench);
    }
}

fn terminate(child: &Child) {
    let sent = std::process::Command::new("kill").arg(child.id().to_string()).status().expect("kill");
    assert!(sent.success());
}

// proves W2: all of a long answer is printed
#[test]
fn a_long_answer_is_whole() {
    let bench = Bench::new(Script::of([ScriptStep::say(long_text())]));
    let run = ran(bench.spawn(&RUN));
    assert_eq!((run.code, run.stdout), (0, long_text()), "{}", run.stderr);
}
