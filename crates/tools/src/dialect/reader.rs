//! The reader: text in fragments, words out at once, calls when they are whole.
//!
//! It stands at a place of the text and goes on as far as that can be decided. Everything before it is
//! words; everything behind a call's beginning is held. What was held in vain is given out and looked at
//! again from its second byte on; how often that may happen is bounded by the length of the text, so
//! that no text takes longer than its length allows. What nobody will look at again is forgotten as it
//! goes: of a reply without calls the line it is on and the one before it are kept, and a fence that is open.

use std::borrow::Cow;
use std::fmt;

use windlass_vocab::ReplyCall;

use super::ended::Ended;
use super::explain::explains;
use super::found::{Found, found, unfinished};
use super::held::{Fence, Held, Progress, Stand};
use super::malformed::Malformed;
use super::opening::{Kind, Named, Sight, sight, tag};
use super::spoken::{Calls, Forms, Spoken};
use super::spot::{Begun, Code, FenceLine, Spot, Step};

/// What a reader gives out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said<'a> {
    /// Words.
    Text(&'a str),
    /// A call, whole.
    Call {
        /// Its place among the calls of the text.
        index: u32,
        /// What it asks for.
        call: ReplyCall,
    },
}

/// Whether a tool of this name is offered.
type Knows = Box<dyn Fn(&str) -> bool + Send>;

/// Reads a text as it comes.
pub struct Reader<'t> {
    spoken: Spoken,
    knows: Knows,
    /// What has come and is not forgotten; a text that was there as a whole is borrowed.
    text: Cow<'t, str>,
    /// How much of the text is forgotten. All places are counted from there.
    forgotten: usize,
    /// Up to here it is decided what the text is.
    at: usize,
    /// Up to here words have been given out.
    told: usize,
    /// Up to here words have been looked at for white space at their end.
    seen: usize,
    /// Where the line begins that `at` is on.
    line: usize,
    /// The last line with words on it.
    before: (usize, usize),
    /// Quotes of code on the line: up to where they were counted, and whether one is open.
    code: (usize, Code),
    spot: Spot,
    begun: Begun,
    /// Bytes that were held in vain.
    waste: usize,
    over: Option<Ended>,
    /// How many calls were given out.
    calls: u32,
    malformed: Option<Malformed>,
}

/// So many bytes may be held in vain in any text.
const WASTE: usize = 64 << 10;
/// The longest mark of a fence that is looked into.
const LONGEST_FENCE: usize = 16;
/// The words behind a fence's mark under which a call may stand.
const FENCE_WORDS: &[&str] = &["", "json", "xml", "tool", "tool_call", "tool_code", "text", "plaintext", "python"];
/// What a model is told of a call that its reply's end cut off.
const CUT: &str = "the reply was cut off by the length limit in the middle of the call, which was not run. \
                   Make it shorter, or do it in several steps.";
/// White space between a fence and what stands in it.
const FENCE_GAP: usize = 64;

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("spoken", &self.spoken).field("at", &self.at).finish_non_exhaustive()
    }
}

impl<'t> Reader<'t> {
    /// A reader of which nothing has been asked yet. `knows` says whether a tool of a name is offered.
    #[must_use]
    pub fn new(spoken: Spoken, knows: Knows) -> Self {
        Self {
            spoken,
            knows,
            text: Cow::Borrowed(""),
            forgotten: 0,
            at: 0,
            told: 0,
            seen: 0,
            line: 0,
            before: (0, 0),
            code: (0, Code::Outside),
            spot: Spot::Line,
            begun: Begun::No,
            waste: 0,
            over: None,
            calls: 0,
            malformed: None,
        }
    }

    /// A reader of a text that is there as a whole.
    pub(super) fn over(text: &'t str, spoken: Spoken, knows: Knows) -> Self {
        Self { text: Cow::Borrowed(text), ..Self::new(spoken, knows) }
    }

    /// Takes a fragment; words and calls that are certain go to `sink`.
    pub fn push(&mut self, fragment: &str, sink: &mut dyn FnMut(Said<'_>)) {
        self.forget();
        self.text.to_mut().push_str(fragment);
        self.go_on(sink);
    }

    /// The text is over: what was held back goes to `sink`, and what is wrong with a call that could not
    /// be read comes back.
    pub fn finish(mut self, ended: Ended, sink: &mut dyn FnMut(Said<'_>)) -> Option<Malformed> {
        self.over = Some(ended);
        self.go_on(sink);
        let is_dropped = matches!(self.spot, Spot::Dropped);
        if self.calls == 0 && self.malformed.is_none() && !is_dropped {
            // Without calls the words are exactly the text.
            self.tell_up_to(self.text.len(), sink);
        }
        self.malformed
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.text.len()
    }

    /// Forgets what is not looked at again, once it is the larger part: no byte is moved twice.
    fn forget(&mut self) {
        let kept = match &self.spot {
            // The line is looked back at, and the one before it.
            Spot::Line | Spot::Middle | Spot::Fence(..) => self.told.min(self.line).min(self.before.0),
            Spot::Words => self.told,
            Spot::Dropped => self.text.len(),
            // What is held stays where it is.
            Spot::Held(_) => 0,
        };
        if kept <= self.text.len() / 2 {
            return;
        }
        if self.code.0 < self.line {
            self.code = (self.line, Code::Outside);
        }
        self.text.to_mut().drain(..kept);
        self.forgotten += kept;
        for place in [
            &mut self.at,
            &mut self.told,
            &mut self.seen,
            &mut self.line,
            &mut self.before.0,
            &mut self.before.1,
            &mut self.code.0,
        ] {
            *place = place.saturating_sub(kept);
        }
    }

    fn go_on(&mut self, sink: &mut dyn FnMut(Said<'_>)) {
        while self.step(sink) == Step::On {}
        let certain = match &self.spot {
            Spot::Held(held) => held.start,
            Spot::Line | Spot::Middle | Spot::Fence(..) | Spot::Words => self.at,
            Spot::Dropped => return,
        };
        self.tell(certain, sink);
    }

    fn step(&mut self, sink: &mut dyn FnMut(Said<'_>)) -> Step {
        match &self.spot {
            Spot::Line => self.line(),
            Spot::Middle => self.middle(),
            Spot::Fence(fence, line) => self.fence(*fence, *line),
            Spot::Held(_) => self.held(sink),
            Spot::Words | Spot::Dropped => {
                self.at = self.text.len();
                Step::More
            }
        }
    }

    /// Gives out words up to `end`, but for white space at their end: it is dropped if a call follows.
    fn tell(&mut self, end: usize, sink: &mut dyn FnMut(Said<'_>)) {
        let from = self.seen.max(self.told);
        if end <= from {
            return;
        }
        self.seen = end;
        if let Some((at, c)) = self.text[from..end].char_indices().rev().find(|(_, c)| !c.is_whitespace()) {
            self.tell_up_to(from + at + c.len_utf8(), sink);
        }
    }

    fn tell_up_to(&mut self, end: usize, sink: &mut dyn FnMut(Said<'_>)) {
        if end > self.told {
            let words = &self.text[self.told..end];
            sink(Said::Text(words));
            self.told = end;
        }
    }

    /// The forms that may begin here.
    fn forms(&self) -> Forms {
        let (anywhere, alone) = (self.spoken.anywhere, self.spoken.alone);
        match self.begun {
            Begun::Yes => anywhere,
            Begun::No => Forms {
                block: anywhere.block || alone.block,
                bracket: anywhere.bracket || alone.bracket,
                lines: anywhere.lines || alone.lines,
                json: anywhere.json || alone.json,
            },
        }
    }

    fn words_follow(&mut self) -> Step {
        self.begun = Begun::Yes;
        self.spot = if self.spoken.anywhere.is_empty() { Spot::Words } else { Spot::Middle };
        Step::On
    }

    /// At the beginning of a line: a call may begin, or a fence.
    fn line(&mut self) -> Step {
        let rest = &self.text[self.at..];
        let indent = rest.bytes().take(4).take_while(|byte| *byte == b' ').count();
        let rest = &rest[indent..];
        match rest.as_bytes().first() {
            None if self.over.is_none() => Step::More,
            None => {
                self.at = self.text.len();
                Step::More
            }
            Some(b'\n') => {
                self.at += indent + 1;
                self.line = self.at;
                Step::On
            }
            // Code or a quotation.
            Some(b'\t' | b'>') => self.words_follow(),
            Some(_) if indent > 3 => self.words_follow(),
            Some(b'`' | b'~') => self.fence_begins(indent),
            Some(_) => match sight(rest, self.forms(), &*self.knows) {
                Sight::No => self.words_follow(),
                Sight::More if self.over.is_none() => Step::More,
                // Of a tag that stands alone at the end, this much can be told.
                Sight::More if rest.trim_end() == super::opening::TOOL => self.hold(self.at + indent, Kind::Block),
                Sight::More => self.words_follow(),
                Sight::Yes(kind) => self.hold(self.at + indent, kind),
            },
        }
    }

    fn hold(&mut self, start: usize, kind: Kind) -> Step {
        let stand = self.stand(kind);
        self.spot = Spot::Held(Box::new(Held::new(start, start, kind, stand, None)));
        Step::On
    }

    fn stand(&self, kind: Kind) -> Stand {
        let anywhere = self.spoken.anywhere;
        let (read, free) = match kind {
            Kind::Block => (anywhere.block, Stand::Free),
            Kind::Wrapped(_) | Kind::Function => (anywhere.json, Stand::Free),
            Kind::Json(_) => (anywhere.json, Stand::OwnLines),
            Kind::Bracket => (anywhere.bracket, Stand::OwnLines),
            Kind::Lines { .. } => (anywhere.lines, Stand::OwnLines),
        };
        if read { free } else { Stand::Last }
    }

    /// A fence begins: one that holds nothing but a call is looked into.
    fn fence_begins(&mut self, indent: usize) -> Step {
        let rest = &self.text[self.at + indent..];
        let mark = rest.as_bytes()[0];
        let times = rest.bytes().take(LONGEST_FENCE + 1).take_while(|byte| *byte == mark).count();
        if !(3..=LONGEST_FENCE).contains(&times) {
            if times < 3 && times == rest.len() && self.over.is_none() {
                return Step::More;
            }
            return self.words_follow();
        }
        let fence = Fence { mark, times };
        let behind = &rest[times..];
        let plain = |reader: &mut Self| {
            reader.begun = Begun::Yes;
            reader.spot =
                if reader.spoken.anywhere.is_empty() { Spot::Words } else { Spot::Fence(fence, FenceLine::First) };
            Step::On
        };
        let longest = FENCE_WORDS.iter().map(|word| word.len()).max().unwrap_or(0) + 2;
        let Some(end) = behind.bytes().take(longest).position(|byte| byte == b'\n') else {
            let may_be = behind.len() < longest && FENCE_WORDS.iter().any(|word| word.starts_with(behind.trim_end()));
            return if may_be && self.over.is_none() { Step::More } else { plain(self) };
        };
        if !FENCE_WORDS.contains(&behind[..end].trim_end()) {
            return plain(self);
        }
        let inner = behind[end..].trim_start();
        if behind.len() - end - inner.len() > FENCE_GAP {
            return plain(self);
        }
        match sight(inner, self.forms(), &*self.knows) {
            Sight::More if self.over.is_none() => Step::More,
            Sight::No | Sight::More => plain(self),
            Sight::Yes(kind) => {
                let body = self.text.len() - inner.len();
                self.spot = Spot::Held(Box::new(Held::new(self.at, body, kind, Stand::Last, Some(fence))));
                Step::On
            }
        }
    }

    /// In a fence: nothing is read until it is closed.
    fn fence(&mut self, fence: Fence, line: FenceLine) -> Step {
        let Some(end) = memchr::memchr(b'\n', &self.text.as_bytes()[self.at..]) else {
            self.at = self.text.len();
            return Step::More;
        };
        let end = self.at + end;
        let closes = line == FenceLine::Later && fence.is_closed_by(&self.text[self.line..end]);
        self.at = end + 1;
        self.line = self.at;
        self.spot = if closes { Spot::Line } else { Spot::Fence(fence, FenceLine::Later) };
        Step::On
    }

    /// Within a line: a tag may follow the end of a sentence.
    fn middle(&mut self) -> Step {
        let forms = Forms { bracket: false, lines: false, ..self.spoken.anywhere };
        let rest = &self.text.as_bytes()[self.at..];
        let found = if forms.is_empty() { memchr::memchr(b'\n', rest) } else { memchr::memchr2(b'\n', b'<', rest) };
        let Some(found) = found else {
            self.at = self.text.len();
            return Step::More;
        };
        self.at += found;
        if rest[found] == b'\n' {
            self.before = (self.line, self.at);
            self.at += 1;
            self.line = self.at;
            self.code = (self.at, Code::Outside);
            self.spot = Spot::Line;
            return Step::On;
        }
        match tag(&self.text[self.at..], forms) {
            Sight::More if self.over.is_none() => Step::More,
            Sight::Yes(kind) if self.ends_a_sentence() => self.hold(self.at, kind),
            Sight::Yes(_) | Sight::More | Sight::No => {
                self.at += 1;
                Step::On
            }
        }
    }

    /// Whether what stands before `at` on its line ends a sentence, and no code is open.
    fn ends_a_sentence(&mut self) -> bool {
        let (from, code) = if self.code.0 < self.line { (self.line, Code::Outside) } else { self.code };
        let ticks = memchr::memchr_iter(b'`', &self.text.as_bytes()[from..self.at]).count();
        let code = match (code, ticks % 2) {
            (code, 0) => code,
            (Code::Outside, _) => Code::Inside,
            (Code::Inside, _) => Code::Outside,
        };
        self.code = (self.at, code);
        let line = &self.text[self.line..self.at];
        let quoted = line.bytes().take(4).find(|byte| *byte != b' ') == Some(b'>');
        code == Code::Outside && !quoted && line.trim_end().ends_with(['.', ':', '!', '?', ')', '…'])
    }

    /// A call has begun: it ends, it can't be one, or more must come.
    fn held(&mut self, sink: &mut dyn FnMut(Said<'_>)) -> Step {
        let Spot::Held(held) = &mut self.spot else { return Step::On };
        let progress = held.progress(&self.text, self.over);
        let (inner, kind, fenced) = (held.inner(), held.kind, held.fence.is_some());
        let (result, behind) = match progress {
            Progress::More => return Step::More,
            Progress::No(at) => (Found::Nothing, at),
            Progress::Whole { inner: end, behind } => (found(kind, &self.text[inner..end], &*self.knows), behind),
            Progress::Unfinished => (self.unfinished(kind, inner), self.text.len()),
        };
        match result {
            Found::Calls(calls) if !self.is_explained() => self.accept(calls, behind, sink),
            Found::Malformed(malformed) if !fenced && !self.is_explained() => self.refuse(malformed, behind, sink),
            Found::Calls(_) | Found::Malformed(_) | Found::Nothing => self.let_go(behind),
        }
    }

    fn unfinished(&self, kind: Kind, inner: usize) -> Found {
        match self.over {
            Some(Ended::Cut) if kind == Kind::Json(Named::NotYet) => Found::Nothing,
            Some(Ended::Cut) => Found::Malformed(Malformed::parse(CUT)),
            Some(Ended::Whole) | None => unfinished(kind, &self.text[inner..], &*self.knows),
        }
    }

    /// Whether the line before says that this is an example. A block in the open is taken at its word.
    fn is_explained(&self) -> bool {
        let Spot::Held(held) = &self.spot else { return false };
        let plain = held.kind == Kind::Block && held.fence.is_none();
        !plain && explains(&self.text[self.before.0..self.before.1])
    }

    fn accept(&mut self, mut calls: Vec<ReplyCall>, behind: usize, sink: &mut dyn FnMut(Said<'_>)) -> Step {
        if self.spoken.calls == Calls::One {
            calls.truncate(1);
        }
        self.pass(behind, sink);
        for call in calls {
            sink(Said::Call { index: self.calls, call });
            self.calls = self.calls.saturating_add(1);
        }
        Step::On
    }

    fn refuse(&mut self, malformed: Malformed, behind: usize, sink: &mut dyn FnMut(Said<'_>)) -> Step {
        self.malformed.get_or_insert(malformed);
        self.pass(behind, sink);
        Step::On
    }

    /// Goes on behind what was held, which is not given out.
    fn pass(&mut self, behind: usize, sink: &mut dyn FnMut(Said<'_>)) {
        if let Spot::Held(held) = &self.spot {
            let start = held.start;
            self.waste += held.waste;
            self.tell(start, sink);
        }
        (self.at, self.line, self.told, self.begun) = (behind, behind, behind, Begun::Yes);
        self.before = (behind, behind);
        self.spot = match self.spoken.calls {
            Calls::One => Spot::Dropped,
            Calls::Several if self.is_wasteful() => Spot::Words,
            Calls::Several => Spot::Line,
        };
    }

    /// What was held is no call, as was found at `end`: it is words, or code.
    fn let_go(&mut self, end: usize) -> Step {
        let Spot::Held(held) = &self.spot else { return Step::On };
        let (start, fence) = (held.start, held.fence);
        self.waste += end - start;
        self.begun = Begun::Yes;
        self.spot = match fence {
            _ if self.spoken.anywhere.is_empty() || self.is_wasteful() => Spot::Words,
            Some(fence) => Spot::Fence(fence, FenceLine::First),
            None => {
                self.at = start + 1;
                Spot::Middle
            }
        };
        Step::On
    }

    /// Whether so much was held in vain that nothing more is looked for.
    fn is_wasteful(&self) -> bool {
        self.waste > WASTE + 2 * (self.forgotten + self.at)
    }
}
