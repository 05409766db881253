//! The prompt about calling in a dialect: the rules, the tools, and the message about a malformed call.

use windlass_vocab::{Dialect, ToolSpec};

use super::accepted_forms::CallLimit;
use super::malformed_call::MalformedCall;
use super::script::is_script_tool;
use super::script_language::ScriptLanguages;
use super::signature::signature;

const TOOL_BLOCK: &str = include_str!("prompts/tool_block.md");
const BRACKET: &str = include_str!("prompts/bracket.md");
const LINES: &str = include_str!("prompts/lines.md");
const BARE_JSON: &str = include_str!("prompts/bare_json.md");
const TOOL_TAG: &str = include_str!("prompts/tool_tag.md");
const SCRIPT: &str = include_str!("prompts/script.md");
const ONE: &str = include_str!("prompts/one.md");
const SEVERAL: &str = include_str!("prompts/several.md");

/// Returns the rules for writing calls; `None` if the wire has native calls.
fn rules(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Native | Dialect::Probe => None,
        Dialect::ToolBlock => Some(TOOL_BLOCK),
        Dialect::Bracket => Some(BRACKET),
        Dialect::Lines => Some(LINES),
        Dialect::BareJson => Some(BARE_JSON),
        Dialect::ToolTag => Some(TOOL_TAG),
        Dialect::Script => Some(SCRIPT),
    }
}

/// How much a model is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptStyle {
    /// Everything: the schema of every tool, and rules with their reasons.
    Full,
    /// As little as a small model needs and can keep in mind.
    Short,
}

/// Returns how much a model is told that writes calls in this dialect.
#[must_use]
pub fn prompt_style(dialect: Dialect) -> PromptStyle {
    match dialect {
        Dialect::ToolTag | Dialect::Script => PromptStyle::Short,
        Dialect::Native
        | Dialect::ToolBlock
        | Dialect::Bracket
        | Dialect::Lines
        | Dialect::BareJson
        | Dialect::Probe => PromptStyle::Full,
    }
}

/// A conversation that shows how a job is done, for offers that have the tools it uses.
struct WorkedExample {
    tools: &'static [&'static str],
    text: &'static str,
}

/// The first that fits the offer is shown.
const EXAMPLES: &[WorkedExample] = &[
    WorkedExample { tools: &["local.read_file", "local.edit_file"], text: include_str!("prompts/example_files.md") },
    WorkedExample { tools: &["local.edit_file"], text: include_str!("prompts/example_edit.md") },
];

/// Returns the calling rules and the schemas of the offered tools, for the prefix of a run in `dialect`.
#[must_use]
pub fn prompt(dialect: Dialect, offer: &[ToolSpec], calls: CallLimit) -> Option<String> {
    if dialect == Dialect::Script {
        return script_prompt(offer, ScriptLanguages::default());
    }
    let rules = rules(dialect).filter(|_| !offer.is_empty())?.trim();
    if prompt_style(dialect) == PromptStyle::Short {
        return Some(short_prompt(rules, offer));
    }
    let count = match calls {
        CallLimit::One => ONE.trim(),
        CallLimit::Several => SEVERAL.trim(),
    };
    let tools: Vec<String> = offer.iter().map(|spec| tool(dialect, spec)).collect();
    Some(format!("How to call tools:\n\n{rules}\n{count}\n\nThe tools:\n\n{}", tools.join("\n\n")))
}

/// Returns how to write scripts, where commands are offered.
#[must_use]
pub fn script_prompt(offer: &[ToolSpec], languages: ScriptLanguages) -> Option<String> {
    let text = match languages {
        ScriptLanguages::PythonAndShell => {
            concat!(include_str!("prompts/script.md"), "\n", include_str!("prompts/example_script.md"))
        }
        ScriptLanguages::Shell => {
            concat!(include_str!("prompts/script_shell.md"), "\n", include_str!("prompts/example_script_shell.md"))
        }
    };
    offer.iter().any(|spec| is_script_tool(spec.name.as_str())).then(|| text.trim().to_owned())
}

/// Returns the form of a call, each tool on a line, and a worked example.
fn short_prompt(form: &str, offer: &[ToolSpec]) -> String {
    let tools: Vec<String> = offer.iter().map(signature).collect();
    let has = |name: &&str| offer.iter().any(|spec| spec.name.as_str() == *name);
    let example = EXAMPLES.iter().find(|example| example.tools.iter().all(has));
    let example = example.map(|example| format!("\n\n{}", example.text.trim())).unwrap_or_default();
    format!("Tools:\n{}\n\n{form}{example}", tools.join("\n"))
}

fn tool(dialect: Dialect, spec: &ToolSpec) -> String {
    let title = match dialect {
        Dialect::ToolBlock => format!("server_name {}, tool_name {}", spec.name.server(), spec.name.bare()),
        Dialect::Native
        | Dialect::Bracket
        | Dialect::Lines
        | Dialect::BareJson
        | Dialect::ToolTag
        | Dialect::Script
        | Dialect::Probe => spec.name.to_string(),
    };
    format!("- {title}\n{}\nSchema of the arguments: {}", spec.description.trim(), spec.schema.as_str())
}

impl MalformedCall {
    /// Returns the message to the model, so that it can correct the call.
    #[must_use]
    pub fn message(&self, dialect: Option<Dialect>) -> String {
        let how = match dialect.and_then(rules) {
            Some(rules) => format!("Write the whole call again.\n\n{}", rules.trim()),
            None => "Make the call again in the usual way, not as text.".to_owned(),
        };
        format!("Your last reply holds a tool call that could not be read, so nothing was run. {self}\n{how}")
    }
}
