//! How long a server on this machine may read a long request before its reply begins.
//!
//! A model on a processor reads some 25 to 500 tokens a second, so that a long conversation outlasts any fixed limit
//! on silence. The limit on the wait for the first piece grows with the request by the slowest speed that was measured,
//! or by a guess before that. Servers elsewhere keep the policy's limit: their silence says nothing about length.

use std::sync::atomic::{AtomicU64, Ordering};
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
    /// The slowest speed measured so far, in bytes a second; zero before the first.
    slowest: AtomicU64,
}

impl PrefillSpeed {
    /// Returns what a request of `bytes` adds to the limit on the wait for the first piece.
    pub(crate) fn extension(&self, bytes: u64) -> Duration {
        let expected = match self.slowest.load(Ordering::Relaxed) {
            0 => GUESS,
            measured => (measured / MARGIN).max(1),
        };
        Duration::from_millis(bytes.saturating_sub(COVERED).saturating_mul(1_000) / expected).min(LONGEST)
    }

    /// Takes into account that the reply to a request of `bytes` began after `wait`. What the server had in its cache
    /// it did not read; without a count of that nothing is measured.
    pub(crate) fn note(&self, bytes: u64, wait: Duration, usage: Option<&Usage>) {
        let Some(usage) = usage.filter(|usage| usage.input > 0 && !usage.estimated) else { return };
        let read = bytes.saturating_mul(usage.input.saturating_sub(usage.cached)) / usage.input;
        if read < MEASURED_FROM {
            return;
        }
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
        let speed = (read.saturating_mul(1_000) / millis).max(1);
        let slower = |known: u64| (known == 0 || speed < known).then_some(speed);
        let _ = self.slowest.fetch_update(Ordering::Relaxed, Ordering::Relaxed, slower);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(input: u64, cached: u64) -> Usage {
        Usage { input, cached, ..Usage::default() }
    }

    // proves M4: a long request to a server on this machine may be read for longer
    #[test]
    fn the_wait_grows_with_the_request() {
        let speed = PrefillSpeed::default();
        assert_eq!(speed.extension(8 << 10), Duration::ZERO);
        assert_eq!(speed.extension((8 << 10) + 30_000), Duration::from_mins(5));
        assert_eq!(speed.extension(u64::MAX), LONGEST);
    }

    // proves M4
    #[test]
    fn the_slowest_speed_counts_and_cached_text_does_not() {
        let speed = PrefillSpeed::default();
        // 30,000 bytes in ten seconds; a third of that speed is allowed for.
        speed.note(40_000, Duration::from_secs(10), Some(&used(10_000, 2_500)));
        assert_eq!(speed.extension((8 << 10) + 30_000), Duration::from_secs(30));
        speed.note(40_000, Duration::from_secs(1), Some(&used(10_000, 0)));
        assert_eq!(speed.extension((8 << 10) + 30_000), Duration::from_secs(30));
        speed.note(40_000, Duration::from_secs(40), Some(&used(10_000, 0)));
        assert_eq!(speed.extension((8 << 10) + 30_000), Duration::from_secs(90) + Duration::from_millis(90));
    }

    // proves M4: a request that was nearly all in the cache, a short one and an estimate say nothing of the speed
    #[test]
    fn what_measures_nothing_is_not_taken_for_a_speed() {
        let speed = PrefillSpeed::default();
        let guess = speed.extension(20_000);
        speed.note(40_000, Duration::from_secs(9), Some(&used(10_000, 9_800)));
        speed.note(900, Duration::from_secs(9), Some(&used(200, 0)));
        speed.note(40_000, Duration::from_secs(9), Some(&Usage { estimated: true, ..used(10_000, 0) }));
        speed.note(40_000, Duration::from_secs(9), None);
        assert_eq!(speed.extension(20_000), guess);
    }
}
