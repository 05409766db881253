//! The record of a reply that is no part of the conversation's cached text: a title, a router's verdict, a plan, or what
//! was left of an aborted call. It has no calls.

use windlass_vocab::{ModelReplied, Part, StopReason, Usage};

use crate::AttemptKey;
use crate::control::{Attempt, Run};

impl Run {
    /// Returns the record of a reply of this run to an attempt.
    pub(crate) fn plain_reply(
        &self,
        (key, attempt): (AttemptKey, &Attempt),
        mut parts: Vec<Part>,
        stop: StopReason,
        usage: Usage,
    ) -> ModelReplied {
        parts.retain(|part| !matches!(part, Part::Call { .. }));
        let model = self.model_of(attempt);
        ModelReplied {
            attempt: key.attempt,
            cost: self.cost(&model, &usage),
            model,
            parts,
            stop,
            usage,
            partial: false,
            misfit: None,
            malformed: None,
            role: attempt.mode.role(),
            cache: None,
            cut: None,
            retrieved: 0,
            intent: None,
        }
    }
}
