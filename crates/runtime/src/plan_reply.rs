//! Reads a planner's reply (S3): patterns in it are compared with the files of the workspace as they are now.

use std::sync::Arc;

use windlass_machine::{Fact, Phase, plan_steps};
use windlass_tools::FileRules;
use windlass_vocab::{Part, TurnMode};

use crate::driver::Driver;

/// The most files that a pattern in a plan is compared with.
const KNOWN_FILES: usize = 5_000;

impl Driver {
    /// Returns the fact of a planner's reply; any other fact as it is.
    pub(crate) fn planned(&self, fact: Fact) -> Fact {
        let Fact::Replied { attempt, parts, stop, usage, .. } = fact else { return fact };
        let text = Part::joined_text(&parts);
        let files = self.services.workspace.as_ref().map(|workspace| {
            let rules = FileRules::of(Arc::clone(&self.agent.permissions));
            workspace.list_files(&rules, KNOWN_FILES)
        });
        let steps = plan_steps(&text, &files.unwrap_or_default());
        Fact::Planned { attempt, parts, stop, usage, steps }
    }

    /// Whether the open run waits for a planner's reply.
    pub(crate) fn awaits_plan(&self) -> bool {
        let run = self.state.control.run.as_ref();
        run.is_some_and(|run| matches!(&run.phase, Phase::Modelling(attempt) if attempt.mode == TurnMode::Plan))
    }
}
