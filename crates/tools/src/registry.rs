//! The registry: every tool there is (T1).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use windlass_vocab::{ToolName, ToolSpec};

use crate::arguments::Schema;
use crate::pinned::{Changed, Gone};
use crate::selection::{Place, Selection};
use crate::servers::WaitForServers;
use crate::{Offer, Tool, ToolServers};

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
    servers: Option<Arc<dyn ToolServers>>,
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
        if !spec.name.is_local() {
            schema.compiled().map_err(|problem| unsound(problem.clone()))?;
        }
        self.entries.insert(spec.name.clone(), Arc::new(Entry { spec, tool, schema }));
        Ok(())
    }

    /// Takes the tools of these servers as well, as they come and go.
    pub fn serve(&mut self, servers: Arc<dyn ToolServers>) {
        self.servers = Some(servers);
    }

    /// The servers, where there are any.
    #[must_use]
    pub fn servers(&self) -> Option<&Arc<dyn ToolServers>> {
        self.servers.as_ref()
    }

    /// A snapshot of the tools that are selected, in the order of their names, so that the same tools
    /// always make the same offer. Servers that are not connected are woken and not waited for.
    #[must_use]
    pub fn offer(&self, selection: &Selection) -> Offer {
        // Asked before its tools are: one that comes up in between is offered, and waited for in vain at worst.
        let awaited = self.awaited(selection);
        let mut entries = self.known(selection);
        if let Some(servers) = self.servers.as_ref().filter(|_| !awaited.is_empty()) {
            let wait = entry(Arc::new(WaitForServers::new(Arc::clone(servers), awaited)));
            entries.extend(wait.map(|entry| (entry.spec.name.clone(), entry)));
        }
        let at = |wanted| {
            let placed = entries.values().filter(move |entry| selection.place(&entry.spec) == wanted);
            placed.cloned().collect::<Vec<_>>()
        };
        Offer::new(at(Place::Offered), &at(Place::Hidden), self.server_names())
    }

    /// The offer a run was pinned with, taken up again. A tool that is gone, or is no longer what the
    /// model was told, is answered for.
    #[must_use]
    pub fn pinned(&self, specs: &[ToolSpec], selection: &Selection) -> Offer {
        let known = self.known(selection);
        let stand_in = |spec: &ToolSpec| {
            let now = known.get(&spec.name);
            match now {
                Some(now) if is_same(&now.spec, spec) => Some(Arc::clone(now)),
                Some(_) => entry(Arc::new(Changed(spec.clone()))),
                None => entry(Arc::new(Gone { spec: spec.clone(), servers: self.servers.clone() })),
            }
        };
        let hidden = known.values().filter(|entry| selection.place(&entry.spec) == Place::Hidden);
        let hidden: Vec<_> = hidden.cloned().collect();
        Offer::new(specs.iter().filter_map(stand_in).collect(), &hidden, self.server_names())
    }

    /// The servers that are being connected for the first time, if servers are wanted at all. Wakes them.
    #[must_use]
    pub fn awaited(&self, selection: &Selection) -> Vec<String> {
        let servers = self.servers.as_ref().filter(|_| selection.wants_servers());
        servers.map_or_else(Vec::new, |servers| {
            servers.wake();
            servers.awaited()
        })
    }

    /// Every server there is, whatever is selected.
    fn server_names(&self) -> BTreeSet<String> {
        self.servers.iter().flat_map(|servers| servers.names()).collect()
    }

    fn known(&self, selection: &Selection) -> BTreeMap<ToolName, Arc<Entry>> {
        let mut entries = self.entries.clone();
        if let Some(servers) = self.servers.as_ref().filter(|_| selection.wants_servers()) {
            for entry in servers.tools().into_iter().filter_map(entry) {
                entries.entry(entry.spec.name.clone()).or_insert(entry);
            }
        }
        entries
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

/// A tool of a server, if its name and the form of its schema will do; the schema is compiled when the
/// tool is first called.
fn entry(tool: Arc<dyn Tool>) -> Option<Arc<Entry>> {
    let spec = tool.spec().clone();
    check_name(&spec.name).ok()?;
    let schema = Schema::new(&spec.schema).ok()?;
    Some(Arc::new(Entry { spec, tool, schema }))
}

/// Whether the model was told the same of both. What is part of the program itself may say it better
/// after an update.
fn is_same(now: &ToolSpec, pinned: &ToolSpec) -> bool {
    now.name.is_local() || (&now.description, &now.schema) == (&pinned.description, &pinned.schema)
}
