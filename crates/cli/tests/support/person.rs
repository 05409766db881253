//! A person at a terminal who answers questions.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Child;

use super::{Bench, Ran, pty, ran};

/// The binary running at a terminal with a person present.
pub(crate) struct Attended {
    child: Child,
    terminal: File,
    seen: String,
}

impl Attended {
    /// Starts the binary with its input and its standard error at a terminal. It runs in real time, so that no
    /// question expires on a slow machine.
    pub(crate) fn start(bench: &Bench, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let terminal = pty::open();
        let end = || pty::other_end(&terminal);
        let mut command = bench.command(arguments);
        command.env("WINDLASS_TEST_CLOCK", "1").envs(environment.iter().copied()).stdin(end()).stderr(end());
        let child = command.spawn().expect("the binary starts");
        Self { child, terminal: terminal.into(), seen: String::new() }
    }

    /// Reads the screen until it ends in a question; `None` when the binary has exited.
    pub(crate) fn question(&mut self) -> Option<String> {
        let mut bytes = [0; 1024];
        loop {
            let last = self.seen.rsplit('\n').next().unwrap_or_default();
            if last == "? " {
                return Some(std::mem::take(&mut self.seen));
            }
            // Reading fails once every process at the other end has exited.
            let read = self.terminal.read(&mut bytes).unwrap_or_default();
            if read == 0 {
                return None;
            }
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    }

    /// Reads the screen until it contains `text`.
    pub(crate) fn read_until(&mut self, text: &str) -> String {
        self.read_until_any(&[text])
    }

    /// Reads the screen until it contains one of these texts.
    pub(crate) fn read_until_any(&mut self, texts: &[impl AsRef<str> + std::fmt::Debug]) -> String {
        let mut bytes = [0; 1024];
        while !texts.iter().any(|text| self.seen.contains(text.as_ref())) {
            let read = self.terminal.read(&mut bytes).unwrap_or_default();
            assert!(read > 0, "none of {texts:?} came: {}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        std::mem::take(&mut self.seen)
    }

    /// Types `text`.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).expect("typed");
    }

    /// Sends SIGINT, as Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        super::interrupt(&self.child);
    }

    /// Reads what it shows until it exits, whatever it asks: somebody else answers.
    pub(crate) fn ends(mut self) -> Ran {
        let mut bytes = [0; 1024];
        loop {
            // Reading fails once every process at the other end has exited.
            let read = self.terminal.read(&mut bytes).unwrap_or_default();
            if read == 0 {
                return Ran { stderr: self.seen, ..ran(self.child) };
            }
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    }

    /// Waits until the binary exits, and asserts that it asks nothing more.
    pub(crate) fn finish(mut self) -> Ran {
        assert_eq!(self.question(), None, "it asks");
        Ran { stderr: self.seen, ..ran(self.child) }
    }

    /// Approves every call, and has interrupted calls run again, until the binary exits.
    pub(crate) fn say_yes(mut self) -> Ran {
        while let Some(question) = self.question() {
            let answer = if question.contains("[r] run again") { "r\n" } else { "y\n" };
            self.terminal.write_all(answer.as_bytes()).expect("typed");
        }
        Ran { stderr: self.seen, ..ran(self.child) }
    }

    /// Kills the binary with SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("killed");
        assert_eq!(self.child.wait().expect("waited").signal(), Some(9), "it ended before it was killed");
    }
}
