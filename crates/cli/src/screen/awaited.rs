//! The wait status, displayed with its duration in the live region at the bottom.

use windlass_narrate::{Activity, duration};

use super::calls::RunningCalls;
use super::look::TerminalLook;
use super::style::{Style, StyledLine, text_width};

/// What the run is waiting for.
#[derive(Debug, Default)]
pub(super) enum WaitStatus {
    #[default]
    Nothing,
    /// The first token of a model's reply.
    Model { since: u64 },
    /// The model's thinking is being received.
    Thinking { since: u64 },
    /// The model's answer is being received.
    Answering { since: u64 },
    /// The arguments of a call are being received.
    Writing { tool: String, bytes: usize, since: u64 },
    /// Running calls.
    Calls,
    /// Servers that are connecting, described in words.
    Servers { what: String, since: u64 },
    /// The start of the next attempt.
    Retry { until: u64, why: String },
    /// A person's answer.
    Person { since: u64 },
    /// The end of a run that is being stopped.
    Stop { since: u64, what: String },
}

impl WaitStatus {
    /// Returns the live lines: the wait status, and for a running call the last line of its output.
    pub(super) fn lines(&self, calls: &RunningCalls, now: u64, look: TerminalLook) -> Vec<StyledLine> {
        let words = if matches!(self, Self::Calls) { calls.last_words(look) } else { None };
        self.line(calls, now, look).into_iter().chain(words).collect()
    }

    fn line(&self, calls: &RunningCalls, now: u64, look: TerminalLook) -> Option<StyledLine> {
        let (what, since) = match self {
            Self::Nothing => return None,
            Self::Model { since } => (Activity::Model.to_string(), *since),
            Self::Thinking { since } => (Activity::Thinking.to_string(), *since),
            Self::Answering { since } => (Activity::Answering.to_string(), *since),
            Self::Writing { tool, bytes, since } => (Activity::Writing { tool, bytes: *bytes }.to_string(), *since),
            Self::Calls => calls.running()?,
            Self::Servers { what, since } => (what.clone(), *since),
            Self::Retry { until, why } if *until > now => {
                let left_ms = (until - now).div_ceil(1_000) * 1_000;
                return Some(line(&Activity::Retry { left_ms, why }.to_string(), None, now, look));
            }
            Self::Retry { until, .. } => (Activity::Model.to_string(), *until),
            Self::Person { since } => (Activity::Person.to_string(), *since),
            Self::Stop { since, what } => (what.clone(), *since),
        };
        Some(line(&what, Some(now.saturating_sub(since)), now, look))
    }
}

/// `⠋ what … 3 s`; a text too long for the row is shortened, the time is not.
fn line(what: &str, waited: Option<u64>, now: u64, look: TerminalLook) -> StyledLine {
    let line = StyledLine::of(Style::DIM, &format!("{} {what}", look.glyphs.spinner(now)));
    let Some(ms) = waited.filter(|ms| *ms >= 1_000) else { return line.clipped(look.columns(), look.glyphs.dots()) };
    let time = duration(ms / 1_000 * 1_000);
    let room = look.columns().saturating_sub(text_width(&time) + 1);
    let dots = format!(" {}", look.glyphs.dots());
    let line = if line.width() + text_width(&dots) <= room {
        line.followed_by(Style::DIM, &dots)
    } else {
        line.clipped(room, look.glyphs.dots())
    };
    line.followed_by(Style::DIM, &format!(" {time}"))
}
