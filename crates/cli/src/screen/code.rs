//! Code blocks: every line unchanged, between two rules, the first of which names the language.

use super::look::TerminalLook;
use super::style::{LineFit, Span, Style, StyledLine};

/// Longest horizontal rule, in columns.
pub(super) const RULE: usize = 48;
/// Width of a tab, in columns.
const TAB: usize = 4;

/// The line above a code block.
pub(super) fn code_head(info: &str, look: TerminalLook) -> StyledLine {
    let dash = look.glyphs.dash();
    let head = StyledLine::of(Style::DIM, &dash.repeat(2));
    let head = if info.is_empty() { head } else { head.followed_by(Style::DIM, &format!(" {info} ")) };
    let head = head.clipped(look.columns(), look.glyphs.dots());
    let rest = RULE.min(look.columns()).saturating_sub(head.width());
    head.followed_by(Style::DIM, &dash.repeat(rest))
}

/// The line below a code block.
pub(super) fn code_foot(look: TerminalLook) -> StyledLine {
    StyledLine::of(Style::DIM, &look.glyphs.dash().repeat(RULE.min(look.columns())))
}

/// Returns a line of code that is never wrapped.
pub(super) fn code_line(text: &str) -> StyledLine {
    StyledLine { spans: vec![Span::new(Style::PLAIN, &without_tabs(text))], fit: LineFit::Whole }
}

fn without_tabs(text: &str) -> String {
    let (mut shown, mut column) = (String::with_capacity(text.len()), 0);
    for c in text.chars() {
        let blanks = TAB - column % TAB;
        match c {
            '\t' => shown.push_str(&" ".repeat(blanks)),
            _ => shown.push(c),
        }
        column += if c == '\t' { blanks } else { 1 };
    }
    shown
}
