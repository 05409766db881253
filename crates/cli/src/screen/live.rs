//! The bottom of the terminal. What is final is written once and scrolls away; below it stands a
//! live region that is written over.
//!
//! Between two writes the cursor stands at the end of the live region, or on an empty line where
//! there is none. Rows that have not changed are not written again.

use std::io::{self, Write};

use super::look::Look;
use super::style::{Fit, Line};
use super::wrap::fold_at;

/// Rows never wrap: one that the terminal finds wider than we do would shift all others.
const NO_WRAP: &str = "\u{1b}[?7l";
const WRAP: &str = "\u{1b}[?7h";
const ERASE_BELOW: &str = "\r\u{1b}[J";

/// A row of the live region as it stands on the screen.
#[derive(Debug)]
struct Row {
    painted: String,
    width: usize,
}

#[derive(Debug)]
pub(super) struct Live<W: Write> {
    out: W,
    look: Look,
    rows: Vec<Row>,
    /// Rows the region takes; more than `rows` knows of after the terminal wrapped them.
    taken: usize,
}

impl<W: Write> Live<W> {
    pub(super) fn new(out: W, look: Look) -> Self {
        Self { out, look, rows: Vec::new(), taken: 0 }
    }

    pub(super) fn out(&mut self) -> &mut W {
        &mut self.out
    }

    pub(super) fn look(&self) -> Look {
        self.look
    }

    /// The terminal has another size now, and most have wrapped what stood there anew.
    pub(super) fn resize(&mut self, width: usize, height: usize) {
        if self.taken > 0 && width != self.look.width {
            self.taken = self.rows.iter().map(|row| row.width.div_ceil(width.max(1)).max(1)).sum();
        }
        (self.look.width, self.look.height) = (width, height);
    }

    /// Writes what is final above the live region, and the region as it is now.
    pub(super) fn show(&mut self, done: &[Line], live: &[Line]) -> io::Result<()> {
        let done: Vec<Row> = done.iter().map(|line| self.row(line)).collect();
        let live = self.live_rows(live);
        let same = self.unchanged(&done, &live);
        if same == self.rows.len() && done.is_empty() && live.len() == same && self.taken == same {
            return Ok(());
        }
        // The cursor stands on the last row, before and after: at least that one is written again.
        let last = if live.is_empty() { done.len() } else { done.len() + live.len() - 1 };
        let same = same.min(self.taken.saturating_sub(1)).min(last);
        let mut bytes = up(self.taken.saturating_sub(1 + same));
        bytes.push_str(ERASE_BELOW);
        for row in done.iter().skip(same) {
            bytes.push_str(&row.painted);
            bytes.push_str("\r\n");
        }
        let above = same.saturating_sub(done.len());
        if live.len() > above {
            let rows: Vec<&str> = live.iter().skip(above).map(|row| row.painted.as_str()).collect();
            bytes.push_str(NO_WRAP);
            bytes.push_str(&rows.join("\r\n"));
            bytes.push_str(WRAP);
        }
        self.taken = live.len();
        self.rows = live;
        self.write(&bytes)
    }

    /// How many rows at the top of the region already say what shall be there.
    fn unchanged(&self, done: &[Row], live: &[Row]) -> usize {
        if self.rows.len() != self.taken {
            return 0;
        }
        let wanted = done.iter().chain(live);
        self.rows.iter().zip(wanted).take_while(|(old, new)| old.painted == new.painted && sure(&new.painted)).count()
    }

    /// The end of what fits, long lines broken.
    fn live_rows(&self, lines: &[Line]) -> Vec<Row> {
        let mut rows = Vec::new();
        for line in lines {
            match line.fit {
                Fit::Row => rows.push(self.row(line)),
                Fit::Whole => {
                    let folded = fold_at(&line.spans, self.look.columns());
                    rows.extend(folded.into_iter().map(|spans| self.row(&Line { spans, fit: Fit::Row })));
                }
            }
        }
        let hidden = rows.len().saturating_sub(self.look.live_rows());
        rows.drain(..hidden);
        rows
    }

    fn row(&self, line: &Line) -> Row {
        let mut painted = String::new();
        line.paint(self.look.colour, &mut painted);
        Row { painted, width: line.width() }
    }

    fn write(&mut self, bytes: &str) -> io::Result<()> {
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }
}

fn up(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\u{1b}[{rows}A") }
}

/// Whether terminals agree on how wide it is: a row that one of them may have clipped is not taken
/// for a finished one.
fn sure(painted: &str) -> bool {
    !painted.contains(['\u{200d}', '\u{fe0f}'])
}
