//! Checks what the terminal can display.

use windlass_setup::settings::Env;

use super::check::Check;
use crate::screen::{Colour, Glyphs};
use crate::tty;

/// Columns below which lines wrap badly.
const NARROW: usize = 60;

/// Checks a terminal of this size; none where standard output is not a terminal.
pub(crate) fn check(size: Option<(usize, usize)>, env: &Env) -> Check {
    let Some((columns, rows)) = size else {
        return Check::ok("terminal", "standard output is not a terminal: plain text, nothing is asked");
    };
    let dumb = tty::is_dumb(env);
    let colour = match (tty::colour(env), dumb) {
        (Colour::None, _) => "no colours (NO_COLOR)",
        (Colour::Ansi, true) => "no colours",
        (Colour::Ansi, false) => "colours",
    };
    let glyphs = tty::glyphs(env);
    let signs = match glyphs {
        Glyphs::Ascii => "ASCII",
        Glyphs::Unicode => "Unicode",
    };
    let said = format!("{columns} columns, {rows} rows, {colour}, {signs}");
    if dumb {
        return Check::warn("terminal", said, "TERM says it can't move its cursor; set TERM=xterm-256color if it can");
    }
    if glyphs == Glyphs::Ascii {
        return Check::warn("terminal", said, "the locale is not UTF-8: set LANG=C.UTF-8 or your own with .UTF-8");
    }
    match columns {
        0..NARROW => Check::warn("terminal", said, format!("make it {NARROW} columns wide or wider")),
        NARROW.. => Check::ok("terminal", said),
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use windlass_setup::settings::Env;

    fn seen(columns: usize, term: &str, locale: &str) -> String {
        let env = Env::from_iter([("TERM", term), ("LANG", locale)]);
        let check = check(Some((columns, 24)), &env);
        format!("{} {}", check.state.word(), check.said)
    }

    #[test]
    fn what_the_terminal_can_do_is_said() {
        assert_eq!(seen(80, "xterm", "de_DE.UTF-8"), "ok 80 columns, 24 rows, colours, Unicode");
        assert_eq!(seen(80, "xterm", "C"), "warn 80 columns, 24 rows, colours, ASCII");
        assert_eq!(seen(80, "dumb", "C.utf8"), "warn 80 columns, 24 rows, no colours, Unicode");
        assert_eq!(seen(80, "", "C.utf8"), "warn 80 columns, 24 rows, no colours, Unicode");
        assert_eq!(seen(30, "xterm", "C.utf8"), "warn 30 columns, 24 rows, colours, Unicode");
        assert_eq!(check(None, &Env::default()).state, super::super::CheckState::Ok);
    }
}
