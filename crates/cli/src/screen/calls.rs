//! Calls on the way, as the live line shows them.

use std::collections::BTreeMap;

use windlass_narrate::{Activity, short_line};
use windlass_vocab::CallId;

use super::look::TerminalLook;
use super::style::{Style, StyledLine};

/// Bytes of a call's progress that are kept: enough for a last line.
const PROGRESS: usize = 1_000;

/// Characters of its last line that are shown.
const LAST_WORDS: usize = 200;

#[derive(Debug)]
struct RunningCall {
    /// What it is called.
    name: String,
    since: Option<u64>,
    /// The end of what it has said so far.
    progress: String,
}

/// Calls that have no result yet.
#[derive(Debug, Default)]
pub(super) struct RunningCalls(BTreeMap<CallId, RunningCall>);

impl RunningCalls {
    pub(super) fn requested(&mut self, call: CallId, name: String) {
        self.0.insert(call, RunningCall { name, since: None, progress: String::new() });
    }

    /// A call may have started, by this name: a person may have edited it.
    pub(super) fn started(&mut self, call: CallId, name: String, now: u64) {
        let progress = self.0.remove(&call).map(|call| call.progress).unwrap_or_default();
        self.0.insert(call, RunningCall { name, since: Some(now), progress });
    }

    /// What a call says as it runs; not so for one that is still being asked for.
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

    /// The last line that the one call that runs has said.
    pub(super) fn last_words(&self, look: TerminalLook) -> Option<StyledLine> {
        let mut running = self.0.values().filter(|call| call.since.is_some());
        let (only, None) = (running.next()?, running.next()) else { return None };
        let last = only.progress.rsplit(['\n', '\r']).find(|line| !line.trim().is_empty())?;
        let line = StyledLine::of(Style::DIM, &format!("  {}", short_line(last.trim_end(), LAST_WORDS)));
        Some(line.clipped(look.columns(), look.glyphs.dots()))
    }

    /// What runs, and since when.
    pub(super) fn running(&self) -> Option<(String, u64)> {
        let running = || self.0.values().filter(|call| call.since.is_some());
        let since = running().filter_map(|call| call.since).min()?;
        let names: Vec<&str> = running().map(|call| call.name.as_str()).collect();
        Some((Activity::Calls(&names).to_string(), since))
    }
}
