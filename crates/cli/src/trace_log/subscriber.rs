//! Collects the spans of our own crates; writes a line when a span ends and for each event. Spans of other crates are
//! ignored: they may contain text of the conversation.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use windlass_tools::Secrets;
use windlass_vocab::Timestamp;

use super::fields::Fields;

/// Prefix of the names of our crates.
const OURS: &str = "windlass";

/// A log written to a file.
#[derive(Debug)]
pub(super) struct LogFile {
    next: AtomicU64,
    open: Mutex<HashMap<u64, Open>>,
    file: Mutex<File>,
    /// Whether a failed write was told.
    failure_reported: AtomicBool,
    report_failure: fn(&io::Error),
    /// Known secrets, removed from every line in case a name contains one.
    secrets: Secrets,
}

/// A span that has not ended.
#[derive(Debug)]
struct Open {
    name: &'static str,
    level: Level,
    parent: Option<u64>,
    fields: Fields,
    since: Instant,
    handles: usize,
}

thread_local! {
    /// The spans this thread is in, the innermost last.
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl LogFile {
    /// Creates a log; the first write that fails is passed to `report_failure`.
    pub(super) fn new(file: File, secrets: Secrets, report_failure: fn(&io::Error)) -> Self {
        let (next, failure_reported) = (AtomicU64::new(1), AtomicBool::new(false));
        Self { next, open: Mutex::default(), file: Mutex::new(file), failure_reported, report_failure, secrets }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renders `session id=0197… > run run=0 > turn turn=1`.
    fn path(open: &HashMap<u64, Open>, innermost: Option<u64>) -> String {
        let mut parts = Vec::new();
        let mut next = innermost;
        while let Some(span) = next.and_then(|id| open.get(&id)) {
            parts.push(format!("{}{}", span.name, span.fields.0));
            next = span.parent;
        }
        parts.reverse();
        parts.join(" > ")
    }

    /// Writes a line with one write call, so that processes can share the file. The first write error is told, and the
    /// work goes on.
    fn write(&self, level: Level, line: &str) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
        let line = format!("{at} {level} {line}\n");
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(self.secrets.scrub(&line).as_bytes());
        drop(file);
        if let Err(error) = written
            && !self.failure_reported.swap(true, Ordering::Relaxed)
        {
            (self.report_failure)(&error);
        }
    }
}

fn entered() -> Option<u64> {
    ENTERED.with_borrow(|entered| entered.last().copied())
}

impl Subscriber for LogFile {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(OURS) && *metadata.level() <= Level::DEBUG
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let parent = match span.parent() {
            Some(parent) => Some(parent.into_u64()),
            None if span.is_contextual() => entered(),
            None => None,
        };
        let mut fields = Fields::default();
        span.record(&mut fields);
        let (name, level) = (span.metadata().name(), *span.metadata().level());
        let mut open = self.open();
        if let Some(parent) = parent.and_then(|parent| open.get_mut(&parent)) {
            parent.handles += 1;
        }
        open.insert(id, Open { name, level, parent, fields, since: Instant::now(), handles: 1 });
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        if let Some(open) = self.open().get_mut(&span.into_u64()) {
            values.record(&mut open.fields);
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let within = match event.parent() {
            Some(parent) => Some(parent.into_u64()),
            None if event.is_contextual() => entered(),
            None => None,
        };
        let path = Self::path(&self.open(), within);
        let colon = if path.is_empty() { "" } else { ":" };
        self.write(*event.metadata().level(), format!("{path}{colon}{}", fields.0).trim_start());
    }

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| {
            if let Some(place) = entered.iter().rposition(|id| *id == span.into_u64()) {
                entered.remove(place);
            }
        });
    }

    fn clone_span(&self, span: &Id) -> Id {
        if let Some(open) = self.open().get_mut(&span.into_u64()) {
            open.handles += 1;
        }
        span.clone()
    }

    /// A span ends when its last handle is dropped; each child span holds a handle of its parent.
    fn try_close(&self, span: Id) -> bool {
        let mut lines = Vec::new();
        let mut open = self.open();
        let mut next = Some(span.into_u64());
        while let Some(id) = next.take() {
            let Some(known) = open.get_mut(&id) else { break };
            known.handles -= 1;
            if known.handles == 0 {
                let (level, took) = (known.level, known.since.elapsed().as_millis());
                next = known.parent;
                lines.push((level, format!("{}: took_ms={took}", Self::path(&open, Some(id)))));
                open.remove(&id);
            }
        }
        drop(open);
        let ended = !lines.is_empty();
        lines.iter().for_each(|(level, line)| self.write(*level, line));
        ended
    }
}
