//! How long a server on this machine may read a long request before its reply begins.
//!
//! A model on a processor reads some 25 to 500 tokens a second, so that a long conversation outlasts any fixed limit
//! on silence. The limit on the wait for the first piece grows with the request by the speed that was measured, or by a
//! guess before that. Servers elsewhere keep the policy's limit: their silence says nothing about length.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use windlass_vocab::Usage;

/// The bytes of a request that the policy's own limit covers.
const COVERED: u64 = 8 << 10;
/// What is expected of a server before it was measured, in bytes a second: 25 tokens.
const GUESS: u64 = 100;
/// The bytes a server must have read in one request for its speed to be measured: connecting takes time, too.
const MEASURED_FROM: u64 = 2 << 10;
/// How many times as long as measured a server may take.
const MARGIN: u64 = 3;
/// The longest extension.
const LONGEST: Duration = Duration::from_mins(30);

/// How fast a server on this machine reads requests.
#[derive(Debug, Default)]
pub(crate) struct PrefillSpeed {
    /// What is expected by what was measured, in bytes a second; zero before that.
    expected: AtomicU64,
    /// Whether the model has replied before: the first reply may have waited until it was loaded.
    is_loaded: AtomicBool,
}

impl PrefillSpeed {
    /// Returns what a request of `bytes` adds to the limit on the wait for the first piece.
    pub(crate) fn extension(&self, bytes: u64) -> Duration {
        let expected = match self.expected.load(Ordering::Relaxed) {
            0 => GUESS,
            measured => (measured / MARGIN).max(1),
        };
        Duration::from_millis(bytes.saturating_sub(COVERED).saturating_mul(1_000) / expected).min(LONGEST)
    }

    /// Takes into account that the reply to a request of `bytes` began after `wait`. What the server had in its cache
    /// it did not read; without a count of that nothing is measured. A slower reply counts in full, a faster one by a
    /// quarter, so that one busy moment is forgotten in time.
    pub(crate) fn note(&self, bytes: u64, wait: Duration, usage: Option<&Usage>) {
        let was_loaded = self.is_loaded.swap(true, Ordering::Relaxed);
        let Some(usage) = usage.filter(|usage| was_loaded && usage.input > 0 && !usage.estimated) else { return };
        let read = bytes.saturating_mul(usage.input.saturating_sub(usage.cached)) / usage.input;
        if read < MEASURED_FROM {
            return;
        }
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
        let speed = (read.saturating_mul(1_000) / millis).max(1);
        let next = |known: u64| Some(if known == 0 || speed < known { speed } else { (3 * known + speed) / 4 });
        let _ = self.expected.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(input: u64, cached: u64) -> Usage {
        Usage { input, cached, ..Usage::default() }
    }

    /// A server whose model is loaded.
    fn loaded() -> PrefillSpeed {
        let speed = PrefillSpeed::default();
        speed.note(40_000, Duration::from_secs(100), Some(&used(10_000, 0)));
        speed
    }

    /// A request of 30,000 bytes more than the policy's limit covers.
    const LONG: u64 = COVERED + 30_000;

    // proves M4: a long request to a server on this machine may be read for longer
    #[test]
    fn the_wait_grows_with_the_request() {
        let speed = PrefillSpeed::default();
        assert_eq!(speed.extension(COVERED), Duration::ZERO);
        assert_eq!(speed.extension(LONG), Duration::from_mins(5));
        assert_eq!(speed.extension(u64::MAX), LONGEST);
    }

    // proves M4: the first reply waited for the model, and what is in the cache is not read
    #[test]
    fn a_slower_reply_counts_at_once_and_a_faster_one_by_degrees() {
        let speed = loaded();
        assert_eq!(speed.extension(LONG), Duration::from_mins(5), "loading is no reading");
        // 3,000 bytes a second; a third of that speed is allowed for.
        speed.note(40_000, Duration::from_secs(10), Some(&used(10_000, 2_500)));
        assert_eq!(speed.extension(LONG), Duration::from_secs(30));
        // 1,000, then (3 × 1,000 + 5,000) / 4.
        speed.note(40_000, Duration::from_secs(40), Some(&used(10_000, 0)));
        assert_eq!(speed.extension(LONG), Duration::from_millis(90_090));
        speed.note(40_000, Duration::from_secs(8), Some(&used(10_000, 0)));
        assert_eq!(speed.extension(LONG), Duration::from_millis(45_045));
    }

    // proves M4: a request that was nearly all in the cache, a short one and an estimate say nothing of the speed
    #[test]
    fn what_measures_nothing_is_not_taken_for_a_speed() {
        let speed = loaded();
        let guess = speed.extension(20_000);
        speed.note(40_000, Duration::from_secs(9), Some(&used(10_000, 9_800)));
        speed.note(900, Duration::from_secs(9), Some(&used(200, 0)));
        speed.note(40_000, Duration::from_secs(9), Some(&Usage { estimated: true, ..used(10_000, 0) }));
        speed.note(40_000, Duration::from_secs(9), None);
        assert_eq!(speed.extension(20_000), guess);
    }
}
