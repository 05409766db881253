//! Finds the end of a fenced block.

use super::pending_call::{Fence, PendingProgress};
use super::text_end::TextEnd;

/// How much further than its opening the closing line of a block may be indented.
const FURTHEST: usize = 3;

/// Searches for the line that closes a fence.
#[derive(Clone, Copy, Debug)]
pub(super) struct FenceScan {
    fence: Option<Fence>,
    /// The spaces before the opening marks.
    indent: usize,
    /// The beginning of the first line that was not scanned yet.
    line: usize,
}

impl FenceScan {
    pub(super) fn new(body: usize, fence: Option<Fence>, indent: usize) -> Self {
        Self { fence, indent, line: body }
    }

    /// Whether `line` closes the block: what is indented much further than the opening belongs to the block.
    fn is_closed_by(self, line: &str) -> bool {
        let spaces = line.bytes().take_while(|byte| *byte == b' ').count();
        let is_near = spaces <= self.indent + FURTHEST && !line[spaces..].starts_with(char::is_whitespace);
        is_near && self.fence.is_some_and(|fence| fence.is_closed_by(line))
    }

    /// Scans the text that has arrived.
    pub(super) fn progress(&mut self, text: &str, over: Option<TextEnd>) -> PendingProgress {
        loop {
            let rest = &text[self.line..];
            let end = memchr::memchr(b'\n', rest.as_bytes());
            let line = end.map_or(rest, |end| &rest[..end]);
            let is_whole = end.is_some() || over.is_some();
            if is_whole && self.is_closed_by(line) {
                let behind = self.line + end.map_or(rest.len(), |end| end + 1);
                return PendingProgress::Whole { inner: self.line, behind };
            }
            match end {
                Some(end) => self.line += end + 1,
                None if over.is_some() => return PendingProgress::Unfinished,
                None => return PendingProgress::More,
            }
        }
    }
}
