//! Reads lines from standard input for a question that may close before one is typed, because it was answered from
//! another terminal or expired. The thread blocked on the read can't be interrupted, so the next question takes over
//! its read. Input typed before a question was displayed does not answer it (T8).

use std::io::{self, BufRead as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::termios::{QueueSelector, tcflush};

/// How often a waiting question checks whether it is over.
const LOOK: Duration = Duration::from_millis(20);

/// Receives the line being read; none at the end of input.
type PendingLine = Receiver<io::Result<Option<String>>>;

/// The unfinished read that an earlier question left behind.
static LEFT: Mutex<Option<PendingLine>> = Mutex::new(None);

/// A question on the terminal. Dropping it gives up its wait for a line.
#[derive(Debug, Default)]
pub(super) struct TerminalQuestion(Arc<AtomicBool>);

/// The lines typed for a question.
#[derive(Debug)]
pub(super) struct TypedLines(Arc<AtomicBool>);

impl TerminalQuestion {
    pub(super) fn lines(&self) -> TypedLines {
        TypedLines(Arc::clone(&self.0))
    }
}

impl Drop for TerminalQuestion {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl TypedLines {
    /// Discards the input typed so far, whole lines and the beginning of one.
    pub(super) fn forget_earlier(&self) {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        // Fails harmlessly where input is not a terminal: then nobody types ahead.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        if left.as_ref().is_some_and(|typed| !matches!(typed.try_recv(), Err(TryRecvError::Empty))) {
            *left = None;
        }
    }

    /// Whether no more lines come: the question closed without an answer from here.
    pub(super) fn are_over(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Returns the next typed line; none at the end of input, or once the question is over. Invalid UTF-8, from a
    /// terminal with another encoding, is replaced, so that the question is asked again.
    pub(super) fn next(&self) -> io::Result<Option<String>> {
        // Held while waiting for a line, so that the next question begins only after this one has stopped waiting.
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        let typed = left.take().unwrap_or_else(wait_for_one);
        loop {
            match typed.recv_timeout(LOOK) {
                Ok(line) => return line,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.are_over() {
                *left = Some(typed);
                return Ok(None);
            }
        }
    }
}

fn wait_for_one() -> PendingLine {
    let (sender, typed) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_until(b'\n', &mut bytes);
        // The receiver is gone if the process is about to exit.
        let _ = sender.send(read.map(|read| (read > 0).then(|| String::from_utf8_lossy(&bytes).into_owned())));
    });
    typed
}
