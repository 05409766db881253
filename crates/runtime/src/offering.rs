//! What the open run offers, and how that may grow (T2, M6, P2).
//!
//! The offer is taken once, when the run is pinned; where the policy says so, after a bounded wait for
//! servers that were never listed before. From then on it changes at turn boundaries alone: a server that
//! was being connected when it was taken is looked at once, at the first boundary after it is connected or
//! given up, and what it has then and the offer has not joins, as a record. A reply is judged by the offer
//! it was made under, with one addition: a tool that is there by now may be called by its full name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_machine::{Effect, Fact, Phase, Run};
use windlass_provider::BoxFuture;
use windlass_store::StoreError;
use windlass_tools::dialect::Spoken;
use windlass_tools::{
    FileRules, Offer, Registry, Secrets, Selection, ServerStage, ToolServers, is_of_server, wait_for, with_wait_notice,
};
use windlass_vocab::{
    Delta, DeltaBody, Failure, PinnedContext, Reply, RunId, ToolName, TurnId, TurnMode, Verdict, Wait, WaitFor,
};

use crate::attempt;
use crate::driver::Driver;
use crate::feed::Feed;
use crate::outside::Outside;
use crate::prefix::Instructions;
use crate::textual;

/// The offer of a run.
pub(crate) struct Offering {
    run: RunId,
    selection: Selection,
    offer: Offer,
    /// Servers whose tools may still join.
    open: BTreeMap<String, Known>,
}

/// Whether the tools of a server that is on its way are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// It was never listed before: `wait_for_servers` waits for it.
    No,
    /// As they were the last time.
    Remembered,
}

impl Offering {
    /// A new offer, for a run that is being pinned.
    fn new(registry: &Registry, run: &Run) -> Self {
        let selection = Selection::from(run.policy());
        // Asked before the tools are: a server that comes up in between is looked at once more.
        let on_its_way = |(server, stage)| Some((server, known(&stage)?));
        let open: BTreeMap<_, _> = registry.stages(&selection).into_iter().filter_map(on_its_way).collect();
        let offer = registry.offer_awaiting(&selection, &awaited(&open));
        Self { run: run.id, selection, offer, open }
    }

    /// The offer that a run was pinned with, taken up by another process. Its servers may have changed since.
    fn resumed(registry: &Registry, run: &Run, context: &PinnedContext) -> Self {
        let selection = Selection::from(run.policy());
        let may_join = |(server, stage): (String, ServerStage)| {
            let known = match known(&stage) {
                Some(Known::No) => Known::No,
                Some(Known::Remembered) | None if context.awaited.contains(&server) => Known::No,
                Some(Known::Remembered) | None => Known::Remembered,
            };
            (!run.joined.contains(&server)).then_some((server, known))
        };
        let open: BTreeMap<_, _> = registry.stages(&selection).into_iter().filter_map(may_join).collect();
        let offer = registry.pinned(&context.offer, &selection, &awaited(&open));
        Self { run: run.id, selection, offer, open }
    }

    /// Takes in what has come up since, and says which servers brought something; nothing where the offer
    /// stays as it is.
    fn grow(&mut self, registry: &Registry) -> Option<BTreeSet<String>> {
        let stages = registry.stages(&self.selection);
        let settled = |server: &String| stages.get(server).is_none_or(|stage| stage.limit().is_none());
        let arrived: BTreeSet<String> = self.open.keys().filter(|server| settled(server)).cloned().collect();
        if arrived.is_empty() {
            return None;
        }
        self.open.retain(|server, _| !arrived.contains(server));
        let listed = |server: &&String| stages.get(*server) == Some(&ServerStage::Listed);
        let joining = arrived.iter().filter(listed).cloned().collect();
        let grown = registry.grown(&self.offer, &joining, &self.selection, &awaited(&self.open));
        if grown.specs() == self.offer.specs() {
            return None;
        }
        let before = std::mem::replace(&mut self.offer, grown);
        let brought = |server: &String| {
            self.offer.specs().iter().any(|spec| spec.name.server() == server && !before.has(&spec.name))
        };
        Some(joining.into_iter().filter(brought).collect())
    }

    /// What is sent before the conversation with this offer.
    fn context(&self, gathered: Gathering) -> BoxFuture<'static, PinnedContext> {
        let (offer, awaited) = (self.offer.clone(), awaited(&self.open));
        Box::pin(gathered.context(offer, awaited))
    }
}

/// Whether the tools of a server that is on its way are known; nothing of one that is not.
fn known(stage: &ServerStage) -> Option<Known> {
    match stage {
        ServerStage::Awaited { .. } => Some(Known::No),
        ServerStage::Remembered { .. } => Some(Known::Remembered),
        ServerStage::Listed | ServerStage::Missed { .. } => None,
    }
}

fn awaited(open: &BTreeMap<String, Known>) -> BTreeSet<String> {
    open.iter().filter(|(_, known)| **known == Known::No).map(|(server, _)| server.clone()).collect()
}

/// What the prefix is made of.
struct Gathering {
    instructions: Instructions,
    run: Option<Arc<windlass_vocab::RunStarted>>,
    dialect: Option<windlass_vocab::Dialect>,
    /// What of the workspace the model must not see.
    files: FileRules,
    secrets: Arc<Secrets>,
}

impl Gathering {
    async fn context(self, offer: Offer, awaited: BTreeSet<String>) -> PinnedContext {
        let Self { instructions, run, dialect, files, secrets } = self;
        let (specs, reads) = (offer.specs().to_vec(), instructions.workspace.is_some());
        let gather = move || run.map(|run| instructions.prefix(&run, offer.specs(), dialect, &files, &secrets));
        // Without a workspace there is no file to read.
        let prefix = if reads { tokio::task::spawn_blocking(gather).await.ok().flatten() } else { gather() };
        let dialect = dialect.filter(|_| !specs.is_empty());
        PinnedContext { prefix: prefix.unwrap_or_default(), offer: specs, dialect, awaited }
    }
}

/// The names a model call can make something of: what it was offered, and servers on their way.
#[derive(Clone)]
pub(crate) struct KnownNames {
    /// What is offered.
    pub(crate) offer: Offer,
    /// Servers on their way, whose tools are not known for certain yet.
    pub(crate) starting: Vec<String>,
}

impl KnownNames {
    /// Whether this names a tool that is there, or may be one of a server on its way.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.offer.knows(name) || self.starting.iter().any(|server| is_of_server(name, server))
    }
}

/// The servers a model call waits for only if its reply names them.
pub(crate) struct NamedServers {
    servers: Option<Arc<dyn ToolServers>>,
    known: KnownNames,
    /// How calls may be written into the text of a reply.
    spoken: Option<Spoken>,
    feed: Feed,
    at: (RunId, TurnId),
}

impl NamedServers {
    /// A call of a tool that is not offered, but may be one of a server on its way, is worth waiting for.
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

/// Waits for these servers, as long as the policy lets the first turn of the run wait.
async fn wait_before_first_turn(outside: &Outside, feed: &Feed, run: &Run, awaited: Vec<String>) {
    let (limit_ms, Some(servers)) = (run.policy().server_wait_ms, outside.registry.servers()) else { return };
    if limit_ms == 0 || awaited.is_empty() {
        return;
    }
    let settled = servers.settled(awaited.clone());
    publish_wait(feed, (run.id, run.turn), Wait { what: WaitFor::Servers(awaited), limit_ms });
    let out_of_time = outside.clock.until(outside.clock.now().plus_ms(limit_ms));
    tokio::select! {
        () = settled => {}
        () = out_of_time => {}
    }
}

impl Driver {
    /// The offer of the open run.
    pub(crate) fn offer(&mut self) -> Offer {
        let registry = &self.outside.registry;
        let Some(run) = &self.state.control.run else { return registry.offer(&Selection::default()) };
        match &self.underway.offering {
            Some(offering) if offering.run == run.id => offering.offer.clone(),
            Some(_) | None => {
                registry.wake(&Selection::from(run.policy()));
                let offering = match (&run.phase, &self.state.book.context) {
                    (Phase::Modelling(_) | Phase::Calling(_) | Phase::Between, Some(context)) => {
                        Offering::resumed(registry, run, context)
                    }
                    (Phase::Pinning, _) | (_, None) => Offering::new(registry, run),
                };
                self.underway.offering.insert(offering).offer.clone()
            }
        }
    }

    /// The offer with this tool in it, which may have been called though the model was not told of it.
    pub(crate) fn offer_with(&mut self, tool: &ToolName) -> Offer {
        let offer = self.offer();
        match &self.underway.offering {
            Some(offering) => self.outside.registry.reaching(&offer, tool, &offering.selection),
            None => offer,
        }
    }

    fn gathering(&self) -> Gathering {
        Gathering {
            instructions: self.agent.instructions.clone(),
            run: self.state.control.run.as_ref().map(|run| Arc::clone(&run.started)),
            dialect: self.state.control.dialect(),
            files: FileRules::of(Arc::clone(&self.agent.permissions)),
            secrets: Arc::clone(&self.outside.secrets),
        }
    }

    /// What the run sends before the conversation, and the offer it was gathered with. The first time the
    /// offer is taken, servers that were never listed before may be waited for.
    pub(crate) fn pin(&mut self) -> BoxFuture<'static, (PinnedContext, Option<Offering>)> {
        let gathering = self.gathering();
        let run = self.state.control.run.as_ref().filter(|run| matches!(run.phase, Phase::Pinning)).cloned();
        let Some(run) = run else {
            let offer = self.offer();
            let awaited = self.underway.offering.as_ref().map(|offering| awaited(&offering.open)).unwrap_or_default();
            return Box::pin(async move { (gathering.context(offer, awaited).await, None) });
        };
        let (outside, feed) = (Arc::clone(&self.outside), self.feed.clone());
        let selection = Selection::from(run.policy());
        outside.registry.wake(&selection);
        Box::pin(async move {
            let stages = outside.registry.stages(&selection).into_iter();
            let awaited = stages.filter(|(_, stage)| known(stage) == Some(Known::No)).map(|(server, _)| server);
            wait_before_first_turn(&outside, &feed, &run, awaited.collect()).await;
            let offering = Offering::new(&outside.registry, &run);
            (offering.context(gathering).await, Some(offering))
        })
    }

    /// The names the open run can make something of.
    pub(crate) fn known(&mut self) -> KnownNames {
        let offer = self.offer();
        let starting = self.underway.offering.iter().flat_map(|offering| offering.open.keys().cloned()).collect();
        KnownNames { offer, starting }
    }

    /// How calls may be written into the text of a reply of the open run.
    fn spoken(&self) -> Option<Spoken> {
        let (run, context) = self.state.control.run.as_ref().zip(self.state.book.context.as_ref())?;
        textual::spoken(run.policy(), context)
    }

    pub(crate) fn named_servers(&self, known: KnownNames) -> NamedServers {
        let (run, spoken) = (self.state.control.run.as_ref(), self.spoken());
        let at = run.map(|run| (run.id, run.turn)).unwrap_or_default();
        NamedServers { servers: self.outside.registry.servers().cloned(), known, spoken, feed: self.feed.clone(), at }
    }

    /// What a model call's end means, by the names it was made under.
    pub(crate) fn read(
        &self,
        key: windlass_machine::AttemptKey,
        known: KnownNames,
        result: Result<Reply, Failure>,
        streamed: &str,
    ) -> Fact {
        let selection = self.underway.offering.as_ref().map(|offering| &offering.selection);
        let selection = selection.filter(|_| self.outside.registry.servers().is_some());
        let known = match (&result, selection) {
            (Ok(reply), Some(selection)) if may_be_late(reply, self.spoken().as_ref(), &known.offer) => {
                KnownNames { offer: self.outside.registry.with_late(&known.offer, selection), ..known }
            }
            (Ok(_) | Err(_), _) => known,
        };
        let read = attempt::Read { state: &self.state, known: &known, agent: &self.agent, outside: &self.outside };
        let mut fact = read.fact(key, result, streamed);
        if let (Fact::Replied { calls, .. }, Some(selection)) = (&mut fact, selection) {
            let unknown = calls.iter_mut().filter(|call| matches!(call.verdict, Verdict::Unknown { .. }));
            let unknown: Vec<_> = unknown.collect();
            if !unknown.is_empty() {
                let stages = self.outside.registry.stages(selection);
                unknown.into_iter().for_each(|call| blame_server(&call.name, &mut call.verdict, &stages));
            }
        }
        fact
    }

    /// At a turn boundary what has come up since joins the offer.
    pub(crate) async fn renew_offer(&mut self) -> Result<(), StoreError> {
        let begins = self.owed.iter().find_map(|effect| {
            let Effect::CallModel { key, mode, .. } = effect else { return None };
            (key.attempt == 1 && !self.underway.is_running(effect)).then_some(*mode)
        });
        let Some(mode) = begins else { return Ok(()) };
        let empty = self.offer().specs().is_empty();
        // A turn that must not call anything has no use for more tools.
        match mode {
            TurnMode::Tools => self.grow_offer().await,
            TurnMode::Talk if empty => self.grow_offer().await,
            TurnMode::Talk | TurnMode::WrapUp => Ok(()),
        }
    }

    async fn grow_offer(&mut self) -> Result<(), StoreError> {
        let gathering = self.gathering();
        let Some(offering) = &mut self.underway.offering else { return Ok(()) };
        if offering.open.is_empty() {
            return Ok(());
        }
        let Some(joined) = offering.grow(&self.outside.registry) else { return Ok(()) };
        let context = offering.context(gathering).await;
        self.step(Fact::OfferChanged { context, joined }).await.map(drop)
    }
}

/// Whether a reply may call a tool that it was not told of.
fn may_be_late(reply: &Reply, spoken: Option<&Spoken>, offer: &Offer) -> bool {
    let by_text = reply.calls.is_empty() && spoken.is_some();
    by_text || reply.calls.iter().any(|call| !offer.names_exactly(&call.name))
}

/// A call that names a server which could not be connected is no mistake of the model's.
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
