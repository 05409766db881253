//! What commands write: what was asked for on standard output, anything else for people on standard
//! error.

use std::io::{self, Write as _};

use crate::error::CommandError;

/// Writes to standard output; a reader that went away has seen enough.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandError::output(&error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Tells the person at standard error a line.
pub(crate) fn tell(line: &str) {
    // Nobody is left to tell when standard error is gone.
    let _ = writeln!(io::stderr(), "{line}");
}
