//! An item of the output as far as it has arrived: a message, reasoning, or a call.
//!
//! The protocol: an item begins, its deltas follow, and at its end the server sends it once more as a whole. The whole
//! fills in what no delta brought, since a server may send no deltas at all.

use windlass_vocab::{Json, Part, ReplyCall};

use super::event::OutputItem;
use super::kept_item::{kept_phase, kept_reasoning};
use crate::piece::Piece;
use crate::think::{ThinkPiece, ThinkSplitter};

/// The contents of an item so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ItemContent {
    Message(MessageSoFar),
    Reasoning(ReasoningSoFar),
    Call(CallSoFar),
    /// A kind of item that is not read.
    Unread,
}

/// A message of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MessageSoFar {
    phase: Option<Json>,
    /// Reasoning that the model wrote into its text.
    thinking: String,
    text: String,
    think: ThinkSplitter,
    refused: bool,
    any_delta: bool,
}

/// Reasoning, as far as the server shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReasoningSoFar {
    text: String,
    /// The section of the last delta.
    section: Option<ReasoningSection>,
    kept: Option<Json>,
}

/// A call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallSoFar {
    /// Its place among the calls of the reply.
    index: u32,
    call: ReplyCall,
}

/// A section of reasoning, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReasoningSection {
    /// Of its summary.
    Summary(u32),
    /// Of the reasoning itself.
    Open(u32),
}

/// The kinds of items that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    Message,
    Reasoning,
    Call,
    /// Any other.
    Unread,
}

impl ItemKind {
    /// Returns the kind that is called so on the wire.
    pub(super) fn read(kind: &str) -> Self {
        match kind {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::Call,
            _ => Self::Unread,
        }
    }
}

/// What stands between the text of an item and that of earlier ones: without it, two messages of one reply would run
/// into each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Gaps {
    pub(super) text: &'static str,
    pub(super) thinking: &'static str,
}

pub(super) const BLANK_LINE: &str = "\n\n";

impl ItemContent {
    /// Returns the contents of an item of this kind that has just begun; a call is the reply's next after `calls`.
    pub(super) fn of_kind(kind: ItemKind, calls: u32) -> Self {
        match kind {
            ItemKind::Message => Self::Message(MessageSoFar::default()),
            ItemKind::Reasoning => Self::Reasoning(ReasoningSoFar::default()),
            ItemKind::Call => Self::Call(CallSoFar { index: calls, call: ReplyCall::default() }),
            ItemKind::Unread => Self::Unread,
        }
    }

    /// The kind of the item.
    pub(super) fn kind(&self) -> ItemKind {
        match self {
            Self::Message(_) => ItemKind::Message,
            Self::Reasoning(_) => ItemKind::Reasoning,
            Self::Call(_) => ItemKind::Call,
            Self::Unread => ItemKind::Unread,
        }
    }

    /// Takes what is known of the item at its beginning.
    pub(super) fn begin(&mut self, item: &OutputItem<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        match self {
            Self::Call(call) => call.begin(item, sink),
            Self::Message(_) | Self::Reasoning(_) | Self::Unread => {}
        }
    }

    /// Takes the whole item: what no delta brought, and what only the whole has.
    pub(super) fn complete(&mut self, item: &OutputItem<'_>, gaps: Gaps, sink: &mut dyn FnMut(Piece<'_>)) {
        match self {
            Self::Message(message) => message.complete(item, gaps, sink),
            Self::Reasoning(reasoning) => reasoning.complete(item, gaps, sink),
            Self::Call(call) => call.complete(item, sink),
            Self::Unread => {}
        }
    }

    /// Whether text for the person has arrived.
    pub(super) fn has_text(&self) -> bool {
        matches!(self, Self::Message(message) if !message.text.is_empty())
    }

    /// Whether reasoning has arrived.
    pub(super) fn has_thinking(&self) -> bool {
        match self {
            Self::Message(message) => !message.thinking.is_empty(),
            Self::Reasoning(reasoning) => !reasoning.text.is_empty(),
            Self::Call(_) | Self::Unread => false,
        }
    }

    /// Whether the model refused in it.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Self::Message(message) if message.refused)
    }

    /// Adds the item to the parts of a reply, and to its calls with their index.
    pub(super) fn add_to(self, parts: &mut Vec<Part>, calls: &mut Vec<(u32, ReplyCall)>) {
        let thinking = |text: String| (!text.is_empty()).then_some(Part::Thinking { text, signature: None });
        match self {
            Self::Message(message) => {
                parts.extend(thinking(message.thinking));
                if !message.text.is_empty() {
                    parts.extend(message.phase.map(|item| Part::Opaque { item }));
                    parts.push(Part::Text { text: message.text });
                }
            }
            Self::Reasoning(reasoning) => {
                parts.extend(thinking(reasoning.text));
                parts.extend(reasoning.kept.map(|item| Part::Opaque { item }));
            }
            Self::Call(call) => {
                parts.push(Part::Call { index: call.index });
                calls.push((call.index, call.call));
            }
            Self::Unread => {}
        }
    }
}

impl MessageSoFar {
    /// Adds text of the answer.
    pub(super) fn add_text(&mut self, more: &str, gaps: Gaps, sink: &mut dyn FnMut(Piece<'_>)) {
        self.any_delta = true;
        let Self { think, thinking, text, .. } = self;
        think.push(more, &mut |sorted| place(sorted, thinking, text, gaps, sink));
    }

    /// Adds text in which the model refuses.
    pub(super) fn add_refusal(&mut self, more: &str, gaps: Gaps, sink: &mut dyn FnMut(Piece<'_>)) {
        self.any_delta = true;
        self.refused = true;
        self.flush(gaps, sink);
        add(&mut self.text, more, gaps.text, &mut |new| sink(Piece::Text(new)));
    }

    /// Emits the text that was held back; nothing follows it.
    pub(super) fn flush(&mut self, gaps: Gaps, sink: &mut dyn FnMut(Piece<'_>)) {
        let Self { think, thinking, text, .. } = self;
        think.end(&mut |sorted| place(sorted, thinking, text, gaps, sink));
    }

    fn complete(&mut self, item: &OutputItem<'_>, gaps: Gaps, sink: &mut dyn FnMut(Piece<'_>)) {
        self.phase = Some(item.phase()).filter(|phase| !phase.is_empty()).and_then(kept_phase);
        if !self.any_delta {
            for part in item.content() {
                let (text, refusal) = (part.text(), part.refusal());
                if !text.is_empty() {
                    self.add_text(&text, gaps, sink);
                }
                if !refusal.is_empty() {
                    self.add_refusal(&refusal, gaps, sink);
                }
            }
        }
        self.flush(gaps, sink);
    }
}

impl ReasoningSoFar {
    /// Adds text of one section of the reasoning.
    pub(super) fn add(&mut self, more: &str, section: ReasoningSection, gaps: Gaps, sink: &mut dyn FnMut(Piece<'_>)) {
        if more.is_empty() {
            return;
        }
        if self.section.replace(section).is_some_and(|last| last != section) {
            add(&mut self.text, BLANK_LINE, "", &mut |new| sink(Piece::Thinking(new)));
        }
        add(&mut self.text, more, gaps.thinking, &mut |new| sink(Piece::Thinking(new)));
    }

    fn complete(&mut self, item: &OutputItem<'_>, gaps: Gaps, sink: &mut dyn FnMut(Piece<'_>)) {
        self.kept = kept_reasoning(item);
        if self.text.is_empty() {
            for (number, part) in (0..).zip(item.summary()) {
                self.add(&part.text(), ReasoningSection::Summary(number), gaps, sink);
            }
            for (number, part) in (0..).zip(item.content()) {
                self.add(&part.text(), ReasoningSection::Open(number), gaps, sink);
            }
        }
    }
}

impl CallSoFar {
    /// Takes id and name. Arguments at the beginning are left out: deltas bring them again.
    fn begin(&mut self, item: &OutputItem<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        if self.call.provider_id.is_none() && !item.call_id().is_empty() {
            self.call.provider_id = Some(item.call_id().to_owned());
        }
        if self.call.name.is_empty() && !item.name().is_empty() {
            item.name().clone_into(&mut self.call.name);
            sink(Piece::Call { index: self.index, name: Some(item.name()), arguments: "" });
        }
    }

    /// Adds a fragment of the arguments.
    pub(super) fn add(&mut self, more: &str, sink: &mut dyn FnMut(Piece<'_>)) {
        if !more.is_empty() {
            self.call.arguments.push_str(more);
            sink(Piece::Call { index: self.index, name: None, arguments: more });
        }
    }

    fn complete(&mut self, item: &OutputItem<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        self.begin(item, sink);
        if self.call.arguments.is_empty() {
            self.add(&item.arguments(), sink);
        }
    }
}

fn place(
    sorted: ThinkPiece<'_>,
    thinking: &mut String,
    text: &mut String,
    gaps: Gaps,
    sink: &mut dyn FnMut(Piece<'_>),
) {
    match sorted {
        ThinkPiece::Thinking(more) => add(thinking, more, gaps.thinking, &mut |new| sink(Piece::Thinking(new))),
        ThinkPiece::Words(more) => add(text, more, gaps.text, &mut |new| sink(Piece::Text(new))),
    }
}

/// Adds `more` to a text, after `gap` if it is the first.
fn add(text: &mut String, more: &str, gap: &str, emit: &mut dyn FnMut(&str)) {
    let gap = if text.is_empty() { gap } else { "" };
    for new in [gap, more].into_iter().filter(|new| !new.is_empty()) {
        text.push_str(new);
        emit(new);
    }
}
