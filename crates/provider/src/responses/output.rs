//! The items of the output so far, in their order.
//!
//! An event names its item by position. Servers that give none are understood by the item's id; else the event is
//! about the last item of its kind.

use windlass_vocab::{Part, ReplyCall};

use super::event::{OutputItem, StreamEvent};
use super::item::{BLANK_LINE, Gaps, ItemContent, ItemKind, ReasoningSection};
use crate::piece::Piece;

/// The items so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OutputSoFar {
    items: Vec<OpenItem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct OpenItem {
    /// Its position in the output, according to the server.
    output_index: Option<u32>,
    id: String,
    content: ItemContent,
    /// Whether the server has sent it as a whole.
    is_whole: bool,
}

/// How an event names the item it is about.
#[derive(Clone, Copy)]
struct ItemName<'a> {
    output_index: Option<u32>,
    id: &'a str,
    kind: ItemKind,
}

impl<'a> ItemName<'a> {
    fn of(item: &'a OutputItem<'_>, output_index: Option<u32>) -> Self {
        Self { output_index, id: item.id(), kind: ItemKind::read(item.kind()) }
    }
}

impl OutputSoFar {
    /// Begins an item.
    pub(super) fn begin(&mut self, output_index: Option<u32>, item: &OutputItem<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        let place = self.insert(self.items.len(), ItemName::of(item, output_index));
        self.items[place].content.begin(item, sink);
    }

    /// Takes a whole item.
    pub(super) fn complete(
        &mut self,
        output_index: Option<u32>,
        item: &OutputItem<'_>,
        sink: &mut dyn FnMut(Piece<'_>),
    ) {
        let place = self.place_of(ItemName::of(item, output_index));
        self.complete_at(place, item, sink);
    }

    /// Takes the whole output as the end of the response repeats it, and adds what had not arrived.
    pub(super) fn complete_all(&mut self, output: &[OutputItem<'_>], sink: &mut dyn FnMut(Piece<'_>)) {
        for (position, item) in output.iter().enumerate() {
            let name = ItemName::of(item, u32::try_from(position).ok());
            let arrived = self.items.get(position).filter(|open| open.content.kind() == name.kind).map(|_| position);
            let place = self.find(name).or(arrived).unwrap_or_else(|| self.insert(position, name));
            if !self.items[place].is_whole {
                self.complete_at(place, item, sink);
            }
        }
    }

    /// Adds text of a message.
    pub(super) fn add_text(&mut self, event: &StreamEvent<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        let (content, gaps) = self.item(event, ItemKind::Message);
        if let ItemContent::Message(message) = content {
            message.add_text(&event.delta(), gaps, sink);
        }
    }

    /// Adds text in which the model refuses.
    pub(super) fn add_refusal(&mut self, event: &StreamEvent<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        let (content, gaps) = self.item(event, ItemKind::Message);
        if let ItemContent::Message(message) = content {
            message.add_refusal(&event.delta(), gaps, sink);
        }
    }

    /// Adds reasoning.
    pub(super) fn add_thinking(
        &mut self,
        event: &StreamEvent<'_>,
        section: ReasoningSection,
        sink: &mut dyn FnMut(Piece<'_>),
    ) {
        let (content, gaps) = self.item(event, ItemKind::Reasoning);
        if let ItemContent::Reasoning(reasoning) = content {
            reasoning.add(&event.delta(), section, gaps, sink);
        }
    }

    /// Adds a fragment of a call's arguments.
    pub(super) fn add_arguments(&mut self, event: &StreamEvent<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        if let (ItemContent::Call(call), _) = self.item(event, ItemKind::Call) {
            call.add(&event.delta(), sink);
        }
    }

    /// Emits the text that was held back.
    pub(super) fn flush(&mut self, sink: &mut dyn FnMut(Piece<'_>)) {
        for place in 0..self.items.len() {
            let gaps = self.gaps(place);
            if let ItemContent::Message(message) = &mut self.items[place].content {
                message.flush(gaps, sink);
            }
        }
    }

    /// Whether a call has begun.
    pub(super) fn any_call(&self) -> bool {
        self.items.iter().any(|item| item.content.kind() == ItemKind::Call)
    }

    /// Whether the model reasons at the moment, or has done nothing else.
    pub(super) fn is_thinking(&self) -> bool {
        let reasons = |item: &OpenItem| item.content.kind() == ItemKind::Reasoning;
        self.items.last().is_some_and(|item| reasons(item) && !item.is_whole)
            || !self.items.iter().any(|item| item.content.has_text() || item.content.kind() == ItemKind::Call)
    }

    /// Whether the model refused.
    pub(super) fn is_refusal(&self) -> bool {
        self.items.iter().any(|item| item.content.is_refusal())
    }

    /// Returns the parts and the calls.
    pub(super) fn finish(self) -> (Vec<Part>, Vec<ReplyCall>) {
        let (mut parts, mut calls) = (Vec::new(), Vec::new());
        for item in self.items {
            item.content.add_to(&mut parts, &mut calls);
        }
        // A part names its call by index, which is the order in which the calls began.
        calls.sort_by_key(|(index, _)| *index);
        (parts, calls.into_iter().map(|(_, call)| call).collect())
    }

    fn item(&mut self, event: &StreamEvent<'_>, kind: ItemKind) -> (&mut ItemContent, Gaps) {
        let place = self.place_of(ItemName { output_index: event.output_index, id: event.item_id(), kind });
        let gaps = self.gaps(place);
        (&mut self.items[place].content, gaps)
    }

    /// Returns the position of an item; begins one if there is none.
    fn place_of(&mut self, name: ItemName<'_>) -> usize {
        self.find(name).unwrap_or_else(|| self.insert(self.items.len(), name))
    }

    fn find(&self, name: ItemName<'_>) -> Option<usize> {
        let latest = |fits: &dyn Fn(&OpenItem) -> bool| {
            self.items.iter().rposition(|open| open.content.kind() == name.kind && fits(open))
        };
        if name.output_index.is_some() {
            let known = latest(&|open| open.output_index == name.output_index);
            return known.or_else(|| latest(&|open| !name.id.is_empty() && open.id == name.id));
        }
        latest(&|open| name.id.is_empty() || open.id == name.id)
    }

    fn insert(&mut self, place: usize, name: ItemName<'_>) -> usize {
        let calls = self.items.iter().filter(|item| item.content.kind() == ItemKind::Call).count();
        let content = ItemContent::of_kind(name.kind, u32::try_from(calls).unwrap_or(u32::MAX));
        let place = place.min(self.items.len());
        let item = OpenItem { output_index: name.output_index, id: name.id.to_owned(), content, is_whole: false };
        self.items.insert(place, item);
        place
    }

    fn complete_at(&mut self, place: usize, item: &OutputItem<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        let gaps = self.gaps(place);
        let open = &mut self.items[place];
        open.is_whole = true;
        open.content.complete(item, gaps, sink);
    }

    /// Returns what stands between the text of the item at `place` and that of the items before it.
    fn gaps(&self, place: usize) -> Gaps {
        let after = |any: fn(&ItemContent) -> bool| {
            if self.items[..place].iter().any(|item| any(&item.content)) { BLANK_LINE } else { "" }
        };
        Gaps { text: after(ItemContent::has_text), thinking: after(ItemContent::has_thinking) }
    }
}
