//! A typed output as a tool (L10), for servers that can't hold an answer to a schema: the request offers one tool more,
//! whose arguments are the answer. The rest of the program never learns of it: in the reply, a call of this tool is the
//! text of the answer.

use std::borrow::Cow;

use windlass_vocab::{Json, OutputForm, OutputSpec, Part, Reply, ReplyCall, StopReason, ToolSpec, TurnMode};

use crate::ability::ResponseFormat;
use crate::config::ModelConfig;
use crate::model::ModelRequest;
use crate::piece::{Piece, Sink};

const NAME: &str = "output";
const DESCRIPTION: &str = "Gives the final answer: its arguments are the answer. Call it once, when the job is done.";

/// The tool that takes the answer.
#[derive(Clone, Debug)]
pub(crate) struct OutputTool<'a> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) schema: &'a Json,
}

/// How a request asks for its output.
#[derive(Clone, Debug)]
pub(crate) enum AskedOutput<'a> {
    /// By the wire's own field.
    Schema,
    /// By a tool.
    Tool(OutputTool<'a>),
    /// By the instructions alone.
    Prompt,
}

impl<'a> AskedOutput<'a> {
    /// Decides the form: the first that the server, the model and the schema allow. `is_written` says whether the wire
    /// can write the schema.
    pub(crate) fn of(config: &ModelConfig, request: &ModelRequest<'a>, is_written: fn(&Json) -> bool) -> Self {
        let Some(spec) = request.output else { return Self::Prompt };
        let abilities = &config.abilities;
        let is_object = spec.schema.to_value()["type"] == "object";
        let by_schema = abilities.response_format != ResponseFormat::Never
            && abilities.json_schema.is_not_excluded()
            && is_written(&spec.schema);
        match request.output_form {
            OutputForm::Schema if by_schema && is_object => Self::Schema,
            OutputForm::Schema | OutputForm::Tool if is_object && abilities.native_calls.is_not_excluded() => {
                Self::Tool(OutputTool { name: free_name(&request.context.offer), schema: &spec.schema })
            }
            OutputForm::Schema | OutputForm::Tool | OutputForm::Prompt => Self::Prompt,
        }
    }

    /// Returns the tool, if it is one.
    pub(crate) fn tool(&self) -> Option<&OutputTool<'a>> {
        match self {
            Self::Tool(tool) => Some(tool),
            Self::Schema | Self::Prompt => None,
        }
    }

    /// Returns the schema where it is sent as such in this turn.
    pub(crate) fn schema(&self, config: &ModelConfig, request: &ModelRequest<'a>) -> Option<&'a OutputSpec> {
        let callable = request.mode == TurnMode::Tools && !request.context.offer.is_empty();
        let answers = match request.mode {
            TurnMode::Tools | TurnMode::Talk => true,
            // A report on what is done and what is not is plain text, and so are a summary and a plan.
            TurnMode::WrapUp
            | TurnMode::Summary
            | TurnMode::Title
            | TurnMode::Plan
            | TurnMode::Synthesis
            | TurnMode::Route => false,
        };
        let sent = match (self, config.abilities.response_format) {
            (Self::Schema, ResponseFormat::Always) => answers,
            (Self::Schema, ResponseFormat::WithoutTools) => answers && !callable,
            (Self::Schema, ResponseFormat::Never) | (Self::Tool(_) | Self::Prompt, _) => false,
        };
        request.output.filter(|_| sent)
    }

    /// Returns the choice of tools that a request needs.
    pub(crate) fn choice(&self, config: &ModelConfig, request: &ModelRequest<'_>) -> Option<ToolChoice> {
        let tool = self.tool();
        let may_call = request.mode == TurnMode::Tools && !request.context.offer.is_empty();
        match (request.mode, tool) {
            (TurnMode::Tools | TurnMode::Talk, Some(_)) if may_call => Some(ToolChoice::Auto),
            (TurnMode::Tools | TurnMode::Talk, Some(tool)) => {
                let is_accepted = config.abilities.tool_choice_named.is_not_excluded();
                Some(if is_accepted { ToolChoice::Named(tool.name.clone()) } else { ToolChoice::Auto })
            }
            (
                TurnMode::WrapUp
                | TurnMode::Summary
                | TurnMode::Title
                | TurnMode::Plan
                | TurnMode::Synthesis
                | TurnMode::Route,
                Some(_),
            ) => Some(ToolChoice::None),
            (_, None) if request.context.offer.is_empty() => None,
            (TurnMode::Tools, None) => Some(ToolChoice::Auto),
            (
                TurnMode::Talk
                | TurnMode::WrapUp
                | TurnMode::Summary
                | TurnMode::Title
                | TurnMode::Plan
                | TurnMode::Synthesis
                | TurnMode::Route,
                None,
            ) => Some(ToolChoice::None),
        }
    }
}

/// Which tools a model may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolChoice {
    /// Any, or none.
    Auto,
    /// None; those that are withheld stay in the body, so that the cached prefix stays valid.
    None,
    /// This one and no other.
    Named(Cow<'static, str>),
}

impl OutputTool<'_> {
    /// Returns what the model is told of it.
    pub(crate) const fn description(&self) -> &'static str {
        DESCRIPTION
    }
}

/// Whether a wire that sends schemas as they are can write one.
pub(crate) const fn any_schema(_: &Json) -> bool {
    true
}

/// Returns a name that no tool of the offer has.
fn free_name(offer: &[ToolSpec]) -> Cow<'static, str> {
    let mut name = Cow::Borrowed(NAME);
    while offer.iter().any(|spec| spec.wire_name == name) {
        name.to_mut().push('_');
    }
    name
}

/// Returns a sink in which the arguments of the tool are text.
pub(crate) fn as_text(name: String, mut sink: Sink) -> Sink {
    let mut answer = None;
    Box::new(move |piece| match piece {
        Piece::Call { index, name: Some(called), arguments } if called == name => {
            answer = Some(index);
            sink(Piece::Text(arguments));
        }
        Piece::Call { index, arguments, .. } if Some(index) == answer => sink(Piece::Text(arguments)),
        Piece::Call { .. } | Piece::Text(_) | Piece::Thinking(_) => sink(piece),
    })
}

/// Returns the reply with the arguments of the tool as its text. Beside other calls the answer is not final, and is left
/// out.
pub(crate) fn reply_as_text(mut reply: Reply, name: &str) -> Reply {
    let (answers, others): (Vec<ReplyCall>, Vec<ReplyCall>) =
        std::mem::take(&mut reply.calls).into_iter().partition(|call| call.name == name);
    let Some(answer) = answers.into_iter().next() else {
        reply.calls = others;
        return reply;
    };
    reply.parts.retain(|part| !matches!(part, Part::Call { .. }));
    if others.is_empty() {
        reply.set_text(answer.arguments);
        if reply.stop == StopReason::Calls {
            reply.stop = StopReason::Stop;
        }
    } else {
        others.into_iter().for_each(|call| reply.push_call(call));
    }
    reply
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{Part, Reply, ReplyCall, StopReason};

    use super::reply_as_text;

    fn reply(names: &[&str]) -> Reply {
        let mut reply = Reply { stop: StopReason::Calls, ..Reply::from_text("Here it is.") };
        for name in names {
            let arguments = format!("{{\"of\":\"{name}\"}}");
            reply.push_call(ReplyCall { name: (*name).to_owned(), arguments, ..ReplyCall::default() });
        }
        reply
    }

    // proves L10
    #[test]
    fn the_call_of_the_output_is_the_answer_unless_other_calls_come_with_it() {
        let alone = reply_as_text(reply(&["output"]), "output");
        assert_eq!((alone.text().as_str(), alone.calls.len(), alone.stop), (r#"{"of":"output"}"#, 0, StopReason::Stop));
        let beside = reply_as_text(reply(&["output", "note"]), "output");
        assert_eq!((beside.text().as_str(), beside.calls.len(), beside.stop), ("Here it is.", 1, StopReason::Calls));
        assert_eq!(beside.calls[0].name, "note");
        let places: Vec<&Part> = beside.parts.iter().filter(|part| matches!(part, Part::Call { .. })).collect();
        assert_eq!(places, [&Part::Call { index: 0 }]);
        let other = reply(&["note"]);
        assert_eq!(reply_as_text(other.clone(), "output"), other);
    }
}
