//! Data about a server that is kept between runs: its tools, so that they can be offered before it is connected (P2);
//! its kind of handshake; and its tools when they were first seen, so that a change is noticed.
//!
//! One small file for each server and configuration, written atomically.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_tools::{ReadableBy, write_whole};

use crate::config::ServerConfig;
use crate::handshake::Era;
use crate::listing::ListedTool;
use crate::name::ServerName;

/// Limit for a server that invents new tools all the time.
const REMEMBERED: usize = 5_000;

/// The remembered data of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerMemory {
    /// Its kind of handshake; `None` if it has to be found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) handshake: Option<Handshake>,
    /// The protocol revision it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<String>,
    /// The version it reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// Its tools; `None` if they were never listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<Vec<ListedTool>>,
    /// Its tools as they were accepted, by name: when first seen, or later by a person.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) accepted: BTreeMap<String, ListedTool>,
}

/// How a server does the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Handshake {
    /// With `server/discover`.
    Discover,
    /// With `initialize`.
    Initialize,
}

impl From<Era> for Handshake {
    fn from(era: Era) -> Self {
        match era {
            Era::Modern => Self::Discover,
            Era::Legacy => Self::Initialize,
        }
    }
}

impl From<Handshake> for Era {
    fn from(handshake: Handshake) -> Self {
        match handshake {
            Handshake::Discover => Self::Modern,
            Handshake::Initialize => Self::Legacy,
        }
    }
}

impl ServerMemory {
    /// Loads the data from `folder`; empty if there is none or it can't be read.
    pub(crate) fn load(folder: &Path, server: &ServerName, config: &ServerConfig) -> Self {
        let text = std::fs::read(path(folder, server, config)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Writes the data atomically.
    pub(crate) fn save(&self, folder: &Path, server: &ServerName, config: &ServerConfig) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        write_whole(&path(folder, server, config), &serde_json::to_vec(self)?, ReadableBy::Usual)
    }

    /// Adds a new listing: a tool that was never seen before is accepted as it is.
    pub(crate) fn learn(&mut self, tools: &[ListedTool]) {
        for tool in tools {
            self.accepted.entry(tool.name.clone()).or_insert_with(|| tool.clone());
        }
        if self.accepted.len() > REMEMBERED {
            self.accepted.retain(|name, _| tools.iter().any(|tool| tool.name == *name));
        }
        self.tools = Some(tools.to_vec());
    }

    /// Returns the tools that differ from their accepted version.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &ListedTool> {
        self.tools.iter().flatten().filter(|tool| self.before(tool).is_some())
    }

    /// Returns the accepted version of a tool, if it differs.
    pub(crate) fn before(&self, tool: &ListedTool) -> Option<&ListedTool> {
        self.accepted.get(&tool.name).filter(|accepted| *accepted != tool)
    }
}

fn path(folder: &Path, server: &ServerName, config: &ServerConfig) -> PathBuf {
    folder.join(format!("{server}-{}.json", &config.digest()[..16]))
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{EffectClass, Json};

    use super::*;

    fn tool(description: &str) -> ListedTool {
        ListedTool {
            name: "t".into(),
            description: description.into(),
            input: Json::default(),
            output: None,
            effect: EffectClass::Once,
        }
    }

    // proves P2
    #[test]
    fn what_is_remembered_of_one_configuration_is_not_told_of_another() {
        let room = tempfile::tempdir().unwrap();
        let name: ServerName = "s".parse().unwrap();
        let (one, other) = (ServerConfig::http("http://a"), ServerConfig::http("http://b"));
        let mut memory = ServerMemory { handshake: Some(Handshake::Initialize), ..ServerMemory::default() };
        memory.learn(&[tool("first")]);
        memory.save(&room.path().join("deep/down"), &name, &one).unwrap();
        assert_eq!(ServerMemory::load(&room.path().join("deep/down"), &name, &one), memory);
        assert_eq!(ServerMemory::load(&room.path().join("deep/down"), &name, &other), ServerMemory::default());
    }

    #[test]
    fn what_is_damaged_is_as_if_it_were_not_there() {
        let room = tempfile::tempdir().unwrap();
        let (name, config) = ("s".parse().unwrap(), ServerConfig::http("http://a"));
        std::fs::write(path(room.path(), &name, &config), "{\"tools\": [17").unwrap();
        assert_eq!(ServerMemory::load(room.path(), &name, &config), ServerMemory::default());
    }

    // proves P4
    #[test]
    fn a_tool_that_changes_after_it_was_seen_is_known_to_have_changed() {
        let mut memory = ServerMemory::default();
        memory.learn(&[tool("first")]);
        assert_eq!(memory.before(&tool("first")), None);
        memory.learn(&[tool("second")]);
        assert_eq!(memory.before(&tool("second")), Some(&tool("first")));
        memory.learn(&[]);
        memory.learn(&[tool("second")]);
        assert!(memory.before(&tool("second")).is_some(), "going away for a while is no way round");
    }
}
