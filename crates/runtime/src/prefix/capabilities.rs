//! What the offered tools can do, in a few words: where they work, and which servers there are.

use std::collections::BTreeSet;
use std::path::Path;

use windlass_vocab::{ToolName, ToolSpec};

use super::file_tools::works_with_files;
use super::texts::PrefixTexts;

/// Returns where the tools work and which servers they belong to; nothing where there is nothing to say.
pub(super) fn section(texts: &PrefixTexts, offer: &[ToolSpec], workspace: Option<&Path>) -> Option<String> {
    let folder = workspace.filter(|_| offer.iter().any(works_with_files));
    let folder = texts.workspace.zip(folder);
    let folder = folder.map(|(text, folder)| text.trim().replace("{workspace}", &folder.display().to_string()));
    let servers: BTreeSet<&str> =
        offer.iter().map(|tool| tool.name.server()).filter(|server| *server != ToolName::LOCAL).collect();
    let servers = texts.servers.filter(|_| !servers.is_empty()).map(|text| {
        let names: Vec<&str> = servers.into_iter().collect();
        text.replace("{servers}", &names.join(", "))
    });
    let lines: Vec<String> = folder.into_iter().chain(servers).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
