//! What the server counts, in Prometheus' text format (G3).
//!
//! Counts come from where things happen anyway: records as they are stored ([`RecordObserver`]), requests as they are
//! answered ([`watch_requests`]). Labels are from fixed sets (reasons, outcomes, route patterns), but for the models, of which
//! only so many are named; nothing that a user wrote is a label.

mod observed;
mod requests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use windlass_runtime::LiveActivity;

pub(crate) use self::requests::{OpenStream, watch_requests};

/// A label: its name and its value.
type MetricLabel = (&'static str, Cow<'static, str>);
/// A histogram for each value of a label.
type Durations = Family<[MetricLabel; 1], Histogram, fn() -> Histogram>;

/// How many models are named in the metrics; further ones are counted together.
const MOST_MODELS: usize = 50;

/// What the server counts. Clones share their counts.
#[derive(Clone, Debug)]
pub(crate) struct Metrics(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    registry: Registry,
    runs_started: Counter,
    runs_resumed: Counter,
    runs_ended: Family<[MetricLabel; 1], Counter>,
    model_calls: Family<[MetricLabel; 2], Counter>,
    tokens: Family<[MetricLabel; 2], Counter>,
    cost_dollars: Counter<f64, AtomicU64>,
    tool_calls: Family<[MetricLabel; 1], Counter>,
    tool_call_seconds: Durations,
    requests: Family<[MetricLabel; 3], Counter>,
    request_seconds: Durations,
    followers: Gauge,
    live_sessions: Family<[MetricLabel; 1], Gauge>,
    queued_messages: Gauge,
    sessions_archived: Counter,
    sessions_deleted: Counter,
    /// The models that are named.
    models: Mutex<BTreeSet<String>>,
}

/// From a millisecond to over a minute.
fn short_durations() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 4.0, 9))
}

/// From ten milliseconds to over ten minutes.
fn long_durations() -> Histogram {
    Histogram::new(exponential_buckets(0.01, 4.0, 9))
}

impl Default for Metrics {
    fn default() -> Self {
        let mut counts = Counts {
            registry: Registry::with_prefix("windlass"),
            runs_started: Counter::default(),
            runs_resumed: Counter::default(),
            runs_ended: Family::default(),
            model_calls: Family::default(),
            tokens: Family::default(),
            cost_dollars: Counter::default(),
            tool_calls: Family::default(),
            tool_call_seconds: Family::new_with_constructor(long_durations),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(short_durations),
            followers: Gauge::default(),
            live_sessions: Family::default(),
            queued_messages: Gauge::default(),
            sessions_archived: Counter::default(),
            sessions_deleted: Counter::default(),
            models: Mutex::default(),
        };
        counts.register();
        Self(Arc::new(counts))
    }
}

impl Counts {
    /// Names every metric. A counter's name gets `_total` behind it.
    fn register(&mut self) {
        let all = &mut self.registry;
        all.register("runs_started", "Runs that were started", self.runs_started.clone());
        all.register("runs_resumed", "Runs of dead processes that were resumed", self.runs_resumed.clone());
        all.register("runs_ended", "Runs that ended, by reason", self.runs_ended.clone());
        all.register("model_calls", "Model calls, by model and outcome", self.model_calls.clone());
        all.register("tokens", "Tokens, by model and kind", self.tokens.clone());
        all.register("cost_dollars", "What model calls with a known price cost", self.cost_dollars.clone());
        all.register("tool_calls", "Tool calls, by outcome", self.tool_calls.clone());
        all.register("tool_call_seconds", "How long tool calls took", self.tool_call_seconds.clone());
        all.register("http_requests", "Requests, by method, route and status", self.requests.clone());
        all.register("http_request_seconds", "Time to the head of the answer", self.request_seconds.clone());
        all.register("followers", "Open event streams", self.followers.clone());
        all.register("live_sessions", "Sessions that are open here, by activity", self.live_sessions.clone());
        all.register("queued_messages", "Messages that wait in open sessions", self.queued_messages.clone());
        all.register("sessions_archived", "Sessions that the clean-up archived", self.sessions_archived.clone());
        all.register("sessions_deleted", "Sessions that the clean-up deleted", self.sessions_deleted.clone());
    }
}

impl Metrics {
    pub(crate) fn run_resumed(&self) {
        self.0.runs_resumed.inc();
    }

    pub(crate) fn sessions_cleaned(&self, archived: u64, deleted: u64) {
        self.0.sessions_archived.inc_by(archived);
        self.0.sessions_deleted.inc_by(deleted);
    }

    /// Returns the label of a model; one for all that are too many.
    fn model(&self, name: &str) -> MetricLabel {
        let mut named = self.0.models.lock().unwrap_or_else(PoisonError::into_inner);
        if named.len() < MOST_MODELS && !named.contains(name) {
            named.insert(name.to_owned());
        }
        let known = named.contains(name);
        ("model", if known { Cow::Owned(name.to_owned()) } else { Cow::Borrowed("other") })
    }

    /// Sets what is not counted but looked up: what the live sessions do, and how many messages wait in them.
    pub(crate) fn look_at(&self, live: &LiveActivity, queued: usize) {
        for (activity, count) in [("idle", live.idle), ("working", live.working), ("waiting", live.waiting)] {
            let gauge = self.0.live_sessions.get_or_create(&[("activity", Cow::Borrowed(activity))]);
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        self.0.queued_messages.set(i64::try_from(queued).unwrap_or(i64::MAX));
    }

    /// Returns everything in the OpenMetrics text format.
    pub(crate) fn written(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.0.registry)?;
        Ok(text)
    }
}
