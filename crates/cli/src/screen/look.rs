//! What a terminal can do, as data: whoever knows the terminal says it, the screen obeys. One on which
//! what was written can't be written over has no screen: it is talked to line by line.

/// What the terminal can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalLook {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Whether text may be coloured.
    pub colour: Colour,
    /// Which characters our own marks are made of.
    pub glyphs: Glyphs,
}

/// Whether text may be coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// No: Markdown's own marks stay, so that nothing is said by colour alone.
    None,
    /// By ANSI sequences.
    Ansi,
}

/// Which characters our own marks are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    /// ASCII alone.
    Ascii,
    /// Bullets, lines and dots as they should be.
    Unicode,
}

/// How thinking is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingFold {
    /// As one line that says how long it took.
    Folded,
    /// As dimmed text.
    Open,
}

/// Narrower than this nothing can be laid out; the terminal may clip it.
const NARROWEST: usize = 10;
/// Lower than this there is no room for a live region and what stands above it.
const LOWEST: usize = 4;

impl TerminalLook {
    /// Columns there are to lay things out in.
    pub(super) fn columns(&self) -> usize {
        self.width.max(NARROWEST)
    }

    /// Rows the live region may take: one less than there are, so that its first row is never
    /// scrolled away.
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

    /// What horizontal lines are made of.
    pub(super) const fn dash(self) -> &'static str {
        match self {
            Self::Ascii => "-",
            Self::Unicode => "─",
        }
    }

    /// Between the columns of a table, and where that crosses a line.
    pub(super) const fn column(self) -> (&'static str, &'static str) {
        match self {
            Self::Ascii => (" | ", "-+-"),
            Self::Unicode => (" │ ", "─┼─"),
        }
    }

    /// Where something is left out or goes on.
    pub(super) const fn dots(self) -> &'static str {
        match self {
            Self::Ascii => "...",
            Self::Unicode => "…",
        }
    }

    /// The mark before a call that went well, and before one that did not.
    pub(super) const fn call(self) -> (&'static str, &'static str) {
        match self {
            Self::Ascii => ("*", "!"),
            Self::Unicode => ("•", "✗"),
        }
    }

    /// The spinner as it stands at this time.
    pub(super) fn spinner(self, now_ms: u64) -> &'static str {
        let frames: &[&str] = match self {
            Self::Ascii => &["|", "/", "-", "\\"],
            Self::Unicode => &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
        };
        let at = usize::try_from(now_ms / SPINNER_MS).unwrap_or_default();
        frames.get(at % frames.len()).copied().unwrap_or_default()
    }
}

/// How long one frame of the spinner stands.
const SPINNER_MS: u64 = 100;
