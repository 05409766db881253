//! The list of what is to be done.

use serde::{Deserialize, Serialize};

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Open,
    /// Under way.
    Doing,
    /// Done.
    Done,
}

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    /// What is to be done.
    pub step: String,
    /// How far it is.
    pub status: PlanStatus,
}

/// As models are shown it: `[x] step`.
impl std::fmt::Display for PlanItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = match self.status {
            PlanStatus::Open => ' ',
            PlanStatus::Doing => '>',
            PlanStatus::Done => 'x',
        };
        write!(f, "[{mark}] {}", self.step)
    }
}

/// The plan changed; this is all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChanged {
    /// The steps.
    pub items: Vec<PlanItem>,
}
