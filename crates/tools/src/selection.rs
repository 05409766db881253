//! Which of all tools a run offers (T2).
//!
//! The stages, in this order: the intent router, which may leave nothing to select (`Selection::default`) → tags, read once
//! as the run begins; tools tagged `core` always pass → the relevance pre-filter, where the catalogue is large (`Relevance`)
//! → built-in tools that a small model can't need for the request (`without`), or all but one (`only`) → hidden tools, last.
//! A tool that the last two leave out is refused even if the model calls it by name; one that the pre-filter leaves out can
//! be called by its full name and looked for. One whose answer the model has anyway is not shown, and runs if it is called
//! all the same (`not_showing`). The result is pinned for the run.

use std::collections::BTreeSet;

use windlass_vocab::{FoundTools, Policy, ToolName, ToolSource, ToolSpec};

use crate::Rule;
use crate::prefilter::Relevance;
use crate::servers::WAIT_FOR_SERVERS;

/// The tag of tools that every selection of tags lets through. Built-in tools without a tag count as
/// tagged with it.
pub const CORE: &str = "core";

/// Which tools of the registry a run wants.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    sources: BTreeSet<ToolSource>,
    tags: BTreeSet<String>,
    hidden: Vec<Rule>,
    /// Built-in tools that can be called but are not shown.
    unshown: Vec<&'static str>,
    recall: RecallOffer,
    /// The built-in tool that is the only one.
    only: Option<&'static str>,
    relevance: Option<Relevance>,
}

/// Whether the tool that reads the earlier part of a conversation is offered: only where something was left out (C5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecallOffer {
    /// Nothing was left out.
    #[default]
    Absent,
    /// Something was left out.
    Offered,
}

/// What a selection does with a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    Offered,
    /// It is not shown; a call of it is run.
    Unshown,
    /// It is not shown; a call of it is refused.
    Hidden,
    Absent,
}

impl From<&Policy> for Selection {
    fn from(policy: &Policy) -> Self {
        let rules = policy.hidden.iter().filter_map(|pattern| pattern.parse().ok());
        Self {
            sources: policy.tools.clone(),
            tags: policy.tags.clone(),
            hidden: rules.collect(),
            unshown: Vec::new(),
            recall: RecallOffer::Absent,
            only: None,
            relevance: None,
        }
    }
}

impl FromIterator<ToolSource> for Selection {
    fn from_iter<I: IntoIterator<Item = ToolSource>>(sources: I) -> Self {
        Self { sources: sources.into_iter().collect(), ..Self::default() }
    }
}

impl Selection {
    /// Returns this selection, with or without the tool that reads the earlier part of the conversation.
    #[must_use]
    pub fn with_recall(self, recall: RecallOffer) -> Self {
        Self { recall, ..self }
    }

    /// Returns this selection, in which a large catalogue is filtered by what fits the request.
    #[must_use]
    pub fn with_relevance(self, relevance: Option<Relevance>) -> Self {
        Self { relevance, ..self }
    }

    /// Returns what a large catalogue is filtered by, if it is.
    #[must_use]
    pub fn relevance(&self) -> Option<&Relevance> {
        self.relevance.as_ref()
    }

    /// Returns this selection without these built-in tools.
    #[must_use]
    pub fn without(mut self, tools: &[&str]) -> Self {
        let local = |tool: &&str| format!("{}.{tool}", ToolName::LOCAL).parse().ok();
        self.hidden.extend(tools.iter().filter_map(local));
        self
    }

    /// Returns this selection, in which these built-in tools can be called but are not shown.
    #[must_use]
    pub fn not_showing(mut self, tools: &[&'static str]) -> Self {
        self.unshown.extend(tools);
        self
    }

    /// Whether a tool that is not shown can be called.
    #[must_use]
    pub fn has_unshown(&self) -> bool {
        !self.unshown.is_empty()
    }

    /// Returns this selection with one built-in tool alone.
    #[must_use]
    pub fn only(self, tool: &'static str) -> Self {
        Self { only: Some(tool), ..self }
    }

    pub(crate) fn recall(&self) -> RecallOffer {
        self.recall
    }

    pub(crate) fn placement(&self, spec: &ToolSpec) -> Placement {
        if !self.sources.contains(&source(spec)) {
            return Placement::Absent;
        }
        if self.hides(&spec.name) || self.only.is_some_and(|only| !spec.name.is_local() || spec.name.bare() != only) {
            return Placement::Hidden;
        }
        match (self.is_tagged(spec), spec.name.is_local() && self.unshown.contains(&spec.name.bare())) {
            (true, true) => Placement::Unshown,
            (true, false) => Placement::Offered,
            (false, _) => Placement::Absent,
        }
    }

    /// Whether the selection wants tools of servers at all.
    pub(crate) fn wants_servers(&self) -> bool {
        self.sources.contains(&ToolSource::Mcp)
    }

    /// Whether a tool passes the tag filter. Tools that end a run always do.
    fn is_tagged(&self, spec: &ToolSpec) -> bool {
        self.tags.is_empty()
            || spec.ending.is_some()
            || spec.tags.is_empty() && spec.name.is_local()
            || spec.tags.iter().any(|tag| tag == CORE || self.tags.contains(tag))
    }

    fn hides(&self, name: &ToolName) -> bool {
        self.hidden.iter().any(|rule| rule.concerns(name))
    }
}

pub(crate) fn source(spec: &ToolSpec) -> ToolSource {
    if spec.ending.is_some() {
        ToolSource::Ending
    } else if [WAIT_FOR_SERVERS, FoundTools::TOOL].contains(&spec.name.as_str()) {
        // These wait for servers that are connecting and find tools of servers, so they belong to them.
        ToolSource::Mcp
    } else if spec.name.is_local() {
        ToolSource::BuiltIn
    } else {
        ToolSource::Mcp
    }
}
