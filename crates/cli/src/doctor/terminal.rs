//! What the terminal can show.

use super::Check;

/// What is known of the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// Its columns and rows; none where standard output is no terminal.
    pub(crate) size: Option<(u16, u16)>,
    /// `TERM`.
    pub(crate) term: Option<String>,
    /// `NO_COLOR`, if it is set.
    pub(crate) no_colour: Option<String>,
    /// The locale's character set: `LC_ALL`, else `LC_CTYPE`, else `LANG`.
    pub(crate) locale: Option<String>,
}

/// Columns below which lines wrap badly.
const NARROW: u16 = 60;

pub(crate) fn check(terminal: &Terminal) -> Check {
    let Some((columns, rows)) = terminal.size else {
        return Check::ok("terminal", "standard output is not a terminal: plain text, nothing is asked");
    };
    let dumb = terminal.term.as_deref().is_none_or(|term| term == "dumb");
    let colour = match (&terminal.no_colour, dumb) {
        (Some(_), _) => "no colours (NO_COLOR)",
        (None, true) => "no colours",
        (None, false) => "colours",
    };
    let unicode = terminal.locale.as_deref().is_some_and(is_unicode);
    let signs = if unicode { "Unicode" } else { "ASCII" };
    let said = format!("{columns} columns, {rows} rows, {colour}, {signs}");
    if dumb {
        return Check::warn("terminal", said, "TERM says it can't move its cursor; set TERM=xterm-256color if it can");
    }
    if !unicode {
        return Check::warn("terminal", said, "the locale is not UTF-8: set LANG=C.UTF-8 or your own with .UTF-8");
    }
    match columns {
        0..NARROW => Check::warn("terminal", said, format!("make it {NARROW} columns wide or wider")),
        NARROW.. => Check::ok("terminal", said),
    }
}

fn is_unicode(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::{Terminal, check};

    fn seen(columns: u16, term: &str, locale: &str) -> String {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let check =
            check(&Terminal { size: Some((columns, 24)), term: text(term), no_colour: None, locale: text(locale) });
        format!("{} {}", check.state.word(), check.said)
    }

    #[test]
    fn what_the_terminal_can_do_is_said() {
        assert_eq!(seen(80, "xterm", "de_DE.UTF-8"), "ok 80 columns, 24 rows, colours, Unicode");
        assert_eq!(seen(80, "xterm", "C"), "warn 80 columns, 24 rows, colours, ASCII");
        assert_eq!(seen(80, "dumb", "C.utf8"), "warn 80 columns, 24 rows, no colours, Unicode");
        assert_eq!(seen(80, "", "C.utf8"), "warn 80 columns, 24 rows, no colours, Unicode");
        assert_eq!(seen(30, "xterm", "C.utf8"), "warn 30 columns, 24 rows, colours, Unicode");
        assert_eq!(check(&Terminal::default()).state, super::super::State::Ok);
    }
}
