//! Calls written as text (T4): the dialect in which a run's context is pinned, and what follows when a server turns out
//! to support no tools.

use windlass_vocab::{Dialect, Policy};

use crate::control::LoopState;
use crate::draft::Draft;

impl LoopState {
    /// Returns the dialect for the open run's calls; `None` where they use the wire's own format.
    #[must_use]
    pub fn dialect(&self) -> Option<Dialect> {
        let run = self.run.as_ref()?;
        let declared = |name| run.started.model(name).is_some_and(|model| model.toolless);
        let toolless = run.started.chain.iter().any(|model| self.toolless.contains(model) || declared(model));
        if is_native(run.policy()) && !toolless { None } else { fallback(run.policy()) }
    }
}

/// Whether the wire's own format is tried first.
fn is_native(policy: &Policy) -> bool {
    policy.dialects.iter().all(|dialect| !is_textual(*dialect)) || policy.dialects.contains(&Dialect::Native)
}

/// Returns the dialect to use where the wire supports no calls: the one the policy names, or `<tool>` blocks where it
/// names `probe`.
fn fallback(policy: &Policy) -> Option<Dialect> {
    let named = policy.dialects.iter().copied().find(|dialect| is_textual(*dialect));
    named.or_else(|| policy.dialects.contains(&Dialect::Probe).then_some(Dialect::ToolBlock))
}

fn is_textual(dialect: Dialect) -> bool {
    match dialect {
        Dialect::ToolBlock | Dialect::Bracket | Dialect::Lines | Dialect::BareJson => true,
        Dialect::Native | Dialect::Probe => false,
    }
}

impl Draft<'_> {
    /// Returns the dialect with which the run continues when a server supports no tools; `None` where calls are text
    /// already, or the policy has no text dialect.
    pub(crate) fn other_dialect(&self) -> Option<Dialect> {
        let native = self.state.transcript.context.as_ref().is_some_and(|context| context.dialect.is_none());
        self.run().filter(|_| native).and_then(|run| fallback(run.policy()))
    }
}
