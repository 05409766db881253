//! Finds the end of a fenced block.

use super::pending_call::{Fence, PendingProgress};
use super::text_end::TextEnd;

/// Searches for the line that closes a fence.
#[derive(Clone, Copy, Debug)]
pub(super) struct FenceScan {
    fence: Option<Fence>,
    /// The beginning of the first line that was not scanned yet.
    line: usize,
}

impl FenceScan {
    pub(super) fn new(body: usize, fence: Option<Fence>) -> Self {
        Self { fence, line: body }
    }

    /// Scans the text that has arrived.
    pub(super) fn progress(&mut self, text: &str, over: Option<TextEnd>) -> PendingProgress {
        loop {
            let rest = &text[self.line..];
            let end = memchr::memchr(b'\n', rest.as_bytes());
            let line = end.map_or(rest, |end| &rest[..end]);
            let is_whole = end.is_some() || over.is_some();
            if is_whole && self.fence.is_some_and(|fence| fence.is_closed_by(line)) {
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
