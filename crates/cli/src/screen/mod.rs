//! The chat's display: session events in, terminal bytes out.
//!
//! The protocol: pass every event of a session to [`Screen::event`], and the time to [`Screen::tick`] about ten times
//! a second while a run is open; call [`Screen::pause`] before any other code writes to the terminal. The caller
//! provides the terminal's capabilities as a [`TerminalLook`] and the time in milliseconds of any clock: nothing here
//! reads a clock, the environment or the terminal.
//!
//! ```text
//!  …finished blocks, a line per call       written once, then scrolled away
//!  the block that is still growing      ┐
//!  ⠋ answering … 3 s                    ┘  the live region: written over
//! ```
//!
//! Invariants: no untrusted text reaches the terminal as a control sequence; final lines are never written again; the
//! work is linear in the displayed text, with at most one repaint in [`REPAINT_MS`].

mod answer;
mod awaited;
mod blocks;
mod calls;
mod code;
mod delta;
mod diff;
mod live;
mod look;
mod markdown;
mod marks;
mod narrated_line;
mod record;
mod reply;
mod style;
mod table;
#[cfg(test)]
mod tests;
mod wrap;

use std::io::{self, Write};

use windlass_narrate::{
    Detail, Narrator, RunEndWords, Tone, answer_of, changed_unasked, changes_line, claims_too_much,
};
use windlass_vocab::{DeltaBody, Event, Record, RunEnded};

use self::answer::{DisplayedAnswer, StreamedAnswer};
use self::awaited::WaitStatus;
use self::calls::RunningCalls;
use self::live::{LiveRegion, RowsAfterResize};
use self::narrated_line::style_of;
use self::reply::{ReplyKey, StreamedReply};
use self::style::{Span, Style, StyledLine};
use self::wrap::wrap;
use crate::output::{advice, harmless_lines};

pub(crate) use self::answer::rendered_answer;
pub(crate) use self::diff::painted;
pub(crate) use self::live::NEXT_LINE;
pub use self::look::{Colour, Glyphs, TerminalLook, ThinkingFold};
pub(crate) use self::style::text_width;
pub(crate) use self::wrap::wrapped_lines;

/// Shortest time between two repaints, however fast text arrives.
pub const REPAINT_MS: u64 = 33;

/// How long a window that became narrower must keep its size before it is repainted.
const SETTLING_MS: u64 = 200;

/// What is right above the next line, as far as it determines blank lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineAbove {
    /// Nothing, or output of other code.
    Others,
    /// A line of the program.
    Line,
    /// Text of the model.
    Text,
}

/// Whether a run is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScreenRun {
    None,
    Open,
}

/// The display of a session on a terminal.
#[derive(Debug)]
pub struct Screen<W: Write> {
    live: LiveRegion<W>,
    narrator: Narrator,
    fold: ThinkingFold,
    run: ScreenRun,
    awaited: WaitStatus,
    calls: RunningCalls,
    reply: Option<StreamedReply>,
    /// The last attempt that has ended: late deltas of it are ignored.
    over: Option<ReplyKey>,
    /// The text of the run's replies; tells whether its answer was already displayed.
    replied_text: String,
    /// Final lines that are not written yet.
    done: Vec<StyledLine>,
    above: LineAbove,
    now: u64,
    painted: Option<u64>,
    /// Nothing is painted before this time: the window may still be changing its size.
    settles_at: u64,
}

impl<W: Write> Screen<W> {
    /// Creates a screen for a terminal with these capabilities. The cursor must be at the beginning of a line.
    pub fn new(out: W, look: TerminalLook) -> Self {
        Self {
            live: LiveRegion::new(out, look),
            narrator: Narrator::new(Detail::Brief),
            fold: ThinkingFold::Folded,
            run: ScreenRun::None,
            awaited: WaitStatus::Nothing,
            calls: RunningCalls::default(),
            reply: None,
            over: None,
            replied_text: String::new(),
            done: Vec::new(),
            above: LineAbove::Others,
            now: 0,
            painted: None,
            settles_at: 0,
        }
    }

    /// Applies a new terminal size. The repaint comes with a later event or tick: while a window is dragged narrower
    /// each repaint may leave rows behind, so there is only one, at the end.
    pub fn resize(&mut self, width: usize, height: usize) {
        if self.live.resize(width, height) == RowsAfterResize::Wrapped {
            self.settles_at = self.now + SETTLING_MS;
        }
    }

    /// Shows an event, or buffers it until the next repaint is due.
    pub fn event(&mut self, event: &Event, now_ms: u64) -> io::Result<()> {
        self.now = now_ms;
        match event {
            Event::Record(envelope) => {
                self.record(envelope);
                self.paint()
            }
            Event::Delta(delta) => {
                self.delta(delta);
                match delta.body {
                    // Void text must disappear at once.
                    DeltaBody::Cleared {} => self.paint(),
                    DeltaBody::TextDelta { .. }
                    | DeltaBody::ThinkingStarted {}
                    | DeltaBody::ThinkingEnded {}
                    | DeltaBody::ThinkingDelta { .. }
                    | DeltaBody::CallDelta { .. }
                    | DeltaBody::Waiting { .. }
                    | DeltaBody::SourceLeftOut { .. } => self.paint_if_due(),
                }
            }
        }
    }

    /// Updates the elapsed time and shows buffered events.
    pub fn tick(&mut self, now_ms: u64) -> io::Result<()> {
        self.now = now_ms;
        self.paint_if_due()
    }

    /// Registers a record from before the first event of a resumed run: a requested call, or a question about it. Call
    /// it after the event that resumes the run.
    pub fn recall(&mut self, record: &Record) {
        self.narrator.recall(record);
        if let Record::CallRequested(call) = record {
            self.calls.requested(call.call, self.narrator.call_name(call.call));
        }
    }

    /// Removes the live region, so that other code may write. A growing paragraph becomes final text and continues
    /// below that output; a block that can't be split (an item, a table) is shown whole below it. The next event or
    /// tick restores the region.
    pub fn pause(&mut self) -> io::Result<()> {
        self.cut_reply();
        let done = std::mem::take(&mut self.done);
        self.live.show(&done, &[])?;
        self.above = LineAbove::Others;
        self.painted = None;
        Ok(())
    }

    /// Shows a line of the program.
    pub fn notice(&mut self, text: &str) -> io::Result<()> {
        self.put_styled(Style::DIM, text);
        self.paint()
    }

    /// Shows how a run ended: the answer, unless it is already displayed, and the reason if there is none.
    pub fn ended(&mut self, ended: &RunEnded) -> io::Result<()> {
        self.close_run();
        let answer = ended.answer.trim();
        let shown = self.replied_text.trim_end().ends_with(answer);
        if answer_of(ended).is_some() && !shown {
            self.put_whole(answer);
            self.replied_text.push_str(answer);
        }
        if let Some(mut words) = RunEndWords::of(ended) {
            // The stopped reply is displayed right above, as far as it was received.
            if shown && ended.failure.is_none() {
                words.detail = "";
            }
            self.put_styled(style_of(words.tone), &advice::end_words(&words, ended));
            if words.tone == Tone::Failure {
                self.put_styled(Style::DIM, advice::RETRY_IN_CHAT);
            }
        }
        if let Some(line) = changes_line(ended) {
            let style = if claims_too_much(ended) || changed_unasked(ended) { Style::PLAIN } else { Style::DIM };
            self.put_styled(style, &line);
        }
        self.paint()
    }

    /// Sets how thinking is displayed.
    pub fn fold(&mut self, thinking: ThinkingFold) {
        self.fold = thinking;
    }

    /// Returns the writer. Call [`Screen::pause`] first.
    pub fn out(&mut self) -> &mut W {
        self.live.out()
    }

    fn look(&self) -> TerminalLook {
        self.live.look()
    }

    fn paint_if_due(&mut self) -> io::Result<()> {
        let due = self.painted.is_none_or(|painted| self.now.abs_diff(painted) >= REPAINT_MS);
        if due { self.paint() } else { Ok(()) }
    }

    fn paint(&mut self) -> io::Result<()> {
        if self.now < self.settles_at {
            return Ok(());
        }
        self.painted = Some(self.now);
        let live = self.live_lines();
        let done = std::mem::take(&mut self.done);
        self.live.show(&done, &live)
    }

    /// Adds text that was not streamed.
    fn put_whole(&mut self, text: &str) {
        let look = self.look();
        let mut answer = StreamedAnswer::default();
        let lines = answer.push(text, look);
        self.put_text(DisplayedAnswer::Nothing, lines);
        let displayed = answer.displayed();
        self.put_text(displayed, answer.finish(look));
    }

    fn put_text(&mut self, displayed: DisplayedAnswer, lines: Vec<StyledLine>) {
        if !lines.is_empty() {
            self.done.extend(self.lead(displayed, &lines));
            self.done.extend(lines);
            self.above = LineAbove::Text;
        }
    }

    /// Adds a line of the program, with a blank line after text.
    fn put_line(&mut self, line: StyledLine) {
        if self.above == LineAbove::Text {
            self.done.push(StyledLine::default());
        }
        self.done.push(line);
        self.above = LineAbove::Line;
    }

    /// Adds a text of the program, wrapped.
    fn put_styled(&mut self, style: Style, text: &str) {
        let width = self.look().columns();
        for line in harmless_lines(text).lines() {
            for spans in wrap(&[Span::new(style, line)], width) {
                self.put_line(StyledLine { spans, ..StyledLine::default() });
            }
        }
    }

    /// Returns the blank line between text and the lines above it, if one is needed.
    fn lead(&self, displayed: DisplayedAnswer, lines: &[StyledLine]) -> Option<StyledLine> {
        let apart = match (self.above, displayed) {
            (LineAbove::Line | LineAbove::Others, _) | (LineAbove::Text, DisplayedAnswer::Nothing) => true,
            (LineAbove::Text, DisplayedAnswer::Something) => false,
        };
        let already = lines.first().is_none_or(|line| line.spans.is_empty());
        (apart && !already).then(StyledLine::default)
    }

    fn live_lines(&self) -> Vec<StyledLine> {
        let look = self.look();
        let mut lines = Vec::new();
        if let Some(reply) = &self.reply {
            let tail = reply.answer.tail(look);
            lines.extend(self.lead(reply.answer.displayed(), &tail));
            lines.extend(tail);
            if let Some(thought) = reply.thought.as_ref().filter(|_| self.fold == ThinkingFold::Open) {
                lines.extend(thought.tail(look));
            }
        }
        let awaited = self.awaited.lines(&self.calls, self.now, look);
        if !awaited.is_empty() && (!lines.is_empty() || self.above == LineAbove::Text) {
            lines.push(StyledLine::default());
        }
        lines.extend(awaited);
        lines
    }
}
