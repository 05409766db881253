//! Calls on the way, and the line that each leaves behind.

use std::collections::BTreeMap;

use windlass_vocab::{CallFinished, CallId, CallRequested, CallStarted};

use super::look::Look;
use super::style::{Line, Span, Style, text_width};
use crate::output::wording::{TEXT, call_took, problem_of};
use crate::output::{ShownCall, short_line};

/// Bytes of a call's progress that are kept: enough for a last line.
const PROGRESS: usize = 1_000;

#[derive(Debug)]
struct Call {
    /// Nothing where it was asked for before we began to watch.
    shown: Option<ShownCall>,
    since: Option<u64>,
    /// The end of what it has said so far.
    progress: String,
}

/// Calls that have no result yet.
#[derive(Debug, Default)]
pub(super) struct Calls(BTreeMap<CallId, Call>);

impl Calls {
    pub(super) fn requested(&mut self, call: &CallRequested) {
        let shown = Some(ShownCall::of(call));
        self.0.insert(call.call, Call { shown, since: None, progress: String::new() });
    }

    pub(super) fn started(&mut self, started: &CallStarted, now: u64) {
        let unknown = || Call { shown: None, since: None, progress: String::new() };
        let call = self.0.entry(started.call).or_insert_with(unknown);
        call.since = Some(now);
        if let (Some(shown), Some(arguments)) = (&mut call.shown, &started.arguments) {
            shown.edit(arguments);
        }
    }

    /// What a call says as it runs; not so for one that is still being asked for.
    pub(super) fn said(&mut self, call: CallId, text: &str) -> bool {
        let Some(call) = self.0.get_mut(&call) else { return false };
        call.progress.push_str(text);
        let start = call.progress.ceil_char_boundary(call.progress.len().saturating_sub(PROGRESS));
        call.progress.drain(..start);
        true
    }

    /// What a call is called, as long as it has no result.
    pub(super) fn shown(&self, id: CallId) -> String {
        self.0.get(&id).map_or_else(|| format!("call {id}"), |call| call.line(id))
    }

    /// The lines a finished call leaves behind.
    pub(super) fn finished(&mut self, finished: &CallFinished, look: Look) -> Vec<Line> {
        let mut lines = lines(&self.shown(finished.call), finished, look);
        let shown = self.0.remove(&finished.call).and_then(|call| call.shown);
        let changes = shown.map(|shown| shown.below(finished)).unwrap_or_default();
        lines.extend(changes.iter().map(|changed| changed_line(changed, look)));
        lines
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The last line that the one call that runs has said.
    pub(super) fn last_words(&self, look: Look) -> Option<Line> {
        let mut running = self.0.values().filter(|call| call.since.is_some());
        let (only, None) = (running.next()?, running.next()) else { return None };
        let last = only.progress.rsplit(['\n', '\r']).find(|line| !line.trim().is_empty())?;
        let line = Line::of(Style::DIM, &format!("  {}", short_line(last.trim_end(), TEXT)));
        Some(line.clipped(look.columns(), look.glyphs.dots()))
    }

    /// What runs, and since when.
    pub(super) fn running(&self) -> Option<(String, u64)> {
        let running: Vec<(String, u64)> =
            self.0.iter().filter_map(|(id, call)| Some((call.line(*id), call.since?))).collect();
        let since = running.iter().map(|(_, since)| *since).min()?;
        let what = match running.as_slice() {
            [(line, _)] => format!("running {line}"),
            several => {
                let lines: Vec<&str> = several.iter().map(|(line, _)| line.as_str()).collect();
                format!("running {} calls: {}", lines.len(), lines.join(", "))
            }
        };
        Some((what, since))
    }
}

impl Call {
    fn line(&self, id: CallId) -> String {
        self.shown.as_ref().map_or_else(|| format!("call {id}"), |shown| shown.line().to_owned())
    }
}

/// A line of what an edit changed, in its colour.
fn changed_line(changed: &str, look: Look) -> Line {
    let style = match changed.as_bytes().first() {
        Some(b'+') => Style::ADDED,
        Some(b'-') => Style::ALARM,
        Some(_) | None => Style::DIM,
    };
    Line::of(style, &format!("  {changed}")).clipped(look.columns(), look.glyphs.dots())
}

/// `• read_file a.txt  12 ms`. What is too long for the row is left out of the arguments; what
/// a failed call says stands below it where there is no room beside it.
fn lines(shown: &str, finished: &CallFinished, look: Look) -> Vec<Line> {
    let (well, ill) = look.glyphs.call();
    let problem = problem_of(finished);
    let (mark, style) = if problem.is_some() { (ill, Style::ALARM) } else { (well, Style::PLAIN) };
    let again = if finished.answered_from.is_some() { ", as before" } else { "" };
    let time = call_took(finished).map(|took| format!("  {took}{again}")).unwrap_or_default();
    let time = Span::new(Style::DIM, &time);
    let word = Span::new(Style::ALARM, &problem.as_ref().map(|(word, _)| format!(", {word}")).unwrap_or_default());
    let detail = problem.map(|(_, detail)| detail).unwrap_or_default();

    let room = look.columns().saturating_sub(text_width(&time.text) + text_width(&word.text) + 2);
    let mut line = Line::of(Style::PLAIN, shown).clipped(room, look.glyphs.dots());
    line.spans.insert(0, Span::new(style, &format!("{mark} ")));
    line.spans.extend([time, word]);
    if detail.is_empty() {
        return vec![line];
    }
    let beside = Span::new(Style::PLAIN, &format!(": {detail}"));
    if line.width() + text_width(&beside.text) <= look.columns() {
        line.spans.push(beside);
        return vec![line];
    }
    let below = Line::of(Style::PLAIN, &format!("  {detail}")).clipped(look.columns(), look.glyphs.dots());
    vec![line, below]
}
