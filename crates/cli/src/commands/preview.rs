//! A preview on a terminal: the beginning of a long one, and all of it page by page for whoever wants to read it
//! before they answer (T8).

use crate::output::harmless_lines;
use crate::screen::{Colour, painted, text_width};

/// Rows of the screen that are left for what stands around a preview: the answers, and what they mean.
const AROUND: usize = 8;
/// Rows of a preview that are shown on the smallest screen.
const LEAST: usize = 5;

/// What a person types to read all of it.
pub(crate) const VIEW: &str = "v";

/// A preview, and how it is laid out.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    text: String,
    indent: &'static str,
    colour: Colour,
    /// Columns and rows of the screen.
    size: (usize, usize),
}

impl Shown {
    pub(crate) fn new(text: &str, indent: &'static str, colour: Colour, size: (usize, usize)) -> Self {
        Self { text: harmless_lines(&text.replace('\t', "    ").replace('\r', "␍")), indent, colour, size }
    }

    /// What is shown with the question: as much as fits on the screen together with the answers.
    pub(crate) fn beginning(&self) -> String {
        let (mut rows, mut more) = (Vec::new(), 0);
        for line in self.text.lines() {
            let (wrapped, room) = (self.wrapped(line), self.room() - rows.len());
            more += usize::from(wrapped.len() > room);
            rows.extend(wrapped.into_iter().take(room));
        }
        let text = painted(&rows.join("\n"), self.indent, self.colour);
        match more {
            0 => text,
            1 => format!("{text}\n{}[1 more line]", self.indent),
            more => format!("{text}\n{}[{more} more lines]", self.indent),
        }
    }

    /// What is offered with the answers, where something was left out.
    pub(crate) fn offer(&self) -> Option<String> {
        let lines = self.text.lines().count();
        let all = if lines == 1 { "all of it".to_owned() } else { format!("all {lines} lines") };
        (self.rows().len() > self.room()).then(|| format!("[{VIEW}] view {all}"))
    }

    /// All of it, in pages for the screen.
    pub(crate) fn pages(&self) -> Vec<String> {
        let painted = painted(&self.rows().join("\n"), self.indent, self.colour);
        let lines: Vec<&str> = painted.lines().collect();
        lines.chunks(self.size.1.max(4) - 2).map(|page| page.join("\n")).collect()
    }

    fn room(&self) -> usize {
        self.size.1.saturating_sub(AROUND).max(LEAST)
    }

    /// Its lines. One that is too wide goes on in the next row.
    fn rows(&self) -> Vec<String> {
        self.text.lines().flat_map(|line| self.wrapped(line)).collect()
    }

    fn wrapped(&self, line: &str) -> Vec<String> {
        wrapped(line, self.size.0.max(20) - 1, self.indent)
    }
}

/// Whether a line asks for all of it.
pub(crate) fn wants_view(line: &str) -> bool {
    let line = line.trim();
    line.eq_ignore_ascii_case(VIEW) || line.eq_ignore_ascii_case("view")
}

/// What is said below a page that is not the last.
pub(crate) fn page_note(page: usize, pages: usize) -> String {
    format!("[page {page} of {pages}: Enter goes on, q goes back to the question]")
}

/// `line` in rows of at most `width` columns, broken after blanks where there are any. Rows that go on begin with a
/// mark, so that none passes for a line.
fn wrapped(line: &str, width: usize, indent: &str) -> Vec<String> {
    let mark = format!("{indent}…");
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    let mut lead = line.len() - line.trim_start().len();
    for c in line.chars() {
        let columns = text_width(c.encode_utf8(&mut [0; 4]));
        // A blank may stand in the last column, which is left free otherwise.
        if used + columns > width && !(c == ' ' && used == width) {
            let rest = split_at_word(&mut row, lead, width - text_width(&mark));
            rows.push(std::mem::replace(&mut row, format!("{mark}{rest}")));
            (lead, used) = (mark.len(), text_width(&row));
        }
        row.push(c);
        used += columns;
    }
    rows.push(row);
    rows
}

/// Takes the last word off the row, if it is not the first and fits the next row.
fn split_at_word(row: &mut String, lead: usize, room: usize) -> String {
    match row.rfind(' ').map(|blank| blank + 1) {
        Some(start) if start > lead && text_width(&row[start..]) < room => row.split_off(start),
        Some(_) | None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Shown, wants_view};
    use crate::screen::{Colour, text_width};

    fn shown(text: &str, size: (usize, usize)) -> Shown {
        Shown::new(text, "  ", Colour::None, size)
    }

    // proves T8: what is too long to be shown at once is offered whole
    #[test]
    fn of_a_long_preview_what_fits_the_screen_is_shown_and_the_whole_is_offered() {
        let short = shown("Run `x`\n  x", (80, 24));
        assert_eq!((short.beginning().as_str(), short.offer()), ("Run `x`\n  x", None));
        let lines: String = (0..1001).map(|n| format!("  +line {n}\n")).collect();
        let long = shown(&lines, (80, 24));
        assert!(long.beginning().ends_with("+line 15\n  [985 more lines]"), "{}", long.beginning());
        assert_eq!(long.offer().as_deref(), Some("[v] view all 1001 lines"));
        let wide = shown(&format!("  {}!", "x".repeat(10_000)), (80, 24));
        assert_eq!((wide.beginning().lines().count(), wide.offer().as_deref()), (17, Some("[v] view all of it")));
        let both = shown(&"  +some words that need two rows\n".repeat(20), (20, 24));
        assert!(both.beginning().ends_with("\n  [12 more lines]"), "a line counts once: {}", both.beginning());
        assert!(wants_view(" V\n") && wants_view("view") && !wants_view("very"));
    }

    // proves T8: what is read is not broken inside words
    #[test]
    fn a_line_that_is_too_wide_goes_on_at_a_word() {
        let text = "Run it\n  cargo test --workspace --all-features\n  averyveryverylongwordalone";
        let expected = "Run it\n  cargo test \n  …--workspace \n  …--all-features\n  averyveryverylong\n  …wordalone";
        assert_eq!(shown(text, (20, 24)).beginning(), expected);
    }

    // proves T8: the pages hold every line of it, whatever the size of the screen
    #[test]
    fn the_pages_join_to_the_whole_and_fit_the_screen() {
        let text = format!(
            "Write f\n  --- f\n  +++ f\n  +{}漢\n  -\u{1b}[2Jb\n  +{}\n{}",
            "é".repeat(500),
            "some  words of any length, 漢字 too ".repeat(20).trim_end(),
            "  +z\n".repeat(90)
        );
        for size in [(80, 24), (20, 4), (5, 1), (200, 50), (33, 10)] {
            let pages = shown(&text, size).pages();
            assert!(pages.iter().all(|page| page.lines().count() <= size.1.max(4) - 2), "{size:?}");
            assert!(
                pages.iter().flat_map(|page| page.lines()).all(|row| text_width(row) <= size.0.max(20)),
                "{size:?}"
            );
            let whole = pages.join("\n").replace("\n  …", "");
            assert_eq!(whole, text.trim_end().replace('\u{1b}', "\u{fffd}"), "{size:?}");
        }
    }
}
