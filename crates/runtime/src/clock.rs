//! The source of time. The machine has no clock; the driver uses this one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use windlass_provider::BoxFuture;
use windlass_vocab::Timestamp;

/// A clock.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Returns the real duration of `span` on this clock.
    fn real(&self, span: Duration) -> Duration {
        span
    }
}

impl dyn Clock + '_ {
    /// Waits until `at`.
    pub(crate) fn until(&self, at: Timestamp) -> BoxFuture<'static, ()> {
        let wait = self.real(Duration::from_millis(at.ms_since(self.now())));
        Box::pin(tokio::time::sleep(wait))
    }
}

/// The operating system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

fn system_now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        system_now()
    }
}

/// A clock that runs faster than real time, so that tests of long waits are short.
#[cfg(debug_assertions)]
#[derive(Clone, Copy, Debug)]
pub struct ScaledClock {
    begun: Timestamp,
    scale: u32,
}

#[cfg(debug_assertions)]
impl ScaledClock {
    /// Returns a clock that has the right time now and runs `scale` times as fast from now on.
    #[must_use]
    pub fn new(scale: u32) -> Self {
        Self { begun: system_now(), scale: scale.max(1) }
    }
}

#[cfg(debug_assertions)]
impl Clock for ScaledClock {
    fn now(&self) -> Timestamp {
        self.begun.plus_ms(system_now().ms_since(self.begun).saturating_mul(u64::from(self.scale)))
    }

    fn real(&self, span: Duration) -> Duration {
        span / self.scale
    }
}
