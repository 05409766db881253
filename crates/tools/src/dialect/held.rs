//! Text that is held back because it may be a call.

use super::ended::Ended;
use super::opening::{Kind, TOOL, TOOL_CLOSE};
use super::scan::{Brackets, Parentheses, Tag};

/// A fence of code: its mark and how often that stands there.
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

/// Where a call must stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// Anywhere; what follows does not matter.
    Free,
    /// On lines of its own.
    OwnLines,
    /// Last: only white space follows.
    Last,
}

/// Text that is held back.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// Where it begins.
    pub(super) start: usize,
    /// Where the call begins in it; later than that in a fence.
    pub(super) body: usize,
    pub(super) kind: Kind,
    pub(super) stand: Stand,
    pub(super) fence: Option<Fence>,
    /// Bytes that will be looked at again although this was a call.
    pub(super) waste: usize,
    scan: Scan,
    end: Option<End>,
}

#[derive(Clone, Debug)]
enum Scan {
    Brackets(Brackets),
    Tag(Tag),
}

/// Where a call ends.
#[derive(Clone, Copy, Debug)]
struct End {
    /// The last byte that is part of it.
    inner: usize,
    /// Where the text goes on, as far as it has been looked at.
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

/// How far a held text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// More must come.
    More,
    /// It is no call: something stands where nothing may, at this place.
    No(usize),
    /// It is whole.
    Whole {
        /// Where the call ends.
        inner: usize,
        /// Where the text goes on.
        behind: usize,
    },
    /// The text is over and it is not.
    Unfinished,
}

impl Held {
    pub(super) fn new(start: usize, body: usize, kind: Kind, stand: Stand, fence: Option<Fence>) -> Self {
        let scan = match kind {
            Kind::Block => Scan::Tag(Tag::new(TOOL_CLOSE, body + TOOL.len())),
            Kind::Wrapped(close) => Scan::Tag(Tag::new(close, body + open_tag(close))),
            Kind::Function => Scan::Tag(Tag::new("</function>", body)),
            Kind::Json(_) => Scan::Brackets(Brackets::new(body, Parentheses::Ignore)),
            Kind::Bracket => Scan::Brackets(Brackets::new(body, Parentheses::Count)),
            Kind::Lines { arguments } => Scan::Brackets(Brackets::new(body + arguments, Parentheses::Ignore)),
        };
        Self { start, body, kind, stand, fence, waste: 0, scan, end: None }
    }

    /// Where the part begins that is read: within the tags, where there are any.
    pub(super) fn inner(&self) -> usize {
        match self.kind {
            Kind::Block => self.body + TOOL.len(),
            Kind::Wrapped(close) => self.body + open_tag(close),
            Kind::Function | Kind::Json(_) | Kind::Bracket | Kind::Lines { .. } => self.body,
        }
    }

    /// Looks at what has come.
    pub(super) fn progress(&mut self, text: &str, over: Option<Ended>) -> Progress {
        let Some(mut end) = self.end.or_else(|| self.find_end(text, over)) else {
            return if over.is_some() { Progress::Unfinished } else { Progress::More };
        };
        let progress = end.tail(text, self.stand, self.fence, over);
        self.end = Some(end);
        progress
    }

    fn find_end(&mut self, text: &str, over: Option<Ended>) -> Option<End> {
        let fence = if self.fence.is_some() { FenceState::Open } else { FenceState::None };
        match &mut self.scan {
            Scan::Brackets(scan) => scan.end(text.as_bytes()).map(|end| End { inner: end, behind: end, fence }),
            Scan::Tag(scan) => {
                let (inner, behind) = match (scan.end(text.as_bytes()), over) {
                    (Some(found), _) => found,
                    (None, None) => return None,
                    // A tag that seemed to stand in JSON or CDATA is the end, if there is no other.
                    (None, Some(_)) => {
                        let found =
                            self.body + memchr::memmem::find(&text.as_bytes()[self.body..], scan.close().as_bytes())?;
                        self.waste = text.len() - found;
                        (found, found + scan.close().len())
                    }
                };
                Some(End { inner, behind, fence })
            }
        }
    }
}

impl End {
    /// Looks at what stands behind the call.
    fn tail(&mut self, text: &str, stand: Stand, fence: Option<Fence>, over: Option<Ended>) -> Progress {
        if stand == Stand::Free && fence.is_none() {
            return Progress::Whole { inner: self.inner, behind: self.behind };
        }
        loop {
            let rest = &text[self.behind..];
            let Some(c) = rest.chars().next() else {
                let whole = Progress::Whole { inner: self.inner, behind: self.behind };
                return if over.is_some() { whole } else { Progress::More };
            };
            if c == '\n' && stand == Stand::OwnLines && fence.is_none() {
                return Progress::Whole { inner: self.inner, behind: self.behind };
            }
            if c.is_whitespace() {
                self.behind += c.len_utf8();
                continue;
            }
            let Some(of) = fence.filter(|_| self.fence == FenceState::Open) else {
                return Progress::No(self.behind);
            };
            let marks = rest.bytes().take_while(|byte| *byte == of.mark).count();
            if marks == rest.len() && over.is_none() {
                return Progress::More;
            }
            if marks < of.times {
                return Progress::No(self.behind);
            }
            self.behind += marks;
            self.fence = FenceState::Closed;
        }
    }
}

/// How long the tag is that `close` closes.
fn open_tag(close: &str) -> usize {
    close.len() - 1
}
