//! The registry of all tools (T1).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use windlass_vocab::{FoundTools, ToolName, ToolSpec};

use crate::arguments::ArgumentSchema;
use crate::builtin::recall::{RECALL, Recall};
use crate::find_tools::FindTools;
use crate::pinned::{LateTool, MissingTool, StaleTool};
use crate::prefilter::is_core;
use crate::selection::{Placement, RecallOffer, Selection};
use crate::servers::{WAIT_FOR_SERVERS, WaitForServers};
use crate::{Offer, ServerStage, Tool, ToolServers};

/// Why a tool can't be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Its name does not have the form `server.tool`.
    #[error("`{0}` is no name for a tool: write it `server.tool`, without spaces, parentheses or `*`")]
    Name(String),
    /// Another tool has this name.
    #[error("there is already a tool `{0}`: give one of the two another name or server")]
    Duplicate(ToolName),
    /// Its schema is not a JSON Schema of an object.
    #[error("the argument schema of `{tool}` can't be used: {problem}")]
    Schema {
        /// The tool.
        tool: ToolName,
        /// What is wrong with the schema.
        problem: String,
    },
}

/// A tool with its spec and its schema, ready to validate.
pub(crate) struct RegisteredTool {
    pub(crate) spec: ToolSpec,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) schema: ArgumentSchema,
}

/// All tools. Filled once; a run takes an [`Offer`] of it.
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
    /// Creates a registry without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool, if its name and schema are valid. The schema of a `local` tool, which is part of the
    /// program itself, is compiled on the first call.
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

    /// Adds the tools of these servers, which may come and go.
    pub fn serve(&mut self, servers: Arc<dyn ToolServers>) {
        self.servers = Some(servers);
    }

    /// Returns the servers, if there are any.
    #[must_use]
    pub fn servers(&self) -> Option<&Arc<dyn ToolServers>> {
        self.servers.as_ref()
    }

    /// Starts connecting the servers, if the selection wants any; returns at once.
    pub fn wake(&self, selection: &Selection) {
        if let Some(servers) = self.wanted_servers(selection) {
            servers.wake();
        }
    }

    /// Returns the connection stage of each server, if the selection wants any.
    #[must_use]
    pub fn stages(&self, selection: &Selection) -> BTreeMap<String, ServerStage> {
        self.wanted_servers(selection).map(|servers| servers.stages()).unwrap_or_default()
    }

    /// Returns a snapshot of the selected tools, sorted by name, so that the same tools always make the same
    /// offer. It has the tools of servers that are known now.
    #[must_use]
    pub fn offer(&self, selection: &Selection) -> Offer {
        self.offer_awaiting(selection, &BTreeSet::new())
    }

    /// The same, plus a tool that waits for these servers, if there are any.
    #[must_use]
    pub fn offer_awaiting(&self, selection: &Selection, awaited: &BTreeSet<String>) -> Offer {
        let mut entries = self.known(selection);
        let wait = self.wait_tool(awaited).filter(|_| !awaited.is_empty());
        entries.extend(wait.map(|entry| (entry.spec.name.clone(), entry)));
        let mut offered = placed(&entries, selection, Placement::Offered);
        let left_out = {
            let catalogue: Vec<&ToolSpec> = offered.iter().map(|entry| &entry.spec).collect();
            let left_out = selection.relevance().map(|relevance| relevance.left_out(&catalogue)).unwrap_or_default();
            left_out.into_iter().cloned().collect::<BTreeSet<_>>()
        };
        let finder = finder(&offered, &left_out, selection);
        offered.retain(|entry| !left_out.contains(&entry.spec.name));
        offered.extend(finder);
        offered.sort_by(|a, b| a.spec.name.cmp(&b.spec.name));
        Offer::new(offered, &self.hidden(selection), self.server_names())
    }

    /// Returns how many tools of the selection an offer lacks that the model can look for.
    #[must_use]
    pub fn left_out_of(&self, offer: &Offer, selection: &Selection) -> usize {
        if !offer.has(&ToolName::from(FoundTools::TOOL)) {
            return 0;
        }
        let selected = placed(&self.known(selection), selection, Placement::Offered);
        selected.iter().filter(|entry| !offer.has(&entry.spec.name)).count()
    }

    /// Returns the offer plus those of these tools that the model has looked for and may be offered.
    #[must_use]
    pub fn with_found(&self, offer: &Offer, found: &BTreeSet<ToolName>, selection: &Selection) -> Offer {
        let known = placed(&self.known(selection), selection, Placement::Offered);
        let found = known.into_iter().filter(|entry| found.contains(&entry.spec.name));
        offer.with(found, &self.hidden(selection))
    }

    /// Rebuilds the offer a run was pinned with. A stand-in replaces a tool that is gone or whose spec has
    /// changed; the tool that waits for servers waits for these.
    #[must_use]
    pub fn pinned(&self, specs: &[ToolSpec], selection: &Selection, awaited: &BTreeSet<String>) -> Offer {
        let known = self.known(selection);
        let stand_in = |spec: &ToolSpec| {
            if spec.name.as_str() == WAIT_FOR_SERVERS {
                return self.wait_tool(awaited);
            }
            if spec.name.as_str() == FoundTools::TOOL {
                let selected = placed(&known, selection, Placement::Offered);
                let is_offered = |name: &ToolName| specs.iter().any(|spec| spec.name == *name);
                let names = selected.iter().map(|entry| entry.spec.name.clone());
                return find_tool(&selected, &names.filter(|name| !is_offered(name)).collect());
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

    /// Returns the offer plus the tools of these servers that it lacks. The specs that the model has of all
    /// other tools stay unchanged.
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
        let left_out: BTreeSet<ToolName> = {
            let catalogue: Vec<&ToolSpec> = known.iter().map(|entry| &entry.spec).collect();
            let left_out = selection.relevance().map(|relevance| relevance.left_out_of_more(&catalogue));
            left_out.into_iter().flatten().filter(|name| !offer.has(name)).cloned().collect()
        };
        let (finder, kept) = (finder(&known, &left_out, selection), offer.without(WAIT_FOR_SERVERS));
        let kept = if finder.is_some() { kept.without(FoundTools::TOOL) } else { kept };
        let fits = |entry: &Arc<RegisteredTool>| joins(entry) && !left_out.contains(&entry.spec.name);
        kept.with(known.into_iter().filter(fits).chain(wait).chain(finder), &self.hidden(selection))
    }

    /// Returns the offer, in which tools that are known by now but were not shown to the model can be called by
    /// their full names.
    #[must_use]
    pub fn with_late(&self, offer: &Offer, selection: &Selection) -> Offer {
        offer.with_late(placed(&self.known(selection), selection, Placement::Offered))
    }

    /// Returns the offer including this tool, even if the model called it without having been told of it: a
    /// call that a crash interrupted may belong to a server that is connecting again.
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

    /// Returns the offer plus the tool that reads the earlier part of the conversation, if the selection has it.
    #[must_use]
    pub fn with_recall(&self, offer: &Offer, selection: &Selection) -> Offer {
        let known = placed(&self.known(selection), selection, Placement::Offered);
        let recall = known.into_iter().filter(|entry| entry.spec.name.as_str() == RECALL);
        offer.with(recall, &self.hidden(selection))
    }

    /// Returns the names of all servers, regardless of the selection.
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
        // A run without any other tool stays one without tools (L1).
        if selection.recall() == RecallOffer::Offered && !(entries.is_empty() && self.servers.is_none()) {
            entries.extend(entry(Arc::new(Recall::new())).map(|recall| (recall.spec.name.clone(), recall)));
        }
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

/// Returns the tool that finds those that an offer of this catalogue leaves out; `None` where it leaves out none.
fn finder(
    catalogue: &[Arc<RegisteredTool>],
    left_out: &BTreeSet<ToolName>,
    selection: &Selection,
) -> Option<Arc<RegisteredTool>> {
    let finder = if left_out.is_empty() { None } else { find_tool(catalogue, left_out) };
    finder.filter(|entry| selection.placement(&entry.spec) == Placement::Offered)
}

fn find_tool(catalogue: &[Arc<RegisteredTool>], left_out: &BTreeSet<ToolName>) -> Option<Arc<RegisteredTool>> {
    let specs: Vec<&ToolSpec> = catalogue.iter().map(|entry| &entry.spec).filter(|spec| !is_core(spec)).collect();
    entry(Arc::new(FindTools::new(&specs, &left_out.iter().collect())))
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

/// Registers a tool of a server, if its name and the form of its schema are valid; the schema is compiled on
/// the first call.
fn entry(tool: Arc<dyn Tool>) -> Option<Arc<RegisteredTool>> {
    let spec = tool.spec().clone();
    check_name(&spec.name).ok()?;
    let schema = ArgumentSchema::new(&spec.schema).ok()?;
    Some(Arc::new(RegisteredTool { spec, tool, schema }))
}

/// Whether the model was told the same of both. Built-in tools always count as the same: an update may improve
/// their wording.
fn is_same(now: &ToolSpec, pinned: &ToolSpec) -> bool {
    now.name.is_local() || (&now.description, &now.schema) == (&pinned.description, &pinned.schema)
}
