//! The last words of a server on standard error: drained always, so that it never waits for us, and
//! kept for the sentence that says why it failed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::sync::CancellationToken;

use crate::notice::shown;

/// How much is kept.
const KEPT: usize = 8 << 10;
/// How much of it is told.
const LINES: usize = 4;
const LINE: usize = 200;

/// The end of what a server wrote to standard error. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// Cancelled when there is no more to come.
    whole: CancellationToken,
}

impl Tail {
    /// Reads `errors` to its end.
    pub(super) async fn drain(self, mut errors: impl AsyncRead + Unpin) {
        let _whole = self.whole.clone().drop_guard();
        let mut buffer = vec![0; 32 << 10];
        while let Ok(read @ 1..) = errors.read(&mut buffer).await {
            self.push(&buffer[..read]);
        }
    }

    /// Waits until all was read.
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

    /// The last lines, in one, safe to show; empty if there were none.
    pub(crate) fn last_words(&self) -> String {
        let kept: Vec<u8> = self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(LINES)..];
        last.iter().map(|line| shown(line, LINE)).collect::<Vec<_>>().join(" / ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves P4
    #[tokio::test]
    async fn eight_mebibytes_of_complaints_are_read_and_the_last_of_them_kept() {
        let tail = Tail::default();
        let mut noise = b"noise\n".repeat(1_400_000);
        noise.extend_from_slice(b"one\n\ntwo\nthree\x1b[0m\nfour\nfive\n");
        tail.clone().drain(noise.as_slice()).await;
        assert_eq!(tail.last_words(), "two / three\u{fffd}[0m / four / five");
    }
}
