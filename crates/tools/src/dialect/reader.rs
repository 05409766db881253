//! The streaming reader: it takes text in fragments, emits text at once, and calls when they are complete.
//!
//! The reader advances through the text as far as it can decide. Everything before its position is text; everything
//! after the beginning of a call is held back. Text that was held back and turns out not to be a call is emitted and
//! scanned again from its second byte on; the total of such bytes is limited in proportion to the length of the text,
//! so that the time is linear. The reader drops text that it will not scan again: of a reply without calls it keeps
//! only the current line, the line before, and an open fence.

mod fences;

use std::borrow::Cow;
use std::fmt;

use windlass_vocab::ReplyCall;

use super::accepted_forms::{AcceptedForms, AfterCall, CallForms, CallLimit};
use super::explain::explains;
use super::malformed_call::MalformedCall;
use super::offered_tools::OfferedTools;
use super::opening::{CallForm, CallOpening, NamesTool, find_opening, tag};
use super::parse_calls::{ParsedCalls, fits, parse_calls, unfinished};
use super::pending_call::{CallPosition, PendingCall, PendingProgress};
use super::reader_state::{FenceLine, InCode, ReaderState, ReaderStep, TextBegun};
use super::text_end::TextEnd;

/// The output of a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyPiece<'a> {
    /// Text.
    Text(&'a str),
    /// A complete call.
    Call {
        /// Its index among the calls of the text.
        index: u32,
        /// The call.
        call: ReplyCall,
    },
}

/// Parses a text as it arrives.
pub struct ReplyReader<'t> {
    accepted: AcceptedForms,
    tools: Box<dyn OfferedTools>,
    /// The text that has arrived and is not dropped; borrowed if the text was complete from the start.
    text: Cow<'t, str>,
    /// How many bytes of the text are dropped. All positions are relative to this.
    forgotten: usize,
    /// Up to here the text is decided.
    at: usize,
    /// Up to here text has been emitted.
    given_out: usize,
    /// Up to here text has been scanned for white space at its end.
    scanned: usize,
    /// Where the line of `at` begins.
    line: usize,
    /// The last line that is not blank.
    before: (usize, usize),
    /// Inline code on the line: up to where backticks were counted, and whether one is open.
    code: (usize, InCode),
    state: ReaderState,
    begun: TextBegun,
    /// Bytes that were held back and were not a call.
    waste: usize,
    over: Option<TextEnd>,
    /// How many calls were emitted.
    calls: u32,
    malformed: Option<MalformedCall>,
}

/// This many bytes may be held back without being a call in any text.
const WASTE: usize = 64 << 10;
/// The message to the model about a call that was cut off.
const CUT: &str = "the reply was cut off by the length limit in the middle of the call, which was not run. \
                   Make it shorter, or do it in several steps.";

impl fmt::Debug for ReplyReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyReader").field("accepted", &self.accepted).field("at", &self.at).finish_non_exhaustive()
    }
}

impl<'t> ReplyReader<'t> {
    /// Creates a reader for replies that may call these tools.
    #[must_use]
    pub fn new(accepted: AcceptedForms, tools: Box<dyn OfferedTools>) -> Self {
        Self {
            accepted,
            tools,
            text: Cow::Borrowed(""),
            forgotten: 0,
            at: 0,
            given_out: 0,
            scanned: 0,
            line: 0,
            before: (0, 0),
            code: (0, InCode::Outside),
            state: ReaderState::Line,
            begun: TextBegun::No,
            waste: 0,
            over: None,
            calls: 0,
            malformed: None,
        }
    }

    /// Creates a reader of a complete text.
    pub(super) fn over(text: &'t str, accepted: AcceptedForms, tools: Box<dyn OfferedTools>) -> Self {
        Self { text: Cow::Borrowed(text), ..Self::new(accepted, tools) }
    }

    /// Takes a fragment; sends text and calls that are certain to `sink`.
    pub fn push(&mut self, fragment: &str, sink: &mut dyn FnMut(ReplyPiece<'_>)) {
        self.forget();
        self.text.to_mut().push_str(fragment);
        self.go_on(sink);
    }

    /// Ends the text: sends the text held back to `sink`, and returns the fault of a call that could not be parsed.
    pub fn finish(mut self, ended: TextEnd, sink: &mut dyn FnMut(ReplyPiece<'_>)) -> Option<MalformedCall> {
        self.over = Some(ended);
        self.go_on(sink);
        let is_dropped = matches!(self.state, ReaderState::Dropped);
        if self.calls == 0 && self.malformed.is_none() && !is_dropped {
            // Without calls the emitted text is exactly the input.
            self.give_out_up_to(self.text.len(), sink);
        }
        self.malformed
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.text.len()
    }

    /// Drops text that is not scanned again, once it is the larger part, so that the cost of moving bytes is linear.
    fn forget(&mut self) {
        let kept = match &self.state {
            // The current line and the one before are needed again.
            ReaderState::Line | ReaderState::Middle | ReaderState::Fence(..) => {
                self.given_out.min(self.line).min(self.before.0)
            }
            ReaderState::Words => self.given_out,
            ReaderState::BetweenCalls => self.at,
            ReaderState::Dropped => self.text.len(),
            // Text that is held back keeps its position.
            ReaderState::Pending(_) => 0,
        };
        if kept <= self.text.len() / 2 {
            return;
        }
        if self.code.0 < self.line {
            self.code = (self.line, InCode::Outside);
        }
        self.text.to_mut().drain(..kept);
        self.forgotten += kept;
        for place in [
            &mut self.at,
            &mut self.given_out,
            &mut self.scanned,
            &mut self.line,
            &mut self.before.0,
            &mut self.before.1,
            &mut self.code.0,
        ] {
            *place = place.saturating_sub(kept);
        }
    }

    fn go_on(&mut self, sink: &mut dyn FnMut(ReplyPiece<'_>)) {
        while self.step(sink) == ReaderStep::On {}
        let certain = match &self.state {
            ReaderState::Pending(held) => held.start,
            ReaderState::Line | ReaderState::Middle | ReaderState::Fence(..) | ReaderState::Words => self.at,
            ReaderState::BetweenCalls | ReaderState::Dropped => return,
        };
        self.give_out(certain, sink);
    }

    fn step(&mut self, sink: &mut dyn FnMut(ReplyPiece<'_>)) -> ReaderStep {
        match &self.state {
            ReaderState::Line => self.line(),
            ReaderState::Middle => self.middle(),
            ReaderState::Fence(fence, line) => self.fence(*fence, *line),
            ReaderState::Pending(_) => self.continue_call(sink),
            ReaderState::BetweenCalls => self.between_calls(),
            ReaderState::Words | ReaderState::Dropped => {
                self.at = self.text.len();
                ReaderStep::More
            }
        }
    }

    /// Emits text up to `end`, except for white space at its end, which is dropped if a call follows.
    fn give_out(&mut self, end: usize, sink: &mut dyn FnMut(ReplyPiece<'_>)) {
        let from = self.scanned.max(self.given_out);
        if end <= from {
            return;
        }
        self.scanned = end;
        if let Some((at, c)) = self.text[from..end].char_indices().rev().find(|(_, c)| !c.is_whitespace()) {
            self.give_out_up_to(from + at + c.len_utf8(), sink);
        }
    }

    fn give_out_up_to(&mut self, end: usize, sink: &mut dyn FnMut(ReplyPiece<'_>)) {
        if end > self.given_out {
            let words = &self.text[self.given_out..end];
            sink(ReplyPiece::Text(words));
            self.given_out = end;
        }
    }

    /// Returns the forms that may begin here.
    fn forms(&self) -> CallForms {
        let (anywhere, alone) = (self.accepted.anywhere, self.accepted.alone);
        match self.begun {
            TextBegun::Yes => anywhere,
            TextBegun::No => CallForms {
                block: anywhere.block || alone.block,
                tag: anywhere.tag || alone.tag,
                bracket: anywhere.bracket || alone.bracket,
                lines: anywhere.lines || alone.lines,
                json: anywhere.json || alone.json,
                script: anywhere.script || alone.script,
            },
        }
    }

    fn words_follow(&mut self) -> ReaderStep {
        self.begun = TextBegun::Yes;
        self.state = if self.accepted.anywhere.is_empty() { ReaderState::Words } else { ReaderState::Middle };
        ReaderStep::On
    }

    /// Handles the beginning of a line, where a call or a fence may begin.
    fn line(&mut self) -> ReaderStep {
        let rest = &self.text[self.at..];
        let indent = rest.bytes().take(4).take_while(|byte| *byte == b' ').count();
        let rest = &rest[indent..];
        match rest.as_bytes().first() {
            None if self.over.is_none() => ReaderStep::More,
            None => {
                self.at = self.text.len();
                ReaderStep::More
            }
            Some(b'\n') => {
                self.at += indent + 1;
                self.line = self.at;
                ReaderStep::On
            }
            // Code or a quotation.
            Some(b'\t' | b'>') => self.words_follow(),
            Some(_) if indent > 3 => self.words_follow(),
            Some(b'`' | b'~') => self.fence_begins(indent),
            Some(_) => match find_opening(rest, self.forms(), &*self.tools) {
                CallOpening::No => self.words_follow(),
                CallOpening::More if self.over.is_none() => ReaderStep::More,
                // A lone `<tool>` at the end of the text is a call.
                CallOpening::More if rest.trim_end() == super::opening::TOOL => {
                    self.hold(self.at + indent, CallForm::Block)
                }
                CallOpening::More => self.words_follow(),
                CallOpening::Yes(kind) => self.hold(self.at + indent, kind),
            },
        }
    }

    fn hold(&mut self, start: usize, kind: CallForm) -> ReaderStep {
        let stand = self.stand(kind);
        self.state = ReaderState::Pending(Box::new(PendingCall::new(start, start, kind, stand, None)));
        ReaderStep::On
    }

    fn stand(&self, kind: CallForm) -> CallPosition {
        let anywhere = self.accepted.anywhere;
        let (read, free) = match kind {
            CallForm::Block => (anywhere.block, CallPosition::Free),
            CallForm::ToolTag { .. } | CallForm::NameTag { .. } => (anywhere.tag, CallPosition::Free),
            CallForm::Wrapped(_) | CallForm::Function => (anywhere.json, CallPosition::Free),
            CallForm::Json(_) => (anywhere.json, CallPosition::OwnLines),
            CallForm::Bracket | CallForm::Parentheses => (anywhere.bracket, CallPosition::OwnLines),
            CallForm::Lines { .. } => (anywhere.lines, CallPosition::OwnLines),
            CallForm::Script { .. } => (anywhere.script, CallPosition::Free),
        };
        if read { free } else { CallPosition::Last }
    }

    /// Handles the rest of a line, where a tag may follow the end of a sentence.
    fn middle(&mut self) -> ReaderStep {
        let forms = CallForms { bracket: false, lines: false, ..self.accepted.anywhere };
        let rest = &self.text.as_bytes()[self.at..];
        let found = if forms.is_empty() { memchr::memchr(b'\n', rest) } else { memchr::memchr2(b'\n', b'<', rest) };
        let Some(found) = found else {
            self.at = self.text.len();
            return ReaderStep::More;
        };
        self.at += found;
        if rest[found] == b'\n' {
            self.before = (self.line, self.at);
            self.at += 1;
            self.line = self.at;
            self.code = (self.at, InCode::Outside);
            self.state = ReaderState::Line;
            return ReaderStep::On;
        }
        match tag(&self.text[self.at..], forms, &*self.tools) {
            CallOpening::More if self.over.is_none() => ReaderStep::More,
            CallOpening::Yes(kind) if self.ends_a_sentence() => self.hold(self.at, kind),
            CallOpening::Yes(_) | CallOpening::More | CallOpening::No => {
                self.at += 1;
                ReaderStep::On
            }
        }
    }

    /// Whether the text before `at` on its line ends a sentence, and no inline code is open.
    fn ends_a_sentence(&mut self) -> bool {
        let (from, code) = if self.code.0 < self.line { (self.line, InCode::Outside) } else { self.code };
        let ticks = memchr::memchr_iter(b'`', &self.text.as_bytes()[from..self.at]).count();
        let code = match (code, ticks % 2) {
            (code, 0) => code,
            (InCode::Outside, _) => InCode::Inside,
            (InCode::Inside, _) => InCode::Outside,
        };
        self.code = (self.at, code);
        let line = &self.text[self.line..self.at];
        let quoted = line.bytes().take(4).find(|byte| *byte != b' ') == Some(b'>');
        code == InCode::Outside && !quoted && line.trim_end().ends_with(['.', ':', '!', '?', ')', '…'])
    }

    /// Continues a call that has begun: it is complete, it is not a call, or more text is needed.
    fn continue_call(&mut self, sink: &mut dyn FnMut(ReplyPiece<'_>)) -> ReaderStep {
        let ReaderState::Pending(held) = &mut self.state else { return ReaderStep::On };
        let progress = held.progress(&self.text, self.over);
        let (inner, kind, fenced) = (held.inner(), held.kind, held.fence.is_some() && !is_script(held.kind));
        let (result, behind) = match progress {
            PendingProgress::More => return ReaderStep::More,
            PendingProgress::No(at) => (ParsedCalls::Nothing, at),
            PendingProgress::Whole { inner: end, behind } => {
                (parse_calls(kind, &self.text[inner..end], &*self.tools), behind)
            }
            PendingProgress::Unfinished => (self.unfinished(kind, inner), self.text.len()),
        };
        match result {
            // In a fence, a tag that has the name of a tool may belong to a file that is shown.
            ParsedCalls::Calls(calls) if fenced && is_tool_tag(kind) && !self.all_fit(&calls) => self.let_go(behind),
            ParsedCalls::Calls(calls) if !self.is_explained() => self.accept(calls, behind, sink),
            ParsedCalls::Unfit(calls) if !self.is_explained() => self.accept_alone(calls, behind, sink),
            ParsedCalls::Malformed(malformed) if !fenced && !self.is_explained() => {
                self.refuse(malformed, behind, sink)
            }
            ParsedCalls::Calls(_) | ParsedCalls::Unfit(_) | ParsedCalls::Malformed(_) | ParsedCalls::Nothing => {
                self.let_go(behind)
            }
        }
    }

    fn all_fit(&self, calls: &[ReplyCall]) -> bool {
        calls.iter().all(|call| fits(call, &*self.tools))
    }

    /// Accepts calls with arguments that don't fit only if they are the whole reply; the model is then told what is wrong
    /// with them. Beside other words they are probably not meant as calls.
    fn accept_alone(
        &mut self,
        calls: Vec<ReplyCall>,
        behind: usize,
        sink: &mut dyn FnMut(ReplyPiece<'_>),
    ) -> ReaderStep {
        let (ReaderState::Pending(held), TextBegun::No) = (&mut self.state, self.begun) else {
            return self.let_go(behind);
        };
        if held.stand == CallPosition::Last {
            return self.accept(calls, behind, sink);
        }
        held.stand = CallPosition::Last;
        ReaderStep::On
    }

    fn unfinished(&self, kind: CallForm, inner: usize) -> ParsedCalls {
        match self.over {
            Some(TextEnd::Cut) if kind == CallForm::Json(NamesTool::NotYet) => ParsedCalls::Nothing,
            Some(TextEnd::Cut) => ParsedCalls::Malformed(MalformedCall::parse(CUT)),
            Some(TextEnd::Whole) | None => unfinished(kind, &self.text[inner..], &*self.tools),
        }
    }

    /// Whether the line before announces an example. A `<tool>` tag outside a fence is always a call.
    fn is_explained(&self) -> bool {
        let ReaderState::Pending(held) = &self.state else { return false };
        let plain = (held.kind == CallForm::Block || is_tool_tag(held.kind)) && held.fence.is_none();
        !plain && !is_script(held.kind) && explains(&self.text[self.before.0..self.before.1])
    }

    fn accept(&mut self, mut calls: Vec<ReplyCall>, behind: usize, sink: &mut dyn FnMut(ReplyPiece<'_>)) -> ReaderStep {
        if self.accepted.calls == CallLimit::One {
            calls.truncate(1);
        }
        self.pass(behind, sink);
        for call in calls {
            sink(ReplyPiece::Call { index: self.calls, call });
            self.calls = self.calls.saturating_add(1);
        }
        ReaderStep::On
    }

    fn refuse(&mut self, malformed: MalformedCall, behind: usize, sink: &mut dyn FnMut(ReplyPiece<'_>)) -> ReaderStep {
        self.malformed.get_or_insert(malformed);
        self.pass(behind, sink);
        ReaderStep::On
    }

    /// Continues after the text that was held back, without emitting it.
    fn pass(&mut self, behind: usize, sink: &mut dyn FnMut(ReplyPiece<'_>)) {
        if let ReaderState::Pending(held) = &self.state {
            let start = held.start;
            self.waste += held.waste;
            self.give_out(start, sink);
        }
        (self.at, self.line, self.given_out, self.begun) = (behind, behind, behind, TextBegun::Yes);
        self.before = (behind, behind);
        self.state = match (self.accepted.calls, self.accepted.after) {
            (CallLimit::One, _) => ReaderState::Dropped,
            (CallLimit::Several, AfterCall::Dropped) => ReaderState::BetweenCalls,
            (CallLimit::Several, AfterCall::Kept) if self.is_wasteful() => ReaderState::Words,
            (CallLimit::Several, AfterCall::Kept) => ReaderState::Line,
        };
    }

    /// Releases text that was held back and is not a call, as found at `end`: it is text, or code.
    fn let_go(&mut self, end: usize) -> ReaderStep {
        let ReaderState::Pending(held) = &self.state else { return ReaderStep::On };
        let (start, fence) = (held.start, held.fence);
        self.waste += end - start;
        self.begun = TextBegun::Yes;
        self.state = match fence {
            _ if self.drops_text() => ReaderState::Dropped,
            _ if self.accepted.anywhere.is_empty() || self.is_wasteful() => ReaderState::Words,
            Some(fence) => ReaderState::Fence(fence, FenceLine::First),
            None => {
                self.at = start + 1;
                ReaderState::Middle
            }
        };
        ReaderStep::On
    }

    /// Whether a call was read after which text is dropped.
    fn drops_text(&self) -> bool {
        self.accepted.after == AfterCall::Dropped && (self.calls > 0 || self.malformed.is_some())
    }

    /// Handles the text after a call, where only another call counts.
    fn between_calls(&mut self) -> ReaderStep {
        let rest = &self.text[self.at..];
        let blank = rest.len() - rest.trim_start().len();
        self.at += blank;
        let rest = &self.text[self.at..];
        if rest.is_empty() || self.is_wasteful() {
            return ReaderStep::More;
        }
        match find_opening(rest, self.accepted.anywhere, &*self.tools) {
            CallOpening::More if self.over.is_none() => ReaderStep::More,
            CallOpening::Yes(kind) => self.hold(self.at, kind),
            CallOpening::More | CallOpening::No => {
                self.state = ReaderState::Dropped;
                ReaderStep::On
            }
        }
    }

    /// Whether so much was held back needlessly that the reader stops searching for calls.
    fn is_wasteful(&self) -> bool {
        self.waste > WASTE + 2 * (self.forgotten + self.at)
    }
}

/// Whether a form is a fenced block itself, and not a call in one.
fn is_script(kind: CallForm) -> bool {
    matches!(kind, CallForm::Script { .. })
}

/// Whether a form is a tag with the name of a tool as its attribute.
fn is_tool_tag(kind: CallForm) -> bool {
    matches!(kind, CallForm::ToolTag { .. })
}
