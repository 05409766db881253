//! The offer of a run, and how it may grow (T2, M6, P2). `run_offer` applies this to the open run.
//!
//! The offer is fixed when the run is pinned; where the policy says so, after a bounded wait for servers that were
//! never listed before. From then on it changes only at turn boundaries: a server that was connecting at that time is
//! checked once, at the first boundary after it connected or failed, and its tools that are not in the offer are added,
//! with a record. The calls of a reply are resolved by the offer the model saw, with one exception: a tool that exists
//! by now may be called by its full name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_machine::{Run, TextModels};
use windlass_tools::dialect::{AcceptedForms, PromptStyle, prompt_style};
use windlass_tools::{
    Offer, RECALL, RecallOffer, Registry, Selection, ServerStage, ToolServers, is_of_server, wait_for, with_wait_notice,
};
use windlass_vocab::{
    Delta, DeltaBody, Failure, PinnedContext, Reply, RunId, TextCalls, ToolName, TurnId, Wait, WaitFor,
    WorkspaceOverview,
};

use crate::feed::Feed;
use crate::known_names::KnownNames;
use crate::prefix::{Instructions, calling_rules};
use crate::services::Services;
use crate::textual;

/// The offer of a run.
pub(crate) struct Offering {
    pub(crate) run: RunId,
    pub(crate) selection: Selection,
    pub(crate) offer: Offer,
    /// Servers whose tools may still be added.
    pub(crate) open: BTreeMap<String, ToolsKnown>,
    /// How many tools it leaves out that the model can look for.
    left_out: usize,
}

/// What a run sends before the conversation, and what that was built from.
pub(crate) struct PinnedRun {
    pub(crate) context: PinnedContext,
    /// The offer; `None` where the run had one.
    pub(crate) offering: Option<Offering>,
    /// What the workspace holds, where the run begins with that.
    pub(crate) overview: Option<Box<WorkspaceOverview>>,
}

/// Whether the tools of a server that is connecting are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolsKnown {
    /// They were never listed before: `wait_for_servers` waits for the server.
    No,
    /// They are known from the last connection.
    Remembered,
}

impl Offering {
    /// Returns a new offer, for a run that is being pinned.
    pub(crate) fn new(registry: &Registry, run: RunId, selection: Selection) -> Self {
        // Stages are read before the tools, so that a server that connects in between is checked once more.
        let on_its_way = |(server, stage)| Some((server, tools_known(&stage)?));
        let open: BTreeMap<_, _> = registry.stages(&selection).into_iter().filter_map(on_its_way).collect();
        let offer = registry.offer_awaiting(&selection, &awaited(&open));
        let left_out = registry.left_out_of(&offer, &selection);
        Self { run, selection, offer, open, left_out }
    }

    /// Returns the offer that another process pinned for a run it left. The servers may have changed since.
    pub(crate) fn resumed(registry: &Registry, run: &Run, context: &PinnedContext, selection: Selection) -> Self {
        let may_join = |(server, stage): (String, ServerStage)| {
            let known = match tools_known(&stage) {
                Some(ToolsKnown::No) => ToolsKnown::No,
                Some(ToolsKnown::Remembered) | None if context.awaited.contains(&server) => ToolsKnown::No,
                Some(ToolsKnown::Remembered) | None => ToolsKnown::Remembered,
            };
            (!run.joined.contains(&server)).then_some((server, known))
        };
        let open: BTreeMap<_, _> = registry.stages(&selection).into_iter().filter_map(may_join).collect();
        let offer = registry.pinned(&context.offer, &selection, &awaited(&open));
        let left_out = registry.left_out_of(&offer, &selection);
        Self { run: run.id, selection, offer, open, left_out }
    }

    /// Adds what may be offered by now: tools of servers that connected since, tools that the model has looked for, and
    /// the tool that reads what was left out of the conversation. Returns those servers; `None` where the offer is unchanged.
    pub(crate) fn grow(
        &mut self,
        registry: &Registry,
        recall: RecallOffer,
        found: &BTreeSet<ToolName>,
    ) -> Option<BTreeSet<String>> {
        let joined = if self.open.is_empty() { None } else { self.join_servers(registry) };
        let joined = if self.add_found(registry, found) { Some(joined.unwrap_or_default()) } else { joined };
        let joined = self.add_recall(registry, recall, joined);
        if joined.is_some() {
            self.left_out = registry.left_out_of(&self.offer, &self.selection);
        }
        joined
    }

    /// Adds tools that the model has looked for; returns whether there are any that it lacked.
    fn add_found(&mut self, registry: &Registry, found: &BTreeSet<ToolName>) -> bool {
        if found.iter().all(|tool| self.offer.has(tool)) {
            return false;
        }
        let grown = registry.with_found(&self.offer, found, &self.selection);
        let is_more = grown.specs().len() > self.offer.specs().len();
        self.offer = grown;
        is_more
    }

    fn add_recall(
        &mut self,
        registry: &Registry,
        recall: RecallOffer,
        joined: Option<BTreeSet<String>>,
    ) -> Option<BTreeSet<String>> {
        // What is left out changes the start of the conversation: the cached prefix is lost anyway.
        let is_offered = self.offer.specs().iter().any(|spec| spec.name.as_str() == RECALL);
        if recall == RecallOffer::Absent || is_offered || self.offer.specs().is_empty() {
            return joined;
        }
        self.selection = self.selection.clone().with_recall(recall);
        let grown = registry.with_recall(&self.offer, &self.selection);
        if grown.specs() == self.offer.specs() {
            return joined;
        }
        self.offer = grown;
        Some(joined.unwrap_or_default())
    }

    fn join_servers(&mut self, registry: &Registry) -> Option<BTreeSet<String>> {
        let stages = registry.stages(&self.selection);
        let settled = |server: &String| stages.get(server).is_none_or(|stage| stage.limit().is_none());
        let arrived: BTreeSet<String> = self.open.keys().filter(|server| settled(server)).cloned().collect();
        if arrived.is_empty() {
            return None;
        }
        self.open.retain(|server, _| !arrived.contains(server));
        let listed = |server: &&String| stages.get(*server) == Some(&ServerStage::Listed);
        let joining = arrived.iter().filter(listed).cloned().collect();
        let grown = registry.with_joined_servers(&self.offer, &joining, &self.selection, &awaited(&self.open));
        // The same specs may search more tools.
        let before = std::mem::replace(&mut self.offer, grown);
        if before.specs() == self.offer.specs() {
            return None;
        }
        let brought = |server: &String| {
            self.offer.specs().iter().any(|spec| spec.name.server() == server && !before.has(&spec.name))
        };
        Some(joining.into_iter().filter(brought).collect())
    }

    /// Returns the context that is sent before the conversation, with this offer.
    pub(crate) fn context(&self, gathered: PrefixSources) -> PinnedContext {
        let left_out = u32::try_from(self.left_out).unwrap_or(u32::MAX);
        PinnedContext { left_out, ..gathered.context(&self.offer, awaited(&self.open)) }
    }
}

/// Whether the tools of a connecting server are known; `None` for a server that is not connecting.
pub(crate) fn tools_known(stage: &ServerStage) -> Option<ToolsKnown> {
    match stage {
        ServerStage::Awaited { .. } => Some(ToolsKnown::No),
        ServerStage::Remembered { .. } => Some(ToolsKnown::Remembered),
        ServerStage::Listed | ServerStage::Missed { .. } => None,
    }
}

pub(crate) fn awaited(open: &BTreeMap<String, ToolsKnown>) -> BTreeSet<String> {
    open.iter().filter(|(_, known)| **known == ToolsKnown::No).map(|(server, _)| server.clone()).collect()
}

/// The sources of the prefix.
pub(crate) struct PrefixSources {
    pub(crate) instructions: Instructions,
    pub(crate) run: Option<Arc<windlass_vocab::RunStarted>>,
    pub(crate) text_models: TextModels,
}

impl PrefixSources {
    pub(crate) fn context(self, offer: &Offer, awaited: BTreeSet<String>) -> PinnedContext {
        let Self { instructions, run, text_models } = self;
        let specs = offer.specs().to_vec();
        let (all, some) = match text_models {
            TextModels::None => (None, Vec::new()),
            TextModels::All(dialect) => (Some(dialect), Vec::new()),
            TextModels::Some(groups) => (None, groups),
        };
        let Some(run) = run else {
            let dialect = all.filter(|_| !specs.is_empty());
            return PinnedContext { offer: specs, dialect, awaited, ..PinnedContext::default() };
        };
        let prefix = instructions.prefix(&run, &specs, all);
        let text_calls = |(dialect, models)| {
            let rules = calling_rules(&run, &specs, Some(dialect), instructions.script_languages)?;
            Some(match prompt_style(dialect) {
                PromptStyle::Full => TextCalls { dialect, rules, models, prefix: None },
                PromptStyle::Short => {
                    let prefix = Some(instructions.prefix(&run, &specs, Some(dialect)));
                    TextCalls { dialect, rules: String::new(), models, prefix }
                }
            })
        };
        let mut text_calls = some.into_iter().filter_map(text_calls);
        let (first, further_text_calls) = (text_calls.next(), text_calls.collect());
        let dialect = all.filter(|_| !specs.is_empty());
        PinnedContext { prefix, offer: specs, dialect, awaited, text_calls: first, further_text_calls, left_out: 0 }
    }
}

/// Servers that a model call waits for only if its reply names them.
pub(crate) struct NamedServers {
    pub(crate) servers: Option<Arc<dyn ToolServers>>,
    pub(crate) known: KnownNames,
    /// The forms in which the text of a reply may contain calls.
    pub(crate) spoken: Option<AcceptedForms>,
    pub(crate) feed: Feed,
    pub(crate) at: (RunId, TurnId),
}

impl NamedServers {
    /// Waits for a server that is still connecting, if the reply calls a tool that is not offered and may belong to it.
    pub(crate) async fn wait(&self, result: &Result<Reply, Failure>) {
        let (Some(servers), Ok(reply)) = (&self.servers, result) else { return };
        if self.known.starting.is_empty() {
            return;
        }
        let called = textual::called(reply, self.spoken.as_ref(), &self.known);
        let called: Vec<_> = called.iter().filter(|name| !self.known.offer.names_exactly(name)).collect();
        let is_named = |server: &&String| called.iter().any(|name| is_of_server(name, server));
        let named: Vec<String> = self.known.starting.iter().filter(is_named).cloned().collect();
        if !named.is_empty() {
            let wait = wait_for(named.clone(), &servers.stages());
            with_wait_notice(servers.settled(named), || publish_wait(&self.feed, self.at, wait)).await;
        }
    }
}

/// Tells subscribers what the run waits for.
fn publish_wait(feed: &Feed, (run, turn): (RunId, TurnId), wait: Wait) {
    feed.publish_delta(Delta { run, turn, attempt: 0, offset: 0, body: DeltaBody::Waiting { call: None, wait } });
}

/// Waits for these servers, up to the time that the policy allows before the first turn.
pub(crate) async fn wait_before_first_turn(services: &Services, feed: &Feed, run: &Run, awaited: Vec<String>) {
    let (limit_ms, Some(servers)) = (run.policy().server_wait_ms, services.registry.servers()) else { return };
    if limit_ms == 0 || awaited.is_empty() {
        return;
    }
    let settled = servers.settled(awaited.clone());
    publish_wait(feed, (run.id, run.turn), Wait { what: WaitFor::Servers(awaited), limit_ms });
    let out_of_time = services.clock.until(services.clock.now().plus_ms(limit_ms));
    tokio::select! {
        () = settled => {}
        () = out_of_time => {}
    }
}
