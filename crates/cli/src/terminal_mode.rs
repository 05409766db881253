//! The terminal's own mode, kept while a chat has the terminal in raw mode, so that whatever ends the process can give it
//! back: `std::process::exit` runs no `Drop`.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcsetattr};

/// A terminal, and its mode before it was changed.
struct ChangedTerminal {
    terminal: Arc<OwnedFd>,
    original: Termios,
}

static CHANGED: Mutex<Option<ChangedTerminal>> = Mutex::new(None);

fn changed() -> MutexGuard<'static, Option<ChangedTerminal>> {
    CHANGED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the mode of a terminal that is about to be changed.
pub(crate) fn keep(terminal: Arc<OwnedFd>, original: Termios) {
    *changed() = Some(ChangedTerminal { terminal, original });
}

/// Gives the terminal its own mode, if one is kept. Does not wait for output that nobody reads.
pub(crate) fn restore() -> Result<(), Errno> {
    match &*changed() {
        Some(ChangedTerminal { terminal, original }) => tcsetattr(terminal, OptionalActions::Now, original),
        None => Ok(()),
    }
}

/// Gives the terminal its own mode for the last time.
pub(crate) fn give_back() {
    // A closed terminal can't be restored.
    let _ = restore();
    *changed() = None;
}
