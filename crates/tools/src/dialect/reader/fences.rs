//! Code fences in a reply: a call may stand in one that contains nothing else.

use super::ReplyReader;
use crate::RUN_COMMAND;
use crate::dialect::accepted_forms::{AfterCall, CallLimit};
use crate::dialect::opening::{CallOpening, find_opening};
use crate::dialect::pending_call::{CallPosition, Fence, PendingCall};
use crate::dialect::reader_state::{FenceLine, ReaderState, ReaderStep, TextBegun};
use crate::dialect::script::{ScriptOpening, find_script};

/// The longest fence marker behind which a call is recognized.
const LONGEST_FENCE: usize = 16;
/// The info strings of fences in which a call may stand.
const FENCE_WORDS: &[&str] = &["", "json", "xml", "tool", "tool_call", "tool_code", "text", "plaintext", "python"];
/// The maximum white space between a fence and its content.
const FENCE_GAP: usize = 64;

impl ReplyReader<'_> {
    /// Handles the beginning of a fence: a call in it counts if the fence contains nothing else.
    pub(super) fn fence_begins(&mut self, indent: usize) -> ReaderStep {
        let rest = &self.text[self.at + indent..];
        let mark = rest.as_bytes()[0];
        let times = rest.bytes().take(LONGEST_FENCE + 1).take_while(|byte| *byte == mark).count();
        if !(3..=LONGEST_FENCE).contains(&times) {
            if times < 3 && times == rest.len() && self.over.is_none() {
                return ReaderStep::More;
            }
            return self.words_follow();
        }
        let fence = Fence { mark, times };
        let behind = &rest[times..];
        let plain = |reader: &mut Self| {
            reader.begun = TextBegun::Yes;
            reader.state = if reader.accepted.anywhere.is_empty() {
                ReaderState::Words
            } else {
                ReaderState::Fence(fence, FenceLine::First)
            };
            ReaderStep::On
        };
        if self.accepted.anywhere.script {
            return match find_script(behind, indent) {
                ScriptOpening::More if self.over.is_none() => ReaderStep::More,
                ScriptOpening::Yes { kind, body } if self.tools.knows(RUN_COMMAND) => {
                    let (start, body) = (self.at, self.at + indent + times + body);
                    let pending = PendingCall::new(start, body, kind, CallPosition::Free, Some(fence));
                    self.state = ReaderState::Pending(Box::new(pending));
                    ReaderStep::On
                }
                ScriptOpening::More | ScriptOpening::Yes { .. } | ScriptOpening::No => plain(self),
            };
        }
        let longest = FENCE_WORDS.iter().map(|word| word.len()).max().unwrap_or(0) + 2;
        let Some(end) = behind.bytes().take(longest).position(|byte| byte == b'\n') else {
            let may_be = behind.len() < longest && FENCE_WORDS.iter().any(|word| word.starts_with(behind.trim_end()));
            return if may_be && self.over.is_none() { ReaderStep::More } else { plain(self) };
        };
        if !FENCE_WORDS.contains(&behind[..end].trim_end()) {
            return plain(self);
        }
        let inner = behind[end..].trim_start();
        if behind.len() - end - inner.len() > FENCE_GAP {
            return plain(self);
        }
        match find_opening(inner, self.forms(), &*self.tools) {
            CallOpening::More if self.over.is_none() => ReaderStep::More,
            CallOpening::No | CallOpening::More => plain(self),
            CallOpening::Yes(kind) => {
                let body = self.text.len() - inner.len();
                // Where one call is wanted, or text after calls is dropped, what follows the fence is an invented result.
                let stand = match (self.accepted.calls, self.accepted.after) {
                    (_, AfterCall::Dropped) => CallPosition::Free,
                    (CallLimit::One, AfterCall::Kept) if self.accepted.anywhere.json => CallPosition::Free,
                    (CallLimit::One | CallLimit::Several, AfterCall::Kept) => CallPosition::Last,
                };
                self.state = ReaderState::Pending(Box::new(PendingCall::new(self.at, body, kind, stand, Some(fence))));
                ReaderStep::On
            }
        }
    }

    /// Skips the lines of a fence until it is closed.
    pub(super) fn fence(&mut self, fence: Fence, line: FenceLine) -> ReaderStep {
        let Some(end) = memchr::memchr(b'\n', &self.text.as_bytes()[self.at..]) else {
            self.at = self.text.len();
            return ReaderStep::More;
        };
        let end = self.at + end;
        let closes = line == FenceLine::Later && fence.is_closed_by(&self.text[self.line..end]);
        self.at = end + 1;
        self.line = self.at;
        self.state = if closes { ReaderState::Line } else { ReaderState::Fence(fence, FenceLine::Later) };
        ReaderStep::On
    }
}
