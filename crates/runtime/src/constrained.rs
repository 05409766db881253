//! Replies that the server holds to the schema of one call or an answer (T4), for models whose entry asks for it: the
//! schema that is sent, and what a reply means.

use std::mem::take;

use windlass_machine::State;
use windlass_provider::{Piece, Sink};
use windlass_tools::dialect::{
    ConstrainedEnd, ConstrainedReply, LONGEST_TEXT, SchemaUse, read_constrained, reply_schema,
};
use windlass_vocab::{ModelName, OutputSpec, PinnedContext, Reply, StopReason, TurnMode};

use crate::streamed::ReplyTally;

/// The name of the schema, which servers ask for.
const NAME: &str = "reply";

/// Whether a reply of this model is held to a schema, or only asked for in its form; `None` where it is any text. A turn in
/// which no tool may be called is not held to it.
pub(crate) fn form(state: &State, model: &ModelName, mode: TurnMode) -> Option<SchemaUse> {
    let is_held = mode == TurnMode::Tools && state.control.constrains(model);
    let form = if is_held { SchemaUse::Enforced } else { SchemaUse::InPromptOnly };
    state.control.answers_in_json(model).then_some(form)
}

/// Returns the schema of a reply in this form.
pub(crate) fn schema(form: Option<SchemaUse>, context: &PinnedContext) -> Option<OutputSpec> {
    let is_sent = form == Some(SchemaUse::Enforced) && !context.offer.is_empty();
    let schema = is_sent.then(|| reply_schema(&context.offer))??;
    Some(OutputSpec { name: NAME.to_owned(), schema })
}

/// Returns what a reply means by its form; `None` where it may be a call, and is read like any other.
pub(crate) fn understood(reply: &Reply, form: SchemaUse) -> Option<UnderstoodReply> {
    match read_constrained(&reply.text(), form) {
        ConstrainedReply::Answer { text, end } => {
            let mut answer = reply.clone();
            answer.set_text(text);
            if end == ConstrainedEnd::Cut && answer.stop == StopReason::Stop {
                answer.stop = StopReason::Length;
            }
            Some(UnderstoodReply::Answer(answer))
        }
        ConstrainedReply::CutCall => Some(UnderstoodReply::Refused(cut_call())),
        // A reply that is over may be malformed: that is told to the model as ever.
        ConstrainedReply::Unfinished { .. } | ConstrainedReply::Other => None,
    }
}

/// What a reply means by its form.
pub(crate) enum UnderstoodReply {
    /// It is the answer, here as plain text.
    Answer(Reply),
    /// It is a call that must not be made, and this is why, for the model.
    Refused(String),
}

fn cut_call() -> String {
    format!(
        "Your last reply holds a text that reached the limit of {LONGEST_TEXT} characters and was cut, so nothing was run. \
         Write shorter texts: make a long file in parts."
    )
}

/// Returns a sink that gets the answer as plain text: the text of the reply is held back until it is whole, or the call is
/// over. What is not passed on is only counted.
pub(crate) fn holding(sink: Sink, form: SchemaUse, streamed: ReplyTally) -> Sink {
    let mut held = HeldText { text: String::new(), form, sink, streamed };
    Box::new(move |piece| held.take(piece))
}

struct HeldText {
    text: String,
    form: SchemaUse,
    sink: Sink,
    streamed: ReplyTally,
}

impl HeldText {
    fn take(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Text(fragment) => self.text.push_str(fragment),
            Piece::Thinking(_) | Piece::Call { .. } => (self.sink)(piece),
        }
    }
}

/// Nothing more comes once the sink is dropped.
impl Drop for HeldText {
    fn drop(&mut self) {
        let text = take(&mut self.text);
        let shown = match read_constrained(&text, self.form) {
            ConstrainedReply::Answer { text, .. } => text,
            ConstrainedReply::CutCall => String::new(),
            ConstrainedReply::Unfinished { answer } => answer,
            ConstrainedReply::Other => text.clone(),
        };
        self.streamed.add_arguments(text.len().saturating_sub(shown.len()));
        if !shown.is_empty() {
            (self.sink)(Piece::Text(&shown));
        }
    }
}
