//! Output of the commands: the requested result on standard output, everything else for people on standard error.

use std::io::{self, Write as _};

use crate::error::CommandError;

/// Writes to standard output; a reader that closed the pipe is no error.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandError::output(&error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a line on standard error for the person.
pub(crate) fn tell(line: &str) {
    // Nobody reads it if standard error is closed.
    let _ = writeln!(io::stderr(), "{line}");
}
