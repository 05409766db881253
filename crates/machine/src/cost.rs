//! What model calls cost (M7).

use windlass_vocab::{ModelName, NanoMoney, Usage};

use crate::control::Run;

impl Run {
    /// Returns what a call of this model cost, where its prices are known.
    pub(crate) fn cost(&self, model: &ModelName, usage: &Usage) -> Option<NanoMoney> {
        Some(self.started.model(model)?.prices?.cost_of_call(usage))
    }
}
