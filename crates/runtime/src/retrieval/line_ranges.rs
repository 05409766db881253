//! Splits a text into passages of about forty lines.

use windlass_store::IndexedPassage;

/// Lines of a passage at most.
const LINES: usize = 40;
/// A passage of at least this many lines ends at an empty line.
const LEAST_LINES: usize = 25;
/// Bytes of a passage at most, for files with long lines.
const BYTES: usize = 8 * 1024;

/// Returns the passages of a text, in order; every line is in one of them. Those without a letter or digit are left out.
pub(super) fn passages(text: &str) -> Vec<IndexedPassage> {
    let mut found = Vec::new();
    let mut open = OpenPassage::at(1);
    for line in text.lines() {
        if open.lines > 0 && open.text.len() + line.len() > BYTES {
            open = open.close(&mut found);
        }
        open.add(line);
        if open.lines >= LINES || open.lines >= LEAST_LINES && line.trim().is_empty() {
            open = open.close(&mut found);
        }
    }
    open.close(&mut found);
    found
}

/// Returns these lines of a text, counted from 1.
pub(super) fn lines_of(text: &str, first: u32, last: u32) -> String {
    let (first, last) = (first as usize, last as usize);
    let lines = text.lines().skip(first.saturating_sub(1)).take((last + 1).saturating_sub(first));
    lines.collect::<Vec<_>>().join("\n")
}

/// The passage that lines are added to.
struct OpenPassage {
    first_line: u32,
    lines: usize,
    text: String,
}

impl OpenPassage {
    fn at(first_line: u32) -> Self {
        Self { first_line, lines: 0, text: String::new() }
    }

    fn add(&mut self, line: &str) {
        // Of a line that is longer than a passage, the beginning is found.
        self.text.push_str(&line[..line.floor_char_boundary(BYTES)]);
        self.text.push('\n');
        self.lines += 1;
    }

    fn close(self, found: &mut Vec<IndexedPassage>) -> Self {
        let next = self.first_line.saturating_add(u32::try_from(self.lines).unwrap_or(u32::MAX));
        if self.text.contains(char::is_alphanumeric) {
            found.push(IndexedPassage { first_line: self.first_line, last_line: next - 1, text: self.text });
        }
        Self::at(next)
    }
}

#[cfg(test)]
mod tests {
    use super::{lines_of, passages};

    fn ranges(text: &str) -> Vec<(u32, u32)> {
        passages(text).iter().map(|passage| (passage.first_line, passage.last_line)).collect()
    }

    // proves C10
    #[test]
    fn a_text_is_split_at_empty_lines_after_about_forty_lines() {
        let numbered = |lines: u32| (1..=lines).map(|number| format!("line {number}\n")).collect::<String>();
        for (text, want) in [
            (String::new(), vec![]),
            ("\n\n}\n".into(), vec![]),
            ("one".into(), vec![(1, 1)]),
            ("one\r\ntwo\r\n".into(), vec![(1, 2)]),
            (numbered(40), vec![(1, 40)]),
            (numbered(41), vec![(1, 40), (41, 41)]),
            (numbered(100), vec![(1, 40), (41, 80), (81, 100)]),
            // The empty line at 11 comes too early, that at 31 is in time.
            (format!("{}\n{}\n{}", numbered(10), numbered(19), numbered(9)), vec![(1, 31), (32, 40)]),
            (format!("{}\n", "x".repeat(9_000)).repeat(2), vec![(1, 1), (2, 2)]),
            (format!("{}\n", "é".repeat(2_000)).repeat(4), vec![(1, 2), (3, 4)]),
        ] {
            assert_eq!(ranges(&text), want, "{} bytes", text.len());
        }
        let text = numbered(100);
        for passage in passages(&text) {
            assert_eq!(lines_of(&text, passage.first_line, passage.last_line), passage.text.trim_end());
        }
        assert_eq!(lines_of("a\nb", 2, 9), "b");
    }
}
