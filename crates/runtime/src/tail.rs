//! The volatile tail of a request (C1): reminders → plan → retrieved context → what the judge says of a reply that it
//! sent back (S2). It is built anew for every turn, sent
//! after the conversation and never recorded, so that the part that providers cache stays the same.
//!
//! The reminders, in this order, each only where it applies: environment → prefer tools, or honesty where there are none
//! → file links → platform. A short prompt has one instead: the request, what is done of it and what is left.

pub(crate) mod passages;
mod plan;
mod reminders;

use windlass_machine::RequestProgress;
use windlass_tools::dialect::PromptStyle;
use windlass_vocab::{Dialect, PlanItem, Timestamp, ToolSpec, TurnMode};

/// What the tail of a turn is made from.
pub(crate) struct TailSources<'a> {
    pub(crate) now: Timestamp,
    pub(crate) mode: TurnMode,
    pub(crate) style: PromptStyle,
    /// The dialect of the model; `None` is the wire's own format.
    pub(crate) dialect: Option<Dialect>,
    /// The request, where results of calls have come between it and the end of the conversation.
    pub(crate) request: Option<&'a str>,
    /// How far the run has come with the files of the request.
    pub(crate) progress: Option<&'a RequestProgress>,
    pub(crate) offer: &'a [ToolSpec],
    pub(crate) plan: &'a [PlanItem],
    /// The passages as text; empty where there are none.
    pub(crate) passages: &'a str,
    /// What the model is told after the judge sent its last reply back.
    pub(crate) nudge: Option<&'a str>,
}

impl TailSources<'_> {
    /// Returns the lines for this turn.
    pub(crate) fn tail(&self) -> String {
        let [environment, tools, file_links, platform] = self.reminders();
        let sections = [
            environment,
            tools,
            file_links,
            platform,
            plan::section(self.plan),
            Some(self.passages.to_owned()).filter(|text| !text.is_empty()),
            self.nudge.map(str::to_owned),
        ];
        sections.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// A small model takes the last line it reads for its order: it is reminded of the request, and where it can't call
    /// tools, of that.
    fn reminders(&self) -> [Option<String>; 4] {
        match self.style {
            PromptStyle::Full => [
                Some(reminders::environment(self.now)),
                Some(reminders::tools(self.mode, self.offer)),
                reminders::file_links(self.offer),
                reminders::platform(self.offer, std::env::consts::OS),
            ],
            PromptStyle::Short => {
                let can_call = self.mode == TurnMode::Tools && !self.offer.is_empty();
                let reminder = match self.request.filter(|_| can_call) {
                    Some(request) => Some(reminders::request(request, self.progress, self.dialect)),
                    None if self.mode == TurnMode::WrapUp => Some(reminders::tools(self.mode, self.offer)),
                    None => None,
                };
                [None, reminder, None, None]
            }
        }
    }
}

#[cfg(test)]
mod tests;
