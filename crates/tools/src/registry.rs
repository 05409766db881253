//! The registry: every tool there is (T1).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use windlass_vocab::{ToolName, ToolSpec};

use crate::arguments::ArgumentSchema;
use crate::pinned::{LateTool, MissingTool, StaleTool};
use crate::selection::{Placement, Selection};
use crate::servers::{WAIT_FOR_SERVERS, WaitForServers};
use crate::{Offer, ServerStage, Tool, ToolServers};

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
pub(crate) struct RegisteredTool {
    pub(crate) spec: ToolSpec,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) schema: ArgumentSchema,
}

/// Every tool there is. Filled once; a run takes an [`Offer`] of it.
#[derive(Clone, Default)]
pub struct Registry {
    entries: BTreeMap<ToolName, Arc<RegisteredTool>>,
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
        let schema = ArgumentSchema::new(&spec.schema).map_err(unsound)?;
        if !spec.name.is_local() {
            schema.compiled().map_err(|problem| unsound(problem.clone()))?;
        }
        self.entries.insert(spec.name.clone(), Arc::new(RegisteredTool { spec, tool, schema }));
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

    /// Begins to connect the servers, where any are wanted; returns at once.
    pub fn wake(&self, selection: &Selection) {
        if let Some(servers) = self.wanted_servers(selection) {
            servers.wake();
        }
    }

    /// How far each server is, where any are wanted.
    #[must_use]
    pub fn stages(&self, selection: &Selection) -> BTreeMap<String, ServerStage> {
        self.wanted_servers(selection).map(|servers| servers.stages()).unwrap_or_default()
    }

    /// A snapshot of the tools that are selected, in the order of their names, so that the same tools
    /// always make the same offer. Of servers it has what is known of them now.
    #[must_use]
    pub fn offer(&self, selection: &Selection) -> Offer {
        self.offer_awaiting(selection, &BTreeSet::new())
    }

    /// The same with a tool that waits for these servers, where there are any.
    #[must_use]
    pub fn offer_awaiting(&self, selection: &Selection, awaited: &BTreeSet<String>) -> Offer {
        let mut entries = self.known(selection);
        let wait = self.wait_tool(awaited).filter(|_| !awaited.is_empty());
        entries.extend(wait.map(|entry| (entry.spec.name.clone(), entry)));
        Offer::new(placed(&entries, selection, Placement::Offered), &self.hidden(selection), self.server_names())
    }

    /// The offer a run was pinned with, taken up again. A tool that is gone, or is no longer what the
    /// model was told, is answered for; the one that waits for servers waits for these.
    #[must_use]
    pub fn pinned(&self, specs: &[ToolSpec], selection: &Selection, awaited: &BTreeSet<String>) -> Offer {
        let known = self.known(selection);
        let stand_in = |spec: &ToolSpec| {
            if spec.name.as_str() == WAIT_FOR_SERVERS {
                return self.wait_tool(awaited);
            }
            match known.get(&spec.name) {
                Some(now) if is_same(&now.spec, spec) => Some(Arc::clone(now)),
                Some(_) => entry(Arc::new(StaleTool(spec.clone()))),
                None => entry(Arc::new(MissingTool { spec: spec.clone(), servers: self.servers.clone() })),
            }
        };
        let tools = specs.iter().filter_map(|spec| Some((spec.clone(), stand_in(spec)?))).collect();
        Offer::named(tools, &self.hidden(selection), self.server_names())
    }

    /// An offer with what these servers have and it has not. What the model was told of every other tool
    /// stays as it is.
    #[must_use]
    pub fn with_joined_servers(
        &self,
        offer: &Offer,
        joining: &BTreeSet<String>,
        selection: &Selection,
        awaited: &BTreeSet<String>,
    ) -> Offer {
        let joins = |entry: &Arc<RegisteredTool>| joining.contains(entry.spec.name.server());
        let known = placed(&self.known(selection), selection, Placement::Offered);
        let waits =
            |entry: &Arc<RegisteredTool>| !awaited.is_empty() && selection.placement(&entry.spec) == Placement::Offered;
        let wait = self.wait_tool(awaited).filter(waits);
        let kept = offer.without(WAIT_FOR_SERVERS);
        kept.with(known.into_iter().filter(joins).chain(wait), &self.hidden(selection))
    }

    /// An offer in which tools that are known by now, and that the model was not told of, can be called by
    /// their full names.
    #[must_use]
    pub fn with_late(&self, offer: &Offer, selection: &Selection) -> Offer {
        offer.with_late(placed(&self.known(selection), selection, Placement::Offered))
    }

    /// An offer in which this tool is there, though the model called it without having been told of it: a
    /// call that was cut short by a crash may be of a server that is on its way again.
    #[must_use]
    pub fn with_tool(&self, offer: &Offer, tool: &ToolName, selection: &Selection) -> Offer {
        if offer.has(tool) {
            return offer.clone();
        }
        let known =
            self.known(selection).remove(tool).filter(|entry| selection.placement(&entry.spec) == Placement::Offered);
        let late = || entry(Arc::new(LateTool::new(tool.clone(), self.wanted_servers(selection)?.clone())));
        offer.with_late(known.or_else(late))
    }

    /// Every server there is, whatever is selected.
    fn server_names(&self) -> BTreeSet<String> {
        self.servers.iter().flat_map(|servers| servers.names()).collect()
    }

    fn wanted_servers(&self, selection: &Selection) -> Option<&Arc<dyn ToolServers>> {
        self.servers.as_ref().filter(|_| selection.wants_servers())
    }

    fn wait_tool(&self, awaited: &BTreeSet<String>) -> Option<Arc<RegisteredTool>> {
        entry(Arc::new(WaitForServers::new(Arc::clone(self.servers.as_ref()?), awaited)))
    }

    fn hidden(&self, selection: &Selection) -> Vec<Arc<RegisteredTool>> {
        placed(&self.known(selection), selection, Placement::Hidden)
    }

    fn known(&self, selection: &Selection) -> BTreeMap<ToolName, Arc<RegisteredTool>> {
        let mut entries = self.entries.clone();
        if let Some(servers) = self.wanted_servers(selection) {
            for entry in servers.tools().into_iter().filter_map(entry) {
                entries.entry(entry.spec.name.clone()).or_insert(entry);
            }
        }
        entries
    }
}

fn placed(
    entries: &BTreeMap<ToolName, Arc<RegisteredTool>>,
    selection: &Selection,
    wanted: Placement,
) -> Vec<Arc<RegisteredTool>> {
    entries.values().filter(|entry| selection.placement(&entry.spec) == wanted).cloned().collect()
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
fn entry(tool: Arc<dyn Tool>) -> Option<Arc<RegisteredTool>> {
    let spec = tool.spec().clone();
    check_name(&spec.name).ok()?;
    let schema = ArgumentSchema::new(&spec.schema).ok()?;
    Some(Arc::new(RegisteredTool { spec, tool, schema }))
}

/// Whether the model was told the same of both. What is part of the program itself may say it better
/// after an update.
fn is_same(now: &ToolSpec, pinned: &ToolSpec) -> bool {
    now.name.is_local() || (&now.description, &now.schema) == (&pinned.description, &pinned.schema)
}
