//! Finds text that differs from what a model wrote only in white space: indentation, blanks at line ends, tabs, line
//! ends, empty lines before and after. Whole lines are matched and replaced, and the new text is indented as the file is.

use std::collections::HashMap;
use std::ops::Range;

use super::line_ends::only_crlf;

/// The place of an edit whose old text differs from the file only in white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LooseMatch {
    /// The lines of the file, from 0.
    pub(super) lines: Range<usize>,
}

/// Returns the places whose lines are those of `old` but for white space; none if `old` is only white space.
pub(super) fn loose_matches(text: &str, old: &str) -> Vec<LooseMatch> {
    let wanted: Vec<String> = without_empty_ends(old).into_iter().map(squeezed).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let lines: Vec<String> = text.lines().map(squeezed).collect();
    let starts = lines.windows(wanted.len()).enumerate().filter(|(_, window)| *window == wanted.as_slice());
    starts.map(|(start, _)| LooseMatch { lines: start..start + wanted.len() }).collect()
}

impl LooseMatch {
    /// Returns `text` with the matched lines replaced by `new`, indented as these lines are.
    pub(super) fn replaced(&self, text: &str, old: &str, new: &str) -> String {
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let matched = &all[self.lines.clone()];
        let indents = Indents::between(&without_empty_ends(old), matched);
        let line_end = if only_crlf(text) { "\r\n" } else { "\n" };
        let lines: Vec<String> = without_empty_ends(new).into_iter().map(|line| indents.applied(line)).collect();
        // The last line keeps the line end it has, or lacks.
        let last_end = matched.last().map_or("", |line| if line.ends_with('\n') { line_end } else { "" });
        let put = if lines.is_empty() { String::new() } else { lines.join(line_end) + last_end };
        [all[..self.lines.start].concat(), put, all[self.lines.end..].concat()].concat()
    }
}

/// Returns the lines of a text without the empty ones at its beginning and end.
fn without_empty_ends(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let is_full = |line: &&str| !line.trim().is_empty();
    let Some(first) = lines.iter().position(is_full) else { return Vec::new() };
    let last = lines.iter().rposition(is_full).unwrap_or(first);
    lines[first..=last].to_vec()
}

/// Returns a line without white space at its ends, and with one blank for each run of white space in it.
fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// How the indentation of the file differs from what the model wrote.
enum Indents<'t> {
    /// Every line of the file has this before the model's indentation.
    Deeper(&'t str),
    /// Every line of the model has this before the file's indentation.
    Shallower(&'t str),
    /// Each indentation that the model wrote stands for another, such as tabs for blanks.
    Mapped(HashMap<&'t str, &'t str>),
}

impl<'t> Indents<'t> {
    fn between(written: &[&'t str], there: &[&'t str]) -> Self {
        let pairs = written.iter().zip(there).filter(|(written, _)| !written.trim().is_empty());
        let pairs: Vec<(&'t str, &'t str)> = pairs.map(|(written, there)| (indent(written), indent(there))).collect();
        let same = |parts: Vec<Option<&'t str>>| {
            let first = (*parts.first()?)?;
            parts.iter().all(|part| *part == Some(first)).then_some(first)
        };
        if let Some(deeper) = same(pairs.iter().map(|(written, there)| there.strip_suffix(written)).collect()) {
            return Self::Deeper(deeper);
        }
        if let Some(less) = same(pairs.iter().map(|(written, there)| written.strip_suffix(there)).collect()) {
            return Self::Shallower(less);
        }
        Self::Mapped(pairs.into_iter().collect())
    }

    fn applied(&self, line: &str) -> String {
        if line.trim().is_empty() {
            return line.to_owned();
        }
        match self {
            Self::Deeper(more) => format!("{more}{line}"),
            Self::Shallower(less) => line.strip_prefix(less).unwrap_or(line).to_owned(),
            Self::Mapped(known) => {
                let own = indent(line);
                format!("{}{}", known.get(own).unwrap_or(&own), line.trim_start())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replaces the only place.
    fn replaced(text: &str, old: &str, new: &str) -> String {
        let found = loose_matches(text, old);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].replaced(text, old, new)
    }

    // proves T3: a difference in white space alone does not cost a turn
    #[test]
    fn new_text_is_indented_as_the_file_is() {
        let file = "fn f() {\n        let a = 1;\n        let b = 2;\n}\n";
        let want = "fn f() {\n        let a = 1;\n        if a {\n            b();\n        }\n}\n";
        let new = "let a = 1;\nif a {\n    b();\n}";
        assert_eq!(replaced(file, "let a = 1;\nlet b = 2;", new), want);
        assert_eq!(replaced("a:\n  b: 1\n", "    b: 1", "    b: 2\n      c: 3"), "a:\n  b: 2\n    c: 3\n");
        assert_eq!(
            replaced("if x:\n\ty()\n\t\tz()\n", "    y()\n        z()", "    y()\n        q()"),
            "if x:\n\ty()\n\t\tq()\n"
        );
    }

    // proves T3
    #[test]
    fn line_ends_blanks_and_empty_lines_around_do_not_matter() {
        assert_eq!(replaced("a  \nb\n", "a\nb", "c"), "c\n");
        assert_eq!(replaced("a\r\nb\r\nc\r\n", "a \nb", "x\ny"), "x\r\ny\r\nc\r\n");
        assert_eq!(replaced("a\nb", "\n b\n\n", " c"), "a\nc");
        assert_eq!(replaced("port\t=  80\n", "port = 80", "port = 81"), "port = 81\n");
        assert_eq!(replaced("a\n b\nc\n", "b", ""), "a\nc\n");
    }

    #[test]
    fn other_text_and_white_space_alone_do_not_match() {
        assert_eq!(loose_matches("a b\n", "ab"), []);
        assert_eq!(loose_matches("a\nb\n", "a"), [LooseMatch { lines: 0..1 }]);
        assert_eq!(loose_matches("a b c\n", "a b"), [], "whole lines alone");
        assert_eq!(loose_matches("a\n\nb\n", " \n"), []);
        assert_eq!(loose_matches(" x\ny\n  x\n", "x").len(), 2);
    }
}
