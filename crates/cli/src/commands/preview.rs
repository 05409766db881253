//! A preview on a terminal: the beginning of a long one, and all of it page by page for whoever wants to read it
//! before they answer (T8).

use crate::output::harmless_lines;
use crate::screen::{Colour, painted, text_width};

/// Lines of a preview, and columns of each, that are shown at once.
const LINES: usize = 60;
const COLUMNS: usize = 400;

/// What a person types to read all of it.
pub(crate) const VIEW: &str = "v";

/// A preview, and how it is laid out.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    text: String,
    indent: &'static str,
    colour: Colour,
}

impl Shown {
    pub(crate) fn new(text: &str, indent: &'static str, colour: Colour) -> Self {
        Self { text: harmless_lines(&text.replace('\t', "    ").replace('\r', "␍")), indent, colour }
    }

    /// What is shown with the question.
    pub(crate) fn beginning(&self) -> String {
        let clipped = |line: &str| match line.char_indices().nth(COLUMNS) {
            Some((end, _)) => format!("{}…[{} characters more]", &line[..end], line.chars().count() - COLUMNS),
            None => line.to_owned(),
        };
        let lines: Vec<String> = self.text.lines().take(LINES).map(clipped).collect();
        let text = painted(&lines.join("\n"), self.indent, self.colour);
        match self.text.lines().count().saturating_sub(LINES) {
            0 => text,
            more => format!("{text}\n{}[{more} more lines]", self.indent),
        }
    }

    /// What is offered with the answers, where something was left out.
    pub(crate) fn offer(&self) -> Option<String> {
        let lines = self.text.lines().count();
        let long = lines > LINES || self.text.lines().any(|line| line.chars().count() > COLUMNS);
        long.then(|| format!("[{VIEW}] view all {lines} lines"))
    }

    /// All of it, in pages for a screen of this size. A line that is too wide goes on in the next row.
    pub(crate) fn pages(&self, width: usize, height: usize) -> Vec<String> {
        let (width, rows) = (width.max(20), height.max(4) - 2);
        let rows_of = |line: &str| broken(line, width - 1, self.indent);
        let broken: Vec<String> = self.text.lines().flat_map(rows_of).collect();
        let painted = painted(&broken.join("\n"), self.indent, self.colour);
        let lines: Vec<&str> = painted.lines().collect();
        lines.chunks(rows).map(|page| page.join("\n")).collect()
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

/// `line` in rows of at most `width` columns. Those that go on begin with a mark, so that none passes for a line.
fn broken(line: &str, width: usize, indent: &str) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for c in line.chars() {
        let columns = text_width(c.encode_utf8(&mut [0; 4]));
        if used + columns > width {
            rows.push(format!("{indent}…"));
            used = indent.len() + 1;
        }
        if let Some(row) = rows.last_mut() {
            row.push(c);
        }
        used += columns;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{Shown, wants_view};
    use crate::screen::Colour;

    fn shown(text: &str) -> Shown {
        Shown::new(text, "  ", Colour::None)
    }

    // proves T8: what is too long to be shown at once is offered whole
    #[test]
    fn of_a_long_preview_the_beginning_is_shown_and_the_whole_is_offered() {
        let short = shown("Run `x`\n  x");
        assert_eq!((short.beginning().as_str(), short.offer()), ("Run `x`\n  x", None));
        let lines: String = (0..1001).map(|n| format!("  +line {n}\n")).collect();
        let long = shown(&lines);
        assert!(long.beginning().ends_with("+line 59\n  [941 more lines]"), "{}", long.beginning());
        assert_eq!(long.offer().as_deref(), Some("[v] view all 1001 lines"));
        let wide = shown(&format!("  {}!", "x".repeat(1000)));
        assert!(wide.offer().is_some() && wide.beginning().ends_with("…[603 characters more]"));
        assert!(wants_view(" V\n") && wants_view("view") && !wants_view("very"));
    }

    // proves T8: the pages hold every line of it, whatever the size of the screen
    #[test]
    fn the_pages_join_to_the_whole_and_fit_the_screen() {
        let text =
            format!("Write f\n  --- f\n  +++ f\n  +{}漢\n  -\u{1b}[2Jb\n{}", "é".repeat(500), "  +z\n".repeat(90));
        for (width, height) in [(80, 24), (20, 4), (5, 1), (200, 50)] {
            let pages = shown(&text).pages(width, height);
            assert!(pages.iter().all(|page| page.lines().count() <= height.max(4) - 2), "{width}x{height}");
            let whole = pages.join("\n").replace("\n  …", "");
            assert_eq!(whole, text.trim_end().replace('\u{1b}', "\u{fffd}"), "{width}x{height}");
        }
    }
}
