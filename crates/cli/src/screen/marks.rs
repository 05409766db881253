//! Recognises the beginnings of Markdown lines, as far as they determine where a block ends.

/// Returns how many columns a line is indented.
pub(super) fn indent(line: &str) -> usize {
    let mut columns = 0;
    for c in line.chars() {
        match c {
            ' ' => columns += 1,
            '\t' => columns = (columns / 4 + 1) * 4,
            _ => break,
        }
    }
    columns
}

/// The fence of a code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodeFence {
    mark: char,
    length: usize,
    indent: usize,
    /// The info string: the text after the opening marks.
    pub(super) info: String,
}

impl CodeFence {
    /// Returns the fence that a line opens.
    pub(super) fn opened_by(line: &str) -> Option<Self> {
        let (indent, text) = (indent(line), line.trim());
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = text.trim_start_matches(mark);
        let length = text.len() - info.len();
        let opens = indent < 4 && length >= 3 && !(mark == '`' && info.contains('`'));
        opens.then(|| Self { mark, length, indent, info: info.trim().to_owned() })
    }

    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        indent(line) < 4 && text.len() >= self.length && text.chars().all(|c| c == self.mark)
    }

    /// Whether a line with this beginning may become the closing fence.
    pub(super) fn may_be_closed_by(&self, beginning: &str) -> bool {
        let text = beginning.trim();
        !text.is_empty() && text.chars().all(|c| c == self.mark)
    }

    /// Returns a line of the code without the indentation of the fence itself.
    pub(super) fn code<'a>(&self, line: &'a str) -> &'a str {
        let blanks = line.bytes().take(self.indent).take_while(|byte| *byte == b' ').count();
        &line[blanks..]
    }
}

/// The mark of a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ItemMark {
    /// The bullet, or the character after the number: items of one list share it.
    pub(super) kind: char,
    pub(super) number: Option<u64>,
    /// The column where the item's text begins.
    pub(super) content: usize,
    /// Whether there is text after the mark.
    pub(super) text: bool,
}

impl ItemMark {
    pub(super) fn of(line: &str) -> Option<Self> {
        let start = indent(line);
        let text = line.trim_start();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let number = text[..digits].parse().ok();
        let kind = text[digits..].chars().next()?;
        let marks = match number {
            Some(_) => digits < 10 && matches!(kind, '.' | ')'),
            None => digits == 0 && matches!(kind, '-' | '*' | '+'),
        };
        if !marks || is_rule(line) {
            return None;
        }
        let rest = &text[digits + 1..];
        let blanks = match indent(rest) {
            0 if !rest.is_empty() => return None,
            blanks @ 1..5 if !rest.trim().is_empty() => blanks,
            _ => 1,
        };
        Some(Self { kind, number, content: start + digits + 1 + blanks, text: !rest.trim().is_empty() })
    }

    /// Whether the item ends a paragraph without a blank line between them.
    pub(super) fn interrupts(&self) -> bool {
        self.text && self.number.is_none_or(|number| number == 1)
    }
}

/// Whether a line is a thematic break: three or more of one mark and nothing else.
pub(super) fn is_rule(line: &str) -> bool {
    let text: String = line.chars().filter(|c| !matches!(c, ' ' | '\t')).collect();
    let mark = text.chars().next().unwrap_or(' ');
    text.len() >= 3 && matches!(mark, '-' | '*' | '_') && text.chars().all(|c| c == mark)
}

pub(super) fn is_heading(line: &str) -> bool {
    let text = line.trim_start();
    let rest = text.trim_start_matches('#');
    indent(line) < 4
        && (1..=6).contains(&(text.len() - rest.len()))
        && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

pub(super) fn is_quote(line: &str) -> bool {
    indent(line) < 4 && line.trim_start().starts_with('>')
}

/// Whether a line is the rule between a table's header and its rows.
pub(super) fn is_table_rule(line: &str) -> bool {
    line.contains('|') && line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

/// Whether the kind of an unfinished line is still open, so that displaying it would flicker: `-` may become a list, a
/// rule or the underline of a heading.
pub(super) fn is_undecided(beginning: &str) -> bool {
    let text = beginning.trim();
    let marks = |c: char| "-=*+_#>|:`~.)".contains(c) || c.is_ascii_digit() || c == ' ';
    let lines = |c: char| "-=*_|: ".contains(c);
    let short = text.len() <= 12 && text.chars().all(marks);
    text.starts_with("```") || text.starts_with("~~~") || short || text.chars().all(lines)
}
