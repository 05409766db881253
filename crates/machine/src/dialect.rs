//! Calls written as text (T4): which dialect a run's context is pinned in, and what happens where a server
//! turns out to take no tools.

use windlass_vocab::{Dialect, Policy};

use crate::control::LoopState;
use crate::draft::Draft;

impl LoopState {
    /// The dialect the open run's calls are to be written in; nothing where they are the wire's own.
    #[must_use]
    pub fn dialect(&self) -> Option<Dialect> {
        let run = self.run.as_ref()?;
        let toolless = run.started.chain.iter().any(|model| self.toolless.contains(model));
        if is_native(run.policy()) && !toolless { None } else { fallback(run.policy()) }
    }
}

/// Whether the wire's own calls are tried first.
fn is_native(policy: &Policy) -> bool {
    policy.dialects.iter().all(|dialect| !is_textual(*dialect)) || policy.dialects.contains(&Dialect::Native)
}

/// How calls are written where the wire has none: as the policy says, or in blocks where it leaves that
/// to what works.
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
    /// How the run goes on where a server takes no tools; nothing where calls are text already, or the
    /// policy knows no other way.
    pub(crate) fn other_dialect(&self) -> Option<Dialect> {
        let native = self.state.transcript.context.as_ref().is_some_and(|context| context.dialect.is_none());
        self.run().filter(|_| native).and_then(|run| fallback(run.policy()))
    }
}
