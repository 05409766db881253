//! However a client or the server ends, nothing is lost and no process is left running.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass_testkit::{FaultKind, Script, ScriptStep};

use super::client::{Client, text};
use crate::support::{Bench, ends_unread};

const SLEEPS: [&str; 2] = ["--allow", "run_command(*)"];

fn sleeping() -> Bench {
    Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "touch begun; sleep 300"})),
        ScriptStep::say("Woken."),
    ]))
}

fn open(bench: &Bench, key: &str) -> bool {
    bench.records(key, "RunStarted") > bench.records(key, "RunEnded")
}

// proves P5, T7: a client that disconnects leaves its run open for a resume, and leaves no process running
#[test]
fn a_client_that_hangs_up_leaves_an_open_run_and_no_process() {
    let bench = sleeping();
    let mut client = Client::shaken(&bench, &SLEEPS, json!({}));
    client.send_call("ask", json!({"prompt": "sleep", "session": "s"}));
    bench.wait_for_file("begun", &mut client.child);
    let begun = Instant::now();
    assert_eq!(client.hang_up().0, Some(0));
    assert!(begun.elapsed() < Duration::from_secs(4), "it took {:?}", begun.elapsed());
    bench.assert_nothing_survives("hung up");
    assert!(open(&bench, "s"));
    assert_eq!(bench.records("s", "CancelAsked"), 0);
    let mut another = Client::shaken(&bench, &SLEEPS, json!({}));
    let result = another.call("resume", json!({"session": "s"}));
    assert_eq!(text(&result), "Woken.", "{result}");
    bench.assert_whole("hung up");
}

// proves P5: SIGTERM ends the server like a closed connection
#[test]
fn a_terminated_server_closes_its_sessions() {
    let bench = sleeping();
    let mut client = Client::shaken(&bench, &SLEEPS, json!({}));
    client.send_call("ask", json!({"prompt": "sleep", "session": "s"}));
    bench.wait_for_file("begun", &mut client.child);
    let sent = Command::new("kill").args(["-TERM", &client.child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    assert_eq!(client.child.wait().expect("it ends").code(), Some(0));
    bench.assert_nothing_survives("terminated");
    assert!(open(&bench, "s"));
    bench.assert_whole("terminated");
}

// proves P5, J3: after a kill during a call a new process continues the run, by resume and by the same message
#[test]
fn a_killed_server_is_followed_by_one_that_goes_on() {
    let wait = FaultKind::Delay { ms: 120_000 };
    for by in ["resume", "ask"] {
        let bench = Bench::new(Script::of([
            ScriptStep::call("write_file", json!({"path": "a", "content": "x"})),
            ScriptStep::say("Written.").fault(wait.clone().times(1)),
        ]));
        let ask = json!({"prompt": "write it", "session": "s", "message_id": "m"});
        let mut client = Client::shaken(&bench, &[], json!({}));
        client.send_call("ask", ask.clone());
        bench.wait_for_requests(2, &mut client.child);
        client.kill();
        bench.assert_nothing_survives("killed");
        let mut another = Client::shaken(&bench, &[], json!({}));
        let arguments = if by == "ask" { ask } else { json!({"session": "s"}) };
        let id = another.send_call(by, arguments);
        let result = another.result(id);
        assert_eq!((text(&result).as_str(), &result["structuredContent"]["run"]), ("Written.", &json!(1)), "{by}");
        assert!(another.progress(id).contains(&"going on with an unfinished run".to_owned()), "{by}");
        let counts = ["MessageAccepted", "CallFinished", "RunEnded"].map(|kind| bench.records("s", kind));
        assert_eq!(counts, [1, 1, 1], "{by}: what was done is not done again");
        bench.assert_whole(by);
    }
}

// proves P5: a run that another process left open can be stopped without being resumed
#[test]
fn a_run_that_was_cut_short_can_be_stopped() {
    let bench = sleeping();
    let mut client = Client::shaken(&bench, &SLEEPS, json!({}));
    client.send_call("ask", json!({"prompt": "sleep", "session": "s"}));
    bench.wait_for_file("begun", &mut client.child);
    client.kill();
    let mut another = Client::shaken(&bench, &SLEEPS, json!({}));
    let stopped = another.call("stop", json!({"session": "s"}));
    assert_eq!(stopped["structuredContent"]["stopped"], 1, "{stopped}");
    assert!(!open(&bench, "s"));
    assert_eq!((bench.server.count(), another.hang_up()), (1, (Some(0), Vec::<Value>::new())));
}

// proves P5: the server exits at once if its input ends before the first message
#[test]
fn a_line_that_ends_before_a_word_ends_quietly() {
    let bench = sleeping();
    let ran = bench.run(&["mcp-serve"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
}

/// Starts a server whose output pipe is full, and sends it this line.
fn unread(bench: &Bench, line: &Value) -> (std::io::PipeReader, Child) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut full = std::fs::File::from(std::os::fd::OwnedFd::from(writer.try_clone().expect("a pipe")));
    rustix::io::ioctl_fionbio(&full, true).expect("set");
    while full.write(&[b' '; 4096]).is_ok() {}
    while full.write(b" ").is_ok() {}
    // The mode is that of the pipe's end, which the server shares.
    rustix::io::ioctl_fionbio(&full, false).expect("set");
    drop(full);
    let mut command = bench.command(&["mcp-serve"]);
    let mut child = command.stdin(Stdio::piped()).stdout(writer).spawn().expect("the binary starts");
    let stdin = child.stdin.as_mut().expect("a pipe");
    stdin.write_all(format!("{line}\n").as_bytes()).expect("written");
    (reader, child)
}

/// Waits until the server has read its input.
fn wait_until_read(child: &Child) {
    let stdin = child.stdin.as_ref().expect("a pipe");
    let begun = Instant::now();
    while rustix::io::ioctl_fionread(stdin).is_ok_and(|unread| unread > 0) {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never read its input");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn send_signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

// proves P5, W2: a client that reads nothing holds up the end of the server for its grace time only, in every state
#[test]
fn a_server_whose_answers_nobody_reads_ends_all_the_same() {
    let client =
        json!({"protocolVersion": "2025-06-18", "clientInfo": {"name": "x", "version": "1"}, "capabilities": {}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}),
    ];
    let bench = sleeping();
    for line in lines {
        for (end, seconds) in [("-INT", 4), ("-TERM", 4), ("closed", 9), ("twice", 1)] {
            let (_reader, mut child) = unread(&bench, &line);
            wait_until_read(&child);
            let begun = Instant::now();
            match end {
                "closed" => drop(child.stdin.take()),
                "twice" => {
                    send_signal(&child, "-INT");
                    std::thread::sleep(Duration::from_millis(50));
                    send_signal(&child, "-INT");
                }
                signal => send_signal(&child, signal),
            }
            assert_eq!(ends_unread(&mut child), 0, "{end}");
            assert!(begun.elapsed() < Duration::from_secs(seconds), "{end}: it took {:?}", begun.elapsed());
        }
    }
}
