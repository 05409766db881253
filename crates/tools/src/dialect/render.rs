//! Renders the history in a dialect: calls as the model should have written them, results as user messages. Each
//! message becomes exactly one, always the same, so that the sent prefix never changes.

use windlass_vocab::{CallInHistory, Dialect, Message, OutcomeKind, Part, ToolName};

use super::accepted_forms::CallLimit;
use super::prompt::{PromptStyle, prompt_style};
use super::{script, tool_tag};

/// Returns the stop sequence for the server, so that the model does not go on to invent the result. The models that
/// `tool_tag` is for are asked for one call at a time, however many a reply may have.
#[must_use]
pub fn stop_sequence(dialect: Dialect, calls: CallLimit) -> Option<&'static str> {
    match (dialect, calls) {
        (Dialect::ToolBlock, CallLimit::One) | (Dialect::ToolTag, _) => Some(super::opening::TOOL_CLOSE),
        (Dialect::Script, _) => Some(script::STOP),
        (
            Dialect::Native
            | Dialect::ToolBlock
            | Dialect::Bracket
            | Dialect::Lines
            | Dialect::BareJson
            | Dialect::Probe,
            _,
        ) => None,
    }
}

/// Returns a message of the history as it is sent in `dialect`, without native calls.
#[must_use]
pub fn rendered(dialect: Dialect, message: &Message) -> Message {
    match message {
        Message::User { .. } => message.clone(),
        Message::Assistant { calls, .. } if calls.is_empty() => message.clone(),
        Message::Assistant { parts, calls, model } => {
            let mut text = String::new();
            let mut kept = Vec::new();
            for part in parts {
                match part {
                    Part::Text { text: piece } => text.push_str(piece),
                    Part::Thinking { .. } | Part::Opaque { .. } => kept.push(part.clone()),
                    Part::Call { .. } => {}
                }
            }
            for call in calls {
                if !text.is_empty() {
                    text.push_str("\n\n");
                }
                text.push_str(&written(dialect, call));
            }
            kept.push(Part::Text { text });
            Message::Assistant { parts: kept, calls: Vec::new(), model: model.clone() }
        }
        Message::Tool { name, outcome, text, images, .. } => {
            Message::User { text: result(dialect, name, *outcome, text), images: images.clone() }
        }
    }
}

/// Returns the result of a call as text.
fn result(dialect: Dialect, name: &str, outcome: OutcomeKind, text: &str) -> String {
    if dialect == Dialect::Script && script::is_script_tool(name) {
        return format!("{}:\n{}", heading("the script", outcome), script::result_text(text));
    }
    match prompt_style(dialect) {
        PromptStyle::Short => format!("{}:\n{text}", heading(&short_name(name), outcome)),
        PromptStyle::Full => {
            let ((server, tool), outcome) = (split_server(name), word(outcome));
            format!("<tool_result name=\"{server}.{tool}\" outcome=\"{outcome}\">\n{text}\n</tool_result>")
        }
    }
}

/// Returns what a result is of, in words that a small model understands.
fn heading(tool: &str, outcome: OutcomeKind) -> String {
    match outcome {
        OutcomeKind::Ok => format!("Result of {tool}"),
        OutcomeKind::ToolError
        | OutcomeKind::NotFound
        | OutcomeKind::InfrastructureError
        | OutcomeKind::Unknown
        | OutcomeKind::InvalidArguments => format!("Error from {tool}"),
        OutcomeKind::Denied => format!("{tool} was not allowed"),
        OutcomeKind::Cancelled | OutcomeKind::Interrupted => format!("{tool} was stopped"),
        OutcomeKind::TimedOut => format!("{tool} took too long"),
    }
}

/// Returns a call as text of the dialect.
fn written(dialect: Dialect, call: &CallInHistory) -> String {
    let (server, tool) = split_server(&call.name);
    // JSON's only escape that keeps a closing tag out of the text.
    let arguments = call.arguments.as_str().replace("</", "<\\/");
    match dialect {
        Dialect::ToolBlock | Dialect::Native | Dialect::Probe => format!(
            "<tool>\n<server_name>{server}</server_name>\n<tool_name>{tool}</tool_name>\n<arguments>\n{arguments}\n\
             </arguments>\n</tool>"
        ),
        Dialect::Bracket => {
            let members = call.arguments.to_value();
            let pairs = members.as_object().into_iter().flatten().map(|(key, value)| format!("{key}={value}"));
            format!("[{server}.{tool}({})]", pairs.collect::<Vec<_>>().join(", "))
        }
        Dialect::Lines => format!("Tool: {server}.{tool}\nArguments: {arguments}"),
        Dialect::BareJson => format!("{{\"name\": \"{server}.{tool}\", \"arguments\": {arguments}}}"),
        Dialect::ToolTag => tool_tag::written(&short_name(&call.name), &call.arguments),
        Dialect::Script => script::written(&short_name(&call.name), &call.arguments),
    }
}

/// Returns the name by which a tool is called in few words: a local one has no server.
fn short_name(name: &str) -> String {
    match split_server(name) {
        (ToolName::LOCAL, tool) => tool.to_owned(),
        (server, tool) => format!("{server}.{tool}"),
    }
}

/// Splits a name as a model wrote it into server and tool.
fn split_server(name: &str) -> (&str, &str) {
    name.split_once('.').or_else(|| name.split_once("__")).unwrap_or((ToolName::LOCAL, name))
}

fn word(outcome: OutcomeKind) -> &'static str {
    match outcome {
        OutcomeKind::Ok => "ok",
        OutcomeKind::ToolError => "error",
        OutcomeKind::NotFound => "not found",
        OutcomeKind::InfrastructureError => "unavailable",
        OutcomeKind::Unknown => "unknown tool",
        OutcomeKind::InvalidArguments => "invalid arguments",
        OutcomeKind::Denied => "denied",
        OutcomeKind::Cancelled => "cancelled",
        OutcomeKind::TimedOut => "timed out",
        OutcomeKind::Interrupted => "interrupted",
    }
}
