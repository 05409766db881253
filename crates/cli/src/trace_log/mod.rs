//! `--log FILE` and `WINDLASS_LOG`: logs what Windlass does, one line per span or event, to find out where the time
//! goes. Contains names, ids, counts and times, but no text of a conversation (0020).

mod fields;
mod subscriber;

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use windlass_setup::settings::Env;
use windlass_tools::Secrets;

use self::subscriber::LogFile;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::streams::print_notice;

/// The variable that names the file if no flag does.
const VARIABLE: &str = "WINDLASS_LOG";

/// The thread that reports that the log can't be written.
static FAILURE_NOTICE: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Reports that the log can't be written, in a thread of its own: what is logged must not wait for a reader of standard
/// error.
fn report_failure(error: &io::Error) {
    let text = format!("windlass: the log can't be written, and misses what happens from now on: {error}");
    let notice = std::thread::spawn(move || print_notice(&text));
    *FAILURE_NOTICE.lock().unwrap_or_else(PoisonError::into_inner) = Some(notice);
}

/// Waits until a failure of the log is reported.
pub(crate) fn end() {
    if let Some(notice) = FAILURE_NOTICE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // The thread does not panic.
        let _ = notice.join();
    }
}

/// Opens the log, if one is wanted. Appends to an existing file; only the owner can read a new one.
pub(crate) fn begin(flag: Option<&Path>, env: &Env, secrets: Secrets) -> Result<(), CommandError> {
    let variable = || env.raw(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let (path, named_by) = match flag {
        Some(path) => (path.to_owned(), "--log"),
        None => match variable() {
            Some(path) => (path, VARIABLE),
            None => return Ok(()),
        },
    };
    let refused = |problem: &dyn std::fmt::Display| {
        let text = format!("{named_by}: the log {} can't be written: {problem}", path.display());
        CommandError::new(Exit::Usage, text)
    };
    // Opening a pipe nobody reads, and writing to a full one, would hold up the work.
    if path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo() || metadata.file_type().is_socket()) {
        return Err(refused(&"it is a pipe or a socket, not a file"));
    }
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path).map_err(|error| refused(&error))?;
    tracing::subscriber::set_global_default(LogFile::new(file, secrets, report_failure))
        .map_err(|error| refused(&error))
}
