//! A long paste appears in the line as `[paste 1: 120 lines]` and is put back when the line is sent, so that editing
//! stays fast even with a pasted megabyte.

/// A paste of at most this length and this many lines is displayed in full.
const SHOWN_CHARS: usize = 800;
const SHOWN_LINES: usize = 8;

/// The long pastes of a line, each with its mark.
#[derive(Debug, Default)]
pub(crate) struct Pastes(Vec<(String, String)>);

impl Pastes {
    /// Returns the text to insert in the line: the paste or its mark. Control characters are removed.
    pub(crate) fn take(&mut self, text: &str) -> String {
        let text: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        let lines = text.lines().count();
        if text.len() <= SHOWN_CHARS && lines <= SHOWN_LINES {
            return text;
        }
        let number = self.0.len() + 1;
        let mark = if lines > 1 {
            format!("[paste {number}: {lines} lines]")
        } else {
            format!("[paste {number}: {} characters]", text.chars().count())
        };
        self.0.push((mark.clone(), text));
        mark
    }

    /// Returns the line with its pastes put back, and forgets them.
    pub(crate) fn put_back(&mut self, line: &str) -> String {
        let mut whole = String::with_capacity(line.len());
        let mut rest = line;
        'next: while let Some(at) = rest.find("[paste ") {
            whole.push_str(&rest[..at]);
            rest = &rest[at..];
            for (mark, text) in &self.0 {
                if let Some(after) = rest.strip_prefix(mark.as_str()) {
                    whole.push_str(text);
                    rest = after;
                    continue 'next;
                }
            }
            whole.push('[');
            rest = &rest[1..];
        }
        whole.push_str(rest);
        self.0.clear();
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::Pastes;

    #[test]
    fn a_long_paste_stands_as_a_mark_and_comes_back_whole() {
        let (mut pastes, long) = (Pastes::default(), "x\n".repeat(500_000));
        assert_eq!(pastes.take("short\n\u{1b}[2Jpaste\u{7}"), "short\n[2Jpaste");
        let mark = pastes.take(&long);
        assert_eq!(mark, "[paste 1: 500000 lines]");
        let wide = pastes.take(&"y".repeat(900));
        assert_eq!(wide, "[paste 2: 900 characters]");
        let line = format!("a {wide} [paste 3: 1 lines] {mark}");
        assert_eq!(pastes.put_back(&line), format!("a {} [paste 3: 1 lines] {long}", "y".repeat(900)));
    }

    #[test]
    fn a_mark_inside_a_paste_is_text() {
        let mut pastes = Pastes::default();
        let first = pastes.take(&format!("[paste 2: 900 characters]{}", "x".repeat(900)));
        pastes.take(&"y".repeat(900));
        assert!(pastes.put_back(&first).starts_with("[paste 2: 900 characters]x"));
    }
}
