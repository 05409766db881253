//! Calls written as text (T4): the dialect in which a run's context is pinned, and what follows when a server turns out
//! to support no tools.

use std::collections::BTreeSet;

use windlass_vocab::{Dialect, ModelName, Policy};

use crate::control::LoopState;
use crate::draft::Draft;

/// Which models of a run write calls as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextModels {
    /// None: all use the wire's own format.
    None,
    /// Every model that the run may call.
    All(Dialect),
    /// These, each dialect with its models; the others use the wire's own format.
    Some(Vec<(Dialect, BTreeSet<ModelName>)>),
}

impl LoopState {
    /// Returns the dialect in which the open run has this model write calls; `None` means the wire's own format. What is
    /// known of the model counts more than the policy (M2).
    #[must_use]
    pub fn dialect_of(&self, model: &ModelName) -> Option<Dialect> {
        let run = self.run.as_ref()?;
        let known = run.started.model(model);
        let toolless = known.is_some_and(|model| model.toolless) || self.toolless.contains(model);
        let own = known.and_then(|model| model.dialect);
        match own {
            Some(dialect) if is_textual(dialect) => Some(dialect),
            Some(Dialect::Native) if !toolless => None,
            Some(_) | None if is_native(run.policy()) && !toolless => None,
            Some(_) | None => fallback(run.policy()),
        }
    }

    /// Returns which models of the open run write calls as text. One that can't call tools does not put the others,
    /// which can, into a text dialect (M2).
    #[must_use]
    pub fn text_models(&self) -> TextModels {
        let Some(run) = &self.run else { return TextModels::None };
        let called = || run.started.chain.iter().chain(run.started.role_chains.values().flatten());
        let mut groups: Vec<(Dialect, BTreeSet<ModelName>)> = Vec::new();
        for (model, dialect) in called().filter_map(|model| Some((model, self.dialect_of(model)?))) {
            match groups.iter_mut().find(|(known, _)| *known == dialect) {
                Some((_, models)) => {
                    models.insert(model.clone());
                }
                None => groups.push((dialect, BTreeSet::from([model.clone()]))),
            }
        }
        match &groups[..] {
            [] => TextModels::None,
            [(dialect, models)] if called().all(|model| models.contains(model)) => TextModels::All(*dialect),
            [..] => TextModels::Some(groups),
        }
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
        Dialect::ToolBlock
        | Dialect::Bracket
        | Dialect::Lines
        | Dialect::BareJson
        | Dialect::ToolTag
        | Dialect::Script => true,
        Dialect::Native | Dialect::Probe => false,
    }
}

impl Draft<'_> {
    /// Returns the dialect with which the run continues when this model's server supports no tools; `None` where its
    /// calls are text already, or the policy has no text dialect.
    pub(crate) fn other_dialect(&self, model: &ModelName) -> Option<Dialect> {
        let context = self.state.transcript.context.as_ref();
        let native = context.is_some_and(|context| context.dialect_of(model).is_none());
        self.run().filter(|_| native).and_then(|run| fallback(run.policy()))
    }
}
