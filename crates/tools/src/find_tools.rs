//! `find_tools`: how a model reaches the tools that the pre-filter left out of the offer (S4). What it finds joins the
//! offer at the next turn.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{EffectClass, FoundTools, Json, Outcome, ToolName, ToolSpec};

use crate::relevance::ToolIndex;
use crate::shorten::shorten;
use crate::{BoxFuture, CallContext, Tool};

/// How many tools a search finds at most.
const FOUND: usize = 5;
/// How many servers the description names at most.
const NAMED_SERVERS: usize = 12;
/// How much of a description a search shows, in characters.
const SHOWN: usize = 200;

#[derive(Deserialize)]
struct FindToolsArguments {
    query: String,
}

/// The tool, with the tools that it searches.
pub(crate) struct FindTools {
    spec: ToolSpec,
    index: ToolIndex,
    tools: Vec<(ToolName, String)>,
}

impl FindTools {
    /// Searches these tools, which the offer leaves out. What it has would crowd them out: a model asks with the words of
    /// the request, by which the offer was chosen.
    pub(crate) fn new(left_out: &[&ToolSpec]) -> Self {
        let servers: BTreeSet<&str> = left_out.iter().map(|spec| spec.name.server()).collect();
        let more = if servers.len() > NAMED_SERVERS { ", …" } else { "" };
        let servers = servers.into_iter().take(NAMED_SERVERS).collect::<Vec<_>>().join(", ") + more;
        let description = include_str!("find_tools.md").trim();
        let description = description.replace("{left_out}", &left_out.len().to_string()).replace("{servers}", &servers);
        let query = json!({"type": "string", "description": "What the tool should do."});
        let schema = json!({
            "type": "object",
            "properties": {"query": query},
            "required": ["query"],
            "additionalProperties": false
        });
        let spec = ToolSpec {
            name: ToolName::from(FoundTools::TOOL),
            wire_name: "find_tools".into(),
            description: description.into(),
            schema: Json::from(&schema),
            effect: EffectClass::ReadOnly,
            ending: None,
            repeatable: true,
            reads_files: false,
            tags: BTreeSet::new(),
        };
        let shown = |spec: &&ToolSpec| (spec.name.clone(), beginning(&spec.description));
        Self { spec, index: ToolIndex::of(left_out.iter().copied()), tools: left_out.iter().map(shown).collect() }
    }

    fn found(&self, query: &str) -> Vec<&(ToolName, String)> {
        let ranked = self.index.ranked(query).into_iter().take(FOUND);
        ranked.filter_map(|tool| self.tools.get(tool.place)).collect()
    }
}

impl Tool for FindTools {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run(&self, _: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let query = serde_json::from_value(arguments).map(|FindToolsArguments { query }| query).unwrap_or_default();
        let found = self.found(&query);
        let outcome = if found.is_empty() {
            Outcome::ok("No further tool has these words. Say in other words what it should do.".to_owned())
        } else {
            let lines: Vec<String> = found.iter().map(|(name, about)| format!("{name}: {about}")).collect();
            let names = FoundTools { found: found.into_iter().map(|(name, _)| name.clone()).collect() };
            let structured = serde_json::to_value(names).ok().map(|names| Json::from(&names));
            Outcome { structured, ..Outcome::ok(format!("They can be called now:\n{}", lines.join("\n"))) }
        };
        Box::pin(std::future::ready(outcome))
    }
}

/// Returns the first line of a description, shortened.
fn beginning(description: &str) -> String {
    shorten(description.trim().lines().next().unwrap_or_default(), SHOWN)
}
