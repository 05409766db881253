//! Limits on a server's silence.
//!
//! Silence is measured since the last piece of the reply. Bytes without a piece (a comment, half an event) show that
//! the server is alive and extend the wait, but not indefinitely.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, timeout};

use crate::answer::body::AnswerBody;
use crate::answer::draft::WireDraft;
use crate::config::ModelConfig;
use crate::connection::PendingResponse;
use crate::http::ConnectionError;

/// How long to wait for usage after an otherwise complete reply.
const USAGE_WAIT: Duration = Duration::from_secs(2);
/// Factor by which the limits on silence grow for a model that reasons (M4).
const WHILE_THINKING: u32 = 3;

/// Limits on a server's silence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerTimeouts {
    /// Before the first piece.
    pub(crate) first: Duration,
    /// Between pieces.
    next: Duration,
    /// Since the last piece, while bytes without a piece arrive.
    alive: Duration,
}

impl AnswerTimeouts {
    /// Returns the limits for a model, given those for the first piece and between pieces.
    pub(crate) fn of(config: &ModelConfig, first_ms: u64, next_ms: u64) -> Self {
        let alive_ms = config.keep_alive_ms.max(first_ms).max(next_ms);
        let [first, next, alive] = [first_ms, next_ms, alive_ms].map(Duration::from_millis);
        let first = if config.reasons() { first * WHILE_THINKING } else { first };
        Self { first, next, alive: alive.max(first) }
    }

    /// Returns these limits with a longer one before the first piece.
    pub(crate) fn extended(self, by: Duration) -> Self {
        let first = self.first + by;
        Self { first, alive: self.alive.max(first), ..self }
    }

    /// Returns the limit on the wait for the next bytes of `answer`.
    pub(crate) fn with<D: WireDraft>(self, answer: &AnswerBody<D>) -> SilenceLimit {
        match (answer.is_finished(), answer.any_piece()) {
            // Only usage may follow.
            (true, _) => SilenceLimit { silence: self.next.min(USAGE_WAIT), no_piece: self.next.min(USAGE_WAIT) },
            (false, true) if answer.is_thinking() => {
                let silence = self.next * WHILE_THINKING;
                SilenceLimit { silence, no_piece: self.alive.max(silence) }
            }
            (false, true) => SilenceLimit { silence: self.next, no_piece: self.alive },
            (false, false) => SilenceLimit { silence: self.first, no_piece: self.alive },
        }
    }
}

/// Limits on the wait for the next bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SilenceLimit {
    /// Since the last bytes.
    pub(crate) silence: Duration,
    /// Since the last piece.
    pub(crate) no_piece: Duration,
}

/// Why the next bytes did not arrive.
pub(crate) enum NoNextBytes {
    Lost(ConnectionError),
    Silent,
    NoPiece,
}

impl SilenceLimit {
    /// Returns the next bytes of a response whose last piece arrived at `since`; `None` at its end.
    pub(crate) async fn chunk(
        self,
        response: &mut PendingResponse,
        since: Instant,
    ) -> Result<Option<Bytes>, NoNextBytes> {
        let left = self.no_piece.saturating_sub(since.elapsed());
        // Checked first: bytes that are already there would always win against an expired timeout.
        if left.is_zero() {
            return Err(NoNextBytes::NoPiece);
        }
        match timeout(self.silence.min(left), response.chunk()).await {
            Ok(read) => read.map_err(NoNextBytes::Lost),
            Err(_) if self.silence <= left => Err(NoNextBytes::Silent),
            Err(_) => Err(NoNextBytes::NoPiece),
        }
    }
}
