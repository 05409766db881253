//! The volatile tail of a request (C1): reminders → plan → retrieved context. It is built anew for every turn, sent
//! after the conversation and never recorded, so that the part that providers cache stays the same.
//!
//! The reminders, in this order, each only where it applies: environment → prefer tools, or honesty where there are none
//! → file links → platform.

pub(crate) mod passages;
mod plan;
mod reminders;

use windlass_vocab::{PlanItem, Timestamp, ToolSpec, TurnMode};

/// What the tail of a turn is made from.
pub(crate) struct TailSources<'a> {
    pub(crate) now: Timestamp,
    pub(crate) mode: TurnMode,
    pub(crate) offer: &'a [ToolSpec],
    pub(crate) plan: &'a [PlanItem],
    /// The passages as text; empty where there are none.
    pub(crate) passages: &'a str,
}

impl TailSources<'_> {
    /// Returns the lines for this turn.
    pub(crate) fn tail(&self) -> String {
        let sections = [
            Some(reminders::environment(self.now)),
            Some(reminders::tools(self.mode, self.offer)),
            reminders::file_links(self.offer),
            reminders::platform(self.offer, std::env::consts::OS),
            plan::section(self.plan),
            Some(self.passages.to_owned()).filter(|text| !text.is_empty()),
        ];
        sections.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests;
