//! The offer of the open run: the driver pins it, resolves replies by it and lets it grow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_machine::{Effect, Fact, FileNeed, Phase, Run, State};
use windlass_provider::BoxFuture;
use windlass_store::StoreError;
use windlass_tools::dialect::{AcceptedForms, PromptStyle, prompt_style};
use windlass_tools::{Offer, RecallOffer, Relevance, Selection, ServerStage, is_of_server};
use windlass_vocab::{
    Dialect, EndsBy, Failure, Intent, Overview, Reply, ToolName, ToolSpec, TurnMode, Verdict, WorkspaceOverview,
};

use crate::attempt;
use crate::driver::Driver;
use crate::known_names::KnownNames;
use crate::offering::{
    NamedServers, Offering, PinnedRun, PrefixSources, ToolsKnown, tools_known, wait_before_first_turn,
};
use crate::overview::{OverviewSource, OverviewUse};
use crate::script_run::{resumed_script_selection, script_selection};
use crate::services::AgentSettings;
use crate::small_offer::{file_need, tools_left_out, unneeded_tools};
use crate::streamed::Streamed;
use crate::textual;

impl Driver {
    /// Returns the offer of the open run.
    pub(crate) fn offer(&mut self) -> Offer {
        let registry = &self.services.registry;
        let Some(run) = &self.state.control.run else { return registry.offer(&Selection::default()) };
        match &self.running_effects.offering {
            Some(offering) if offering.run == run.id => offering.offer.clone(),
            Some(_) | None => {
                let selection = run_selection(&self.state, run);
                registry.wake(&selection);
                let offering = match (&run.phase, &self.state.transcript.context) {
                    (Phase::Modelling(_) | Phase::Calling(_) | Phase::Stepping(_) | Phase::Between, Some(context)) => {
                        let selection = resumed_selection(&self.state, run, selection, &context.offer);
                        Offering::resumed(registry, run, context, selection)
                    }
                    (Phase::Pinning, _) | (_, None) => Offering::new(registry, run.id, selection),
                };
                self.running_effects.offering.insert(offering).offer.clone()
            }
        }
    }

    /// Returns the offer with this tool added, which may have been called although the model was not offered it.
    pub(crate) fn offer_with(&mut self, tool: &ToolName) -> Offer {
        let offer = self.offer();
        match &self.running_effects.offering {
            Some(offering) => self.services.registry.with_tool(&offer, tool, &offering.selection),
            None => offer,
        }
    }

    /// Returns the context that the run sends before the conversation, and the offer it was built with. The first time,
    /// it may wait for servers that were never listed before.
    pub(crate) fn pin(&mut self) -> BoxFuture<'static, PinnedRun> {
        let sources = prefix_sources(&self.agent, &self.state);
        let run = self.state.control.run.as_ref().filter(|run| matches!(run.phase, Phase::Pinning)).cloned();
        let Some(run) = run else {
            let offer = self.offer();
            let context = match &self.running_effects.offering {
                Some(offering) => offering.context(sources),
                None => sources.context(&offer, BTreeSet::new()),
            };
            let pinned = PinnedRun { context, offering: None, overview: None };
            return Box::pin(std::future::ready(pinned));
        };
        let (services, feed) = (Arc::clone(&self.services), self.feed.clone());
        let (overview, permissions) = (self.overview_source(&run), Arc::clone(&self.agent.permissions));
        let dialect = self.state.control.dialect_of(&run.model(0));
        let request = self.state.transcript.newest_words().unwrap_or_default().to_owned();
        let selection = run_selection(&self.state, &run);
        services.registry.wake(&selection);
        Box::pin(async move {
            let stages = services.registry.stages(&selection).into_iter();
            let awaited =
                stages.filter(|(_, stage)| tools_known(stage) == Some(ToolsKnown::No)).map(|(server, _)| server);
            wait_before_first_turn(&services, &feed, &run, awaited.collect()).await;
            let overview = match overview {
                Some(source) => source.look().await.map(Box::new),
                None => None,
            };
            let need = overview.as_deref().map_or(FileNeed::Change, |overview| file_need(&run, overview, &permissions));
            let selection = match (dialect, dialect.map_or(PromptStyle::Full, prompt_style)) {
                (Some(Dialect::Script), _) => script_selection(selection, need),
                (_, PromptStyle::Full) => selection,
                (_, PromptStyle::Short) => {
                    unneeded_tools(&run, overview.as_deref(), need, &request, &permissions).left_out_of(selection)
                }
            };
            let offering = Offering::new(&services.registry, run.id, selection);
            let overview = overview.map(|overview| shown_if_needed(overview, need));
            PinnedRun { context: offering.context(sources), offering: Some(offering), overview }
        })
    }

    /// Returns where the overview of the workspace comes from, if the run begins with one.
    fn overview_source(&self, run: &Run) -> Option<OverviewSource> {
        let is_shown = match run.policy().overview {
            Overview::Off => false,
            Overview::TextCalls => self.state.control.dialect_of(&run.model(0)).is_some(),
            Overview::On => true,
        };
        let is_judged = run.policy().ends_by == EndsBy::JudgedText;
        let registry = &self.services.registry;
        let reads = || {
            registry
                .offer(&run_selection(&self.state, run).with_relevance(None))
                .specs()
                .iter()
                .any(|spec| spec.reads_files)
        };
        let workspace = self.services.workspace.clone().filter(|_| (is_shown || is_judged) && reads())?;
        let request = self.state.transcript.newest_words().unwrap_or_default().to_owned();
        let shown = if is_shown { OverviewUse::Shown } else { OverviewUse::JudgeAlone };
        Some(OverviewSource { workspace, permissions: Arc::clone(&self.agent.permissions), request, shown })
    }

    /// Returns the tool names that the open run can resolve.
    pub(crate) fn known_names(&mut self) -> KnownNames {
        let offer = self.offer();
        let starting =
            self.running_effects.offering.iter().flat_map(|offering| offering.open.keys().cloned()).collect();
        KnownNames { offer, starting }
    }

    /// Returns the forms in which the text of a reply of the open run may contain calls.
    fn spoken(&self) -> Option<AcceptedForms> {
        let (run, context) = self.state.control.run.as_ref().zip(self.state.transcript.context.as_ref())?;
        textual::spoken(run.policy(), context, &run.current_model())
    }

    pub(crate) fn named_servers(&self, known: KnownNames) -> NamedServers {
        let (run, spoken) = (self.state.control.run.as_ref(), self.spoken());
        let at = run.map(|run| (run.id, run.turn)).unwrap_or_default();
        NamedServers { servers: self.services.registry.servers().cloned(), known, spoken, feed: self.feed.clone(), at }
    }

    /// Returns the fact for the end of a model call, by the names that were known when it was made.
    pub(crate) fn read(
        &self,
        key: windlass_machine::AttemptKey,
        known: KnownNames,
        result: Result<Reply, Failure>,
        streamed: &Streamed,
    ) -> Fact {
        let selection = self.running_effects.offering.as_ref().map(|offering| &offering.selection);
        let has_servers = self.services.registry.servers().is_some();
        let has_more =
            |selection: &&Selection| has_servers || selection.relevance().is_some() || selection.has_unshown();
        let selection = selection.filter(has_more);
        let known = match (&result, selection) {
            (Ok(reply), Some(selection)) if may_be_late(reply, self.spoken().as_ref(), &known.offer) => {
                KnownNames { offer: self.services.registry.with_late(&known.offer, selection), ..known }
            }
            (Ok(_) | Err(_), _) => known,
        };
        let (state, agent, services) = (&self.state, &self.agent, &self.services);
        let passages = &self.running_effects.passages;
        let read = attempt::ReplyReading { state, known: &known, agent, services, passages };
        let mut fact = read.fact(key, result, streamed);
        if self.awaits_plan() {
            return self.planned(fact);
        }
        if let (Fact::Replied { calls, .. }, Some(selection)) = (&mut fact, selection) {
            let unknown = calls.iter_mut().filter(|call| matches!(call.verdict, Verdict::Unknown { .. }));
            let unknown: Vec<_> = unknown.collect();
            if !unknown.is_empty() {
                let stages = self.services.registry.stages(selection);
                unknown.into_iter().for_each(|call| blame_server(&call.name, &mut call.verdict, &stages));
            }
        }
        fact
    }

    /// Adds the tools of newly connected servers to the offer, at a turn boundary.
    pub(crate) async fn renew_offer(&mut self) -> Result<(), StoreError> {
        let begins = self.owed.iter().find_map(|effect| {
            let Effect::CallModel { key, mode, .. } = effect else { return None };
            (key.attempt == 1 && !self.running_effects.is_running(effect)).then_some(*mode)
        });
        let Some(mode) = begins else { return Ok(()) };
        let empty = self.offer().specs().is_empty();
        // A turn without tool calls needs no more tools.
        match mode {
            TurnMode::Tools => self.grow_offer().await,
            TurnMode::Talk if empty => self.grow_offer().await,
            TurnMode::Talk
            | TurnMode::WrapUp
            | TurnMode::Summary
            | TurnMode::Title
            | TurnMode::Plan
            | TurnMode::Synthesis
            | TurnMode::Route => Ok(()),
        }
    }

    async fn grow_offer(&mut self) -> Result<(), StoreError> {
        let Some(offering) = &mut self.running_effects.offering else { return Ok(()) };
        let recall = recall_offer(&self.state);
        let found = self.state.control.run.as_ref().map(|run| Arc::clone(&run.found)).unwrap_or_default();
        let Some(joined) = offering.grow(&self.services.registry, recall, &found) else { return Ok(()) };
        let sources = prefix_sources(&self.agent, &self.state);
        let context = offering.context(sources);
        self.step(Fact::OfferChanged { context, joined }).await.map(drop)
    }
}

/// Returns the overview, which the model is not shown where the request has nothing to do with files.
fn shown_if_needed(mut overview: Box<WorkspaceOverview>, need: FileNeed) -> Box<WorkspaceOverview> {
    if need == FileNeed::None {
        overview.is_for_judge = true;
        overview.files.iter_mut().for_each(|file| (file.text, file.origin) = (None, None));
    }
    overview
}

/// Returns which tools a run wants: none where a router said that its request needs none (T2).
fn run_selection(state: &State, run: &Run) -> Selection {
    if run.intent == Some(Intent::Direct) {
        return Selection::default();
    }
    let selection = Selection::from(run.policy()).with_recall(recall_offer(state));
    selection.with_relevance(relevance(state, run))
}

/// Returns what a large catalogue is filtered by; `None` where all of it is offered.
fn relevance(state: &State, run: &Run) -> Option<Relevance> {
    let of_model = run.started.model(&run.model(0)).and_then(|model| model.tools_offered);
    let keep = usize::from(of_model.unwrap_or(run.policy().tools_offered));
    // Not a message that came later: a run that is resumed goes by the words it was pinned by.
    let request = state.transcript.goal_words().unwrap_or_default().to_owned();
    let before = state.transcript.context.iter().flat_map(|context| &context.offer).map(|spec| spec.name.clone());
    (keep > 0).then(|| Relevance { request, keep, before: before.collect() })
}

fn prefix_sources(agent: &AgentSettings, state: &State) -> PrefixSources {
    let mut instructions = agent.instructions.clone();
    if let Some(own) = &state.control.system {
        instructions.system = Some(own.as_ref().to_owned());
    }
    PrefixSources {
        instructions,
        run: state.control.run.as_ref().map(|run| Arc::clone(&run.started)),
        text_models: state.control.text_models(),
    }
}

/// Returns the selection of a run that another process pinned with this offer: what was left out then stays so.
fn resumed_selection(state: &State, run: &Run, selection: Selection, pinned: &[ToolSpec]) -> Selection {
    let dialect = state.control.dialect_of(&run.model(0));
    match (dialect, dialect.map_or(PromptStyle::Full, prompt_style)) {
        (Some(Dialect::Script), _) => resumed_script_selection(selection, pinned),
        (_, PromptStyle::Full) => selection,
        (_, PromptStyle::Short) => tools_left_out(pinned).left_out_of(selection),
    }
}

/// The tool that reads the earlier part of a conversation is offered once something of it was left out.
fn recall_offer(state: &State) -> RecallOffer {
    if state.transcript.dropped > 0 { RecallOffer::Offered } else { RecallOffer::Absent }
}

/// Whether a reply may call a tool that it was not offered.
fn may_be_late(reply: &Reply, spoken: Option<&AcceptedForms>, offer: &Offer) -> bool {
    let by_text = reply.calls.is_empty() && spoken.is_some();
    by_text || reply.calls.iter().any(|call| !offer.names_exactly(&call.name))
}

/// Marks a call as the server's fault, not the model's, if it names a server that could not be connected.
fn blame_server(name: &str, verdict: &mut Verdict, stages: &BTreeMap<String, ServerStage>) {
    let Verdict::Unknown { reason, unavailable } = verdict else { return };
    let missed = stages.iter().find_map(|(server, stage)| match stage {
        ServerStage::Missed { reason } if is_of_server(name, server) => Some((server, reason)),
        ServerStage::Missed { .. }
        | ServerStage::Awaited { .. }
        | ServerStage::Remembered { .. }
        | ServerStage::Listed => None,
    });
    if let Some((server, why)) = missed {
        let why = why.trim_end_matches('.');
        *reason = format!("{reason} The server `{server}` {why}, and is not waited for again in this run.");
        *unavailable = Some(server.clone());
    }
}
