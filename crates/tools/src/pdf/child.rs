//! Reads a document in a process of its own: the parent writes the document to its standard input and reads the text from
//! its standard output; the exit code says what is wrong.

use std::io::{self, Read as _, Write as _};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::{TEXT, text_of};
use crate::attach::{AttachError, LARGEST_PDF, PdfProgram};

/// How much memory the process may take beyond what it has when it starts, in bytes.
const MEMORY: u64 = 1 << 30;
/// The most processor time, in seconds, and the most time at all.
const SECONDS: u64 = 15;
const PATIENCE: Duration = Duration::from_secs(30);

const DAMAGED: u8 = 10;
const ENCRYPTED: u8 = 11;
const NO_TEXT: u8 = 12;

/// What the process does: call it in `main` when the program was started to read a document.
#[must_use]
pub fn read_pdf_from_stdin() -> ExitCode {
    let memory = address_space().saturating_add(MEMORY);
    for (resource, most) in [(Resource::As, memory), (Resource::Cpu, SECONDS), (Resource::Core, 0)] {
        if setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).is_err() {
            return ExitCode::FAILURE;
        }
    }
    let mut document = Vec::new();
    if io::stdin().lock().take(LARGEST_PDF + 1).read_to_end(&mut document).is_err() {
        return ExitCode::FAILURE;
    }
    match text_of(document) {
        Ok(text) => match io::stdout().lock().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(AttachError::DamagedPdf) => ExitCode::from(DAMAGED),
        Err(AttachError::EncryptedPdf) => ExitCode::from(ENCRYPTED),
        Err(AttachError::PdfWithoutText) => ExitCode::from(NO_TEXT),
        Err(_) => ExitCode::FAILURE,
    }
}

/// Returns the size of this process's address space: an allocator may have reserved some for later.
fn address_space() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map_or(MEMORY, |kilobytes| kilobytes.saturating_mul(1_024))
}

/// Returns the text of a document, read by `program`, whose `main` calls [`read_pdf_from_stdin`] when it is started so.
pub(crate) fn pdf_text(program: &PdfProgram, document: Vec<u8>) -> Result<String, AttachError> {
    let started = Command::new(&program.program)
        .args(&program.args)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = started.map_err(|_| AttachError::NoPdfProgram)?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    // A process that refuses the document closes the pipe early.
    let writer = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&document)));
    let (sender, text) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let most = u64::try_from(TEXT).unwrap_or(u64::MAX).saturating_mul(2);
        let read = stdout.map(|stdout| stdout.take(most).read_to_end(&mut text));
        // The receiver may have stopped waiting.
        let _ = sender.send(read.is_some_and(|read| read.is_ok()).then_some(text));
    });
    let Ok(text) = text.recv_timeout(PATIENCE) else {
        end(&mut child);
        return Err(AttachError::PdfTakesTooMuch);
    };
    let status = child.wait();
    let _ = writer.join();
    let code = status.ok().and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
    match (code, text) {
        (Some(0), Some(text)) => Ok(String::from_utf8_lossy(&text).into_owned()),
        (Some(DAMAGED), _) => Err(AttachError::DamagedPdf),
        (Some(ENCRYPTED), _) => Err(AttachError::EncryptedPdf),
        (Some(NO_TEXT), _) => Err(AttachError::PdfWithoutText),
        // It could not begin, or failed on this document.
        (Some(_), _) => Err(AttachError::Unreadable("the process that reads PDF documents failed".to_owned())),
        // Killed by the kernel, or ended by a signal because it got no more memory.
        (None, _) => Err(AttachError::PdfTakesTooMuch),
    }
}

fn end(child: &mut Child) {
    // It may have ended by itself meanwhile.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::pdf_text;
    use crate::attach::{AttachError, PdfProgram};

    // proves C9: only a process that was killed has taken too much
    #[test]
    fn a_process_that_fails_is_not_said_to_take_too_much() {
        let read = |script: &str| {
            let args = vec!["-c".to_owned(), script.to_owned()];
            pdf_text(&PdfProgram { program: "/bin/sh".into(), args }, Vec::new())
        };
        for script in ["exit 1", "exit 101"] {
            assert!(matches!(read(script), Err(AttachError::Unreadable(_))), "{script}");
        }
        assert_eq!(read("kill -KILL $$"), Err(AttachError::PdfTakesTooMuch));
        assert_eq!(read("exit 11"), Err(AttachError::EncryptedPdf));
    }
}
