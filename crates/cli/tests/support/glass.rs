//! The real binary at a pseudo-terminal, with an emulated screen that shows what a person would see.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{Winsize, tcsetwinsize};

use super::{Bench, pty};

/// Long enough for the slowest machine; a test waits this long only if it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// An emulated terminal that runs the binary.
pub(crate) struct Glass {
    person: Option<File>,
    screen: vt100::Parser,
    /// All bytes written to the terminal, in order.
    bytes: Vec<u8>,
    pub(crate) child: Child,
}

#[derive(PartialEq, Eq)]
enum Seen {
    More,
    Nothing,
}

impl Glass {
    /// Starts the chat in a terminal of 60 columns and 20 rows. It runs in real time, so that no question expires
    /// on a slow machine.
    pub(crate) fn chat(bench: &Bench, arguments: &[&str]) -> Self {
        let mut command = bench.command(arguments);
        command.env("WINDLASS_TEST_CLOCK", "1").env("TERM", "xterm").env("LANG", "C.UTF-8");
        Self::start(command)
    }

    pub(crate) fn start(mut command: Command) -> Self {
        let person = pty::open();
        tcsetwinsize(&person, winsize(60, 20)).expect("a size");
        let end = || pty::other_end(&person);
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("the binary starts");
        drop(command);
        let person = File::from(person);
        Self { person: Some(person), screen: vt100::Parser::new(cells(20), cells(60), 1000), bytes: Vec::new(), child }
    }

    /// The text on the screen, without trailing blanks of lines and without the empty lines below.
    pub(crate) fn text(&self) -> String {
        let contents = self.screen.screen().contents();
        let lines: Vec<&str> = contents.lines().map(str::trim_end).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// All bytes written to the screen, including escape codes for colours and cursor movements.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Waits until `wanted` holds for the screen's text.
    pub(crate) fn wait(&mut self, what: &str, wanted: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !wanted(&self.text()) {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            assert!(self.look(left) == Seen::More, "{what} never came:\n{}\n", self.text());
        }
    }

    /// Waits until the binary writes more, at most for `limit`.
    fn look(&mut self, limit: Duration) -> Seen {
        let Some(person) = &mut self.person else { return Seen::Nothing };
        let limit = Timespec::try_from(limit).expect("a time");
        let ready = poll(&mut [PollFd::new(&*person, PollFlags::IN)], Some(&limit)).expect("polled");
        let mut bytes = [0; 64 * 1024];
        // Reading fails once the binary has exited.
        match if ready == 0 { Ok(0) } else { person.read(&mut bytes) } {
            Ok(read @ 1..) => {
                self.screen.process(&bytes[..read]);
                self.bytes.extend(&bytes[..read]);
                Seen::More
            }
            Ok(0) | Err(_) => Seen::Nothing,
        }
    }

    /// Closes the terminal, as closing its window does.
    pub(crate) fn close(&mut self) {
        self.person = None;
    }

    /// Waits until `text` is on the screen.
    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait(text, |screen| screen.contains(text));
    }

    /// Waits until the last line is an empty prompt.
    pub(crate) fn wait_for_prompt(&mut self) {
        self.wait("a prompt", |screen| screen.lines().last() == Some("›"));
    }

    /// Asserts that the whole screen is exactly `expected`; `$DIR` stands for the bench's folder, and `$SANDBOX` for
    /// the line about the sandbox, which depends on this machine.
    pub(crate) fn assert_shows(&self, bench: &Bench, expected: &str) {
        let seen = self.text().replace(&bench.dir.path().display().to_string(), "$DIR");
        let sandbox = |line: &str| line.starts_with("  in the sandbox: ") || line.starts_with("  not in a sandbox: ");
        let lines = seen.split('\n').map(|line| if sandbox(line) { "  $SANDBOX" } else { line });
        let seen = lines.collect::<Vec<_>>().join("\n");
        assert!(seen == expected, "\n--- seen:\n{seen}\n--- expected:\n{expected}\n");
    }

    /// The program's end of the terminal.
    pub(crate) fn other_end(&self) -> OwnedFd {
        pty::other_end(self.person.as_ref().expect("a terminal"))
    }

    pub(crate) fn press(&mut self, keys: &str) {
        let person = self.person.as_mut().expect("a terminal");
        person.write_all(keys.as_bytes()).expect("typed");
    }

    /// Whether a colour or a text attribute such as bold was ever sent.
    pub(crate) fn was_coloured(&self) -> bool {
        let shown = String::from_utf8_lossy(&self.bytes);
        shown
            .split("\u{1b}[")
            .skip(1)
            .any(|code| code.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m'))
    }

    /// Whether any escape code was sent.
    pub(crate) fn was_steered(&self) -> bool {
        self.bytes.contains(&0x1b)
    }

    /// Types a line and sends it.
    pub(crate) fn say(&mut self, line: &str) {
        self.press(&format!("{line}\r"));
    }

    /// Resizes the terminal and notifies the binary.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        tcsetwinsize(self.person.as_ref().expect("a terminal"), winsize(columns, rows)).expect("a size");
        self.screen.screen_mut().set_size(cells(rows), cells(columns));
        let sent = Command::new("kill").args(["-WINCH", &self.child.id().to_string()]).status().expect("kill");
        assert!(sent.success());
    }

    /// Waits until the binary exits, reading its remaining output. Returns its exit code.
    pub(crate) fn end(&mut self) -> i32 {
        let begun = Instant::now();
        loop {
            let gone = self.child.try_wait().expect("waited");
            while self.look(Duration::from_millis(5)) == Seen::More {}
            if let Some(status) = gone {
                return status.code().unwrap_or(-1);
            }
            assert!(begun.elapsed() < PATIENCE, "it never ended:\n{}", self.text());
        }
    }
}

impl Drop for Glass {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).expect("some")
}

fn winsize(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}
