//! Lets this program serve as the guard process of its own commands.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first argument that makes this program a guard process.
pub const GUARD_ARGUMENT: &str = "__guard";

/// The first argument that makes this program read a PDF document.
#[cfg(feature = "pdf")]
const PDF_ARGUMENT: &str = "__pdf-text";

static INITIALISED: AtomicBool = AtomicBool::new(false);

/// Call this first in `main`. If it returns an exit code, return that from `main`: the program was started as a guard
/// process and its work is done.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     if let Some(code) = windlass::init() {
///         return code;
///     }
///     // the program
///     std::process::ExitCode::SUCCESS
/// }
/// ```
#[must_use]
pub fn init() -> Option<ExitCode> {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == GUARD_ARGUMENT) {
        return Some(windlass_tools::guard::run());
    }
    #[cfg(feature = "pdf")]
    if std::env::args_os().nth(1).is_some_and(|argument| argument == PDF_ARGUMENT) {
        return Some(windlass_tools::read_pdf_from_stdin());
    }
    INITIALISED.store(true, Ordering::Relaxed);
    None
}

/// Returns this program as a guard, if it called [`init`].
#[must_use]
pub fn own_guard() -> Option<windlass_tools::GuardProgram> {
    let program = INITIALISED.load(Ordering::Relaxed).then(std::env::current_exe)?.ok()?;
    Some(windlass_tools::GuardProgram { program, args: vec![GUARD_ARGUMENT.to_owned()] })
}

/// Returns this program as the one that reads PDF documents, if it called [`init`].
#[cfg(feature = "pdf")]
pub(crate) fn own_pdf_program() -> Option<windlass_tools::PdfProgram> {
    let program = INITIALISED.load(Ordering::Relaxed).then(std::env::current_exe)?.ok()?;
    Some(windlass_tools::PdfProgram { program, args: vec![PDF_ARGUMENT.to_owned()] })
}
