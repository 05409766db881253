//! Wrapping: spans in, rows of at most `width` columns out. Breaks at blanks, between wide
//! characters, and inside a word only when the word alone is too long for a row.

use super::style::{Span, Style, char_width, push, text_width};

/// Wraps into rows of at most `width` columns. A line break in a span begins a new row.
pub(super) fn wrap(spans: &[Span], width: usize) -> Vec<Vec<Span>> {
    let mut wrapper = Wrapper { width: width.max(1), ..Wrapper::default() };
    for span in spans {
        span.text.chars().for_each(|c| wrapper.take(c, span.style));
    }
    wrapper.end_row();
    wrapper.rows
}

/// Wraps the lines of a plain text that are too long for a row. The rows that go on stand deeper than the first.
pub(crate) fn wrapped_lines(text: &str, width: usize) -> String {
    let mut wrapped = String::new();
    for line in text.lines() {
        if text_width(line) <= width {
            wrapped = wrapped + line + "\n";
            continue;
        }
        let words = line.trim_start_matches(' ');
        let depth = line.len() - words.len();
        let deeper = (depth + 2).min(width / 2);
        for (row, spans) in wrap(&[Span::new(Style::PLAIN, words)], width - deeper).iter().enumerate() {
            let before = if row == 0 { depth.min(deeper) } else { deeper };
            wrapped.push_str(&" ".repeat(before));
            spans.iter().for_each(|span| wrapped.push_str(&span.text));
            wrapped.push('\n');
        }
    }
    wrapped
}

/// Splits into rows exactly at the width, without changing the text.
pub(super) fn fold_at(spans: &[Span], width: usize) -> Vec<Vec<Span>> {
    let mut rows = vec![Vec::new()];
    let mut column = 0;
    for span in spans {
        for c in span.text.chars() {
            if column + char_width(c) > width.max(1) && column > 0 {
                rows.push(Vec::new());
                column = 0;
            }
            column += char_width(c);
            if let Some(row) = rows.last_mut() {
                push(row, span.style, c.encode_utf8(&mut [0; 4]));
            }
        }
    }
    rows
}

#[derive(Default)]
struct Wrapper {
    width: usize,
    rows: Vec<Vec<Span>>,
    row: Vec<Span>,
    column: usize,
    word: Vec<Span>,
    word_width: usize,
    /// The last character of the word; `\0` when it is empty.
    last: char,
    /// Blanks before the word.
    blanks: usize,
    blank_style: Style,
}

impl Wrapper {
    fn take(&mut self, c: char, style: Style) {
        match c {
            '\n' => self.end_row(),
            ' ' => {
                self.end_word();
                self.blanks += 1;
                self.blank_style = style;
            }
            _ => self.letter(c, style),
        }
    }

    fn letter(&mut self, c: char, style: Style) {
        let width = char_width(c);
        // Zero-width characters and characters after a joiner stay with the character before them.
        let stays = width == 0 || self.last == '\u{200d}' || self.last == '\0';
        let between_wide = (width > 1 || char_width(self.last) > 1) && !closes(c);
        if !stays && (between_wide || self.word_width + width > self.width) {
            self.end_word();
        }
        push(&mut self.word, style, c.encode_utf8(&mut [0; 4]));
        self.word_width += width;
        self.last = c;
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        if self.column + self.blanks + self.word_width > self.width && self.column > 0 {
            self.rows.push(std::mem::take(&mut self.row));
            self.column = 0;
        } else if self.blanks > 0 {
            // Leading blanks are kept if they fit: the author put them there.
            let room = self.width.saturating_sub(self.column + self.word_width);
            push(&mut self.row, self.blank_style, &" ".repeat(self.blanks.min(room)));
            self.column += self.blanks.min(room);
        }
        for span in self.word.drain(..) {
            push(&mut self.row, span.style, &span.text);
        }
        self.column += self.word_width;
        (self.word_width, self.blanks, self.last) = (0, 0, '\0');
    }

    fn end_row(&mut self) {
        self.end_word();
        self.rows.push(std::mem::take(&mut self.row));
        (self.column, self.blanks) = (0, 0);
    }
}

/// Whether a row should not begin with this character.
const fn closes(c: char) -> bool {
    matches!(
        c,
        '、' | '。'
            | '，'
            | '．'
            | '：'
            | '；'
            | '！'
            | '？'
            | '）'
            | '」'
            | '』'
            | '】'
            | '》'
            | '〉'
            | '”'
            | '’'
            | '…'
            | 'ー'
    )
}

#[cfg(test)]
mod tests {
    use super::{fold_at, wrap, wrapped_lines};
    use crate::screen::style::{Span, Style, text_width};

    fn rows(text: &str, width: usize) -> Vec<String> {
        let span = Span { style: Style::PLAIN, text: text.into() };
        let text_of = |row: &Vec<Span>| row.iter().map(|span| span.text.as_str()).collect::<String>();
        wrap(&[span], width).iter().map(text_of).collect()
    }

    // proves W2: a narrow terminal breaks no word
    #[test]
    fn lines_that_are_too_long_go_on_deeper() {
        let text = "  /cost  tokens, and money where prices are known\n\nshort\n";
        assert_eq!(wrapped_lines(text, 80), text);
        let narrow = "  /cost  tokens, and\n    money where prices\n    are known\n\nshort\n";
        assert_eq!(wrapped_lines(text, 24), narrow);
        assert!(wrapped_lines(&"x".repeat(50), 20).lines().all(|row| text_width(row) <= 20));
    }

    #[test]
    fn rows_break_at_blanks_and_long_words_where_the_row_is_full() {
        assert_eq!(rows("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(rows("a verylongword b", 6), ["a", "verylo", "ngword", "b"]);
        assert_eq!(rows("one\n two", 10), ["one", " two"]);
        assert_eq!(rows("", 10), [""]);
    }

    #[test]
    fn wide_characters_break_anywhere_but_not_before_what_closes() {
        assert_eq!(rows("日本語の文章。", 6), ["日本語", "の文", "章。"]);
        assert_eq!(rows("日本語日本。", 6), ["日本語", "日本。"]);
    }

    #[test]
    fn a_joined_picture_and_an_accent_are_never_taken_apart() {
        for width in 1..12 {
            for row in rows("👩\u{200d}🚀👩\u{200d}🚀 e\u{301}e\u{301}e\u{301}", width) {
                assert!(!row.starts_with(['\u{200d}', '\u{301}']) && !row.ends_with('\u{200d}'), "{row:?} at {width}");
            }
        }
    }

    #[test]
    fn no_row_is_wider_than_asked_for_and_no_letter_is_lost() {
        let text = "Grüße an 世界 and https://example.org/a/very/long/path?with=query plus 🦀 crabs";
        let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        for width in 2..60 {
            let rows = rows(text, width);
            assert!(rows.iter().all(|row| text_width(row) <= width), "{rows:?}");
            assert_eq!(letters(&rows.concat()), letters(text));
            let span = Span { style: Style::PLAIN, text: text.into() };
            let folded = fold_at(&[span], width).iter().flatten().map(|span| span.text.clone()).collect::<String>();
            assert_eq!(folded, text);
        }
    }
}
