//! The terminal this process was started at: its size, and what its variables say it can do. Read in one
//! place, so that `doctor` tells what the chat does.

use std::io;
use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;
use windlass_setup::settings::Env;

use crate::screen::{Colour, Glyphs};

/// Columns and rows of the screen that standard output is, where it tells.
pub(crate) fn size() -> Option<(usize, usize)> {
    size_of(io::stdout())
}

/// Columns and rows of the screen that this is, where it tells.
pub(crate) fn size_of(end: impl AsFd) -> Option<(usize, usize)> {
    let size = tcgetwinsize(end).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then(|| (size.ws_col.into(), size.ws_row.into()))
}

/// What a terminal that does not know its size is taken for.
pub(crate) const USUAL_SIZE: (usize, usize) = (80, 24);

/// Whether it can't write over what it wrote, or nobody says that it can.
pub(crate) fn is_dumb(env: &Env) -> bool {
    let term = env.raw("TERM").and_then(|term| term.to_str()).unwrap_or_default();
    matches!(term, "" | "dumb" | "cons25" | "emacs")
}

/// Whether text may be coloured.
pub(crate) fn colour(env: &Env) -> Colour {
    if env.raw("NO_COLOR").is_some() { Colour::None } else { Colour::Ansi }
}

/// Which characters it can show, by its locale.
pub(crate) fn glyphs(env: &Env) -> Glyphs {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| env.raw(name)?.to_str());
    let unicode = locale.is_some_and(|locale| locale.to_ascii_lowercase().replace('-', "").contains("utf8"));
    if unicode { Glyphs::Unicode } else { Glyphs::Ascii }
}
