//! What a chat shows: events in, a terminal's bytes out.
//!
//! The protocol: give [`Screen::event`] every event of a session and [`Screen::tick`] the time, some
//! ten times a second while a run is open; call [`Screen::pause`] before anybody else writes to the
//! terminal. What the terminal is like comes in as a [`Look`], the time in milliseconds of any clock:
//! nothing here reads a clock, the environment or the terminal.
//!
//! ```text
//!  …finished blocks, a line per call       written once, then scrolled away
//!  the block that is still growing      ┐
//!  ⠋ answering … 3 s                    │  the live region: written over
//!  › what is being typed                ┘
//! ```
//!
//! Invariants: nothing from outside reaches the terminal as a control sequence; what is finished is
//! never written again; the work is linear in what is shown, with at most one repaint in
//! [`REPAINT_MS`]. With [`Motion::Still`] there is no live region: finished lines are appended.

mod answer;
mod awaited;
mod blocks;
mod calls;
mod live;
mod look;
mod markdown;
mod marks;
mod record;
mod reply;
mod style;
mod table;
#[cfg(test)]
mod tests;
mod wrap;

use std::io::{self, Write};

use windlass_vocab::{Delta, DeltaBody, Event, RunEnded};

use self::answer::{Answer, Shown};
use self::awaited::Awaited;
use self::calls::Calls;
use self::live::Live;
use self::look::SPINNER_MS;
use self::reply::{AttemptKey, Reply, Thought, key_of};
use self::style::{Line, Span, Style, text_width};
use self::wrap::wrap;
use crate::output::wording::{self, took};
use crate::output::{harmless_line, harmless_lines};

pub use self::look::{Colour, Fold, Glyphs, Look, Motion};

/// Between two repaints at least this long passes, however fast text comes.
pub const REPAINT_MS: u64 = 33;

/// What stands right above, as far as it decides on blank lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Above {
    /// Nothing, or something of others.
    Others,
    /// A line of ours.
    Line,
    /// Text of the model.
    Text,
}

/// Whether a run is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    None,
    Open,
}

/// A terminal that shows a session.
#[derive(Debug)]
pub struct Screen<W: Write> {
    live: Live<W>,
    fold: Fold,
    run: Run,
    awaited: Awaited,
    calls: Calls,
    reply: Option<Reply>,
    /// The last attempt that is over: what still comes of it is not shown.
    over: Option<AttemptKey>,
    /// The text of the run's replies, to know whether its answer was shown.
    said: String,
    /// Final lines that are not written yet.
    done: Vec<Line>,
    above: Above,
    typed: Option<String>,
    now: u64,
    painted: Option<u64>,
}

impl<W: Write> Screen<W> {
    /// A screen on a terminal that looks like this. Its cursor stands at the beginning of a line.
    pub fn new(out: W, look: Look) -> Self {
        Self {
            live: Live::new(out, look),
            fold: Fold::Folded,
            run: Run::None,
            awaited: Awaited::Nothing,
            calls: Calls::default(),
            reply: None,
            over: None,
            said: String::new(),
            done: Vec::new(),
            above: Above::Others,
            typed: None,
            now: 0,
            painted: None,
        }
    }

    /// The terminal has another size. Seen at the next event or tick.
    pub fn resize(&mut self, width: usize, height: usize) {
        self.live.resize(width, height);
    }

    /// Shows an event, or takes it in until the next repaint is due.
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
                    // What is void must not be read a moment longer.
                    DeltaBody::Cleared {} => self.paint(),
                    DeltaBody::TextDelta { .. } | DeltaBody::ThinkingDelta { .. } | DeltaBody::CallDelta { .. } => {
                        self.paint_if_due(REPAINT_MS)
                    }
                }
            }
        }
    }

    /// Shows how much time has passed, and what was taken in and not yet shown.
    pub fn tick(&mut self, now_ms: u64) -> io::Result<()> {
        self.now = now_ms;
        self.paint_if_due(REPAINT_MS.min(SPINNER_MS))
    }

    /// Takes the live region away, so that others may write. The block that was growing stays as text
    /// and goes on below what they write. The next event or tick brings the region back.
    pub fn pause(&mut self) -> io::Result<()> {
        if self.look().motion == Motion::Repaint {
            self.cut_reply();
            let done = std::mem::take(&mut self.done);
            self.live.show(&done, &[])?;
            self.above = Above::Others;
            self.painted = None;
        }
        Ok(())
    }

    /// Shows a line of ours.
    pub fn notice(&mut self, text: &str) -> io::Result<()> {
        self.say(Style::DIM, text);
        self.paint()
    }

    /// Shows how a run ended: the answer, if it was not shown yet, and why there is none.
    pub fn ended(&mut self, ended: &RunEnded) -> io::Result<()> {
        self.close_run();
        if let Some(answer) = wording::answer(ended).map(str::trim).filter(|answer| !answer.is_empty())
            && !self.said.trim_end().ends_with(answer)
        {
            self.put_whole(answer);
            self.said.push_str(answer);
        }
        if let Some(why) = wording::explanation(ended) {
            self.say(end_style(ended), &why);
        }
        self.paint()
    }

    /// How thinking is shown from now on.
    pub fn fold(&mut self, thinking: Fold) {
        self.fold = thinking;
    }

    /// What a person is typing during a run, as the last line of the live region; `None` for nobody.
    pub fn typed(&mut self, line: Option<&str>) -> io::Result<()> {
        self.typed = line.map(harmless_line);
        self.paint()
    }

    /// Where it writes to. Call [`Screen::pause`] first.
    pub fn out(&mut self) -> &mut W {
        self.live.out()
    }

    fn look(&self) -> Look {
        self.live.look()
    }

    fn paint_if_due(&mut self, interval: u64) -> io::Result<()> {
        let due = self.painted.is_none_or(|painted| self.now.abs_diff(painted) >= interval);
        // Where nothing is written over there is nothing to save.
        if due || self.look().motion == Motion::Still { self.paint() } else { Ok(()) }
    }

    fn paint(&mut self) -> io::Result<()> {
        self.painted = Some(self.now);
        let live = match self.look().motion {
            Motion::Still => Vec::new(),
            Motion::Repaint => self.live_lines(),
        };
        let done = std::mem::take(&mut self.done);
        self.live.show(&done, &live)
    }

    fn delta(&mut self, delta: &Delta) {
        let key = key_of(delta);
        match &delta.body {
            DeltaBody::CallDelta { call, name, text } => {
                if !self.calls.said(*call, text) && self.over.is_none_or(|over| over < key) {
                    self.end_thought();
                    self.call_written(name.as_deref(), text.len());
                }
            }
            _ if self.over.is_some_and(|over| key <= over) => {}
            DeltaBody::TextDelta { text } => {
                self.turn_to(key);
                if let Some(reply) = &mut self.reply {
                    let fresh = reply.fresh(delta.offset, text);
                    self.add_text(fresh);
                }
            }
            DeltaBody::ThinkingDelta { text } => {
                self.turn_to(key);
                self.add_thinking(text);
            }
            DeltaBody::Cleared {} => self.withdraw(key),
        }
    }

    /// Makes this attempt the one that is shown.
    fn turn_to(&mut self, key: AttemptKey) {
        if let Some(old) = self.reply.as_ref().map(|reply| reply.key).filter(|old| *old != key) {
            self.withdraw(old);
        }
        self.reply.get_or_insert_with(|| Reply::new(key));
    }

    fn add_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.end_thought();
        if !matches!(self.awaited, Awaited::Answering { .. }) {
            self.awaited = Awaited::Answering { since: self.now };
        }
        let look = self.look();
        if let Some(reply) = &mut self.reply {
            let shown = reply.answer.shown();
            let lines = reply.answer.push(text, look);
            self.put_text(shown, lines);
        }
    }

    fn add_thinking(&mut self, text: &str) {
        let (now, look) = (self.now, self.look());
        if self.reply.as_ref().is_some_and(|reply| reply.thought.is_none()) {
            self.cut_reply();
            self.awaited = Awaited::Thinking { since: now };
        }
        let Some(reply) = &mut self.reply else { return };
        let thought = reply.thought.get_or_insert_with(|| Thought::new(now));
        thought.push(text);
        if self.fold == Fold::Open {
            let lines = thought.whole_lines(look);
            lines.into_iter().for_each(|line| self.put_line(line));
        }
    }

    /// One line stays of a thought.
    fn end_thought(&mut self) {
        let (now, look) = (self.now, self.look());
        let Some(thought) = self.reply.as_mut().and_then(|reply| reply.thought.take()) else { return };
        if self.fold == Fold::Open {
            thought.tail(look).into_iter().for_each(|line| self.put_line(line));
        }
        let line = format!("thought for {}", took(now.saturating_sub(thought.since)));
        self.put_line(Line::of(Style::DIM, &line));
    }

    fn call_written(&mut self, name: Option<&str>, more: usize) {
        match (&mut self.awaited, name) {
            (Awaited::Writing { bytes, .. }, None) => *bytes += more,
            (_, name) => {
                let tool = harmless_line(name.unwrap_or("a tool"));
                self.awaited = Awaited::Writing { tool, bytes: more, since: self.now };
            }
        }
    }

    /// Drops what an attempt has shown; what can't be taken back is said to be void.
    fn withdraw(&mut self, key: AttemptKey) {
        let Some(reply) = self.reply.take_if(|reply| reply.key <= key) else { return };
        self.over = Some(reply.key);
        if reply.answer.shown() == Shown::Something {
            let up = if self.look().glyphs == Glyphs::Unicode { "↑ " } else { "" };
            self.say(Style::DIM, &format!("{up}withdrawn: this reply broke off and is begun again"));
        }
        self.awaited = Awaited::Model { since: self.now };
    }

    /// Whatever was unfinished of the run is not any more.
    fn close_run(&mut self) {
        self.finish_reply();
        self.calls.clear();
        self.awaited = Awaited::Nothing;
        self.run = Run::None;
    }

    /// The reply is whole as it stands.
    fn finish_reply(&mut self) {
        self.end_thought();
        let look = self.look();
        if let Some(reply) = self.reply.take() {
            self.over = Some(reply.key);
            let shown = reply.answer.shown();
            self.put_text(shown, reply.answer.finish(look));
        }
    }

    fn cut_reply(&mut self) {
        let look = self.look();
        if let Some(reply) = &mut self.reply {
            let shown = reply.answer.shown();
            let lines = reply.answer.cut(look);
            self.put_text(shown, lines);
        }
    }

    /// Text that comes all at once.
    fn put_whole(&mut self, text: &str) {
        let look = self.look();
        let mut answer = Answer::default();
        let lines = answer.push(text, look);
        self.put_text(Shown::Nothing, lines);
        let shown = answer.shown();
        self.put_text(shown, answer.finish(look));
    }

    fn put_text(&mut self, shown: Shown, lines: Vec<Line>) {
        if !lines.is_empty() {
            self.done.extend(self.lead(shown, &lines));
            self.done.extend(lines);
            self.above = Above::Text;
        }
    }

    /// A line of ours, set off from text above it.
    fn put_line(&mut self, line: Line) {
        if self.above == Above::Text {
            self.done.push(Line::default());
        }
        self.done.push(line);
        self.above = Above::Line;
    }

    /// Words of ours, as many lines as they need.
    fn say(&mut self, style: Style, text: &str) {
        let width = self.look().columns();
        for line in harmless_lines(text).lines() {
            for spans in wrap(&[Span::new(style, line)], width) {
                self.put_line(Line { spans, ..Line::default() });
            }
        }
    }

    /// The blank line between text and what stands above it.
    fn lead(&self, shown: Shown, lines: &[Line]) -> Option<Line> {
        let apart = match (self.above, shown) {
            (Above::Line, _) | (Above::Text, Shown::Nothing) => true,
            (Above::Text, Shown::Something) => false,
            // A prompt stands there, or nothing; files don't begin with a blank line.
            (Above::Others, _) => self.look().motion == Motion::Repaint,
        };
        let already = lines.first().is_none_or(|line| line.spans.is_empty());
        (apart && !already).then(Line::default)
    }

    fn live_lines(&self) -> Vec<Line> {
        let look = self.look();
        let mut lines = Vec::new();
        if let Some(reply) = &self.reply {
            let tail = reply.answer.tail(look);
            lines.extend(self.lead(reply.answer.shown(), &tail));
            lines.extend(tail);
            if let Some(thought) = reply.thought.as_ref().filter(|_| self.fold == Fold::Open) {
                lines.extend(thought.tail(look));
            }
        }
        if let Some(awaited) = self.awaited.line(&self.calls, self.now, look) {
            if !lines.is_empty() || self.above == Above::Text {
                lines.push(Line::default());
            }
            lines.push(awaited);
        }
        lines.extend(self.typed.as_deref().map(|typed| typed_line(typed, look)));
        lines
    }
}

/// The end of what is being typed: that is where the cursor is.
fn typed_line(typed: &str, look: Look) -> Line {
    let mark = if look.glyphs == Glyphs::Unicode { "› " } else { "> " };
    let mut start = 0;
    let room = look.columns().saturating_sub(3);
    let mut width = text_width(typed);
    for (at, c) in typed.char_indices() {
        if width <= room {
            break;
        }
        width -= style::char_width(c);
        start = at + c.len_utf8();
    }
    Line { spans: vec![Span::new(Style::BOLD, mark), Span::new(Style::PLAIN, &typed[start..])], ..Line::default() }
}

fn end_style(ended: &RunEnded) -> Style {
    use windlass_vocab::EndReason;
    match ended.reason {
        EndReason::Failed | EndReason::TurnCap | EndReason::BudgetSpent => Style::ALARM,
        EndReason::Completed | EndReason::Asked | EndReason::Conversed => Style::PLAIN,
        EndReason::Unfinished | EndReason::Cancelled => Style::DIM,
    }
}
