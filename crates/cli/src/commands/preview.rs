//! A preview on a terminal: displays the beginning of a long one, and the whole page by page for a person who wants to
//! read it before answering (T8).

use std::collections::BTreeSet;

use crate::output::harmless_lines;
use crate::screen::{Colour, painted, text_width};

/// Rows of the screen reserved for the text around a preview: the answers and what they mean.
const AROUND: usize = 8;
/// Rows of a preview displayed on even the smallest screen, though the answers may scroll the first ones away.
const LEAST: usize = 5;

/// What a person types to read the whole preview.
pub(crate) const VIEW: &str = "v";

/// A preview, its layout, and which of its pages were displayed.
#[derive(Clone, Debug)]
pub(crate) struct PagedPreview {
    text: String,
    indent: &'static str,
    colour: Colour,
    /// Columns and rows of the screen.
    size: (usize, usize),
    /// Rows of the screen reserved for the text around the preview.
    around: usize,
    /// The pages displayed so far.
    shown_pages: BTreeSet<usize>,
}

impl PagedPreview {
    pub(crate) fn new(text: &str, indent: &'static str, colour: Colour, size: (usize, usize)) -> Self {
        let text = harmless_lines(&text.replace('\t', "    ").replace('\r', "␍"));
        Self { text, indent, colour, size, around: AROUND, shown_pages: BTreeSet::new() }
    }

    /// Reserves so many more rows for the text around the preview.
    pub(crate) fn with_more_around(mut self, rows: usize) -> Self {
        self.around += rows;
        self
    }

    /// Returns what is displayed with the question: as much as fits on the screen together with the answers.
    pub(crate) fn beginning(&self) -> String {
        let mut rows = self.rows();
        let shown = self.room().max(LEAST);
        let more = rows.len().saturating_sub(shown);
        rows.truncate(shown);
        let text = painted(&rows.join("\n"), self.indent, self.colour);
        match more {
            0 => text,
            1 => format!("{text}\n{}[1 more row]", self.indent),
            more => format!("{text}\n{}[{more} more rows]", self.indent),
        }
    }

    /// Returns the offer to view the whole preview; none if all of it fits on the screen.
    pub(crate) fn offer(&self) -> Option<String> {
        let rows = self.rows().len();
        let why = if self.is_fully_shown() { "" } else { ": only then can you say yes" };
        (rows > self.room()).then(|| format!("[{VIEW}] view all {rows} rows{why}"))
    }

    /// Whether the person has seen the whole preview.
    pub(crate) fn is_fully_shown(&self) -> bool {
        self.rows().len() <= self.room() || self.shown_pages.len() == self.pages().len()
    }

    /// Starts displaying the whole preview with its first page.
    pub(crate) fn reading(&mut self) -> PreviewPager<'_> {
        let mut reading = PreviewPager { pages: self.pages(), shown: self, page: 1 };
        reading.go_to(1);
        reading
    }

    /// Splits the whole preview into pages for the screen.
    fn pages(&self) -> Vec<String> {
        let painted = painted(&self.rows().join("\n"), self.indent, self.colour);
        let lines: Vec<&str> = painted.lines().collect();
        lines.chunks(self.size.1.max(4) - 2).map(|page| page.join("\n")).collect()
    }

    /// Rows of the preview that surely stay on the screen while the person answers.
    fn room(&self) -> usize {
        self.size.1.saturating_sub(self.around)
    }

    /// Returns the lines as rows: a line that is too wide continues in the next row.
    fn rows(&self) -> Vec<String> {
        self.text.lines().flat_map(|line| self.wrapped(line)).collect()
    }

    fn wrapped(&self, line: &str) -> Vec<String> {
        wrapped(line, self.size.0.max(20) - 1, self.indent)
    }
}

/// Whether a typed line asks for the whole preview.
pub(crate) fn wants_view(line: &str) -> bool {
    let line = line.trim();
    line.eq_ignore_ascii_case(VIEW) || line.eq_ignore_ascii_case("view")
}

/// What a line typed below a page means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageTurn {
    /// Display a page: the next, the previous, or one by its number.
    Page,
    /// Return to the question.
    Leave,
    /// The line is none of the accepted inputs.
    NotUnderstood,
}

/// A preview being read page by page.
#[derive(Debug)]
pub(crate) struct PreviewPager<'a> {
    shown: &'a mut PagedPreview,
    pages: Vec<String>,
    /// The page on the screen, from 1.
    page: usize,
}

impl PreviewPager<'_> {
    /// Returns the text of the current page.
    pub(crate) fn text(&self) -> &str {
        self.pages.get(self.page - 1).map_or("", String::as_str)
    }

    /// Returns the prompt below a page.
    pub(crate) fn note(&self) -> String {
        format!("[page {} of {}: Enter next, b back, a number that page, q the question]", self.page, self.pages.len())
    }

    /// Whether the question follows the current page: every page was displayed, and this is the last one.
    pub(crate) fn is_over(&self) -> bool {
        self.shown.is_fully_shown() && self.page == self.pages.len()
    }

    /// Interprets a line typed below a page, and turns to the page it names.
    pub(crate) fn turn(&mut self, line: &str) -> PageTurn {
        let page = match line.trim().to_lowercase().as_str() {
            "" => self.next(),
            "b" | "back" => self.page.saturating_sub(1).max(1),
            "q" => return PageTurn::Leave,
            number => match number.parse() {
                Ok(page) if (1..=self.pages.len()).contains(&page) => page,
                Ok(_) | Err(_) => return PageTurn::NotUnderstood,
            },
        };
        self.go_to(page);
        PageTurn::Page
    }

    /// Returns the page after this one; after the last, the first that was not displayed yet.
    fn next(&self) -> usize {
        let unseen = (1..=self.pages.len()).find(|page| !self.shown.shown_pages.contains(page));
        if self.page < self.pages.len() { self.page + 1 } else { unseen.unwrap_or(self.page) }
    }

    fn go_to(&mut self, page: usize) {
        self.page = page;
        self.shown.shown_pages.insert(page);
    }
}

/// Begins a row that continues the line above. Not an ellipsis: nothing is left out.
const GOES_ON: char = '↳';

/// Wraps `line` into rows of at most `width` columns, after blanks where possible. Continuation rows begin with a mark,
/// so that none can pass for a line of its own.
fn wrapped(line: &str, width: usize, indent: &str) -> Vec<String> {
    let mark = format!("{indent}{GOES_ON}");
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    let mut lead = line.len() - line.trim_start().len();
    for c in line.chars() {
        let columns = text_width(c.encode_utf8(&mut [0; 4]));
        // A blank may occupy the last column, which is otherwise left free.
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

/// Takes the last word off the row, if it is not the first and fits into the next row.
fn split_at_word(row: &mut String, lead: usize, room: usize) -> String {
    match row.rfind(' ').map(|blank| blank + 1) {
        Some(start) if start > lead && text_width(&row[start..]) < room => row.split_off(start),
        Some(_) | None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{PageTurn, PagedPreview, wants_view};
    use crate::screen::{Colour, text_width};

    fn paged(text: &str, size: (usize, usize)) -> PagedPreview {
        PagedPreview::new(text, "  ", Colour::None, size)
    }

    // proves T8: a preview too long for the screen is offered as a whole
    #[test]
    fn of_a_long_preview_what_fits_the_screen_is_shown_and_the_whole_is_offered() {
        let short = paged("Run `x`\n  x", (80, 24));
        assert_eq!((short.beginning().as_str(), short.offer()), ("Run `x`\n  x", None));
        let lines: String = (0..1001).map(|n| format!("  +line {n}\n")).collect();
        let long = paged(&lines, (80, 24));
        assert!(long.beginning().ends_with("+line 15\n  [985 more rows]"), "{}", long.beginning());
        assert_eq!(long.offer().as_deref(), Some("[v] view all 1001 rows: only then can you say yes"));
        let wide = paged(&format!("  {}!", "x".repeat(10_000)), (80, 24));
        assert!(wide.beginning().ends_with("\n  [116 more rows]"), "rows are counted: {}", wide.beginning());
        assert!(wide.offer().is_some_and(|offer| offer.starts_with("[v] view all 132 rows")));
        assert!(wants_view(" V\n") && wants_view("view") && !wants_view("very"));
    }

    // proves T8: on a screen too small for the question the first rows scroll away before they can be read
    #[test]
    fn on_a_small_screen_even_a_short_preview_is_viewed_first() {
        let short = |rows: usize| paged("Run `x`\n  not in a sandbox\n  in the folder", (80, rows));
        assert!(short(24).is_fully_shown() && short(24).offer().is_none());
        assert!(!short(10).is_fully_shown() && short(10).offer().is_some());
        assert_eq!(short(10).beginning().lines().count(), 3);
        let mut crowded = paged("Run `x`\n  x", (80, 24)).with_more_around(15);
        assert!(!crowded.is_fully_shown());
        assert!(crowded.reading().is_over(), "a page takes the whole screen");
        assert!(crowded.is_fully_shown());
    }

    // proves T8: the reader can go forward, back and to any page; other input turns no page
    #[test]
    fn pages_are_turned_both_ways() {
        let mut long = paged(&"  +line\n".repeat(60), (80, 24));
        let mut reading = long.reading();
        assert!(reading.note().starts_with("[page 1 of 3: Enter next, b back"), "{}", reading.note());
        assert!(reading.note().len() < 80);
        for (line, turn, page) in [
            ("b", PageTurn::Page, 1),
            ("x", PageTurn::NotUnderstood, 1),
            ("3", PageTurn::Page, 3),
            ("4", PageTurn::NotUnderstood, 3),
            ("", PageTurn::Page, 2),
            ("B", PageTurn::Page, 1),
            ("", PageTurn::Page, 2),
            ("q", PageTurn::Leave, 2),
        ] {
            assert_eq!((reading.turn(line), reading.page), (turn, page), "{line:?}");
        }
        assert!(!reading.is_over());
        assert_eq!((reading.turn(""), reading.is_over()), (PageTurn::Page, true));
        assert!(long.is_fully_shown());
    }

    // proves T8: rows are not broken inside words
    #[test]
    fn a_line_that_is_too_wide_goes_on_at_a_word() {
        let text = "Run it\n  cargo test --workspace --all-features\n  averyveryverylongwordalone";
        let expected = "Run it\n  cargo test \n  ↳--workspace \n  ↳--all-features\n  averyveryverylong\n  ↳wordalone";
        assert_eq!(paged(text, (20, 24)).beginning(), expected);
    }

    // proves T8: the pages contain every line, whatever the size of the screen
    #[test]
    fn the_pages_join_to_the_whole_and_fit_the_screen() {
        let text = format!(
            "Write f\n  --- f\n  +++ f\n  +{}漢\n  -\u{1b}[2Jb\n  +{}\n{}",
            "é".repeat(500),
            "some  words of any length, 漢字 too ".repeat(20).trim_end(),
            "  +z\n".repeat(90)
        );
        for size in [(80, 24), (20, 4), (5, 1), (200, 50), (33, 10)] {
            let pages = paged(&text, size).pages();
            assert!(pages.iter().all(|page| page.lines().count() <= size.1.max(4) - 2), "{size:?}");
            assert!(
                pages.iter().flat_map(|page| page.lines()).all(|row| text_width(row) <= size.0.max(20)),
                "{size:?}"
            );
            let whole = pages.join("\n").replace("\n  ↳", "");
            assert_eq!(whole, text.trim_end().replace('\u{1b}', "\u{fffd}"), "{size:?}");
        }
    }
}
