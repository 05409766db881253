//! The reply as far as it has arrived.
//!
//! The protocol: add chunks in order, then finish. The contents of a chunk go to the sink as it is added; the final
//! reply is the same however the chunks were delivered.

use serde::Deserialize;
use windlass_vocab::{Part, Reply, StopReason, Usage};

use super::calls::CallAssembler;
use super::chunk::{self, ChoiceDelta, Chunk, ChunkChoice};
use super::frame::Frame;
use crate::answer::draft::{OutOfResources, StreamError, WholeError, WireDraft};
use crate::json_text::{JsonText, or_empty, string};
use crate::piece::Piece;
use crate::think::{ThinkPiece, ThinkSplitter};

/// The reply so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatDraft {
    words: String,
    thinking: String,
    refusal: String,
    think: ThinkSplitter,
    calls: CallAssembler,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    model: Option<String>,
    any_piece: bool,
    any_chunk: bool,
    any_choice: bool,
    frame: Frame,
    /// How many bytes of `words` went to the sink.
    said: usize,
    /// Text that may still be reasoning.
    unsaid: String,
}

/// Capacity to reserve: text is seldom less than this fraction of its events.
const WORDS_IN_EVENTS: usize = 16;

/// Why the model stopped, according to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FinishReason {
    /// A known reason.
    Reason(StopReason),
    /// The server ran out of resources in the middle of the answer.
    OutOfResources,
    /// An unknown reason: the reply itself decides.
    Unknown,
}

impl WireDraft for ChatDraft {
    fn add(&mut self, text: &str, sink: &mut dyn FnMut(Piece<'_>)) -> Result<(), StreamError> {
        let chunk = Chunk::read(text).map_err(|_| StreamError::unread(text))?;
        if let Some(report) = chunk.reported(text) {
            return Err(StreamError::Reported(report));
        }
        // A stream that is foreign from its start is reported at its end, with advice about the address.
        if self.any_choice && chunk == Chunk::default() && is_of_messages_api(text) {
            return Err(StreamError::Foreign(text.to_owned()));
        }
        self.add_chunk(&chunk, text, sink);
        Ok(())
    }

    // Text that arrives together is kept, so that it is emitted together.
    fn take_plain<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        let waiting = if self.think.is_over() { &mut self.words } else { &mut self.unsaid };
        waiting.reserve(bytes.len() / WORDS_IN_EVENTS);
        while let Some((words, rest)) = self.frame.split(bytes) {
            waiting.push_str(words);
            bytes = rest;
        }
        bytes
    }

    fn emit_kept(&mut self, sink: &mut dyn FnMut(Piece<'_>)) {
        if self.said < self.words.len() {
            self.any_piece = true;
            sink(Piece::Text(&self.words[self.said..]));
            self.said = self.words.len();
        }
        if self.unsaid.is_empty() {
            return;
        }
        let mut words = std::mem::take(&mut self.unsaid);
        let mut any = self.any_piece;
        self.add_content(&words, &mut |piece| {
            any = true;
            sink(piece);
        });
        self.any_piece = any;
        words.clear();
        self.unsaid = words;
    }

    fn flush(&mut self, sink: &mut dyn FnMut(Piece<'_>)) {
        let Self { think, thinking, words, any_piece, .. } = self;
        think.end(&mut |sorted| {
            *any_piece = true;
            place(sorted, thinking, words, sink);
        });
        self.said = self.words.len();
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn is_finished_by_end_mark(&self) -> bool {
        self.any_choice
    }

    fn any_piece(&self) -> bool {
        self.any_piece
    }

    fn is_thinking(&self) -> bool {
        self.any_piece && self.words.is_empty() && self.refusal.is_empty() && self.calls.is_empty()
    }

    fn is_foreign(&self) -> bool {
        self.any_chunk && !self.any_choice
    }

    fn finish(mut self) -> Result<Reply, OutOfResources> {
        self.flush(&mut |_| {});
        let stop = self.stop()?;
        // A reply stays in memory as long as its session.
        self.words.shrink_to_fit();
        self.thinking.shrink_to_fit();
        let text = if self.refusal.is_empty() { self.words } else { self.words + &self.refusal };
        let calls = self.calls.finish();
        let mut parts = Vec::with_capacity(2 + calls.len());
        if !self.thinking.is_empty() {
            parts.push(Part::Thinking { text: self.thinking, signature: None });
        }
        if !text.is_empty() {
            parts.push(Part::Text { text });
        }
        parts.extend((0u32..).zip(&calls).map(|(index, _)| Part::Call { index }));
        Ok(Reply { parts, calls, stop, usage: self.usage, model: self.model })
    }

    fn read_whole(text: &str) -> Result<Reply, WholeError> {
        let chunk = Chunk::read(text).map_err(|error| WholeError::from(&error))?;
        if let Some(report) = chunk.reported(text) {
            return Err(WholeError::Reported(report));
        }
        if chunk.choices.as_ref().is_none_or(Vec::is_empty) {
            return Err(WholeError::Foreign);
        }
        let mut draft = Self::default();
        draft.add_chunk(&chunk, text, &mut |_| {});
        Ok(draft.finish()?)
    }
}

impl ChatDraft {
    /// Adds a chunk, which was parsed from `text`.
    fn add_chunk(&mut self, chunk: &Chunk<'_>, text: &str, sink: &mut dyn FnMut(Piece<'_>)) {
        self.emit_kept(sink);
        self.frame.remember(text, chunk);
        self.any_chunk = true;
        if self.model.is_none() {
            self.model =
                chunk.model.as_ref().map(|JsonText(model)| model.to_string()).filter(|model| !model.is_empty());
        }
        self.usage = chunk::usage(chunk.usage).or(self.usage);
        self.any_choice |= chunk.choices.is_some();
        let choices = chunk.choices.iter().flatten();
        for choice in choices.filter(|choice| choice.index.unwrap_or(0) == 0) {
            self.add_choice(choice, sink);
        }
    }

    fn add_choice(&mut self, choice: &ChunkChoice<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        let mut any = self.any_piece;
        let mut noting = |piece: Piece<'_>| {
            any = true;
            sink(piece);
        };
        // Some servers repeat the whole message at the end of a stream of deltas.
        let message = choice.message.as_ref().filter(|_| !self.any_piece);
        if let Some(delta) = choice.delta.as_ref().or(message) {
            self.add_delta(delta, &mut noting);
        }
        self.any_piece = any;
        self.usage = chunk::usage(choice.usage).or(self.usage);
        let finish = or_empty(choice.finish_reason.as_ref());
        if !finish.is_empty() {
            self.finish = Some(FinishReason::read(finish));
        }
    }

    fn add_delta(&mut self, delta: &ChoiceDelta<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        let reasoning = [delta.reasoning_content, delta.reasoning, delta.thinking];
        let thought = reasoning.into_iter().filter_map(string).find(|text| !text.is_empty());
        if let Some(text) = thought {
            self.add_thinking(&text, sink);
        }
        if let Some(text) = string(delta.content) {
            self.add_content(&text, sink);
        } else if let Some((words, thinking)) = chunk::content_parts(delta.content) {
            self.add_thinking(&thinking, sink);
            self.add_content(&words, sink);
        }
        let refusal = or_empty(delta.refusal.as_ref());
        if !refusal.is_empty() {
            self.refusal.push_str(refusal);
            sink(Piece::Text(refusal));
        }
        for call in delta.tool_calls.iter().flatten() {
            self.calls.add(call, sink);
        }
        if let Some(function) = &delta.function_call {
            self.calls.add_function(function, sink);
        }
    }

    fn add_thinking(&mut self, text: &str, sink: &mut dyn FnMut(Piece<'_>)) {
        if !text.is_empty() {
            self.thinking.push_str(text);
            sink(Piece::Thinking(text));
        }
    }

    fn add_content(&mut self, text: &str, sink: &mut dyn FnMut(Piece<'_>)) {
        let Self { think, thinking, words, .. } = self;
        think.push(text, &mut |sorted| place(sorted, thinking, words, sink));
        self.said = self.words.len();
    }

    /// The stop reason, corrected by the reply: many servers report "stop" with calls, or "`tool_calls`" with none.
    fn stop(&self) -> Result<StopReason, OutOfResources> {
        let ended = if self.calls.is_empty() { StopReason::Stop } else { StopReason::Calls };
        let said = match self.finish {
            Some(FinishReason::OutOfResources) => return Err(OutOfResources),
            Some(FinishReason::Reason(StopReason::Stop | StopReason::Calls) | FinishReason::Unknown) | None => ended,
            Some(FinishReason::Reason(
                reason @ (StopReason::Length
                | StopReason::Filtered
                | StopReason::Refused
                | StopReason::Error
                | StopReason::Paused),
            )) => reason,
        };
        Ok(if !self.refusal.is_empty() && said == StopReason::Stop { StopReason::Refused } else { said })
    }
}

/// Whether an event without anything of this API is one of the Messages API that holds a part of the answer: what it says
/// would be lost, and the same request would end in the same way again.
fn is_of_messages_api(text: &str) -> bool {
    let event: Option<EventType<'_>> = serde_json::from_str(text).ok();
    let kind = event.as_ref().map_or("", |event| or_empty(event.kind.as_ref()));
    kind == "message_start" || kind.starts_with("content_block_")
}

/// The type that events of other APIs name themselves by.
#[derive(Deserialize)]
struct EventType<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<JsonText<'a>>,
}

fn place(sorted: ThinkPiece<'_>, thinking: &mut String, words: &mut String, sink: &mut dyn FnMut(Piece<'_>)) {
    match sorted {
        ThinkPiece::Thinking(text) => {
            thinking.push_str(text);
            sink(Piece::Thinking(text));
        }
        ThinkPiece::Words(text) => {
            words.push_str(text);
            sink(Piece::Text(text));
        }
    }
}

impl FinishReason {
    fn read(word: &str) -> Self {
        match word {
            "stop" | "stop_sequence" | "end_turn" | "eos" => Self::Reason(StopReason::Stop),
            "tool_calls" | "function_call" | "tool_use" => Self::Reason(StopReason::Calls),
            "length" | "max_tokens" | "model_length" => Self::Reason(StopReason::Length),
            "content_filter" | "sensitive" => Self::Reason(StopReason::Filtered),
            "refusal" => Self::Reason(StopReason::Refused),
            "error" => Self::Reason(StopReason::Error),
            "insufficient_system_resource" => Self::OutOfResources,
            _ => Self::Unknown,
        }
    }
}
