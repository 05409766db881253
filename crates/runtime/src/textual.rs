//! Calls written as text (T4): what is sent, how the stream is displayed, how a reply is parsed.
//!
//! The wire request defines no tools: the prefix explains them, and the history is text. Each message is rendered once
//! and cached, so that what was sent stays byte-stable and costs nothing again (M6).

use std::borrow::Cow;

use windlass_provider::ModelRequest;
use windlass_tools::dialect::{
    AcceptedForms, MalformedCall, ParsedReply, ReplyReader, TextEnd, read, rendered, stop_sequence,
};
use windlass_vocab::{
    Dialect, MaxTokens, Message, ModelName, OutputForm, PinnedContext, Policy, Reply, ReplyCall, StopReason, TurnMode,
};

use crate::cut_call::{LengthLimit, reached};
use crate::known_names::KnownNames;

/// The conversation as it is sent to models that write calls as text, for each of their dialects.
#[derive(Debug, Default)]
pub(crate) struct TextualHistories(Vec<(Dialect, TextualHistory)>);

impl TextualHistories {
    pub(crate) fn of(&mut self, dialect: Dialect) -> &mut TextualHistory {
        let place = self.0.iter().position(|(known, _)| *known == dialect).unwrap_or_else(|| {
            self.0.push((dialect, TextualHistory::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }
}

/// The conversation as it is sent to the models that write calls in one dialect.
#[derive(Debug, Default)]
pub(crate) struct TextualHistory {
    /// The epoch of the rendered history.
    epoch: Option<u64>,
    context: PinnedContext,
    history: Vec<Message>,
}

impl TextualHistory {
    /// Renders the messages of `history` that were not rendered yet.
    pub(crate) fn render(&mut self, dialect: Dialect, prefix: Cow<'_, str>, history: &[Message], epoch: u64) {
        if self.epoch != Some(epoch) || history.len() < self.history.len() {
            let context = PinnedContext { prefix: prefix.into_owned(), ..PinnedContext::default() };
            *self = Self { epoch: Some(epoch), context, history: Vec::with_capacity(history.len()) };
        }
        let new = history.iter().skip(self.history.len());
        self.history.extend(new.map(|message| rendered(dialect, message)));
    }

    /// Returns `request` with calls as text: no tool definitions, and a stop sequence where one call is wanted.
    pub(crate) fn request<'a>(&'a self, request: ModelRequest<'a>, stop: &'a [&'a str]) -> ModelRequest<'a> {
        let tools = request.mode == TurnMode::Tools;
        ModelRequest {
            context: &self.context,
            history: &self.history,
            // A server that enforces a schema would prevent calls.
            output: request.output.filter(|_| !tools),
            // Calls are text here.
            output_form: match request.output_form {
                OutputForm::Schema => OutputForm::Schema,
                OutputForm::Tool | OutputForm::Prompt => OutputForm::Prompt,
            },
            stop: if tools { stop } else { &[] },
            ..request
        }
    }
}

/// Returns where a server should stop: at the end of the first call, where only one is wanted.
pub(crate) fn stops(dialect: Dialect, policy: &Policy) -> Option<&'static str> {
    stop_sequence(dialect, policy.parallel.into())
}

/// Returns the forms of calls that the text of this model's reply is parsed for; `None` where no tool is offered.
pub(crate) fn spoken(policy: &Policy, context: &PinnedContext, model: &ModelName) -> Option<AcceptedForms> {
    if context.offer.is_empty() {
        return None;
    }
    AcceptedForms::of(&policy.dialects, context.dialect_of(model), policy.parallel)
}

/// Returns the parser of a streamed reply in these forms.
pub(crate) fn reader(spoken: AcceptedForms, known: &KnownNames) -> ReplyReader<'static> {
    ReplyReader::new(spoken, Box::new(known.clone()))
}

/// Returns the names of the tools that a reply calls, as it writes them.
pub(crate) fn called(reply: &Reply, spoken: Option<&AcceptedForms>, known: &KnownNames) -> Vec<String> {
    let names = |calls: &[ReplyCall]| calls.iter().map(|call| call.name.clone()).collect();
    match spoken.filter(|_| reply.calls.is_empty()) {
        Some(spoken) => names(&reading(reply, &reply.text(), spoken, known, MaxTokens::ModelOwn).calls),
        None => names(&reply.calls),
    }
}

fn reading(reply: &Reply, text: &str, spoken: &AcceptedForms, known: &KnownNames, limit: MaxTokens) -> ParsedReply {
    let ended = match reached(reply, limit) {
        LengthLimit::Reached => TextEnd::Cut,
        LengthLimit::NotKnown => TextEnd::Whole,
    };
    read(text, spoken, known.clone(), ended)
}

/// Where calls are blocks, a reply that starts with one is meant as a call, whatever the block contains.
fn unreadable_block(text: &str, dialect: Option<Dialect>) -> Option<MalformedCall> {
    let field = match dialect? {
        Dialect::ToolBlock => "tool_name",
        Dialect::ToolTag => "name",
        Dialect::Native | Dialect::Bracket | Dialect::Lines | Dialect::BareJson | Dialect::Script | Dialect::Probe => {
            return None;
        }
    };
    let block = text.trim_start().strip_prefix("<tool").is_some_and(|rest| rest.starts_with(['>', ' ', '\n']));
    block.then_some(MalformedCall::MissingField { field })
}

/// Parses the calls in a reply's text, if it has no native ones. Also returns the message to the model about one that
/// could not be parsed.
pub(crate) fn understood(
    mut reply: Reply,
    mode: TurnMode,
    spoken: Option<(AcceptedForms, Option<Dialect>)>,
    limit: MaxTokens,
    known: &KnownNames,
) -> (Reply, Option<String>) {
    let Some((spoken, dialect)) = spoken.filter(|_| reply.calls.is_empty()) else { return (reply, None) };
    let text = reply.text();
    let reading = reading(&reply, &text, &spoken, known, limit);
    if !reading.calls.is_empty() {
        reply.set_text(reading.text);
        reading.calls.into_iter().for_each(|call| reply.push_call(call));
        if reply.stop == StopReason::Stop {
            reply.stop = StopReason::Calls;
        }
        return (reply, None);
    }
    let malformed = reading.malformed.or_else(|| unreadable_block(&text, dialect));
    let told = malformed.map(|malformed| malformed.message(dialect));
    if told.is_some() && mode != TurnMode::Tools {
        // No call is possible in this mode, so an incomplete call is removed from the answer.
        reply.set_text(reading.text);
        return (reply, None);
    }
    (reply, told)
}
