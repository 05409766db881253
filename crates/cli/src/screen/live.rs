//! The bottom of the terminal. What is final is written once and scrolls away; below it stands a
//! live region that is written over.
//!
//! Between two writes the cursor stands in the last row of the live region, or on an empty line where
//! there is none. Rows that have not changed are not written again.
//!
//! A terminal may change its size at any time, long before we hear of it, and most then wrap anew what
//! they show. So the region is found by one fact alone: every row was written as a line of its own, and
//! however a terminal wraps it, it takes at least one row. To go up by one row less than were written
//! never leaves the region; what stands above it is never erased. If a narrower terminal has wrapped
//! some rows, the first of them stay behind: too much text is better than too little.
//!
//! The size may also change between any two bytes of one write. So a line is left from its end, never from
//! its beginning: see [`NEXT_LINE`].

use std::io::{self, Write};

use super::look::TerminalLook;
use super::style::{LineFit, StyledLine};
use super::wrap::fold_at;

/// Rows never wrap: one that the terminal finds wider than we do would shift all others.
const NO_WRAP: &str = "\u{1b}[?7l";
const WRAP: &str = "\u{1b}[?7h";
/// Goes to the beginning of the next line, and makes it if need be: down first, by a vertical tab. A carriage
/// return first (and a line feed alone is made one with it on its way) would let the cursor stand at the beginning
/// of a written line; a terminal that just then becomes narrower and wraps that line has the end of it below the
/// cursor, where a line feed leads and the next line is written over it.
pub(crate) const NEXT_LINE: &str = "\u{b}\r";
const ERASE_BELOW: &str = "\r\u{1b}[J";

/// A row of the live region as it stands on the screen.
#[derive(Debug)]
struct LiveRow {
    painted: String,
    width: usize,
}

/// What a new size means for the rows of the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowsAfterResize {
    /// Each takes one row as before.
    Unwrapped,
    /// Some are wider than the terminal now: it may have wrapped them.
    Wrapped,
}

#[derive(Debug)]
pub(super) struct LiveRegion<W: Write> {
    out: W,
    look: TerminalLook,
    rows: Vec<LiveRow>,
    /// Whether the rows stand as they were written.
    intact: RowsIntact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowsIntact {
    Yes,
    /// The terminal had another size since.
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

    /// The terminal has another size now.
    pub(super) fn resize(&mut self, width: usize, height: usize) -> RowsAfterResize {
        (self.look.width, self.look.height) = (width, height);
        self.intact = RowsIntact::Unknown;
        let wraps = self.rows.iter().any(|row| row.width > width);
        if wraps { RowsAfterResize::Wrapped } else { RowsAfterResize::Unwrapped }
    }

    /// Writes what is final above the live region, and the region as it is now. What is final is written
    /// though it stood in the region already: a terminal that is narrower than we know has cut it off there.
    pub(super) fn show(&mut self, done: &[StyledLine], live: &[StyledLine]) -> io::Result<()> {
        let done: Vec<LiveRow> = done.iter().map(|line| self.row(line)).collect();
        let live = self.live_rows(live);
        let same = if done.is_empty() { self.unchanged(&live) } else { 0 };
        if done.is_empty() && live.len() == same && self.rows.len() == same && self.intact == RowsIntact::Yes {
            return Ok(());
        }
        // The cursor stands in the last row, before and after: at least that one is written again.
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

    /// How many rows at the top of the region already say what shall be there.
    fn unchanged(&self, live: &[LiveRow]) -> usize {
        match self.intact {
            RowsIntact::Unknown => 0,
            RowsIntact::Yes => self.rows.iter().zip(live).take_while(|(old, new)| old.painted == new.painted).count(),
        }
    }

    /// The end of what fits, long lines broken.
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
