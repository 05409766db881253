//! The relevance pre-filter (S4, T2): of a large catalogue, which tools a run offers.
//!
//! Core tools always pass. Of the others those pass whose words fit the request best; a tool that shares no word with it
//! does not. The offer of the run before is kept where it has all that clearly fits: a changed offer costs the provider's
//! cache, and "yes, do it" says nothing of tools. A request in another language than the tools can't choose among them: all
//! are offered.

use std::collections::BTreeSet;

use windlass_vocab::{ToolName, ToolSpec};

use crate::relevance::{RankedTool, RequestWordCounts, ToolIndex};
use crate::selection::CORE;

/// Catalogues up to this size are offered whole.
const SMALL: usize = 30;
/// An offer of the run before may have this many times the wanted number of tools: some were looked for since.
const KEPT_SHARE: usize = 2;
/// A tool clearly fits if its score is at least this part of the best one.
const CLEAR: f64 = 0.5;
/// A request with fewer words than this, common ones aside, may say nothing of tools.
const TELLING_WORDS: usize = 4;
/// A longer one is understood if at least one of this many words is common English or occurs in a tool.
const UNDERSTOOD_PART: usize = 3;

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
        let Some(fitting) = self.fitting(catalogue) else { return BTreeSet::new() };
        let kept = fitting.places(|name| self.before.contains(name));
        let is_short = kept.len() <= KEPT_SHARE * self.keep || fitting.length == RequestLength::Short;
        fitting.all_but(if is_short && fitting.is_within(&kept) { &kept } else { &fitting.top })
    }

    /// The same for an offer that has the tools `is_offered` and may grow. It keeps those, and is not added to where it has
    /// all that clearly fits: a run that resumes, or whose servers connect, would lose the provider's cache for nothing.
    pub(crate) fn left_out_of_more<'s>(
        &self,
        catalogue: &[&'s ToolSpec],
        is_offered: impl Fn(&ToolName) -> bool,
    ) -> BTreeSet<&'s ToolName> {
        let Some(fitting) = self.fitting(catalogue) else { return BTreeSet::new() };
        let mut passing = fitting.places(is_offered);
        if !fitting.is_within(&passing) {
            passing.extend(&fitting.top);
        }
        fitting.all_but(&passing)
    }

    /// Returns what fits the request; `None` where all tools are offered.
    fn fitting<'s>(&self, catalogue: &[&'s ToolSpec]) -> Option<FittingTools<'s>> {
        let others: Vec<&ToolSpec> = catalogue.iter().copied().filter(|spec| !is_core(spec)).collect();
        if catalogue.len() <= SMALL || others.len() <= self.keep {
            return None;
        }
        let index = ToolIndex::of(others.iter().copied());
        let ranked = index.ranked(&self.request);
        let best = ranked.first().map_or(0.0, |tool| tool.score);
        let length = match ToolRequestReading::of(index.words(&self.request), &ranked) {
            ToolRequestReading::NotUnderstood => return None,
            ToolRequestReading::Understood(length) => length,
        };
        let top = ranked.get(..self.keep).unwrap_or(&ranked);
        let clear = top.iter().filter(|tool| tool.score >= CLEAR * best).map(|tool| tool.place).collect();
        Some(FittingTools { others, top: top.iter().map(|tool| tool.place).collect(), clear, length })
    }
}

/// How long a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestLength {
    /// So short that it may say nothing of tools.
    Short,
    Long,
}

/// Whether the words of a request can choose tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolRequestReading {
    Understood(RequestLength),
    /// It is long, and fits no tool or is mostly in words that neither English nor the tools have.
    NotUnderstood,
}

impl ToolRequestReading {
    fn of(words: RequestWordCounts, ranked: &[RankedTool]) -> Self {
        if words.all - words.common < TELLING_WORDS {
            return Self::Understood(RequestLength::Short);
        }
        let is_foreign = (words.common + words.known) * UNDERSTOOD_PART < words.all;
        if ranked.is_empty() || is_foreign { Self::NotUnderstood } else { Self::Understood(RequestLength::Long) }
    }
}

/// The tools of a catalogue besides the core ones, and the places of those that fit a request.
struct FittingTools<'s> {
    others: Vec<&'s ToolSpec>,
    top: BTreeSet<usize>,
    /// Those of the top that clearly fit.
    clear: BTreeSet<usize>,
    length: RequestLength,
}

impl<'s> FittingTools<'s> {
    fn places(&self, is_wanted: impl Fn(&ToolName) -> bool) -> BTreeSet<usize> {
        self.others.iter().enumerate().filter(|(_, spec)| is_wanted(&spec.name)).map(|(place, _)| place).collect()
    }

    /// Whether these tools have all that clearly fits.
    fn is_within(&self, places: &BTreeSet<usize>) -> bool {
        self.clear.is_subset(places)
    }

    fn all_but(&self, passing: &BTreeSet<usize>) -> BTreeSet<&'s ToolName> {
        let out = self.others.iter().enumerate().filter(|(place, _)| !passing.contains(place));
        out.map(|(_, spec)| &spec.name).collect()
    }
}
