//! Text that is held back because it may be a call.

use super::fence_scan::FenceScan;
use super::opening::{CallForm, TOOL, TOOL_CLOSE};
use super::scan::{Brackets, ElementScan, Parentheses, TagScan};
use super::text_end::TextEnd;

/// A code fence: its character and how often it is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    pub(super) mark: u8,
    pub(super) times: usize,
}

impl Fence {
    /// Whether `line` closes it.
    pub(super) fn is_closed_by(self, line: &str) -> bool {
        let marks = line.trim_start().bytes().take_while(|byte| *byte == self.mark).count();
        marks >= self.times && line.trim_start()[marks..].trim_end().is_empty()
    }
}

/// What may follow a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallPosition {
    /// Anything.
    Free,
    /// Anything from the next line on.
    OwnLines,
    /// Only white space.
    Last,
}

/// Text that is held back.
#[derive(Clone, Debug)]
pub(super) struct PendingCall {
    /// Where the text begins.
    pub(super) start: usize,
    /// Where the call begins in the text; in a fence, later than `start`.
    pub(super) body: usize,
    pub(super) kind: CallForm,
    pub(super) stand: CallPosition,
    pub(super) fence: Option<Fence>,
    /// Bytes that will be scanned again although this was a call.
    pub(super) waste: usize,
    scan: EndScan,
    end: Option<CallEndPosition>,
}

#[derive(Clone, Debug)]
enum EndScan {
    Brackets(Brackets),
    Tag(TagScan),
    Element(ElementScan),
    Fence(FenceScan),
}

/// The end of a call.
#[derive(Clone, Copy, Debug)]
struct CallEndPosition {
    /// The end of the call itself.
    inner: usize,
    /// Where the remaining text begins, as far as it has been scanned.
    behind: usize,
    /// Whether the fence is closed.
    fence: FenceState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FenceState {
    None,
    Open,
    Closed,
}

/// The progress of a pending call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PendingProgress {
    /// Undecided until more text arrives.
    More,
    /// Not a call: at this position is text where none is allowed.
    No(usize),
    /// The call is complete.
    Whole {
        /// Where the call ends.
        inner: usize,
        /// Where the remaining text begins.
        behind: usize,
    },
    /// The text has ended, the call has not.
    Unfinished,
}

impl PendingCall {
    pub(super) fn new(start: usize, body: usize, kind: CallForm, stand: CallPosition, fence: Option<Fence>) -> Self {
        let scan = match kind {
            CallForm::Block => EndScan::Tag(TagScan::new(TOOL_CLOSE, body + TOOL.len())),
            CallForm::Wrapped(close) => EndScan::Tag(TagScan::new(close, body + open_tag(close))),
            CallForm::Function => EndScan::Tag(TagScan::new("</function>", body)),
            CallForm::ToolTag { word } | CallForm::NameTag { word } => EndScan::Element(ElementScan::new(body, word)),
            CallForm::Json(_) => EndScan::Brackets(Brackets::new(body, Parentheses::Ignore)),
            CallForm::Bracket | CallForm::Parentheses => EndScan::Brackets(Brackets::new(body, Parentheses::Count)),
            CallForm::Lines { arguments } => EndScan::Brackets(Brackets::new(body + arguments, Parentheses::Ignore)),
            CallForm::Script { indent, .. } => EndScan::Fence(FenceScan::new(body, fence, indent)),
        };
        Self { start, body, kind, stand, fence, waste: 0, scan, end: None }
    }

    /// Returns where the parsed part begins: after the opening tag, if there is one.
    pub(super) fn inner(&self) -> usize {
        match self.kind {
            CallForm::Block => self.body + TOOL.len(),
            CallForm::Wrapped(close) => self.body + open_tag(close),
            CallForm::Function
            | CallForm::ToolTag { .. }
            | CallForm::NameTag { .. }
            | CallForm::Json(_)
            | CallForm::Bracket
            | CallForm::Parentheses
            | CallForm::Lines { .. }
            | CallForm::Script { .. } => self.body,
        }
    }

    /// Scans the text that has arrived.
    pub(super) fn progress(&mut self, text: &str, over: Option<TextEnd>) -> PendingProgress {
        if let EndScan::Fence(scan) = &mut self.scan {
            return scan.progress(text, over);
        }
        loop {
            let Some(mut end) = self.end.or_else(|| self.find_end(text, over)) else {
                return if over.is_some() { PendingProgress::Unfinished } else { PendingProgress::More };
            };
            let progress = end.tail(text, self.stand, self.fence, over);
            self.end = Some(end);
            match progress {
                PendingProgress::No(at) if end.fence != FenceState::Closed && self.has_object(text, at) => {
                    self.scan = EndScan::Brackets(Brackets::new(at, Parentheses::Ignore));
                    self.end = None;
                }
                progress => return progress,
            }
        }
    }

    /// Whether another object follows at `at`: several calls, without a list around them.
    fn has_object(&self, text: &str, at: usize) -> bool {
        matches!(self.kind, CallForm::Json(_)) && text[at..].starts_with('{')
    }

    fn find_end(&mut self, text: &str, over: Option<TextEnd>) -> Option<CallEndPosition> {
        let fence = if self.fence.is_some() { FenceState::Open } else { FenceState::None };
        match &mut self.scan {
            EndScan::Brackets(scan) => {
                scan.end(text.as_bytes()).map(|end| CallEndPosition { inner: end, behind: end, fence })
            }
            EndScan::Tag(scan) => {
                let found = scan.end(text.as_bytes());
                let close = scan.close().to_owned();
                self.tag_end(found, text, &close, over)
            }
            EndScan::Fence(_) => None,
            EndScan::Element(scan) => {
                let found = scan.end(text);
                let close = scan.close(text);
                self.tag_end(found, text, &close, over)
            }
        }
    }

    /// Returns the end of a form with tags: where its closing tag was found. If the text is over without one, a closing
    /// tag that seemed to be inside JSON, CDATA or quotes ends the call.
    fn tag_end(
        &mut self,
        found: Option<(usize, usize)>,
        text: &str,
        close: &str,
        over: Option<TextEnd>,
    ) -> Option<CallEndPosition> {
        let fence = if self.fence.is_some() { FenceState::Open } else { FenceState::None };
        let (inner, behind) = match (found, over) {
            (Some(found), _) => found,
            (None, None) => return None,
            (None, Some(_)) => {
                let found = self.body + memchr::memmem::find(&text.as_bytes()[self.body..], close.as_bytes())?;
                self.waste = text.len() - found;
                (found, found + close.len())
            }
        };
        Some(CallEndPosition { inner, behind, fence })
    }
}

impl CallEndPosition {
    /// Scans the text after the call.
    fn tail(
        &mut self,
        text: &str,
        stand: CallPosition,
        fence: Option<Fence>,
        over: Option<TextEnd>,
    ) -> PendingProgress {
        if stand == CallPosition::Free && fence.is_none() {
            return PendingProgress::Whole { inner: self.inner, behind: self.behind };
        }
        loop {
            let rest = &text[self.behind..];
            let Some(c) = rest.chars().next() else {
                let whole = PendingProgress::Whole { inner: self.inner, behind: self.behind };
                return if over.is_some() { whole } else { PendingProgress::More };
            };
            if c == '\n' && stand == CallPosition::OwnLines && fence.is_none() {
                return PendingProgress::Whole { inner: self.inner, behind: self.behind };
            }
            if c.is_whitespace() {
                self.behind += c.len_utf8();
                continue;
            }
            let Some(of) = fence.filter(|_| self.fence == FenceState::Open) else {
                return PendingProgress::No(self.behind);
            };
            let marks = rest.bytes().take_while(|byte| *byte == of.mark).count();
            if marks == rest.len() && over.is_none() {
                return PendingProgress::More;
            }
            if marks < of.times {
                return PendingProgress::No(self.behind);
            }
            self.behind += marks;
            self.fence = FenceState::Closed;
            if stand == CallPosition::Free {
                return PendingProgress::Whole { inner: self.inner, behind: self.behind };
            }
        }
    }
}

/// Returns the length of the opening tag that `close` closes.
fn open_tag(close: &str) -> usize {
    close.len() - 1
}
