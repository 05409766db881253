//! Replies without a call where one is needed (L6): the model gets a nudge, but not the same text forever. After three
//! consecutive nudges the text becomes plainer and gives the exact form; after five a person is asked whether to
//! continue, or, where nobody is available, the run is wrapped up and ends unfinished.

use windlass_vocab::{
    Dialect, Ending, Message, ModelName, Nudge, NudgeCause, Preview, QuestionAsked, QuestionKind, QuestionOption,
    Record, ToolSpec,
};

use crate::draft::Draft;
use crate::texts;

/// Consecutive nudges with the same text.
pub(crate) const SAME_NUDGES: u32 = 3;
/// Consecutive nudges in all.
const NUDGES: u32 = 5;

impl Draft<'_> {
    /// Sends a reply back to the model that has no call, or one that can't be parsed; both count as no call.
    pub(crate) fn send_call_back(&mut self, evidence: &str, told: &str) {
        match self.run().map_or(0, |run| run.without_call) {
            0..SAME_NUDGES => self.nudge_for_call(evidence, told),
            SAME_NUDGES..NUDGES => self.nudge_for_call(evidence, &self.plain_nudge(told)),
            NUDGES.. => self.give_up_on_calls(),
        }
    }

    fn nudge_for_call(&mut self, evidence: &str, text: &str) {
        self.nudge(NudgeCause::Reply(Nudge::NoToolCall), evidence, text);
        self.next_turn();
    }

    fn give_up_on_calls(&mut self) {
        if self.is_attended() {
            self.ask_to_go_on(QuestionKind::Cycle, texts::NO_CALLS_QUESTION);
        } else {
            self.halt(self.run().map_or(0, |run| run.without_call));
        }
    }

    /// Pauses the run until a person decides whether it continues.
    pub(crate) fn ask_to_go_on(&mut self, kind: QuestionKind, title: &str) {
        self.push(QuestionAsked {
            question: self.control.next_question(),
            kind,
            preview: Some(Preview { title: title.to_owned(), body: String::new(), rule: None }),
            options: vec![QuestionOption::Once, QuestionOption::No],
            expires: None,
            default: QuestionOption::No,
            elicitation: None,
            because: None,
        });
    }

    /// Continues the run as the person decided. `without_call` is the number of consecutive replies without a call: if
    /// there were any, the model is told again what is missing, because its own reply is the last message.
    pub(crate) fn go_on_after_pause(&mut self, without_call: u32) {
        if without_call == 0 {
            return self.next_turn();
        }
        let text = self.plain_nudge(texts::NO_TOOL_CALL);
        self.nudge_for_call("no tool call", &text);
    }

    /// Wraps up the run. `without_call` selects which problem the text names.
    pub(crate) fn halt(&mut self, without_call: u32) {
        let text = if without_call == 0 { texts::HALT } else { texts::NO_CALLS };
        self.wrap_up(NudgeCause::Halt, text);
    }

    /// Returns `told` in plainer words: with one call in exactly the form this run parses, and the tools that end it.
    fn plain_nudge(&self, told: &str) -> String {
        let Some(context) = &self.state.transcript.context else { return told.to_owned() };
        let endings: Vec<&ToolSpec> = context.offer.iter().filter(|spec| spec.ending.is_some()).collect();
        let completes = endings.iter().find(|spec| spec.ending == Some(Ending::Completed)).copied();
        let dialect = context.dialect_of(&self.last_answering_model());
        let example = completes.or(context.offer.first()).map(|spec| example_call(dialect, spec));
        texts::no_tool_call_plainly(told, example.as_deref(), &endings)
    }

    /// Returns the model that answered last: the one that gets the next nudge, unless its server fails.
    fn last_answering_model(&self) -> ModelName {
        let now = self.records.iter().rev().find_map(|record| match record {
            Record::ModelReplied(replied) => Some(replied.model.clone()),
            _ => None,
        });
        let earlier = || {
            self.state.transcript.history.iter().rev().find_map(|message| match message {
                Message::Assistant { model, .. } => Some(model.clone()),
                Message::User { .. } | Message::Tool { .. } => None,
            })
        };
        now.or_else(earlier).unwrap_or_else(|| self.run().map(|run| run.model(0)).unwrap_or_default())
    }
}

/// Returns an example of a call as this run's model must write it; in words where the wire has its own format.
fn example_call(dialect: Option<Dialect>, spec: &ToolSpec) -> String {
    let (server, bare, name) = (spec.name.server(), spec.name.bare(), spec.name.as_str());
    let field = required_field(spec);
    let arguments = field.as_ref().map_or("{}".to_owned(), |field| format!("{{\"{field}\": \"...\"}}"));
    match dialect {
        None | Some(Dialect::Native | Dialect::Probe) => {
            format!(
                "a tool call of `{}` with the arguments {arguments}, made as a call and not as text",
                spec.wire_name
            )
        }
        Some(Dialect::ToolBlock) => format!(
            "<tool>\n<server_name>{server}</server_name>\n<tool_name>{bare}</tool_name>\n<arguments>\n{arguments}\n\
             </arguments>\n</tool>"
        ),
        Some(Dialect::Bracket) => {
            format!("[{name}({})]", field.map(|field| format!("{field}=\"...\"")).unwrap_or_default())
        }
        Some(Dialect::Lines) => format!("Tool: {name}\nArguments: {arguments}"),
        Some(Dialect::BareJson) => format!("{{\"name\": \"{name}\", \"arguments\": {arguments}}}"),
        Some(Dialect::ToolTag) => {
            let name = if spec.name.is_local() { bare } else { name };
            let element = field.map(|field| format!("<{field}>...</{field}>\n")).unwrap_or_default();
            format!("<tool name=\"{name}\">\n{element}</tool>")
        }
        Some(Dialect::Script) => "```sh\n...\n```".to_owned(),
    }
}

/// Returns the first required argument of a tool.
fn required_field(spec: &ToolSpec) -> Option<String> {
    let schema = spec.schema.to_value();
    schema.get("required")?.get(0)?.as_str().map(str::to_owned)
}
