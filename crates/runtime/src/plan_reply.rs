//! The planner's call (S3): the files of the workspace are listed before it, and patterns in its reply are compared with them.

use std::sync::Arc;

use windlass_machine::{AttemptKey, Fact, ListedFiles, Phase, plan_steps};
use windlass_provider::BoxFuture;
use windlass_vocab::{Part, TurnMode};

use crate::driver::Driver;
use crate::planner_files::PlannerFiles;
use crate::unasked_look::UnaskedLook;

/// The most files that a pattern in a plan is compared with.
const KNOWN_FILES: usize = 5_000;

impl Driver {
    /// Returns the listing that a planner's call is still to be made with; `None` for other calls, or where it is there.
    pub(crate) fn listing_for_plan(&self, key: AttemptKey, mode: TurnMode) -> Option<BoxFuture<'static, ListedFiles>> {
        if mode != TurnMode::Plan || self.running_effects.planner_files.turn == Some((key.run, key.turn)) {
            return None;
        }
        let workspace = self.services.workspace.clone()?;
        let look = UnaskedLook { workspace, permissions: Arc::clone(&self.agent.permissions) };
        Some(Box::pin(look.names(KNOWN_FILES)))
    }

    /// Keeps the listing for the planner's call.
    pub(crate) fn keep_listing(&mut self, key: AttemptKey, files: ListedFiles) {
        self.running_effects.planner_files = PlannerFiles { turn: Some((key.run, key.turn)), files };
    }

    /// Returns the fact of a planner's reply; any other fact as it is.
    pub(crate) fn planned(&self, fact: Fact) -> Fact {
        let Fact::Replied { attempt, parts, stop, usage, .. } = fact else { return fact };
        let steps = plan_steps(&Part::joined_text(&parts), &self.running_effects.planner_files.files);
        Fact::Planned { attempt, parts, stop, usage, steps }
    }

    /// Whether the open run waits for a planner's reply.
    pub(crate) fn awaits_plan(&self) -> bool {
        let run = self.state.control.run.as_ref();
        run.is_some_and(|run| matches!(&run.phase, Phase::Modelling(attempt) if attempt.mode == TurnMode::Plan))
    }
}
