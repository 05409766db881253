//! A stand-in for the screen, to be replaced: words as they come, one line per call.

use std::io::{self, Write};

use windlass_vocab::{DeltaBody, EndReason, Event, Record, RunEnded};

use crate::output::{harmless_line, harmless_lines, short_line};

/// Whether colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// None.
    None,
    /// By escape codes.
    Ansi,
}

/// Whether anything is painted twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Nothing is.
    Still,
    /// The last lines are.
    Repaint,
}

/// Which signs may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    /// Those of ASCII.
    Ascii,
    /// All.
    Unicode,
}

/// Whether thinking is shown whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// One line.
    Folded,
    /// Whole.
    Open,
}

/// What the terminal can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Colours.
    pub colour: Colour,
    /// Repainting.
    pub motion: Motion,
    /// Signs.
    pub glyphs: Glyphs,
}

/// Shows a run.
#[derive(Debug)]
pub struct Screen<W: Write> {
    out: W,
    line: Line,
}

#[derive(Debug, PartialEq, Eq)]
enum Line {
    Fresh,
    Begun,
}

impl<W: Write> Screen<W> {
    /// Shows on `out`.
    pub fn new(out: W, _look: Look) -> Self {
        Self { out, line: Line::Fresh }
    }

    /// The terminal has another size.
    pub fn resize(&mut self, _width: usize, _height: usize) {}

    /// Shows an event.
    pub fn event(&mut self, event: &Event, _now_ms: u64) -> io::Result<()> {
        match event {
            Event::Delta(delta) => {
                if let DeltaBody::TextDelta { text } = &delta.body {
                    if self.line == Line::Fresh {
                        writeln!(self.out)?;
                    }
                    self.line = Line::Begun;
                    write!(self.out, "{}", harmless_lines(text))?;
                }
                Ok(())
            }
            Event::Record(envelope) => match &envelope.record {
                Record::ModelReplied(_) => self.pause(),
                Record::CallFinished(call) => {
                    self.notice(&format!("{:?}: {}", call.outcome, short_line(&call.text, 60)))
                }
                _ => Ok(()),
            },
        }
    }

    /// Time passed.
    pub fn tick(&mut self, _now_ms: u64) -> io::Result<()> {
        Ok(())
    }

    /// Leaves a clean line.
    pub fn pause(&mut self) -> io::Result<()> {
        if self.line == Line::Begun {
            self.line = Line::Fresh;
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// One line of ours.
    pub fn notice(&mut self, text: &str) -> io::Result<()> {
        self.pause()?;
        writeln!(self.out, "{}", harmless_line(text))
    }

    /// How the run ended.
    pub fn ended(&mut self, ended: &RunEnded) -> io::Result<()> {
        self.pause()?;
        match ended.reason {
            EndReason::Cancelled => self.notice("stopped"),
            EndReason::Failed => self.notice(&format!("failed: {}", ended.answer)),
            _ => Ok(()),
        }
    }

    /// Thinking shown whole or not.
    pub fn fold(&mut self, _fold: Fold) {}

    /// Where it writes to.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }
}
