//! The bottom of the terminal. Final lines are written once and scroll away; below them is a live region that is
//! rewritten.
//!
//! Between two writes the cursor is in the last row of the live region, or on an empty line if there is no region.
//! Unchanged rows are not written again.
//!
//! A terminal may change its size at any time, long before the process learns of it, and most terminals then rewrap
//! their rows. So the position of the region is derived from one fact alone: every row was written as a line of its
//! own, and takes at least one row however the terminal wraps it. Moving up by one row less than were written
//! therefore never leaves the region, and no text above it is erased. If a narrower terminal has wrapped some rows,
//! the first ones stay behind: too much text is better than too little.
//!
//! The size may also change between any two bytes of one write. So the cursor leaves a line from its end, never from
//! its beginning: see [`NEXT_LINE`].

use std::io::{self, Write};

use super::look::TerminalLook;
use super::style::{LineFit, StyledLine};
use super::wrap::fold_at;

/// Disables wrapping: a row that the terminal considers wider than we do would shift all others.
const NO_WRAP: &str = "\u{1b}[?7l";
const WRAP: &str = "\u{1b}[?7h";
/// Moves to the beginning of the next line, scrolling if necessary: first down, by a vertical tab. If a carriage
/// return came first (the tty adds one to a plain line feed), the cursor would be at the beginning of a written line.
/// A terminal that becomes narrower at that moment wraps that line and has its end below the cursor, where the line
/// feed leads, and the next line would overwrite it.
pub(crate) const NEXT_LINE: &str = "\u{b}\r";
const ERASE_BELOW: &str = "\r\u{1b}[J";

/// A row of the live region on the screen.
#[derive(Debug)]
struct LiveRow {
    painted: String,
    width: usize,
}

/// The effect of a new size on the rows of the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowsAfterResize {
    /// Each takes one screen row as before.
    Unwrapped,
    /// Some are now wider than the terminal, which may have wrapped them.
    Wrapped,
}

#[derive(Debug)]
pub(super) struct LiveRegion<W: Write> {
    out: W,
    look: TerminalLook,
    rows: Vec<LiveRow>,
    /// Whether the rows are on the screen as they were written.
    intact: RowsIntact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowsIntact {
    Yes,
    /// The terminal was resized since.
    Unknown,
}

impl<W: Write> LiveRegion<W> {
    pub(super) fn new(out: W, look: TerminalLook) -> Self {
        Self { out, look, rows: Vec::new(), intact: RowsIntact::Yes }
    }

    pub(super) fn out(&mut self) -> &mut W {
        &mut self.out
    }

    pub(super) fn look(&self) -> TerminalLook {
        self.look
    }

    /// Applies a new terminal size.
    pub(super) fn resize(&mut self, width: usize, height: usize) -> RowsAfterResize {
        (self.look.width, self.look.height) = (width, height);
        self.intact = RowsIntact::Unknown;
        let wraps = self.rows.iter().any(|row| row.width > width);
        if wraps { RowsAfterResize::Wrapped } else { RowsAfterResize::Unwrapped }
    }

    /// Writes final lines above the live region, and the region's current rows. Final lines are written even if the
    /// region already contained them: a terminal that is narrower than we know has cut them off there.
    pub(super) fn show(&mut self, done: &[StyledLine], live: &[StyledLine]) -> io::Result<()> {
        let done: Vec<LiveRow> = done.iter().map(|line| self.row(line)).collect();
        let live = self.live_rows(live);
        let same = if done.is_empty() { self.unchanged(&live) } else { 0 };
        if done.is_empty() && live.len() == same && self.rows.len() == same && self.intact == RowsIntact::Yes {
            return Ok(());
        }
        // The cursor is in the last row, before and after: at least that row is written again.
        let same = same.min(self.rows.len().saturating_sub(1)).min(live.len().saturating_sub(1));
        let mut bytes = up(self.rows.len().saturating_sub(1 + same));
        bytes.push_str(ERASE_BELOW);
        for row in &done {
            bytes.push_str(&row.painted);
            bytes.push_str(NEXT_LINE);
        }
        if live.len() > same {
            let rows: Vec<&str> = live.iter().skip(same).map(|row| row.painted.as_str()).collect();
            bytes.push_str(NO_WRAP);
            bytes.push_str(&rows.join(NEXT_LINE));
            bytes.push_str(WRAP);
        }
        (self.rows, self.intact) = (live, RowsIntact::Yes);
        self.write(&bytes)
    }

    /// Returns how many rows at the top of the region are already correct.
    fn unchanged(&self, live: &[LiveRow]) -> usize {
        match self.intact {
            RowsIntact::Unknown => 0,
            RowsIntact::Yes => self.rows.iter().zip(live).take_while(|(old, new)| old.painted == new.painted).count(),
        }
    }

    /// Returns the last rows that fit; long lines are wrapped.
    fn live_rows(&self, lines: &[StyledLine]) -> Vec<LiveRow> {
        let mut rows = Vec::new();
        for line in lines {
            match line.fit {
                LineFit::Row => rows.push(self.row(line)),
                LineFit::Whole => {
                    let folded = fold_at(&line.spans, self.look.columns());
                    rows.extend(folded.into_iter().map(|spans| self.row(&StyledLine { spans, fit: LineFit::Row })));
                }
            }
        }
        let hidden = rows.len().saturating_sub(self.look.live_rows());
        rows.drain(..hidden);
        rows
    }

    fn row(&self, line: &StyledLine) -> LiveRow {
        let mut painted = String::new();
        line.paint(self.look.colour, &mut painted);
        LiveRow { painted, width: line.width() }
    }

    fn write(&mut self, bytes: &str) -> io::Result<()> {
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }
}

fn up(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\u{1b}[{rows}A") }
}
