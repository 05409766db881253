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
        let selected = placed(&self.known(selection), selection, Placement::Offered);
        let left_out: BTreeSet<ToolName> = {
            let catalogue: Vec<&ToolSpec> = selected.iter().map(|entry| &entry.spec).collect();
            let left_out = selection.relevance().map(|relevance| relevance.left_out(&catalogue));
            left_out.into_iter().flatten().cloned().collect()
        };
        let (out, mut offered): (Vec<_>, Vec<_>) =
            selected.into_iter().partition(|entry| left_out.contains(&entry.spec.name));
        offered.extend(self.offered_wait(selection, awaited));
        offered.extend(finder(&out, selection));
        offered.sort_by(|a, b| a.spec.name.cmp(&b.spec.name));
        Offer::new(offered, &self.hidden(selection), self.server_names())
    }

    /// Returns how many tools of the selection an offer lacks that the model can look for.
    #[must_use]
    pub fn left_out_of(&self, offer: &Offer, selection: &Selection) -> usize {
        if !offer.has(&ToolName::from(FoundTools::TOOL)) {
            return 0;
        }
        missing(&self.known(selection), selection, |name| offer.has(name)).len()
    }

    /// Returns the offer plus those of these tools that the model has looked for and may be offered.
    #[must_use]
    pub fn with_found(&self, offer: &Offer, found: &BTreeSet<ToolName>, selection: &Selection) -> Offer {
        let known = self.known(selection);
        let selected = placed(&known, selection, Placement::Offered).into_iter();
        let grown = offer.with(selected.filter(|entry| found.contains(&entry.spec.name)), &self.hidden(selection));
        let out = missing(&known, selection, |name| grown.has(name));
        // Its spec stays: how many are left out is no reason to send another.
        grown.running(find_tool(&out).as_ref())
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
                let is_offered = |name: &ToolName| specs.iter().any(|spec| spec.name == *name);
                return find_tool(&missing(&known, selection, is_offered));
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

    /// Returns the offer plus the tools of these servers that it lacks and that fit. The specs that the model has of all
    /// other tools stay unchanged; that of `find_tools` as long as all others do.
    #[must_use]
    pub fn with_joined_servers(
        &self,
        offer: &Offer,
        joining: &BTreeSet<String>,
        selection: &Selection,
        awaited: &BTreeSet<String>,
    ) -> Offer {
        let known = self.known(selection);
        let selected = placed(&known, selection, Placement::Offered);
        let left_out: BTreeSet<&ToolName> = {
            let catalogue: Vec<&ToolSpec> = selected.iter().map(|entry| &entry.spec).collect();
            let relevance = selection.relevance();
            relevance.map(|by| by.left_out_of_more(&catalogue, |name| offer.has(name))).unwrap_or_default()
        };
        let fits = |entry: &&Arc<RegisteredTool>| {
            joining.contains(entry.spec.name.server()) && !left_out.contains(&entry.spec.name)
        };
        let joined = selected.iter().filter(fits).cloned();
        let (wait, hidden) = (self.offered_wait(selection, awaited), self.hidden(selection));
        let grown = offer.without(WAIT_FOR_SERVERS).with(joined.chain(wait), &hidden);
        let has_finder = offer.has(&ToolName::from(FoundTools::TOOL));
        if left_out.is_empty() && !has_finder {
            return grown;
        }
        let out = missing(&known, selection, |name| grown.has(name));
        if has_finder && grown.specs() == offer.specs() {
            return grown.running(find_tool(&out).as_ref());
        }
        match finder(&out, selection) {
            Some(finder) => grown.without(FoundTools::TOOL).with([finder], &hidden),
            None => grown,
        }
    }

    /// Returns the offer, in which tools that are known by now but were not shown to the model can be called by
    /// their full names.
    #[must_use]
    pub fn with_late(&self, offer: &Offer, selection: &Selection) -> Offer {
        let known = self.known(selection);
        let callable = [Placement::Offered, Placement::Unshown].map(|wanted| placed(&known, selection, wanted));
        offer.with_late(callable.concat())
    }

    /// Returns the offer including this tool, even if the model called it without having been told of it: a
    /// call that a crash interrupted may belong to a server that is connecting again.
    #[must_use]
    pub fn with_tool(&self, offer: &Offer, tool: &ToolName, selection: &Selection) -> Offer {
        if offer.has(tool) {
            return offer.clone();
        }
        let can_be_called = |entry: &Arc<RegisteredTool>| {
            matches!(selection.placement(&entry.spec), Placement::Offered | Placement::Unshown)
        };
        let known = self.known(selection).remove(tool).filter(can_be_called);
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

    /// Returns the tool that waits for these servers, if there are any and the selection has it.
    fn offered_wait(&self, selection: &Selection, awaited: &BTreeSet<String>) -> Option<Arc<RegisteredTool>> {
        let wait = self.wait_tool(awaited).filter(|_| !awaited.is_empty());
        wait.filter(|entry| selection.placement(&entry.spec) == Placement::Offered)
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

/// Returns the selected tools, besides core ones, that an offer lacks.
fn missing(
    entries: &BTreeMap<ToolName, Arc<RegisteredTool>>,
    selection: &Selection,
    is_offered: impl Fn(&ToolName) -> bool,
) -> Vec<Arc<RegisteredTool>> {
    let mut missing = placed(entries, selection, Placement::Offered);
    missing.retain(|entry| !is_core(&entry.spec) && !is_offered(&entry.spec.name));
    missing
}

/// Returns the tool that finds those that an offer leaves out, if there are any and the selection has it.
fn finder(left_out: &[Arc<RegisteredTool>], selection: &Selection) -> Option<Arc<RegisteredTool>> {
    let finder = if left_out.is_empty() { None } else { find_tool(left_out) };
    finder.filter(|entry| selection.placement(&entry.spec) == Placement::Offered)
}

fn find_tool(left_out: &[Arc<RegisteredTool>]) -> Option<Arc<RegisteredTool>> {
    let specs: Vec<&ToolSpec> = left_out.iter().map(|entry| &entry.spec).collect();
    entry(Arc::new(FindTools::new(&specs)))
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
