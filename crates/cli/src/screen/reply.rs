//! One attempt at a reply, as it is streamed: its thoughts, its text, and what of both is shown.

use windlass_vocab::{Delta, RunId, TurnId};

use super::answer::StreamedAnswer;
use super::look::TerminalLook;
use super::style::{Span, Style, StyledLine};
use super::wrap::wrap;

/// Attempts in the order they are made.
pub(super) type ReplyKey = (RunId, TurnId, u32);

pub(super) fn key_of(delta: &Delta) -> ReplyKey {
    (delta.run, delta.turn, delta.attempt)
}

#[derive(Debug)]
pub(super) struct StreamedReply {
    pub(super) key: ReplyKey,
    pub(super) answer: StreamedAnswer,
    pub(super) thought: Option<StreamedThought>,
    /// Where in the reply the text we have begins: later than 0 for those who came late.
    begins: usize,
    text: String,
}

/// How the text of a reply that is whole stands to what was streamed of it.
pub(super) enum ReplyRest<'a> {
    /// This was not streamed.
    Of(&'a str),
    /// Something else was streamed: the reply is all of this.
    Instead(&'a str),
}

impl StreamedReply {
    pub(super) fn new(key: ReplyKey) -> Self {
        Self { key, answer: StreamedAnswer::default(), thought: None, begins: 0, text: String::new() }
    }

    /// The part of a fragment that is new. Fragments may come twice, and the first may be missed.
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

    /// What the whole reply adds.
    pub(super) fn rest<'a>(&self, whole: &'a str) -> ReplyRest<'a> {
        let after = whole.get(self.begins..).and_then(|from| from.strip_prefix(self.text.as_str()));
        match after {
            Some(rest) => ReplyRest::Of(rest),
            None if self.text.trim() == whole.trim() => ReplyRest::Of(""),
            None => ReplyRest::Instead(whole),
        }
    }
}

/// Thinking, from its first word to its last.
#[derive(Debug)]
pub(super) struct StreamedThought {
    pub(super) since: u64,
    text: String,
    /// Bytes of it that stand on the screen for good.
    shown: usize,
}

impl StreamedThought {
    pub(super) fn new(since: u64) -> Self {
        Self { since, text: String::new(), shown: 0 }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Lines that are finished and not yet given back.
    pub(super) fn whole_lines(&mut self, look: TerminalLook) -> Vec<StyledLine> {
        let end = self.text.rfind('\n').map_or(self.shown, |at| at + 1).max(self.shown);
        let lines = dimmed(&self.text[self.shown..end], look);
        self.shown = end;
        lines
    }

    /// The line that is not finished.
    pub(super) fn tail(&self, look: TerminalLook) -> Vec<StyledLine> {
        dimmed(&self.text[self.shown..], look)
    }
}

/// Thinking as it is shown: plain, dim, behind a bar.
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
