//! Colours for the preview that a person approves: a title, and a diff below it.

use super::look::Colour;
use super::style::{Style, StyledLine};

/// Returns untrusted `text` safe for a terminal: control characters are made visible, and the lines of a diff, which
/// are indented by `indent`, have colours.
pub(crate) fn painted(text: &str, indent: &str, colour: Colour) -> String {
    let bare = |line: &str| if line.starts_with(indent) { indent.len() } else { 0 };
    let mut lines = text.lines().peekable();
    let (mut painted, mut inside) = (String::new(), DiffPart::Text);
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        let style = inside.style(&line[bare(line)..], &next[bare(next)..]);
        if !painted.is_empty() {
            painted.push('\n');
        }
        StyledLine::of(style, &line.replace('\t', "    ").replace('\r', "␍")).paint(colour, &mut painted);
    }
    painted
}

/// The part of the preview that is being read.
enum DiffPart {
    Text,
    /// The next line also belongs to a diff's header.
    Head,
    Diff,
}

impl DiffPart {
    fn style(&mut self, line: &str, next: &str) -> Style {
        let begins = line.starts_with("--- ") && next.starts_with("+++ ");
        match (&self, line.as_bytes().first()) {
            (Self::Text | Self::Diff, _) if begins => {
                *self = Self::Head;
                Style::BOLD
            }
            (Self::Head, _) => {
                *self = Self::Diff;
                Style::BOLD
            }
            (Self::Diff, Some(b'+')) => Style::ADDED,
            (Self::Diff, Some(b'-')) => Style::ALARM,
            (Self::Diff, Some(b'@')) => Style::CODE,
            (Self::Diff, Some(b'\\' | b'[')) => Style::DIM,
            (Self::Text | Self::Diff, _) => Style::PLAIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::painted;
    use crate::screen::look::Colour;

    const TEXT: &str = "Edit f\n  --- f\n  +++ f\n  @@ -1,2 +1,2 @@\n   - same\n  -old\n  +new\tx";

    // proves T8
    #[test]
    fn a_diff_has_its_colours_and_other_text_none() {
        assert_eq!(painted(TEXT, "  ", Colour::None), TEXT.replace('\t', "    "));
        let ansi = painted(TEXT, "  ", Colour::Ansi);
        for part in ["Edit f\n", "\u{1b}[31m  -old\u{1b}[0m", "\u{1b}[32m  +new    x\u{1b}[0m", "\n   - same\n"] {
            assert!(ansi.contains(part), "{part:?} in {ansi:?}");
        }
        assert_eq!(painted("Run `x`\n  - y\n  + z", "  ", Colour::Ansi), "Run `x`\n  - y\n  + z");
    }

    // proves X4 at the terminal: a preview can't hide its contents
    #[test]
    fn nothing_in_a_preview_steers_the_terminal() {
        let text = "Edit f\n--- f\n+++ f\n+a\u{1b}[2K\u{1b}[1Ab\rc\u{202e}d";
        let shown = painted(text, "", Colour::None);
        assert!(shown.ends_with("+a\u{fffd}[2K\u{fffd}[1Ab␍c\u{fffd}d"), "{shown:?}");
        let coloured = painted(text, "", Colour::Ansi);
        assert!(!coloured.contains("\u{1b}[2K") && !coloured.contains('\r'), "{coloured:?}");
    }
}
