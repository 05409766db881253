//! The registry: every tool there is (T1).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use windlass_vocab::{ToolName, ToolSource, ToolSpec};

use crate::arguments::Schema;
use crate::{Offer, Tool};

/// A tool that can't be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Its name has not the form `server.tool`.
    #[error("`{0}` is no name for a tool: write it `server.tool`, without spaces, parentheses or `*`")]
    Name(String),
    /// The name is taken.
    #[error("there is already a tool `{0}`: give one of the two another name or server")]
    Duplicate(ToolName),
    /// Its schema is no JSON Schema of an object.
    #[error("the argument schema of `{tool}` can't be used: {problem}")]
    Schema {
        /// The tool.
        tool: ToolName,
        /// What is wrong with it.
        problem: String,
    },
}

/// A tool, its spec and its schema, ready to validate.
pub(crate) struct Entry {
    pub(crate) spec: ToolSpec,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) schema: Schema,
}

/// Every tool there is. Filled once; a run takes an [`Offer`] of it.
#[derive(Clone, Default)]
pub struct Registry {
    entries: BTreeMap<ToolName, Arc<Entry>>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.entries.keys()).finish()
    }
}

impl Registry {
    /// A registry without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a tool, once its name and schema prove sound. The schema of a `local` tool, part of the
    /// program itself, is compiled when it is first called.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegistryError> {
        let spec = tool.spec().clone();
        check_name(&spec.name)?;
        if self.entries.contains_key(&spec.name) {
            return Err(RegistryError::Duplicate(spec.name));
        }
        let unsound = |problem| RegistryError::Schema { tool: spec.name.clone(), problem };
        let schema = Schema::new(&spec.schema).map_err(unsound)?;
        if spec.name.server() != "local" {
            schema.compiled().map_err(|problem| unsound(problem.clone()))?;
        }
        self.entries.insert(spec.name.clone(), Arc::new(Entry { spec, tool, schema }));
        Ok(())
    }

    /// A snapshot of the tools that come from `sources`, in the order of their names, so that the
    /// same tools always make the same offer.
    #[must_use]
    pub fn offer(&self, sources: &BTreeSet<ToolSource>) -> Offer {
        Offer::new(self.entries.values().filter(|entry| sources.contains(&source(&entry.spec))).cloned())
    }
}

fn check_name(name: &ToolName) -> Result<(), RegistryError> {
    let fits = |part: &str| {
        !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control() || "()*".contains(c))
    };
    match name.as_str().split_once('.') {
        Some((server, tool)) if fits(server) && fits(tool) => Ok(()),
        Some(_) | None => Err(RegistryError::Name(name.to_string())),
    }
}

fn source(spec: &ToolSpec) -> ToolSource {
    if spec.ending.is_some() {
        ToolSource::Ending
    } else if spec.name.server() == "local" {
        ToolSource::BuiltIn
    } else {
        ToolSource::Mcp
    }
}
