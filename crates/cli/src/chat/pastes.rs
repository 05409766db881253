//! A long paste appears in the line as `[paste 1: 120 lines]` and is put back when the line is sent, so that editing
//! stays fast even with a pasted megabyte.

/// A paste of at most this length and this many lines is displayed in full.
const SHOWN_CHARS: usize = 800;
const SHOWN_LINES: usize = 8;

/// The pastes of a line.
#[derive(Debug, Default)]
pub(crate) struct Pastes {
    /// The long ones, each with its mark.
    long: Vec<(String, String)>,
    /// Those that are displayed in full.
    short: Vec<String>,
}

/// A line as it was entered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EnteredLine {
    /// With its pastes.
    pub(crate) whole: String,
    /// What was pasted and stands in the line itself.
    pub(crate) pasted: Vec<String>,
}

impl Pastes {
    /// Returns the text to insert in the line: the paste or its mark. Control characters are removed.
    pub(crate) fn take(&mut self, text: &str) -> String {
        let text: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        let lines = text.lines().count();
        if text.len() <= SHOWN_CHARS && lines <= SHOWN_LINES {
            self.short.push(text.clone());
            return text;
        }
        let number = self.long.len() + 1;
        let mark = if lines > 1 {
            format!("[paste {number}: {lines} lines]")
        } else {
            format!("[paste {number}: {} characters]", text.chars().count())
        };
        self.long.push((mark.clone(), text));
        mark
    }

    /// Returns the line with its pastes put back, and forgets them.
    pub(crate) fn put_back(&mut self, line: &str) -> String {
        self.entered(line).whole
    }

    /// Returns the line with its pastes put back and what was pasted into it, and forgets them.
    pub(crate) fn entered(&mut self, line: &str) -> EnteredLine {
        let mut whole = String::with_capacity(line.len());
        let mut rest = line;
        'next: while let Some(at) = rest.find("[paste ") {
            whole.push_str(&rest[..at]);
            rest = &rest[at..];
            for (mark, text) in &self.long {
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
        self.long.clear();
        EnteredLine { whole, pasted: std::mem::take(&mut self.short) }
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
    fn what_was_pasted_is_known_when_the_line_is_sent() {
        let mut pastes = Pastes::default();
        let line = format!("see {}", pastes.take("see @notes.txt"));
        assert_eq!(pastes.entered(&line).pasted, ["see @notes.txt"]);
        assert_eq!(pastes.entered(&line).pasted, [""; 0], "the next line is typed");
    }

    #[test]
    fn a_mark_inside_a_paste_is_text() {
        let mut pastes = Pastes::default();
        let first = pastes.take(&format!("[paste 2: 900 characters]{}", "x".repeat(900)));
        pastes.take(&"y".repeat(900));
        assert!(pastes.put_back(&first).starts_with("[paste 2: 900 characters]x"));
    }
}
