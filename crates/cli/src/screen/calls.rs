//! Running calls, as the live line displays them.

use std::collections::BTreeMap;

use windlass_narrate::{Activity, short_line};
use windlass_vocab::CallId;

use super::look::TerminalLook;
use super::style::{Style, StyledLine};

/// Bytes of a call's output that are kept: enough for its last line.
const PROGRESS: usize = 1_000;

/// Characters of that last line that are displayed.
const LAST_WORDS: usize = 200;

#[derive(Debug)]
struct RunningCall {
    /// The call's display name.
    name: String,
    since: Option<u64>,
    /// The end of the call's output so far.
    progress: String,
}

/// Calls that have no result yet.
#[derive(Debug, Default)]
pub(super) struct RunningCalls(BTreeMap<CallId, RunningCall>);

impl RunningCalls {
    pub(super) fn requested(&mut self, call: CallId, name: String) {
        self.0.insert(call, RunningCall { name, since: None, progress: String::new() });
    }

    /// Records that a call may have started, under this name: a person may have edited the call.
    pub(super) fn started(&mut self, call: CallId, name: String, now: u64) {
        let progress = self.0.remove(&call).map(|call| call.progress).unwrap_or_default();
        self.0.insert(call, RunningCall { name, since: Some(now), progress });
    }

    /// Appends output of a running call. Returns false if the call is unknown: it is still being requested.
    pub(super) fn add_progress(&mut self, call: CallId, text: &str) -> bool {
        let Some(call) = self.0.get_mut(&call) else { return false };
        call.progress.push_str(text);
        let start = call.progress.ceil_char_boundary(call.progress.len().saturating_sub(PROGRESS));
        call.progress.drain(..start);
        true
    }

    pub(super) fn finished(&mut self, call: CallId) {
        self.0.remove(&call);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the last line of output if exactly one call runs.
    pub(super) fn last_words(&self, look: TerminalLook) -> Option<StyledLine> {
        let mut running = self.0.values().filter(|call| call.since.is_some());
        let (only, None) = (running.next()?, running.next()) else { return None };
        let last = only.progress.rsplit(['\n', '\r']).find(|line| !line.trim().is_empty())?;
        let line = StyledLine::of(Style::DIM, &format!("  {}", short_line(last.trim_end(), LAST_WORDS)));
        Some(line.clipped(look.columns(), look.glyphs.dots()))
    }

    /// Returns which calls run, and since when.
    pub(super) fn running(&self) -> Option<(String, u64)> {
        let running = || self.0.values().filter(|call| call.since.is_some());
        let since = running().filter_map(|call| call.since).min()?;
        let names: Vec<&str> = running().map(|call| call.name.as_str()).collect();
        Some((Activity::Calls(&names).to_string(), since))
    }
}
