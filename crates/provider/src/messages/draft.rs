//! The reply as far as it has arrived.
//!
//! A stream is `message_start`, then for each block `content_block_start`, its deltas and `content_block_stop`, then
//! `message_delta` with the reason of the end, and `message_stop`. A `message_delta` may come more than once, so only
//! `message_stop` completes the reply. Events of other kinds are passed over.

use windlass_vocab::{Reply, StopReason};

use super::block::{BegunBlock, BlockContent};
use super::event::{StopDetails, WireDelta, WireEvent, WireMessage, stop_reason};
use super::usage::ReportedCounts;
use crate::answer::draft::{OutOfResources, StreamError, WholeError, WireDraft};
use crate::json_text::{JsonText, RawJson, or_empty};
use crate::piece::Piece;
use crate::server::report::ErrorReport;

/// How much of a stream may give no piece. The limit on an answer counts pieces, so that this part needs its own.
const MOST_HIDDEN: usize = 32 << 20;

/// The reply so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessagesDraft {
    blocks: Vec<BegunBlock>,
    calls: u32,
    counts: ReportedCounts,
    model: Option<String>,
    stop: Option<StopReason>,
    /// Why the provider refused, in its words.
    explanation: String,
    /// Bytes of events that gave no piece: signatures, items of the provider's.
    hidden: usize,
    any_piece: bool,
    any_event: bool,
    is_known: bool,
    is_done: bool,
}

impl MessagesDraft {
    /// Adds an event.
    fn add_event(&mut self, event: &WireEvent<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        self.any_event = true;
        let mut any = self.any_piece;
        let mut noting = |piece: Piece<'_>| {
            any = true;
            sink(piece);
        };
        let kind = or_empty(event.r#type.as_ref());
        self.is_known |= kind.starts_with("message_") || kind.starts_with("content_block_");
        match kind {
            "message_start" => {
                if let Some(message) = &event.message {
                    self.add_message(message, &mut noting);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.begin(event.index, block, &mut noting);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = &event.delta {
                    self.add_delta(event.index, delta, &mut noting);
                }
            }
            "content_block_stop" => {
                if let Some(open) = self.block(event.index) {
                    open.content.end(&mut noting);
                }
            }
            "message_delta" => {
                self.counts.add(event.usage);
                if let Some(delta) = &event.delta {
                    self.add_end(delta.stop_reason.as_ref(), delta.stop_details.as_ref());
                }
            }
            "message_stop" => self.is_done = true,
            _ => {}
        }
        self.any_piece = any;
    }

    /// Adds a message: the start of a stream, or all of an answer.
    fn add_message(&mut self, message: &WireMessage<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        self.model = message.model.as_ref().map(|JsonText(model)| model.to_string()).filter(|model| !model.is_empty());
        self.counts.add(message.usage);
        self.add_end(message.stop_reason.as_ref(), message.stop_details.as_ref());
        for block in message.content.iter().flatten() {
            self.begin(None, *block, sink);
            if let Some(open) = self.blocks.last_mut() {
                open.content.end(sink);
            }
        }
    }

    fn add_end(&mut self, stop: Option<&JsonText<'_>>, details: Option<&StopDetails<'_>>) {
        self.stop = stop_reason(stop).or(self.stop);
        let explanation = or_empty(details.and_then(|details| details.explanation.as_ref()));
        if !explanation.is_empty() {
            explanation.clone_into(&mut self.explanation);
        }
    }

    fn begin(&mut self, index: Option<u32>, block: RawJson<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        let next = self.blocks.last().map_or(0, |open| open.index.saturating_add(1));
        let content = BlockContent::begin(block, self.calls, sink);
        if let BlockContent::Call(_) = content {
            self.calls += 1;
        }
        self.blocks.push(BegunBlock { index: index.unwrap_or(next), content });
    }

    fn add_delta(&mut self, index: Option<u32>, delta: &WireDelta<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        if self.block(index).is_none() {
            // Some servers begin with the first fragment.
            let content = match or_empty(delta.r#type.as_ref()) {
                "text_delta" => BlockContent::Text(String::new()),
                "thinking_delta" => BlockContent::Thinking { text: String::new(), signature: String::new() },
                _ => return,
            };
            self.blocks.push(BegunBlock { index: index.unwrap_or(0), content });
        }
        if let Some(open) = self.block(index) {
            open.content.add(delta, sink);
        }
    }

    /// Returns the block with this number; without a number, the last one.
    fn block(&mut self, index: Option<u32>) -> Option<&mut BegunBlock> {
        self.blocks.iter_mut().rev().find(|open| index.is_none_or(|index| open.index == index))
    }

    /// Adds the provider's words on a refusal that has no others.
    fn add_explanation(&mut self, sink: &mut dyn FnMut(Piece<'_>)) {
        let any_text =
            self.blocks.iter().any(|open| matches!(&open.content, BlockContent::Text(text) if !text.is_empty()));
        let explanation = std::mem::take(&mut self.explanation);
        if self.stop == Some(StopReason::Refused) && !any_text && !explanation.is_empty() {
            sink(Piece::Text(&explanation));
            self.any_piece = true;
            self.blocks.push(BegunBlock { index: u32::MAX, content: BlockContent::Text(explanation) });
        }
    }

    /// Returns the reply.
    fn reply(self) -> Reply {
        let stop = self.stop_reason();
        let mut reply = Reply { stop, usage: self.counts.usage(), model: self.model, ..Reply::default() };
        for open in self.blocks {
            let Some((part, call)) = open.content.finish() else { continue };
            reply.parts.push(part);
            if let Some(mut call) = call {
                // A history in which two calls share an id is not valid.
                if reply.calls.iter().any(|earlier| earlier.provider_id == call.provider_id) {
                    call.provider_id = None;
                }
                reply.calls.push(call);
            }
        }
        reply
    }

    /// The stop reason, corrected by the reply: calls are made whatever the reason, and without calls none are
    /// waited for.
    fn stop_reason(&self) -> StopReason {
        let ended = if self.calls == 0 { StopReason::Stop } else { StopReason::Calls };
        match self.stop {
            Some(StopReason::Paused) if self.calls > 0 => ended,
            Some(
                reason @ (StopReason::Length
                | StopReason::Filtered
                | StopReason::Refused
                | StopReason::Error
                | StopReason::Paused),
            ) => reason,
            Some(StopReason::Stop | StopReason::Calls) | None => ended,
        }
    }
}

impl WireDraft for MessagesDraft {
    fn add(&mut self, text: &str, sink: &mut dyn FnMut(Piece<'_>)) -> Result<(), StreamError> {
        let event: WireEvent<'_> = serde_json::from_str(text).map_err(|_| StreamError::unread(text))?;
        if let Some(report) = reported(event.error) {
            return Err(StreamError::Reported(report));
        }
        let mut is_hidden = true;
        self.add_event(&event, &mut |piece| {
            is_hidden = false;
            sink(piece);
        });
        if is_hidden {
            self.hidden = self.hidden.saturating_add(text.len());
        }
        if self.hidden > MOST_HIDDEN { Err(StreamError::TooLong) } else { Ok(()) }
    }

    fn flush(&mut self, sink: &mut dyn FnMut(Piece<'_>)) {
        self.add_explanation(sink);
    }

    fn is_finished(&self) -> bool {
        self.is_done
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn any_piece(&self) -> bool {
        self.any_piece
    }

    fn is_thinking(&self) -> bool {
        self.blocks.last().is_some_and(|open| matches!(open.content, BlockContent::Thinking { .. }))
    }

    fn is_foreign(&self) -> bool {
        self.any_event && !self.is_known
    }

    fn finish(mut self) -> Result<Reply, OutOfResources> {
        self.flush(&mut |_| {});
        Ok(self.reply())
    }

    fn read_whole(text: &str) -> Result<Reply, WholeError> {
        let message: WireMessage<'_> = serde_json::from_str(text).map_err(|error| WholeError::from(&error))?;
        if let Some(report) = reported(message.error) {
            return Err(WholeError::Reported(report));
        }
        if message.content.is_none() {
            return Err(WholeError::Foreign);
        }
        let mut draft = Self::default();
        draft.add_message(&message, &mut |_| {});
        Ok(draft.finish()?)
    }
}

/// Returns the error that an answer reports in place of its rest.
fn reported(error: Option<RawJson<'_>>) -> Option<ErrorReport> {
    let RawJson(error) = error?;
    ErrorReport::of(&serde_json::from_str(error).ok()?)
}
