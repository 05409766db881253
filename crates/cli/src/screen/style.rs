//! Styled text: spans make a line, and a line becomes bytes only at the end. All our escape sequences for styles are
//! here.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

use super::look::Colour;
use crate::output::harmless_line;

/// The style of a span: a combination of the constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style(u8);

impl Style {
    pub(super) const PLAIN: Self = Self(0);
    pub(super) const BOLD: Self = Self(1);
    pub(super) const DIM: Self = Self(1 << 1);
    pub(super) const ITALIC: Self = Self(1 << 2);
    pub(super) const UNDERLINE: Self = Self(1 << 3);
    pub(super) const STRIKE: Self = Self(1 << 4);
    pub(super) const CODE: Self = Self(1 << 5);
    pub(super) const ALARM: Self = Self(1 << 6);
    pub(super) const ADDED: Self = Self(1 << 7);

    /// SGR parameters, by bit.
    const CODES: [&'static str; 8] = ["1", "2", "3", "4", "9", "36", "31", "32"];

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn sgr(self) -> String {
        let on = (0..).zip(Self::CODES).filter(|(bit, _)| self.0 & (1 << bit) != 0);
        on.map(|(_, code)| code).collect::<Vec<_>>().join(";")
    }
}

/// Text of one style. Always harmless: [`Span::new`] replaces control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) style: Style,
    pub(super) text: String,
}

impl Span {
    /// Creates a span from untrusted text, made harmless; line breaks and tabs become blanks.
    pub(super) fn new(style: Style, text: &str) -> Self {
        Self { style, text: harmless_text(text).into_owned() }
    }
}

/// Returns `text` on one line, safe for a terminal.
pub(super) fn harmless_text(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) { text.into() } else { harmless_line(text).into() }
}

/// Whether a line may be wrapped by us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LineFit {
    /// The line was laid out and takes one row.
    #[default]
    Row,
    /// The line is written whole, however long; the terminal wraps it, so that it can be copied unchanged.
    Whole,
}

/// A line of the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StyledLine {
    pub(super) spans: Vec<Span>,
    pub(super) fit: LineFit,
}

impl StyledLine {
    pub(super) fn of(style: Style, text: &str) -> Self {
        Self { spans: vec![Span::new(style, text)], fit: LineFit::Row }
    }

    pub(super) fn followed_by(mut self, style: Style, text: &str) -> Self {
        self.spans.push(Span::new(style, text));
        self
    }

    pub(super) fn width(&self) -> usize {
        self.spans.iter().map(|span| text_width(&span.text)).sum()
    }

    /// Appends the bytes of the line, without a line break.
    pub(super) fn paint(&self, colour: Colour, into: &mut String) {
        for span in &self.spans {
            match colour {
                Colour::Ansi if span.style != Style::PLAIN => {
                    into.push_str(&format!("\u{1b}[{}m{}\u{1b}[0m", span.style.sgr(), span.text));
                }
                Colour::Ansi | Colour::None => into.push_str(&span.text),
            }
        }
    }

    /// Returns at most `width` columns of the line, with `dots` for the omitted part.
    pub(super) fn clipped(mut self, width: usize, dots: &str) -> Self {
        if self.width() <= width {
            return self;
        }
        let mut room = width.saturating_sub(text_width(dots));
        for span in &mut self.spans {
            let end = prefix_within(&span.text, room);
            room -= text_width(&span.text[..end]);
            if end < span.text.len() {
                room = 0;
            }
            span.text.truncate(end);
        }
        self.spans.push(Span::new(Style::DIM, dots));
        self
    }
}

/// Returns the end of the longest prefix of `text` that takes at most `room` columns.
fn prefix_within(text: &str, mut room: usize) -> usize {
    for (at, c) in text.char_indices() {
        let width = char_width(c);
        if width > room {
            return at;
        }
        room -= width;
    }
    text.len()
}

/// Returns the columns a character takes. Counted per character, as most terminals do; a terminal that draws a joined
/// emoji as one leaves a blank at worst.
pub(super) fn char_width(c: char) -> usize {
    if matches!(c, ' '..='~') { 1 } else { c.width().unwrap_or(0) }
}

pub(crate) fn text_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Appends `text` in `style`, to the last span if that has the same style.
pub(super) fn push(spans: &mut Vec<Span>, style: Style, text: &str) {
    match spans.last_mut() {
        Some(last) if last.style == style => last.text.push_str(text),
        Some(_) | None => spans.push(Span { style, text: text.to_owned() }),
    }
}
