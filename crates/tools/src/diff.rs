//! Shows the changes in a file as a unified diff that a person can read quickly.
//!
//! [`unified`] compares two texts, [`compare`] any two file contents: text, binary, or no file. Both are
//! bounded in time and output, and say what they leave out. A line too long to show is shown around its
//! first change, so that no change is hidden at its end. Line ends are marked where they are mixed or
//! change.

use std::fmt::Write as _;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::cut::thousands;

/// Lines shown before and after a change.
const AROUND: usize = 3;
/// Characters shown before the first difference of a long line.
const LEAD: usize = 40;
/// With more changed lines than this, two texts are not compared line by line: all old lines are removed and
/// all new ones added. Comparing takes time proportional to the product of both in the worst case.
const COMPARED: usize = 10_000;

/// How much of a diff is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffLimits {
    /// Maximum number of lines of the diff.
    pub lines: usize,
    /// Maximum number of characters of a line.
    pub columns: usize,
}

impl DiffLimits {
    /// No limit.
    pub const WHOLE: Self = Self { lines: usize::MAX, columns: usize::MAX };
}

impl Default for DiffLimits {
    fn default() -> Self {
        Self { lines: 300, columns: 400 }
    }
}

/// Returns the change from `before` to `after` of the file at `path`; empty if they are the same.
#[must_use]
pub fn unified(before: &str, after: &str, path: &str, limits: DiffLimits) -> String {
    compare(Some(before.as_bytes()), Some(after.as_bytes()), path, limits)
}

/// Like [`unified`], for any two contents; `None` means that there is no file. Of content that is not text
/// only the size is shown.
#[must_use]
pub fn compare(before: Option<&[u8]>, after: Option<&[u8]>, path: &str, limits: DiffLimits) -> String {
    if before == after {
        return String::new();
    }
    match (text(before), text(after)) {
        (Some(old), Some(new)) => {
            let head = format!("--- {}\n+++ {}\n", side_name(before, path), side_name(after, path));
            Diff::new(old, new).rendered(head, limits)
        }
        (None, _) | (_, None) => format!("{path}: {} becomes {}\n", describe_content(before), describe_content(after)),
    }
}

/// Returns the content as text, empty if there is no file; `None` if it is not text.
fn text(content: Option<&[u8]>) -> Option<&str> {
    let content = content.unwrap_or_default();
    if content.contains(&0) { None } else { std::str::from_utf8(content).ok() }
}

fn side_name<'a>(content: Option<&[u8]>, path: &'a str) -> &'a str {
    if content.is_some() { path } else { "/dev/null" }
}

fn describe_content(content: Option<&[u8]>) -> String {
    match (content, text(content)) {
        (None, _) => "no file".to_owned(),
        (Some(content), Some(_)) => format!("text of {} bytes", thousands(content.len())),
        (Some(content), None) => format!("binary data of {} bytes", thousands(content.len())),
    }
}

/// Whether line ends are marked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    /// All line ends are the same: no marks.
    Plain,
    /// Carriage returns are displayed.
    Marked,
}

/// Two texts as lines, each with its line end.
struct Diff<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    ends: LineEnds,
}

impl<'a> Diff<'a> {
    fn new(old: &'a str, new: &'a str) -> Self {
        let (old, new): (Vec<_>, Vec<_>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        let returns = old.iter().chain(&new).filter(|line| line.ends_with("\r\n")).count();
        let lines = old.iter().chain(&new).filter(|line| line.ends_with('\n')).count();
        let ends = if returns == 0 || returns == lines { LineEnds::Plain } else { LineEnds::Marked };
        Self { old, new, ends }
    }

    /// Returns the changes, grouped into hunks.
    fn groups(&self) -> Vec<Vec<DiffOp>> {
        let before = self.old.iter().zip(&self.new).take_while(|(old, new)| old == new).count();
        let (old, new) = (&self.old[before..], &self.new[before..]);
        let after = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[..old.len() - after], &new[..new.len() - after]);
        if old.len() + new.len() <= COMPARED {
            return group_diff_ops(capture_diff_slices(Algorithm::Myers, &self.old, &self.new), AROUND);
        }
        let same = |old_index, new_index, len| DiffOp::Equal { old_index, new_index, len };
        let (lead, trail) = (before.min(AROUND), after.min(AROUND));
        let changed = DiffOp::Replace { old_index: before, old_len: old.len(), new_index: before, new_len: new.len() };
        vec![vec![
            same(before - lead, before - lead, lead),
            changed,
            same(before + old.len(), before + new.len(), trail),
        ]]
    }

    fn rendered(&self, head: String, limits: DiffLimits) -> String {
        let mut page = DiffWriter { text: head, limits, shown: 0, left_out: 0, ends: self.ends };
        for group in self.groups() {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let old = first.old_range().start..last.old_range().end;
            let new = first.new_range().start..last.new_range().end;
            page.put(&format!("@@ -{} +{} @@", span(&old), span(&new)));
            for op in group {
                self.put(&mut page, op);
            }
        }
        page.finished()
    }

    fn put(&self, page: &mut DiffWriter, op: DiffOp) {
        match op {
            DiffOp::Equal { .. } => {
                self.old[op.old_range()].iter().for_each(|line| page.line(' ', line, 0));
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                let (old, new) = (&self.old[op.old_range()], &self.new[op.new_range()]);
                for (at, line) in old.iter().enumerate() {
                    page.line('-', line, new.get(at).map_or(0, |other| common_prefix(line, other)));
                }
                for (at, line) in new.iter().enumerate() {
                    page.line('+', line, old.get(at).map_or(0, |other| common_prefix(line, other)));
                }
            }
        }
    }
}

/// Formats a line range as in a hunk header, `12,3`: the first line, counted from one, and the number of lines.
fn span(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

/// Returns how many characters two lines have in common at their beginning.
fn common_prefix(line: &str, other: &str) -> usize {
    line.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

/// A diff being written, within its limits.
struct DiffWriter {
    text: String,
    limits: DiffLimits,
    shown: usize,
    left_out: usize,
    ends: LineEnds,
}

impl DiffWriter {
    fn put(&mut self, line: &str) {
        if self.shown < self.limits.lines {
            self.shown += 1;
            self.text.push_str(line);
            self.text.push('\n');
        } else {
            self.left_out += 1;
        }
    }

    /// Writes one line of a file, cut around `from`, the position where it begins to differ.
    fn line(&mut self, mark: char, line: &str, from: usize) {
        if self.shown >= self.limits.lines {
            self.left_out += 1;
            return;
        }
        let (content, end) = match (line.strip_suffix("\r\n"), line.strip_suffix('\n')) {
            (Some(content), _) if self.ends == LineEnds::Marked => (content, "␍"),
            (Some(content), _) | (None, Some(content)) => (content, ""),
            (None, None) => (line, ""),
        };
        self.put(&format!("{mark}{}{end}", window(content, from, self.limits.columns)));
        if !line.ends_with('\n') {
            self.put("\\ No newline at end of file");
        }
    }

    fn finished(mut self) -> String {
        if self.left_out > 0 {
            let _ = writeln!(self.text, "[{} more lines of the diff are not shown]", thousands(self.left_out));
        }
        self.text
    }
}

/// Returns `columns` characters of `line` including the one at `from`, with a mark where more are left out.
fn window(line: &str, from: usize, columns: usize) -> String {
    if line.len() <= columns {
        return line.to_owned();
    }
    let total = line.chars().count();
    if total <= columns {
        return line.to_owned();
    }
    let start = from.saturating_sub(LEAD).min(total - columns);
    let shown: String = line.chars().skip(start).take(columns).collect();
    let before = if start == 0 { String::new() } else { format!("[{} characters]…", thousands(start)) };
    let rest = total - columns - start;
    let after = if rest == 0 { String::new() } else { format!("…[{} characters]", thousands(rest)) };
    format!("{before}{shown}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str) -> String {
        unified(before, after, "f", DiffLimits::default())
    }

    // proves T8: an edit is shown as its changes with the surrounding lines
    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        let before: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let after = before.replace("line 9\n", "line nine\n").replace("line 20\n", "");
        let expected = "--- f\n+++ f\n@@ -6,7 +6,7 @@\n line 6\n line 7\n line 8\n-line 9\n+line nine\n line 10\n \
                        line 11\n line 12\n@@ -17,4 +17,3 @@\n line 17\n line 18\n line 19\n-line 20\n";
        assert_eq!(diff(&before, &after), expected);
        assert_eq!(diff(&before, &before), "");
    }

    #[test]
    fn a_file_that_is_made_or_taken_away_has_one_side() {
        let limits = DiffLimits::default();
        assert_eq!(compare(None, Some(b"a\n"), "f", limits), "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(compare(Some(b"a\nb\n"), None, "f", limits), "--- f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n");
        assert_eq!(compare(None, None, "f", limits), "");
    }

    #[test]
    fn what_can_not_be_seen_in_a_line_is_said() {
        let end = "--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
        assert_eq!(diff("a", "a\n"), end);
        assert_eq!(diff("a\r\nb\r\n", "a\nb\r\n"), "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a␍\n+a\n b␍\n");
        assert_eq!(diff("a\r\nb\r\n", "a\r\nc\r\n"), "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    }

    // proves T8: binary files are named as such
    #[test]
    fn what_is_not_text_is_named_by_its_size() {
        let limits = DiffLimits::default();
        assert_eq!(
            compare(Some(b"\0\x01"), Some(b"abc"), "f", limits),
            "f: binary data of 2 bytes becomes text of 3 bytes\n"
        );
        assert_eq!(compare(None, Some(b"\xff"), "f", limits), "f: no file becomes binary data of 1 bytes\n");
    }

    // proves T8: a preview is bounded and says what it leaves out
    #[test]
    fn no_diff_is_longer_than_its_limits() {
        let limits = DiffLimits { lines: 5, columns: 10 };
        let after: String = (0..100).map(|n| format!("{n}\n")).collect();
        let shown = unified("", &after, "f", limits);
        assert_eq!(
            shown,
            "--- f\n+++ f\n@@ -0,0 +1,100 @@\n+0\n+1\n+2\n+3\n[96 more lines of the diff are not shown]\n"
        );
        let long = "x".repeat(5_000);
        let (before, after) = (format!("{long}a{long}"), format!("{long}b{long}"));
        let shown = unified(&before, &after, "f", DiffLimits::default());
        assert!(shown.contains("xa") && shown.contains("xb") && shown.chars().count() < 1_200, "{shown}");
    }

    #[test]
    fn large_texts_with_nothing_in_common_are_compared_in_no_time() {
        let text = |seed: u64| (0..200_000).map(|n| format!("{}\n", n * 2 + seed)).collect::<String>();
        let shown = diff(&text(0), &text(1));
        assert!(shown.contains("[399,701 more lines"), "{}", &shown[shown.len() - 80..]);
        let hostile: String = (0..5_000).map(|n| if n % 2 == 0 { "a\n" } else { "b\n" }).collect();
        let other: String = (0..5_000).map(|n| if n % 3 == 0 { "a\n" } else { "b\n" }).collect();
        assert!(!diff(&hostile, &other).is_empty());
    }

    proptest::proptest! {
        // For any two texts, the diff is within bounds and distinguishes them.
        #[test]
        fn different_texts_have_a_diff_and_equal_ones_none(before in "[ab\r\n]{0,30}", after in "[ab\r\n]{0,30}") {
            let shown = diff(&before, &after);
            proptest::prop_assert_eq!(shown.is_empty(), before == after);
            let sign = |mark: char| shown.lines().skip(2).filter(|line| line.starts_with(mark)).count();
            let lines = |text: &str| text.split_inclusive('\n').count();
            let (removed, added) = (sign('-'), sign('+'));
            proptest::prop_assert!(removed <= lines(&before) && added <= lines(&after));
            proptest::prop_assert_eq!(lines(&before) + added, lines(&after) + removed);
        }
    }
}
