//! The capabilities of a terminal, as data: the caller provides them and the screen follows them. A terminal on which
//! text can't be overwritten has no screen: the chat uses it line by line.

/// The capabilities of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalLook {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Whether text may be coloured.
    pub colour: Colour,
    /// Which characters the program's own marks use.
    pub glyphs: Glyphs,
}

/// Whether text may be coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// No: Markdown's own marks stay, so that colour alone never carries meaning.
    None,
    /// With ANSI escape sequences.
    Ansi,
}

/// Which characters the program's own marks use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    /// Only ASCII.
    Ascii,
    /// Unicode bullets, lines and dots.
    Unicode,
}

/// How thinking is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingFold {
    /// As one line with its duration.
    Folded,
    /// As dimmed text.
    Open,
}

/// The layout assumes at least this many columns; a narrower terminal may clip it.
const NARROWEST: usize = 10;
/// The layout assumes at least this many rows: a live region and something above it.
const LOWEST: usize = 4;

impl TerminalLook {
    /// Returns the columns available for the layout.
    pub(crate) fn columns(&self) -> usize {
        self.width.max(NARROWEST)
    }

    /// Returns the rows that the live region may take: one less than the terminal has, so that its first row never
    /// scrolls away.
    pub(super) fn live_rows(&self) -> usize {
        self.height.max(LOWEST) - 1
    }
}

impl Glyphs {
    /// The mark before a list item, by depth.
    pub(super) const fn bullet(self, depth: usize) -> &'static str {
        match (self, depth % 3) {
            (Self::Ascii, _) => "-",
            (Self::Unicode, 0) => "•",
            (Self::Unicode, 1) => "◦",
            (Self::Unicode, _) => "▪",
        }
    }

    /// The bar before a quote.
    pub(super) const fn bar(self) -> &'static str {
        match self {
            Self::Ascii => "> ",
            Self::Unicode => "│ ",
        }
    }

    /// The character of horizontal lines.
    pub(super) const fn dash(self) -> &'static str {
        match self {
            Self::Ascii => "-",
            Self::Unicode => "─",
        }
    }

    /// The separator between the columns of a table, and its crossing with a horizontal line.
    pub(super) const fn column(self) -> (&'static str, &'static str) {
        match self {
            Self::Ascii => (" | ", "-+-"),
            Self::Unicode => (" │ ", "─┼─"),
        }
    }

    /// The dot between the parts of a line.
    pub(crate) const fn dot(self) -> &'static str {
        match self {
            Self::Ascii => "-",
            Self::Unicode => "·",
        }
    }

    /// The ellipsis, for omitted or continued text.
    pub(super) const fn dots(self) -> &'static str {
        match self {
            Self::Ascii => "...",
            Self::Unicode => "…",
        }
    }

    /// The marks before a successful and before a failed call.
    pub(super) const fn call(self) -> (&'static str, &'static str) {
        match self {
            Self::Ascii => ("*", "!"),
            Self::Unicode => ("•", "✗"),
        }
    }

    /// Returns the spinner's frame at this time.
    pub(super) fn spinner(self, now_ms: u64) -> &'static str {
        let frames: &[&str] = match self {
            Self::Ascii => &["|", "/", "-", "\\"],
            Self::Unicode => &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
        };
        let at = usize::try_from(now_ms / SPINNER_MS).unwrap_or_default();
        frames.get(at % frames.len()).copied().unwrap_or_default()
    }
}

/// Duration of one frame of the spinner.
const SPINNER_MS: u64 = 100;
