//! What a run waits for, with the time it has taken so far. A terminal shows it in the live line; elsewhere a line is
//! printed now and then, so that a run that takes long does not look like a hanging process.

use std::time::{Duration, Instant};

use windlass_narrate::{Activity, duration};
use windlass_vocab::CallId;

/// Time without output after which a pipe gets the first line; each further one comes after twice the time.
const FIRST_LINE: Duration = Duration::from_secs(5);

/// Something that a run waits for.
#[derive(Debug)]
struct PendingWait {
    /// The running call, where it is one.
    call: Option<CallId>,
    what: PendingWaitText,
    since: Instant,
    /// The waiting time after which a pipe gets a line.
    next_line: Duration,
}

/// What is displayed of a wait.
#[derive(Debug, PartialEq, Eq)]
enum PendingWaitText {
    Text(String),
    Retry { until: Instant, why: String },
}

impl PendingWait {
    fn new(call: Option<CallId>, what: PendingWaitText, since: Instant) -> Self {
        Self { call, what, since, next_line: FIRST_LINE }
    }

    fn waited(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.since)
    }

    fn text(&self, now: Instant) -> String {
        let (what, since) = match &self.what {
            PendingWaitText::Text(text) => (text.clone(), self.since),
            PendingWaitText::Retry { until, why } if *until > now => {
                let left_ms = millis(*until - now).div_ceil(1_000) * 1_000;
                return Activity::Retry { left_ms, why }.to_string();
            }
            PendingWaitText::Retry { until, .. } => (Activity::Model.to_string(), *until),
        };
        match millis(now.saturating_duration_since(since)) / 1_000 * 1_000 {
            0 => what,
            ms => format!("{what}, {}", duration(ms)),
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Everything that a run waits for now. Calls may run side by side; what began last is told.
#[derive(Debug, Default)]
pub(super) struct PendingWaits(Vec<PendingWait>);

impl PendingWaits {
    /// Something new is waited for, and nothing else.
    pub(super) fn begin(&mut self, text: &str, now: Instant) {
        self.0 = vec![PendingWait::new(None, PendingWaitText::Text(text.to_owned()), now)];
    }

    /// Like `begin`, unless just this is waited for already.
    pub(super) fn keep_or_begin(&mut self, text: &str, now: Instant) {
        let known = self.0.last().is_some_and(|last| matches!(&last.what, PendingWaitText::Text(what) if what == text));
        if !known {
            self.begin(text, now);
        }
    }

    /// The next attempt is waited for, for this long.
    pub(super) fn begin_retry(&mut self, wait: Duration, why: String, now: Instant) {
        let until = now + wait;
        self.0 = vec![PendingWait::new(None, PendingWaitText::Retry { until, why }, now)];
    }

    /// A call runs, beside those that run already.
    pub(super) fn begin_call(&mut self, call: CallId, text: &str, now: Instant) {
        self.0.retain(|known| known.call.is_some_and(|known| known != call));
        self.0.push(PendingWait::new(Some(call), PendingWaitText::Text(text.to_owned()), now));
    }

    pub(super) fn end_call(&mut self, call: CallId) {
        self.0.retain(|known| known.call != Some(call));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the text for the live line of a terminal.
    pub(super) fn live(&self, now: Instant) -> Option<String> {
        self.0.last().map(|last| last.text(now))
    }

    /// Returns the line for a pipe, if it is time for one.
    pub(super) fn due_line(&mut self, now: Instant) -> Option<String> {
        let last = self.0.last_mut()?;
        let waited = last.waited(now);
        if waited < last.next_line {
            return None;
        }
        while last.next_line <= waited {
            last.next_line *= 2;
        }
        // The wait was announced with its whole length; this is how much of it is left.
        if let PendingWaitText::Retry { until, why } = &last.what
            && *until > now
        {
            let left_ms = millis(*until - now).div_ceil(1_000) * 1_000;
            return Some(format!("still waiting, {} left: {why}", duration(left_ms)));
        }
        Some(last.text(now))
    }
}
