//! Runs a program in a pseudo-terminal, and measures how long it takes until an expected text is displayed.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::memory;

/// The timeout; longer than anything that is measured.
const PATIENCE: Duration = Duration::from_secs(30);

/// Ctrl-D, which leaves the chat.
const LEAVE: &[u8] = b"\x04";

/// Starts `command` in a new terminal and returns the time until `mark` is displayed. Then sends
/// Ctrl-D, and the program must exit successfully.
pub fn until_shown(command: Command, mark: &str) -> Result<Duration> {
    let begun = Instant::now();
    let mut seat = TerminalSeat::take(command)?;
    seat.wait_for(mark)?;
    let took = begun.elapsed();
    seat.leave()?;
    Ok(took)
}

/// The person's side of a terminal in which a program runs.
#[derive(Debug)]
pub struct TerminalSeat {
    person: File,
    /// Output that was displayed and not yet waited for.
    shown: Vec<u8>,
    child: Child,
}

impl TerminalSeat {
    /// Starts the program in a new terminal.
    pub fn take(mut command: Command) -> Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let person = openpt(flags)?;
        grantpt(&person)?;
        unlockpt(&person)?;
        tcsetwinsize(&person, Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 })?;
        let end = || -> Result<OwnedFd> { Ok(ioctl_tiocgptpeer(&person, flags)?) };
        command.stdin(end()?).stdout(end()?).stderr(end()?);
        // Dropping the command closes our copies of the child's end; while they are open, its exit can't be seen.
        let child = command.spawn().with_context(|| format!("{command:?} can't be started"))?;
        Ok(Self { person: File::from(person), shown: Vec::new(), child })
    }

    /// Waits until `mark` is displayed, and discards all output up to it.
    pub fn wait_for(&mut self, mark: &str) -> Result<()> {
        loop {
            if let Some(place) = memchr::memmem::find(&self.shown, mark.as_bytes()) {
                self.shown.drain(..place + mark.len());
                return Ok(());
            }
            ensure!(self.look()? > 0, "`{mark}` was never shown: {}", String::from_utf8_lossy(&self.shown));
        }
    }

    /// Reads the next output; 0 when the program has exited.
    fn look(&mut self) -> Result<usize> {
        let ready = poll(&mut [PollFd::new(&self.person, PollFlags::IN)], Some(&Timespec::try_from(PATIENCE)?))?;
        ensure!(ready > 0, "nothing happens: {}", String::from_utf8_lossy(&self.shown));
        let mut bytes = [0; 4096];
        // An error means that nobody has the other end open any more.
        let read = self.person.read(&mut bytes).unwrap_or_default();
        self.shown.extend_from_slice(&bytes[..read]);
        Ok(read)
    }

    /// Types `keys`.
    pub fn press(&mut self, keys: &str) -> Result<()> {
        Ok(self.person.write_all(keys.as_bytes())?)
    }

    /// The processor time that the program has used so far.
    pub fn processor_time(&self) -> Result<Duration> {
        memory::processor_time(self.child.id())
    }

    /// Sends Ctrl-D; the program must exit successfully.
    pub fn leave(mut self) -> Result<()> {
        // If the program has already exited, this fails, which does no harm.
        let _ = self.person.write_all(LEAVE);
        while self.look()? > 0 {}
        let status = self.child.wait()?;
        ensure!(status.success(), "it ended with {status}: {}", String::from_utf8_lossy(&self.shown));
        Ok(())
    }
}

impl Drop for TerminalSeat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::until_shown;

    #[test]
    fn a_program_is_timed_until_it_shows_the_mark_and_must_end_well() {
        let shell = |line: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", line]);
            command
        };
        assert!(until_shown(shell("echo ready; cat >/dev/null"), "ready").is_ok());
        let never = until_shown(shell("echo steady"), "ready").unwrap_err();
        assert!(never.to_string().contains("`ready` was never shown: steady"), "{never}");
        let badly = until_shown(shell("echo ready; exit 3"), "ready").unwrap_err();
        assert!(badly.to_string().contains("exit status: 3"), "{badly}");
    }
}
