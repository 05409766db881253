//! Assembles tool calls from their fragments.
//!
//! According to the specification a fragment names its call by `index`, and the first one has the id. In practice
//! servers omit the index or the id, give every call index 0, repeat id and name in each fragment, or send complete
//! calls one after the other with nothing to distinguish them. The rules: a new id is a new call; a known id is that
//! call; without an id the index decides, else the last call continues, unless the fragment names a tool and the call
//! already has complete arguments.

use std::borrow::Cow;

use windlass_vocab::ReplyCall;

use super::chunk::{CallDelta, FunctionDelta};
use crate::json_text::{JsonText, arguments, or_empty};
use crate::piece::Piece;

/// The calls received so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallAssembler {
    open: Vec<OpenCall>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OpenCall {
    index: Option<u32>,
    call: ReplyCall,
}

/// A parsed fragment.
struct CallFragment<'f> {
    index: Option<u32>,
    id: &'f str,
    name: &'f str,
    arguments: Cow<'f, str>,
}

impl CallAssembler {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Adds a fragment.
    pub(super) fn add(&mut self, delta: &CallDelta<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        let function = delta.function.as_ref();
        self.add_fragment(
            &CallFragment {
                index: delta.index,
                id: or_empty(delta.id.as_ref()),
                name: or_empty(function.and_then(|function| function.name.as_ref())),
                arguments: arguments(function.and_then(|function| function.arguments)),
            },
            sink,
        );
    }

    /// Adds a fragment of the single call in the older form of the protocol.
    pub(super) fn add_function(&mut self, function: &FunctionDelta<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        let name = function.name.as_ref().map_or("", |JsonText(name)| name);
        let arguments = arguments(function.arguments);
        self.add_fragment(&CallFragment { index: Some(0), id: "", name, arguments }, sink);
    }

    fn add_fragment(&mut self, fragment: &CallFragment<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        let place = self.place_of(fragment).unwrap_or_else(|| {
            self.open.push(OpenCall { index: fragment.index, call: ReplyCall::default() });
            self.open.len() - 1
        });
        let call = &mut self.open[place].call;
        if call.provider_id.is_none() && !fragment.id.is_empty() {
            call.provider_id = Some(fragment.id.to_owned());
        }
        let named_now = call.name.is_empty() && !fragment.name.is_empty();
        if call.name != fragment.name {
            call.name.push_str(fragment.name);
        }
        call.arguments.push_str(&fragment.arguments);
        if named_now || !fragment.arguments.is_empty() {
            let name = named_now.then_some(fragment.name);
            sink(Piece::Call { index: u32::try_from(place).unwrap_or(u32::MAX), name, arguments: &fragment.arguments });
        }
    }

    /// Returns the position of the call that `fragment` continues; `None` if it begins another.
    fn place_of(&self, fragment: &CallFragment<'_>) -> Option<usize> {
        let same_index = |open: &OpenCall| fragment.index.is_none() || open.index == fragment.index;
        let latest = |fits: &dyn Fn(&OpenCall) -> bool| self.open.iter().rposition(fits);
        if !fragment.id.is_empty() {
            let known = latest(&|open| same_index(open) && open.call.provider_id.as_deref() == Some(fragment.id));
            // An id may arrive after the name.
            return known.or_else(|| {
                latest(&same_index).filter(|place| {
                    let call = &self.open[*place].call;
                    call.provider_id.is_none() && (fragment.name.is_empty() || call.name.is_empty())
                })
            });
        }
        latest(&same_index).filter(|place| !fragment.begins_another_than(&self.open[*place].call))
    }

    /// Returns the calls in the order they began.
    pub(super) fn finish(self) -> Vec<ReplyCall> {
        self.open.into_iter().map(|open| open.call).collect()
    }
}

impl CallFragment<'_> {
    /// Whether a fragment without id, at the position of `call`, starts another call.
    fn begins_another_than(&self, call: &ReplyCall) -> bool {
        if self.name.is_empty() || call.name.is_empty() || call.arguments.is_empty() {
            return false;
        }
        let whole = || serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_ok();
        self.name != call.name || (!self.arguments.is_empty() && whole())
    }
}
