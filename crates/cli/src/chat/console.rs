//! The terminal while a run works: the run's output, and below it the line that the person types. Each frame erases
//! the typed line, paints the run and writes the typed line again, all in one write, so that the two never tear each
//! other.

use std::io::{self, Write as _};

use super::typed::TypedLine;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::screen::{Colour, Glyphs, NEXT_LINE, Screen, TerminalLook, ThinkingFold, wrapped_lines};
use crate::streams::StandardStream;

/// Where the typed line is on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TypedLineRow {
    /// It is not shown.
    Away,
    /// On the empty line where the screen's output continues.
    Here,
    /// On a line of its own below the one where the screen's output continues.
    Below,
}

/// Whether the typed line is to be displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineVisibility {
    Hidden,
    Shown,
}

/// The terminal can't be read or written any more.
#[derive(Debug, thiserror::Error)]
#[error("the terminal can't be used: {0}")]
pub(crate) struct TerminalError(#[from] io::Error);

impl From<TerminalError> for CommandError {
    fn from(error: TerminalError) -> Self {
        Self::new(Exit::Failed, error.to_string())
    }
}

/// The screen and the line typed below it.
pub(crate) struct Console {
    pub(crate) typed: TypedLine,
    pub(crate) typing: LineVisibility,
    /// Displayed before the typed line.
    pub(crate) prompt: &'static str,
    screen: Screen<Vec<u8>>,
    look: TerminalLook,
    row: TypedLineRow,
    /// The last bytes written; they show whether the screen's output continues at the start of a line.
    tail: Vec<u8>,
    thinking: ThinkingFold,
}

impl Console {
    pub(crate) fn new(look: TerminalLook) -> Self {
        Self {
            typed: TypedLine::default(),
            typing: LineVisibility::Hidden,
            prompt: steering(look.glyphs),
            screen: Screen::new(Vec::new(), TerminalLook { height: above(look.height), ..look }),
            look,
            row: TypedLineRow::Away,
            tail: b"\n".to_vec(),
            thinking: ThinkingFold::Folded,
        }
    }

    pub(crate) fn look(&self) -> TerminalLook {
        self.look
    }

    /// Lets `paint` change the screen, then writes the screen and the typed line.
    pub(crate) fn show(
        &mut self,
        paint: impl FnOnce(&mut Screen<Vec<u8>>) -> io::Result<()>,
    ) -> Result<(), TerminalError> {
        write(&self.frame(paint)?)
    }

    /// Returns the bytes to write after `paint` has changed the screen.
    fn frame(&mut self, paint: impl FnOnce(&mut Screen<Vec<u8>>) -> io::Result<()>) -> io::Result<Vec<u8>> {
        let mut frame = Vec::new();
        paint(&mut self.screen)?;
        let painted = std::mem::take(self.screen.out());
        if painted.is_empty() && self.row != TypedLineRow::Away && self.typing == LineVisibility::Shown {
            // Nothing was painted: only the typed line is rewritten, in place.
            frame.extend(b"\r\x1b[J");
            self.write_typed(&mut frame);
            return Ok(frame);
        }
        self.take_row_away(&mut frame);
        if !painted.is_empty() {
            self.tail = painted[painted.len().saturating_sub(8)..].to_vec();
        }
        frame.extend(painted);
        self.put_row(&mut frame);
        Ok(frame)
    }

    /// Displays the current typed line.
    pub(crate) fn refresh(&mut self) -> Result<(), TerminalError> {
        self.show(|_| Ok(()))
    }

    /// Prints lines of the program; those that are too long for a row are wrapped.
    pub(crate) fn print_lines(&mut self, text: &str) -> Result<(), TerminalError> {
        self.print(&wrapped_lines(text, self.look.columns()))
    }

    /// Prints lines of the program, unwrapped.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), TerminalError> {
        write(&self.print_frame(text)?)
    }

    fn print_frame(&mut self, text: &str) -> io::Result<Vec<u8>> {
        self.frame(|screen| {
            screen.pause()?;
            screen.out().write_all(text.replace('\n', NEXT_LINE).as_bytes())
        })
    }

    /// Prints a text of the program, which may be longer than a row.
    pub(crate) fn print_wrapped(&mut self, text: &str) -> Result<(), TerminalError> {
        self.show(|screen| {
            screen.pause()?;
            screen.notice(text)?;
            screen.pause()
        })
    }

    /// Prints dimmed lines of the program.
    pub(crate) fn print_dimmed(&mut self, text: &str) -> Result<(), TerminalError> {
        let text = dimmed(text, self.look.colour);
        self.print(&text)
    }

    /// Leaves the cursor at the start of an empty line with nothing below it.
    pub(crate) fn finish_line(&mut self) -> Result<(), TerminalError> {
        self.typing = LineVisibility::Hidden;
        self.show(Screen::pause)
    }

    pub(crate) fn resize(&mut self, (width, height): (usize, usize)) -> Result<(), TerminalError> {
        write(&self.resize_frame(width, height)?)
    }

    fn resize_frame(&mut self, width: usize, height: usize) -> io::Result<Vec<u8>> {
        (self.look.width, self.look.height) = (width, height);
        self.frame(|screen| {
            screen.resize(width, above(height));
            Ok(())
        })
    }

    /// Switches between full and folded thinking. Returns a message that says which is now on.
    pub(crate) fn turn_thinking(&mut self) -> &'static str {
        let (fold, text) = match self.thinking {
            ThinkingFold::Folded => (ThinkingFold::Open, "thinking is shown whole from now on"),
            ThinkingFold::Open => (ThinkingFold::Folded, "thinking is folded from now on"),
        };
        self.thinking = fold;
        self.screen.fold(fold);
        text
    }

    fn take_row_away(&mut self, frame: &mut Vec<u8>) {
        match self.row {
            TypedLineRow::Away => {}
            TypedLineRow::Here => frame.extend(b"\r\x1b[J"),
            // Go up by exactly one row: however the terminal has wrapped the line, that never leads above the row
            // where the screen's output continues. A saved cursor position would be wrong after a resize.
            TypedLineRow::Below => frame.extend(b"\r\x1b[J\x1b[A"),
        }
        self.row = TypedLineRow::Away;
    }

    fn put_row(&mut self, frame: &mut Vec<u8>) {
        if self.typing == LineVisibility::Hidden {
            return;
        }
        self.row = if begins_a_line(&self.tail) { TypedLineRow::Here } else { TypedLineRow::Below };
        if self.row == TypedLineRow::Below {
            // A vertical tab moves one line down, scrolling if necessary.
            frame.extend(b"\x0b");
        }
        self.write_typed(frame);
    }

    fn write_typed(&self, frame: &mut Vec<u8>) {
        let width = self.look.width.saturating_sub(self.prompt.chars().count() + 1).max(2);
        let newline = if self.look.glyphs == Glyphs::Unicode { '⏎' } else { '|' };
        let (text, cursor) = self.typed.window(width, newline);
        let column = self.prompt.chars().count() + cursor;
        frame.extend(format!("\r\x1b[K{}{text}\r\x1b[{column}C", self.prompt).as_bytes());
    }
}

/// Rows left for the run's output: the typed line takes one.
fn above(height: usize) -> usize {
    height.saturating_sub(1)
}

/// The prompt between runs.
pub(crate) fn prompt(glyphs: Glyphs) -> &'static str {
    match glyphs {
        Glyphs::Ascii => "> ",
        Glyphs::Unicode => "› ",
    }
}

/// The prompt while a run works.
pub(crate) fn steering(glyphs: Glyphs) -> &'static str {
    match glyphs {
        Glyphs::Ascii => ">> ",
        Glyphs::Unicode => "» ",
    }
}

/// Text in the dim style, where the terminal has colours.
pub(crate) fn dimmed(text: &str, colour: Colour) -> String {
    match colour {
        Colour::None => text.to_owned(),
        Colour::Ansi => {
            let line = |line: &str| if line.is_empty() { String::new() } else { format!("\u{1b}[2m{line}\u{1b}[0m") };
            let lines: Vec<String> = text.split('\n').map(line).collect();
            lines.join("\n")
        }
    }
}

/// Whether the written bytes leave the cursor at the start of an empty line.
fn begins_a_line(tail: &[u8]) -> bool {
    [NEXT_LINE.as_bytes(), b"\n", b"\r\x1b[K", b"\r\x1b[J", b"\r\x1b[0J"].iter().any(|end| tail.ends_with(end))
}

fn write(frame: &[u8]) -> Result<(), TerminalError> {
    if frame.is_empty() {
        return Ok(());
    }
    let mut out = StandardStream::Output;
    out.write_all(frame)?;
    Ok(out.flush()?)
}

#[cfg(test)]
#[path = "console_tests.rs"]
mod tests;
