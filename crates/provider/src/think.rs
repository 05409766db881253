//! Separates reasoning that a model writes into its answer as `<think>…</think>`.
//!
//! The protocol: push the answer's text as it arrives, cut anywhere; each fragment is emitted as reasoning or as
//! text. Only a tag at the very start of the answer counts, so an answer that mentions the tag is unchanged. Text
//! that may still turn out to be a tag is held back until that is decided.

/// The state of the splitter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ThinkSplitter {
    /// So far only white space and possibly the start of the opening tag.
    Start {
        /// The text held back.
        held: String,
    },
    /// Inside the tags.
    Inside {
        /// Possibly the start of the closing tag.
        held: String,
    },
    /// Just after the closing tag: white space is dropped.
    Behind,
    /// In the answer.
    Answer,
}

/// A classified fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThinkPiece<'a> {
    /// Reasoning.
    Thinking(&'a str),
    /// Text of the answer.
    Words(&'a str),
}

const OPEN: &str = "<think>";
/// More white space than this before the opening tag is not a start, which bounds the text held back.
const LONGEST_LEAD: usize = 64;
const CLOSE: &str = "</think>";

impl Default for ThinkSplitter {
    fn default() -> Self {
        Self::Start { held: String::new() }
    }
}

impl ThinkSplitter {
    /// Adds a fragment of the answer.
    pub(crate) fn push(&mut self, text: &str, each: &mut dyn FnMut(ThinkPiece<'_>)) {
        match self {
            Self::Start { held } if held.is_empty() => self.start(text, each),
            Self::Start { held } => {
                held.push_str(text);
                let held = std::mem::take(held);
                self.start(&held, each);
            }
            Self::Inside { held } => {
                held.push_str(text);
                let held = std::mem::take(held);
                self.inside(&held, each);
            }
            Self::Behind => {
                let words = text.trim_start();
                if !words.is_empty() {
                    *self = Self::Answer;
                    each(ThinkPiece::Words(words));
                }
            }
            Self::Answer => emit(ThinkPiece::Words, text, each),
        }
    }

    /// Whether everything that follows is text.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self, Self::Answer)
    }

    /// Ends the answer: text held back is emitted unchanged.
    pub(crate) fn end(&mut self, each: &mut dyn FnMut(ThinkPiece<'_>)) {
        match std::mem::replace(self, Self::Answer) {
            Self::Start { held } => emit(ThinkPiece::Words, &held, each),
            Self::Inside { held } => emit(ThinkPiece::Thinking, &held, each),
            Self::Behind | Self::Answer => {}
        }
    }

    fn start(&mut self, text: &str, each: &mut dyn FnMut(ThinkPiece<'_>)) {
        let begun = text.trim_start();
        let lead = text.len() - begun.len();
        if let Some(inside) = begun.strip_prefix(OPEN).filter(|_| lead <= LONGEST_LEAD) {
            self.inside(inside, each);
        } else if OPEN.starts_with(begun) && lead <= LONGEST_LEAD {
            *self = Self::Start { held: text.to_owned() };
        } else {
            *self = Self::Answer;
            each(ThinkPiece::Words(text));
        }
    }

    fn inside(&mut self, text: &str, each: &mut dyn FnMut(ThinkPiece<'_>)) {
        if let Some((thinking, rest)) = text.split_once(CLOSE) {
            emit(ThinkPiece::Thinking, thinking, each);
            *self = Self::Behind;
            self.push(rest, each);
            return;
        }
        let (sure, held) = text.split_at(text.len() - open_end(text));
        emit(ThinkPiece::Thinking, sure, each);
        *self = Self::Inside { held: held.to_owned() };
    }
}

/// Returns how many bytes at the end of `text` may be the start of the closing tag.
fn open_end(text: &str) -> usize {
    (1..CLOSE.len()).rev().find(|length| text.ends_with(&CLOSE[..*length])).unwrap_or(0)
}

fn emit<'a>(kind: fn(&'a str) -> ThinkPiece<'a>, text: &'a str, each: &mut dyn FnMut(ThinkPiece<'_>)) {
    if !text.is_empty() {
        each(kind(text));
    }
}

#[cfg(test)]
mod tests {
    use super::{ThinkPiece, ThinkSplitter};

    fn sort<'a>(fragments: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let (mut thinking, mut words) = (String::new(), String::new());
        let mut each = |sorted: ThinkPiece<'_>| match sorted {
            ThinkPiece::Thinking(text) => thinking.push_str(text),
            ThinkPiece::Words(text) => words.push_str(text),
        };
        let mut think = ThinkSplitter::default();
        for fragment in fragments {
            think.push(fragment, &mut each);
        }
        think.end(&mut each);
        (thinking, words)
    }

    fn check(text: &str, thinking: &str, words: &str) {
        let expected = (thinking.to_owned(), words.to_owned());
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            assert_eq!(sort([&text[..cut], &text[cut..]]), expected, "{text:?} cut at {cut}");
        }
        assert_eq!(sort(text.split_inclusive(|_| true)), expected, "{text:?} letter by letter");
    }

    // proves M5
    #[test]
    fn think_tags_at_the_start_are_thinking_wherever_they_are_cut() {
        check("<think>hm, é</think>\n\nYes.", "hm, é", "Yes.");
        check("\n <think>\nhm\n</think>Yes <b>", "\nhm\n", "Yes <b>");
        check("<think></think>Yes", "", "Yes");
        check("<think>a </thin k> b</think>c", "a </thin k> b", "c");
        check("<think>never closed </thi", "never closed </thi", "");
    }

    // proves M5
    #[test]
    fn tags_anywhere_else_are_words() {
        check("Use <think>x</think>.", "", "Use <think>x</think>.");
        check("  <thin", "", "  <thin");
        check("<thinker>", "", "<thinker>");
        check("<think>a</think>b<think>c</think>", "a", "b<think>c</think>");
        check("   ", "", "   ");
        let far = format!("{}<think>x</think>", " ".repeat(65));
        check(&far, "", &far);
    }
}
