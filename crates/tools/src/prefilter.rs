//! The relevance pre-filter (S4, T2): of a large catalogue, which tools a run offers.
//!
//! Core tools always pass. Of the others those pass whose words fit the request best; a tool that shares no word with it
//! does not. The offer of the run before is kept where it has all that clearly fits: a changed offer costs the provider's
//! cache, and "yes, do it" says nothing of tools.

use std::collections::BTreeSet;

use windlass_vocab::{ToolName, ToolSpec};

use crate::relevance::ToolIndex;
use crate::selection::CORE;

/// Catalogues up to this size are offered whole.
const SMALL: usize = 30;
/// An offer of the run before may have this many times the wanted number of tools: some were looked for since.
const KEPT_SHARE: usize = 2;
/// A tool clearly fits if its score is at least this part of the best one.
const CLEAR: f64 = 0.5;

/// What the pre-filter goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relevance {
    /// The words of the request.
    pub request: String,
    /// How many tools are offered besides core tools.
    pub keep: usize,
    /// The tools that the run before offered.
    pub before: BTreeSet<ToolName>,
}

/// Whether the pre-filter always lets a tool pass.
pub(crate) fn is_core(spec: &ToolSpec) -> bool {
    spec.name.is_local() || spec.ending.is_some() || spec.tags.contains(CORE)
}

impl Relevance {
    /// Returns the tools of a catalogue that the pre-filter leaves out of a new offer.
    pub(crate) fn left_out<'s>(&self, catalogue: &[&'s ToolSpec]) -> BTreeSet<&'s ToolName> {
        self.left_out_after(catalogue, &self.before)
    }

    /// The same for an offer that is about to grow: the run before does not matter any more.
    pub(crate) fn left_out_of_more<'s>(&self, catalogue: &[&'s ToolSpec]) -> BTreeSet<&'s ToolName> {
        self.left_out_after(catalogue, &BTreeSet::new())
    }

    fn left_out_after<'s>(&self, catalogue: &[&'s ToolSpec], before: &BTreeSet<ToolName>) -> BTreeSet<&'s ToolName> {
        let others: Vec<&ToolSpec> = catalogue.iter().copied().filter(|spec| !is_core(spec)).collect();
        if catalogue.len() <= SMALL || others.len() <= self.keep {
            return BTreeSet::new();
        }
        let ranked = ToolIndex::of(others.iter().copied()).ranked(&self.request);
        let best = ranked.first().map_or(0.0, |tool| tool.score);
        let (top, kept) = (ranked.get(..self.keep).unwrap_or(&ranked), kept(&others, before));
        let has_all = top.iter().filter(|tool| tool.score >= CLEAR * best).all(|tool| kept.contains(&tool.place));
        let passes: BTreeSet<usize> = if has_all && !kept.is_empty() && kept.len() <= KEPT_SHARE * self.keep {
            kept
        } else {
            top.iter().map(|tool| tool.place).collect()
        };
        let out = others.iter().enumerate().filter(|(place, _)| !passes.contains(place));
        out.map(|(_, spec)| &spec.name).collect()
    }
}

/// Returns the places of the tools that the run before offered.
fn kept(others: &[&ToolSpec], before: &BTreeSet<ToolName>) -> BTreeSet<usize> {
    others.iter().enumerate().filter(|(_, spec)| before.contains(&spec.name)).map(|(place, _)| place).collect()
}
