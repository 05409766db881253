//! The model's plan: its list of steps.

use serde::{Deserialize, Serialize};

/// The progress of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not started.
    Open,
    /// In progress.
    Doing,
    /// Done.
    Done,
}

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    /// What is to be done.
    pub step: String,
    /// Its progress.
    pub status: PlanStatus,
}

/// The form that models see: `[x] step`.
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

/// The plan changed; this is the whole new plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChanged {
    /// The steps.
    pub items: Vec<PlanItem>,
}
