//! Reads standard input to its end when there is also a prompt, but neither silently nor for ever.
//!
//! A script may inherit an input that stays open without data. After a moment we print that we are reading, so that a
//! hang explains itself; after a long silence we give up.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::prompt::{LONGEST, PromptError, StdinKind};

/// How long to wait for a silent input.
#[derive(Clone, Copy, Debug)]
pub struct StdinWait {
    /// Silence after which the person is told what we wait for.
    pub note_after: Duration,
    /// Silence after which reading is given up.
    pub limit: Duration,
}

impl StdinWait {
    /// A build or a test run may be silent for minutes before its first output.
    pub const USUAL: Self = Self { note_after: Duration::from_secs(1), limit: Duration::from_secs(600) };
}

/// Returns what standard input is connected to.
pub fn connected() -> StdinKind {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return StdinKind::Terminal;
    }
    let kind = stdin.as_fd().try_clone_to_owned().map(File::from).and_then(|file| file.metadata());
    match kind {
        Ok(metadata) if metadata.file_type().is_char_device() => StdinKind::Device,
        Ok(_) | Err(_) => StdinKind::Piped,
    }
}

/// Reads all bytes of `input`, at most one more than [`LONGEST`]. Calls `note` once, if at all.
pub fn read_to_end(
    input: impl Read + Send + 'static,
    patience: StdinWait,
    note: impl FnOnce(),
) -> Result<Vec<u8>, PromptError> {
    let parts = parts(input);
    let (mut bytes, mut note) = (Vec::new(), Some(note));
    loop {
        let wait = if note.is_some() { patience.note_after } else { patience.limit };
        match parts.recv_timeout(wait) {
            Ok(part) => {
                bytes.extend_from_slice(&part?);
                if bytes.len() > LONGEST {
                    return Ok(bytes);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(bytes),
            Err(RecvTimeoutError::Timeout) => match note.take() {
                Some(note) => note(),
                None => return Err(PromptError::Silent { seconds: patience.limit.as_secs() }),
            },
        }
    }
}

/// Reads in its own thread, which ends with the input, or with the process if the input never ends.
fn parts(mut input: impl Read + Send + 'static) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, parts) = channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let part = match input.read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => Ok(buffer[..read].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let failed = part.is_err();
            if sender.send(part).is_err() || failed {
                return;
            }
        }
    });
    parts
}
