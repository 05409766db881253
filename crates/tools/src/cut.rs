//! Cuts a result to the part the model sees (T6): the beginning and the end stay, the middle goes,
//! and a line in its place says how much is missing and where to read it.

use std::fmt::Display;

use windlass_vocab::{CallId, ResultCap, Spill};

/// What was left out of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutInfo {
    /// Number of characters in the whole text.
    pub total_chars: u64,
    /// Number of characters kept, without the note.
    pub shown_chars: u64,
    /// The whole text, if the cap says it is to be stored.
    pub keep: Option<String>,
}

/// Returns the part of `text` that the model sees, and what was left out. A text within the cap is
/// returned unchanged.
#[must_use]
pub fn cut(text: String, cap: ResultCap, call: CallId) -> (String, Option<CutInfo>) {
    cut_text(text, cap, &format_args!("call:{call}"))
}

/// Like [`cut`], for a text that `read_file` reads under the path `source`.
#[must_use]
pub fn cut_text(text: String, cap: ResultCap, source: &dyn Display) -> (String, Option<CutInfo>) {
    let room = cap.chars as usize;
    if text.len() <= room {
        return (text, None);
    }
    let total = text.chars().count();
    if total <= room {
        return (text, None);
    }
    let tail = room / 4;
    let head_end = byte_of(&text, room - tail);
    let tail_start = byte_of(&text, total - tail);
    let (head, rest) = (&text[..head_end], &text[tail_start..]);
    let note = format!(
        "[truncated: {} of {} characters shown; {} left out here{}]",
        thousands(room),
        thousands(total),
        thousands(total - room),
        where_to_go_on(cap.rest, source, head.matches('\n').count() + 1),
    );
    let shown = if rest.is_empty() { format!("{head}\n{note}") } else { format!("{head}\n{note}\n{rest}") };
    let keep = match cap.rest {
        Spill::Keep => Some(text),
        Spill::Drop => None,
    };
    (shown, Some(CutInfo { total_chars: total as u64, shown_chars: room as u64, keep }))
}

fn where_to_go_on(rest: Spill, source: &dyn Display, line: usize) -> String {
    match rest {
        Spill::Keep => format!("; read them with read_file, path \"{source}\", offset {line}"),
        Spill::Drop => "; ask for a smaller part to see more".into(),
    }
}

fn byte_of(text: &str, char_index: usize) -> usize {
    text.char_indices().nth(char_index).map_or(text.len(), |(at, _)| at)
}

/// Formats `81234` as `81,234`.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> CallId {
        "3.2.0".parse().unwrap()
    }

    fn cap(chars: u32, rest: Spill) -> ResultCap {
        ResultCap { chars, rest }
    }

    // proves T6
    #[test]
    fn a_text_within_the_cap_is_left_alone() {
        for text in ["", "ééé", "abc"] {
            assert_eq!(cut(text.into(), cap(3, Spill::Keep), call()), (text.into(), None));
        }
    }

    // proves T6
    #[test]
    fn a_longer_text_keeps_both_ends_and_says_where_to_go_on() {
        let text = format!("a\nb\n{}é", "x".repeat(1995));
        let (shown, info) = cut(text.clone(), cap(16, Spill::Keep), call());
        assert_eq!(
            shown,
            "a\nb\nxxxxxxxx\n[truncated: 16 of 2,000 characters shown; 1,984 left out here; read them with read_file, \
             path \"call:3.2.0\", offset 3]\nxxxé"
        );
        assert_eq!(info, Some(CutInfo { total_chars: 2000, shown_chars: 16, keep: Some(text) }));
    }

    // proves T6
    #[test]
    fn a_cut_falls_on_a_character_boundary_at_every_cap() {
        let text = "aé漢🦀\n".repeat(20);
        for chars in 0..100 {
            let (shown, info) = cut(text.clone(), cap(chars, Spill::Drop), call());
            assert!(shown.contains("[truncated: ") && shown.contains("smaller part"));
            assert_eq!(info.unwrap().keep, None);
        }
    }
}
