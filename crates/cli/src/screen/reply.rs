//! One streamed attempt at a reply: its thinking, its text, and which parts are displayed.

use windlass_vocab::{Delta, RunId, TurnId};

use super::answer::StreamedAnswer;
use super::look::TerminalLook;
use super::style::{Span, Style, StyledLine};
use super::wrap::wrap;

/// Identifies an attempt; ordered by time.
pub(super) type ReplyKey = (RunId, TurnId, u32);

pub(super) fn key_of(delta: &Delta) -> ReplyKey {
    (delta.run, delta.turn, delta.attempt)
}

#[derive(Debug)]
pub(super) struct StreamedReply {
    pub(super) key: ReplyKey,
    pub(super) answer: StreamedAnswer,
    pub(super) thought: Option<StreamedThought>,
    /// Offset of our text in the reply: above 0 if the subscription began late.
    begins: usize,
    text: String,
}

/// How the complete text of a reply relates to the streamed text.
pub(super) enum ReplyRest<'a> {
    /// The end of the reply, which was not streamed.
    Of(&'a str),
    /// The complete reply; the streamed text differs from it.
    Instead(&'a str),
}

impl StreamedReply {
    pub(super) fn new(key: ReplyKey) -> Self {
        Self { key, answer: StreamedAnswer::default(), thought: None, begins: 0, text: String::new() }
    }

    /// Returns the new part of a fragment. Fragments may arrive twice, and the first may be missed.
    pub(super) fn fresh<'a>(&mut self, offset: u64, fragment: &'a str) -> &'a str {
        let offset = usize::try_from(offset).unwrap_or_default();
        if self.text.is_empty() {
            self.begins = offset;
        }
        let known = (self.begins + self.text.len()).saturating_sub(offset);
        let fresh = fragment.get(known.min(fragment.len())..).unwrap_or(fragment);
        self.text.push_str(fresh);
        fresh
    }

    /// Compares the complete reply with the streamed text.
    pub(super) fn rest<'a>(&self, whole: &'a str) -> ReplyRest<'a> {
        let after = whole.get(self.begins..).and_then(|from| from.strip_prefix(self.text.as_str()));
        match after {
            Some(rest) => ReplyRest::Of(rest),
            None if self.text.trim() == whole.trim() => ReplyRest::Of(""),
            None => ReplyRest::Instead(whole),
        }
    }
}

/// Streamed thinking.
#[derive(Debug)]
pub(super) struct StreamedThought {
    pub(super) since: u64,
    text: String,
    /// Bytes of the text that are final on the screen.
    shown: usize,
}

impl StreamedThought {
    pub(super) fn new(since: u64) -> Self {
        Self { since, text: String::new(), shown: 0 }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Returns the complete lines that were not returned before.
    pub(super) fn whole_lines(&mut self, look: TerminalLook) -> Vec<StyledLine> {
        let end = self.text.rfind('\n').map_or(self.shown, |at| at + 1).max(self.shown);
        let lines = dimmed(&self.text[self.shown..end], look);
        self.shown = end;
        lines
    }

    /// Returns the unfinished line.
    pub(super) fn tail(&self, look: TerminalLook) -> Vec<StyledLine> {
        dimmed(&self.text[self.shown..], look)
    }
}

/// Returns thinking as displayed: plain, dim, behind a bar.
pub(super) fn dimmed(text: &str, look: TerminalLook) -> Vec<StyledLine> {
    let bar = look.glyphs.bar();
    let row = |mut spans: Vec<Span>| {
        spans.insert(0, Span::new(Style::DIM, bar));
        StyledLine { spans, ..StyledLine::default() }
    };
    let room = look.columns() - 2;
    let rows = text.lines().flat_map(|line| wrap(&[Span::new(Style::DIM.with(Style::ITALIC), line)], room));
    rows.map(row).collect()
}
