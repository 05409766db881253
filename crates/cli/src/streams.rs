//! Output of the commands: the requested result on standard output, everything else for people on standard error.
//!
//! A write waits as long as nobody reads: a terminal paused with Ctrl-S, a pipe whose reader sleeps. The streams note
//! when the write under way began, so that Ctrl-C can end a process whose output does not drain
//! ([`crate::interrupts`]).

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::CommandError;

/// A standard stream of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// When the write under way on standard output began, and the same for standard error: milliseconds since [`start`],
/// from 1 on; 0 where no write is under way.
static OUTPUT_SINCE: AtomicU64 = AtomicU64::new(0);
static ERROR_SINCE: AtomicU64 = AtomicU64::new(0);

impl StandardStream {
    const fn since(self) -> &'static AtomicU64 {
        match self {
            Self::Output => &OUTPUT_SINCE,
            Self::Error => &ERROR_SINCE,
        }
    }

    fn noted<T>(self, write: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.since().store(now(), Ordering::Relaxed);
        let written = write();
        self.since().store(0, Ordering::Relaxed);
        written
    }
}

impl Write for StandardStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.noted(|| match self {
            Self::Output => io::stdout().write(bytes),
            Self::Error => io::stderr().write(bytes),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.noted(|| match self {
            Self::Output => io::stdout().flush(),
            Self::Error => io::stderr().flush(),
        })
    }
}

fn start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now)
}

fn now() -> u64 {
    u64::try_from(start().elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}

/// Returns how long the longest write under way has waited for a reader.
pub(crate) fn blocked_for() -> Duration {
    let waited = |stream: StandardStream| match stream.since().load(Ordering::Relaxed) {
        0 => 0,
        since => now().saturating_sub(since),
    };
    Duration::from_millis(waited(StandardStream::Output).max(waited(StandardStream::Error)))
}

/// Whether nobody can read standard output any more: the other end of the pipe or terminal was closed.
pub(crate) fn output_is_closed() -> bool {
    let (now, stdout) = (Timespec { tv_sec: 0, tv_nsec: 0 }, io::stdout());
    let mut ends = [PollFd::new(&stdout, PollFlags::empty())];
    let closed = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
    poll(&mut ends, Some(&now)).is_ok() && ends[0].revents().intersects(closed)
}

/// Writes to standard output; a reader that closed the pipe is no error.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    match StandardStream::Output.write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandError::output(&error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a line on standard error for the person.
pub(crate) fn print_notice(line: &str) {
    // Nobody reads it if standard error is closed.
    let _ = writeln!(StandardStream::Error, "{line}");
}
