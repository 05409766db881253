//! Asks for a line at the terminal that is not shown while it is typed.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::streams::StandardStream;
use crate::terminal_mode;

/// Asks with this prompt; `None` where there is no terminal, or at the end of input.
pub(crate) fn ask(prompt: &str) -> io::Result<Option<String>> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(None);
    }
    let stdin = rustix::stdio::stdin();
    let original = tcgetattr(stdin)?;
    let mut hidden = original.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    // Whatever ends the process now shows what is typed again.
    terminal_mode::keep(Arc::new(rustix::io::fcntl_dupfd_cloexec(stdin, 3)?), original);
    let read = tcsetattr(stdin, OptionalActions::Flush, &hidden).map_err(io::Error::from).and_then(|()| {
        let mut err = StandardStream::Error;
        write!(err, "{prompt}")?;
        err.flush()?;
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line)?;
        writeln!(err)?;
        Ok(Some(line.trim().to_owned()).filter(|_| read > 0))
    });
    terminal_mode::give_back();
    read
}
