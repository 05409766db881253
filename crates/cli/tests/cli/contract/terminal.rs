//! At a terminal a person is asked. Text from the model can't control the screen.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Child;

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::{Bench, Ran, interrupt, ran};

/// The prompt for an answer.
const PROMPT: &str = "\n? ";

/// The controlling side of a pseudo-terminal, and the output not yet consumed.
struct Terminal {
    person: File,
    seen: String,
}

impl Terminal {
    /// Starts the binary with standard input and standard error at a terminal, on the real-time clock, so that
    /// no question expires on a slow machine.
    fn start(bench: &Bench) -> (Self, Child) {
        Self::start_at(bench, "1")
    }

    fn start_at(bench: &Bench, clock: &str) -> (Self, Child) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let person = openpt(flags).expect("a terminal");
        grantpt(&person).and_then(|()| unlockpt(&person)).expect("a terminal");
        let end = || -> OwnedFd { ioctl_tiocgptpeer(&person, flags).expect("its other end") };
        let mut command = bench.command(&["run", "go"]);
        command.env("WINDLASS_TEST_CLOCK", clock).stdin(end()).stderr(end());
        let child = command.spawn().expect("the binary starts");
        (Self { person: person.into(), seen: String::new() }, child)
    }

    /// Reads output until `text` appears; returns and discards the output up to its end.
    fn wait_for(&mut self, text: &str) -> String {
        let mut bytes = [0; 1024];
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            // The read fails once the binary has exited.
            let read = self.person.read(&mut bytes).unwrap_or_default();
            assert!(read > 0, "{text:?} never came: {}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    }

    /// Like `wait_for`, for the first of several texts that appears.
    fn wait_for_any(&mut self, texts: &[&str]) -> String {
        let mut bytes = [0; 1024];
        loop {
            let found = texts.iter().filter_map(|text| Some(self.seen.find(text)? + text.len())).min();
            if let Some(end) = found {
                let rest = self.seen.split_off(end);
                return std::mem::replace(&mut self.seen, rest);
            }
            let read = self.person.read(&mut bytes).unwrap_or_default();
            assert!(read > 0, "{texts:?} never came: {}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    }

    fn type_line(&mut self, line: impl AsRef<[u8]>) {
        self.person.write_all(line.as_ref()).and_then(|()| self.person.write_all(b"\n")).expect("typed");
    }
}

fn bench(command: &str) -> Bench {
    let call = || ScriptStep::call("run_command", json!({"command": command}));
    Bench::new(Script::of([call(), call(), ScriptStep::say("Aye.")]))
}

fn assert_done(bench: &Bench, ran: &Ran) {
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"));
    bench.assert_whole("asked");
}

// proves T8: an answer that is not UTF-8, from a terminal with another encoding
#[test]
fn what_is_typed_and_is_no_text_is_asked_for_again() {
    let bench = bench("echo x >> log");
    let (mut terminal, child) = Terminal::start(&bench);
    for answer in [&b"\xff\xfe"[..], b"y", b"y"] {
        terminal.wait_for(PROMPT);
        terminal.type_line(answer);
    }
    assert_done(&bench, &ran(child));
    assert_eq!(bench.read("log").as_deref(), Some("x\nx\n"));
}

// proves T8
#[test]
fn each_call_is_asked_about_and_the_answer_counts() {
    for (answers, ran_so_often) in [(&["y", "n"][..], 1), (&["n", "y"], 1), (&["s"], 2), (&["what?", "", "n", "no"], 0)]
    {
        let bench = bench("echo x >> log");
        let (mut terminal, child) = Terminal::start(&bench);
        for answer in answers {
            terminal.wait_for(PROMPT);
            terminal.type_line(answer);
        }
        assert_done(&bench, &ran(child));
        let log = bench.read("log").unwrap_or_default();
        assert_eq!(log.lines().count(), ran_so_often, "{answers:?}");
    }
}

// proves T8, L8: Ctrl-C is a stop at a question too, as in a chat; it answers nothing
#[test]
fn ctrl_c_at_a_question_stops_the_run() {
    let bench = bench("echo x >> log");
    let (mut terminal, child) = Terminal::start(&bench);
    terminal.wait_for(PROMPT);
    interrupt(&child);
    terminal.wait_for("stopped");
    let left = ran(child);
    assert_eq!((left.code, left.stdout.as_str(), bench.read("log")), (4, "", None));
    let key = bench.keys().remove(0);
    assert_eq!((bench.records(&key, "RunEnded"), bench.records(&key, "QuestionAnswered")), (1, 0));
    bench.assert_whole("stopped");
}

// proves T8: a question that nobody answers in time counts as answered with no
#[test]
fn a_question_expires() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "echo x >> log"})),
        ScriptStep::say("Aye."),
    ]));
    // The clock runs 300 times as fast: five minutes pass in one second.
    let (mut terminal, child) = Terminal::start_at(&bench, "300");
    terminal.wait_for(PROMPT);
    terminal.wait_for("nobody answered the question");
    assert_done(&bench, &ran(child));
    assert_eq!(bench.read("log"), None);
}

// proves X4 at the terminal
#[test]
fn a_command_can_not_hide_behind_escape_codes() {
    let bench = bench("echo \u{1b}[2K\u{1b}[1Aharmless \u{202e}x; rm -rf keep");
    let (mut terminal, child) = Terminal::start(&bench);
    for _ in 0..2 {
        let question = terminal.wait_for(PROMPT);
        assert!(question.contains("rm -rf keep"), "{question:?}");
        let (_, asked) = question.split_once("Run `").expect("a title");
        assert!(!asked.contains(['\u{1b}', '\u{202e}']), "{asked:?}");
        terminal.type_line("n");
    }
    assert_done(&bench, &ran(child));
}

// proves T8: the question displays every line before a yes is possible
#[test]
fn every_line_of_a_command_is_shown() {
    let bench = bench("echo rm -r keep; ls\nrm -r keep\n\nls\necho");
    let (mut terminal, child) = Terminal::start(&bench);
    for _ in 0..2 {
        let question = terminal.wait_for(PROMPT).replace('\r', "");
        assert!(question.contains("\n  echo rm -r keep; ls\n  rm -r keep\n  \n  ls\n  echo\n"), "{question:?}");
        terminal.type_line("n");
    }
    assert_done(&bench, &ran(child));
}

/// A bench whose run writes a file of 1,001 lines, in mode strict, which asks.
fn long_write() -> Bench {
    let content: String = (0..1001).map(|n| format!("line {n} of 1001\n")).collect();
    let bench = Bench::new(Script::of([
        ScriptStep::call("write_file", json!({"path": "long.txt", "content": content})),
        ScriptStep::say("Aye."),
    ]));
    let folder = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("windlass.toml"), "[permissions]\nmode = 'strict'\n").expect("written");
    bench
}

// proves T8: a call can be approved only after all of it was displayed
#[test]
fn all_of_a_long_write_can_be_read_before_it_is_agreed_to() {
    let bench = long_write();
    let (mut terminal, child) = Terminal::start(&bench);
    let question = terminal.wait_for(PROMPT);
    assert!(question.contains("+line 0 of 1001") && !question.contains("+line 20 of 1001"), "{question}");
    assert!(
        question.contains("more rows]") && question.contains("[v] view all 1005 rows: only then can you say yes"),
        "{question}"
    );
    assert!(!question.contains("[y]") && !question.contains("[a]"), "{question}");
    terminal.type_line("y");
    terminal.wait_for("not yet: v shows all of it, and then that can be answered");
    terminal.wait_for(PROMPT);
    terminal.type_line("v");
    let mut whole = String::new();
    loop {
        whole += &terminal.wait_for_any(&["q the question] ", PROMPT]);
        if whole.ends_with(PROMPT) {
            break;
        }
        terminal.type_line("");
    }
    for line in 0..1001 {
        assert!(whole.contains(&format!("+line {line} of 1001\r\n")), "line {line} was never shown");
    }
    terminal.type_line("y");
    assert_done(&bench, &ran(child));
    assert_eq!(bench.read("long.txt").map(|text| text.lines().count()), Some(1001));
}

// proves T8: the answer "always" is stored in the user's settings, and no session asks again
#[test]
fn always_is_written_to_the_persons_file_and_holds_from_then_on() {
    let bench = bench("echo x >> log");
    let (mut terminal, child) = Terminal::start(&bench);
    terminal.wait_for(PROMPT);
    terminal.type_line("a");
    terminal.wait_for("written to ");
    assert_done(&bench, &ran(child));
    let file = bench.dir.path().join(".config/windlass/windlass.toml");
    let text = std::fs::read_to_string(file).expect("a file");
    assert_eq!(text, "[permissions]\nallow = [\"run_command(echo x >> log)\"]\n");
    let again = bench.run(&["run", "go once more"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
}

// proves T8, J3: an open question survives a killed process
#[test]
fn a_question_outlives_a_kill_and_is_asked_again() {
    let bench = bench("echo x >> log");
    let (mut terminal, mut child) = Terminal::start(&bench);
    terminal.wait_for(PROMPT);
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert_eq!(bench.read("log"), None);
    let (mut terminal, child) = Terminal::start(&bench);
    for answer in ["y", "n"] {
        let question = terminal.wait_for(PROMPT);
        assert!(question.contains("Run `echo x >> log`"), "{question}");
        terminal.type_line(answer);
    }
    assert_done(&bench, &ran(child));
    assert_eq!(bench.read("log").as_deref(), Some("x\n"));
}
