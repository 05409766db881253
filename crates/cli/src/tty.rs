//! The terminal of this process: its size, and its abilities according to the environment. Read in one place, so that
//! `doctor` reports what the chat uses.

use std::io;
use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;
use windlass_setup::settings::Env;

use crate::screen::{Colour, Glyphs};

/// Returns columns and rows of the terminal on standard output, if it is one and knows them.
pub(crate) fn size() -> Option<(usize, usize)> {
    size_of(io::stdout())
}

/// Returns columns and rows of this terminal, if it is one and knows them.
pub(crate) fn size_of(end: impl AsFd) -> Option<(usize, usize)> {
    let size = tcgetwinsize(end).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then(|| (size.ws_col.into(), size.ws_row.into()))
}

/// Assumed size of a terminal that does not know its own.
pub(crate) const USUAL_SIZE: (usize, usize) = (80, 24);

/// Whether the terminal can't overwrite what it printed, or does not say that it can.
pub(crate) fn is_dumb(env: &Env) -> bool {
    let term = env.raw("TERM").and_then(|term| term.to_str()).unwrap_or_default();
    matches!(term, "" | "dumb" | "cons25" | "emacs")
}

/// Whether text may be coloured.
pub(crate) fn colour(env: &Env) -> Colour {
    if env.raw("NO_COLOR").is_some() { Colour::None } else { Colour::Ansi }
}

/// Returns which characters the terminal can display, by its locale.
pub(crate) fn glyphs(env: &Env) -> Glyphs {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| env.raw(name)?.to_str());
    let unicode = locale.is_some_and(|locale| locale.to_ascii_lowercase().replace('-', "").contains("utf8"));
    if unicode { Glyphs::Unicode } else { Glyphs::Ascii }
}
