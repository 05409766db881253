//! Lines from standard input for a question that may be over before one is typed: answered from another terminal, or by
//! time. The thread that waits for the line can't be called back, so the next question takes its wait over. What was
//! typed before a question was shown does not answer it (T8).

use std::io::{self, BufRead as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::termios::{QueueSelector, tcflush};

/// How often whoever waits looks whether the question is over.
const LOOK: Duration = Duration::from_millis(20);

/// A line that is waited for; none at the end of input.
type PendingLine = Receiver<io::Result<Option<String>>>;

/// The wait that a question left behind.
static LEFT: Mutex<Option<PendingLine>> = Mutex::new(None);

/// A question at the terminal. Dropping it lets go of its wait for a line.
#[derive(Debug, Default)]
pub(super) struct TerminalQuestion(Arc<AtomicBool>);

/// The lines typed for it.
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
    /// Forgets what was typed until now, whole lines and the beginning of one.
    pub(super) fn forget_earlier(&self) {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        // Where input is no terminal there is nothing to forget: nobody types.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        if left.as_ref().is_some_and(|typed| !matches!(typed.try_recv(), Err(TryRecvError::Empty))) {
            *left = None;
        }
    }

    /// Whether no more come: the question is over without an answer from here.
    pub(super) fn are_over(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// What was typed; none at the end of input, or where the question is over. A terminal may speak another encoding:
    /// what is no text is asked for again.
    pub(super) fn next(&self) -> io::Result<Option<String>> {
        // Held while a line is waited for: the next question begins once the one before has let go.
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
        // Nobody waits any more where the process is about to end.
        let _ = sender.send(read.map(|read| (read > 0).then(|| String::from_utf8_lossy(&bytes).into_owned())));
    });
    typed
}
