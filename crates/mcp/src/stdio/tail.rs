//! The end of a server's standard error. It is drained all the time, so that the server never blocks, and the last
//! lines are kept for the message that says why the server failed, and more of them to be looked at.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::sync::CancellationToken;

use windlass_tools::Secrets;

use crate::notice::printable;

/// How many bytes are kept.
const KEPT: usize = 8 << 10;
/// How many lines are looked at, how many a message has, and how many characters a line.
const LINES: usize = 20;
const WORDS: usize = 4;
const LINE: usize = 200;

/// The end of what a server wrote to standard error. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct StderrTail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    secrets: Secrets,
    /// Cancelled at the end of standard error.
    whole: CancellationToken,
}

impl StderrTail {
    /// Returns an empty tail that removes these secrets.
    pub(super) fn hiding(secrets: &Secrets) -> Self {
        Self { secrets: secrets.clone(), ..Self::default() }
    }

    /// Reads `errors` to its end.
    pub(super) async fn drain(self, mut errors: impl AsyncRead + Unpin) {
        let _whole = self.whole.clone().drop_guard();
        let mut buffer = vec![0; 32 << 10];
        let mut scrubber = self.secrets.stream();
        while let Ok(read @ 1..) = errors.read(&mut buffer).await {
            self.push(&scrubber.push_raw(&buffer[..read]));
        }
        self.push(scrubber.finish().as_bytes());
    }

    /// Waits until everything was read.
    pub(super) async fn drained(&self) {
        self.whole.cancelled().await;
    }

    fn push(&self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(KEPT)..];
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let surplus = (kept.len() + bytes.len()).saturating_sub(KEPT);
        kept.drain(..surplus);
        kept.extend(bytes);
    }

    /// The last lines joined into one, safe to display; empty if there were none.
    pub(crate) fn last_words(&self) -> String {
        let lines = self.last_lines();
        lines[lines.len().saturating_sub(WORDS)..].join(" / ")
    }

    /// The last lines, safe to display.
    pub(crate) fn last_lines(&self) -> Vec<String> {
        let kept: Vec<u8> = self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(LINES)..];
        last.iter().map(|line| printable(line, LINE)).collect()
    }
}

/// What the newest process of a server wrote, whether it still runs or not.
#[derive(Debug, Default)]
pub(crate) struct StderrLog(Mutex<StderrTail>);

impl StderrLog {
    /// A process was started: its words count from now on.
    pub(crate) fn begin(&self, words: &StderrTail) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = words.clone();
    }

    /// The last lines, safe to display; none if it is no process of ours.
    pub(crate) fn last_lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last_lines()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves P4
    #[tokio::test]
    async fn eight_mebibytes_of_complaints_are_read_and_the_last_of_them_kept() {
        let tail = StderrTail::default();
        let mut noise = b"noise\n".repeat(1_400_000);
        noise.extend_from_slice(b"one\n\ntwo\nthree\x1b[0m\nfour\nfive\n");
        tail.clone().drain(noise.as_slice()).await;
        assert_eq!(tail.last_words(), "two / three\u{fffd}[0m / four / five");
    }

    // proves X1: neither the limit of a line nor of the kept bytes cuts a secret in two
    #[tokio::test]
    async fn no_part_of_a_secret_is_among_the_last_words() {
        const KEY: &str = "Qz7Xv9Kp3Wm5Yt2R";
        for after in (LINE - 20..LINE + 5).chain(KEPT - 20..KEPT + 5) {
            let tail = StderrTail::hiding(&Secrets::new([("KEY", KEY)]));
            let dots = ".".repeat(after);
            for words in [format!("{KEY}{dots}"), format!("{dots}{KEY}{dots}")] {
                tail.clone().drain(words.as_bytes()).await;
                let told = tail.last_words();
                let leaked = (0..KEY.len() - 4).map(|at| &KEY[at..at + 4]).find(|part| told.contains(part));
                assert_eq!(leaked, None, "{after}: {told}");
            }
        }
    }
}
