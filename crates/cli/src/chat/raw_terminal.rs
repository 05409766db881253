//! The person's terminal while the chat owns it.
//!
//! Only this reader reads the keyboard, from the first prompt to the last, so that no key is lost between the prompt
//! and a run. The line editor reads standard input; for the duration of the chat, standard input is therefore a
//! pseudo-terminal to which the chat writes the keys meant for the editor. Dropping the value restores everything; where the
//! process ends without that, [`crate::interrupts`] restores the terminal's mode.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, FdFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

use super::input_splitter::{InputPiece, InputSplitter};
use crate::{interrupts, terminal_mode};

/// Most bytes read from the keyboard at once.
const READ: usize = 64 * 1024;
/// The bytes of one key arrive together; if none follows an ESC within this time, it was the Escape key.
const TOGETHER: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The byte of Ctrl-C, which raises no signal in raw mode.
const CTRL_C: u8 = 3;

/// The person's terminal, in raw mode.
#[derive(Debug)]
pub(crate) struct RawTerminal {
    keyboard: Arc<OwnedFd>,
    /// Locked by the thread that may read the keyboard.
    reading: Arc<Mutex<()>>,
    typed: mpsc::Receiver<Vec<InputPiece>>,
    original: Termios,
    /// The pseudo-terminal side where the line editor's keys are written.
    feed: OwnedFd,
}

impl RawTerminal {
    /// Takes over the terminal on standard input.
    pub(crate) fn take() -> io::Result<Self> {
        let stdin = rustix::stdio::stdin();
        let original = tcgetattr(stdin)?;
        let keyboard = Arc::new(rustix::io::fcntl_dupfd_cloexec(stdin, 3)?);
        let feed = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&feed, FdFlags::CLOEXEC)?;
        grantpt(&feed)?;
        unlockpt(&feed)?;
        let path = ptsname(&feed, Vec::new())?;
        let far = open(path.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        // The pseudo-terminal, whose mode the editor takes as the original one, is raw too: keys typed before the
        // editor is ready must not be echoed or buffered into lines.
        tcsetattr(&far, OptionalActions::Now, &raw(&tcgetattr(&far)?))?;
        rustix::stdio::dup2_stdin(&far)?;
        let (sender, typed) = mpsc::channel(16);
        let reading = Arc::default();
        let terminal = Self { keyboard, reading, typed, original, feed };
        terminal_mode::keep(Arc::clone(&terminal.keyboard), terminal.original.clone());
        terminal.raw()?;
        let (keyboard, reading) = (Arc::clone(&terminal.keyboard), Arc::clone(&terminal.reading));
        std::thread::Builder::new().name("keyboard".into()).spawn(move || watch(&keyboard, &reading, &sender))?;
        Ok(terminal)
    }

    fn raw(&self) -> io::Result<()> {
        Ok(tcsetattr(&self.keyboard, OptionalActions::Now, &raw(&self.original))?)
    }

    /// Returns typed input; `None` if the terminal is closed. Cancel-safe: dropping the future loses nothing.
    pub(crate) async fn read(&mut self) -> Option<Vec<InputPiece>> {
        self.typed.recv().await
    }

    /// Whether the terminal hung up.
    pub(crate) fn is_gone(&self) -> bool {
        tcgetattr(&self.keyboard).is_err()
    }

    /// Passes keys to the line editor.
    pub(crate) fn feed(&self, mut keys: &[u8]) -> io::Result<()> {
        while !keys.is_empty() {
            let written = rustix::io::retry_on_intr(|| rustix::io::write(&self.feed, keys))?;
            keys = &keys[written..];
        }
        Ok(())
    }

    /// Suspends the process and gives the terminal to the shell until the process is resumed (Ctrl-Z).
    pub(crate) fn suspend(&self) -> io::Result<()> {
        terminal_mode::restore()?;
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        self.raw()
    }

    /// Runs a program with exclusive use of the terminal.
    pub(crate) fn lend(&self, mut program: std::process::Command) -> io::Result<std::process::ExitStatus> {
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        terminal_mode::restore()?;
        let left = self.keyboard.try_clone().and_then(|keyboard| program.stdin(keyboard).status());
        self.raw()?;
        left
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        terminal_mode::give_back();
        // A closed terminal can't be restored.
        let _ = rustix::stdio::dup2_stdin(&*self.keyboard);
    }
}

/// Reads the keyboard until it or the receiver of `sender` is closed. Measures the Escape timeout in this thread, so
/// that a busy receiver does not distort it.
fn watch(keyboard: &OwnedFd, reading: &Mutex<()>, sender: &mpsc::Sender<Vec<InputPiece>>) {
    let (mut input_splitter, mut bytes) = (InputSplitter::default(), vec![0; READ]);
    loop {
        let waits = |limit: Option<&Timespec>| poll(&mut [PollFd::new(keyboard, PollFlags::IN)], limit);
        match waits(input_splitter.may_be_escape().then_some(&TOGETHER)) {
            Ok(0) => {
                input_splitter.drop_escape();
                continue;
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
        let read = {
            let _reading = reading.lock().unwrap_or_else(PoisonError::into_inner);
            // Another program may have read the keyboard in the meantime.
            if waits(Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Ok(0) {
                continue;
            }
            rustix::io::read(keyboard, &mut bytes[..])
        };
        match read {
            Err(Errno::INTR) => {}
            Ok(0) | Err(_) => return,
            Ok(length) => {
                if bytes[..length].contains(&CTRL_C) {
                    interrupts::ctrl_c_typed();
                }
                let pieces = input_splitter.pieces(&bytes[..length]);
                if !pieces.is_empty() && sender.blocking_send(pieces).is_err() {
                    return;
                }
            }
        }
    }
}

/// Returns `mode` without echo, line buffering and signal keys; output still ends lines with CR LF.
fn raw(mode: &Termios) -> Termios {
    let mut raw = mode.clone();
    raw.input_modes -=
        InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR | InputModes::IXON | InputModes::ISTRIP;
    raw.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN | LocalModes::ISIG;
    raw.special_codes[SpecialCodeIndex::VMIN] = 1;
    raw.special_codes[SpecialCodeIndex::VTIME] = 0;
    raw
}
