//! What the open run offers: one snapshot, pinned (T2, M6).
//!
//! The snapshot is taken at the pin and waits for no server. What a server that was being connected for
//! the first time brings joins at the next turn boundary, or with the first call that names it; that is
//! the only way an offer grows in mid-run, and it is a record.

use std::sync::Arc;

use windlass_machine::{Effect, Fact, Phase, Run};
use windlass_provider::BoxFuture;
use windlass_store::StoreError;
use windlass_tools::dialect::Spoken;
use windlass_tools::{Offer, Selection, ToolServers, is_of_server};
use windlass_vocab::{Failure, PinnedContext, Reply, RunId};

use crate::driver::Driver;
use crate::textual;

/// The offer of a run.
pub(crate) struct Offering {
    run: RunId,
    offer: Offer,
    /// Servers that were being connected for the first time when it was taken.
    awaited: Vec<String>,
}

/// The names a run can make something of.
#[derive(Clone)]
pub(crate) struct KnownNames {
    /// What is offered.
    pub(crate) offer: Offer,
    /// Servers on their way, whose tools are not known yet.
    pub(crate) awaited: Vec<String>,
}

impl KnownNames {
    /// Whether this names a tool that is there, or may be one of a server on its way.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.offer.knows(name) || self.awaited.iter().any(|server| is_of_server(name, server))
    }
}

/// The servers a run waits for only if it must.
pub(crate) struct AwaitedServers {
    servers: Option<Arc<dyn ToolServers>>,
    known: KnownNames,
    /// How calls may be written into the text of a reply.
    spoken: Option<Spoken>,
}

impl AwaitedServers {
    /// A call of a tool whose server is on its way is worth waiting for.
    pub(crate) async fn wait_for_those_named(&self, result: &Result<Reply, Failure>) {
        let (Some(servers), Ok(reply)) = (&self.servers, result) else { return };
        if self.known.awaited.is_empty() {
            return;
        }
        let called = textual::called(reply, self.spoken.as_ref(), &self.known);
        let is_named = |server: &&String| called.iter().any(|name| is_of_server(name, server));
        let named: Vec<String> = self.known.awaited.iter().filter(is_named).cloned().collect();
        if !named.is_empty() {
            servers.settled(named).await;
        }
    }
}

impl Driver {
    /// The offer of the open run.
    pub(crate) fn offer(&mut self) -> Offer {
        let Some(run) = &self.state.control.run else {
            return self.outside.registry.offer(&Selection::default());
        };
        match &self.underway.offering {
            Some(offering) if offering.run == run.id => offering.offer.clone(),
            Some(_) | None => {
                let offering = self.take_offer(run);
                self.underway.offering.insert(offering).offer.clone()
            }
        }
    }

    /// A new offer for a run that is being pinned; for one that was, the one it was pinned with.
    fn take_offer(&self, run: &Run) -> Offering {
        let (registry, selection) = (&self.outside.registry, Selection::from(run.policy()));
        // Asked first: a server that comes up in between is offered, and looked at once more.
        let awaited = registry.awaited(&selection);
        let offer = match (&run.phase, &self.state.book.context) {
            (Phase::Modelling(_) | Phase::Calling(_) | Phase::Between, Some(context)) => {
                registry.pinned(&context.offer, &selection)
            }
            (Phase::Pinning, _) | (_, None) => registry.offer(&selection),
        };
        Offering { run: run.id, offer, awaited }
    }

    /// What a run sends before the conversation, gathered.
    pub(crate) fn context(&mut self) -> BoxFuture<'static, PinnedContext> {
        let offer = self.offer();
        let instructions = self.agent.instructions.clone();
        let reads = instructions.workspace.is_some();
        let started = self.state.control.run.as_ref().map(|run| Arc::clone(&run.started));
        let dialect = self.state.control.dialect();
        Box::pin(async move {
            let specs = offer.specs().to_vec();
            let gather = move || started.map(|run| instructions.prefix(&run, offer.specs(), dialect));
            // Without a workspace there is no file to read.
            let gathered = if reads { tokio::task::spawn_blocking(gather).await.ok().flatten() } else { gather() };
            let dialect = dialect.filter(|_| !specs.is_empty());
            PinnedContext { prefix: gathered.unwrap_or_default(), offer: specs, dialect }
        })
    }

    /// The names the open run can make something of.
    pub(crate) fn known(&mut self) -> KnownNames {
        let offer = self.offer();
        let awaited = self.underway.offering.as_ref().map(|offering| offering.awaited.clone()).unwrap_or_default();
        KnownNames { offer, awaited }
    }

    pub(crate) fn awaited_servers(&self, known: KnownNames) -> AwaitedServers {
        let run = self.state.control.run.as_ref().zip(self.state.book.context.as_ref());
        let spoken = run.and_then(|(run, context)| textual::spoken(run.policy(), context));
        AwaitedServers { servers: self.outside.registry.servers().cloned(), known, spoken }
    }

    /// At a turn boundary what has come up since joins the offer.
    pub(crate) async fn renew_offer(&mut self) -> Result<(), StoreError> {
        let begins = |effect: &Effect| {
            matches!(effect, Effect::CallModel { key, .. } if key.attempt == 1) && !self.underway.is_running(effect)
        };
        if self.owed.iter().any(begins) { self.grow_offer().await } else { Ok(()) }
    }

    /// Takes the offer anew if a server that was awaited is no longer.
    pub(crate) async fn grow_offer(&mut self) -> Result<(), StoreError> {
        let (Some(run), Some(offering)) = (&self.state.control.run, &self.underway.offering) else { return Ok(()) };
        if offering.run != run.id || offering.awaited.is_empty() {
            return Ok(());
        }
        let selection = Selection::from(run.policy());
        let awaited = self.outside.registry.awaited(&selection);
        if awaited == offering.awaited {
            return Ok(());
        }
        let offer = self.outside.registry.offer(&selection);
        self.underway.offering = Some(Offering { run: run.id, offer, awaited });
        let context = self.context().await;
        self.step(Fact::OfferChanged(context)).await.map(drop)
    }
}
