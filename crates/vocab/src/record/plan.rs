//! The plan: its list of steps, and the child sessions that carry them out where the loop does so (S3).

use serde::{Deserialize, Serialize};

use crate::{CallId, EndReason, SessionId, Spending, TextOrigin, Usage};

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
    /// Given up: the child sessions that tried it did not finish it.
    Failed,
}

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    /// What is to be done.
    pub step: String,
    /// Its progress.
    pub status: PlanStatus,
    /// The file it is about, where the loop made it for each of several files (S3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl PlanItem {
    /// Returns a step that is about no particular file.
    #[must_use]
    pub fn new(step: impl Into<String>, status: PlanStatus) -> Self {
        Self { step: step.into(), status, file: None }
    }
}

/// The form that models see: `[x] step`.
impl std::fmt::Display for PlanItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = match self.status {
            PlanStatus::Open => ' ',
            PlanStatus::Doing => '>',
            PlanStatus::Done => 'x',
            PlanStatus::Failed => '!',
        };
        match &self.file {
            Some(file) => write!(f, "[{mark}] {file}: {}", self.step),
            None => write!(f, "[{mark}] {}", self.step),
        }
    }
}

/// The plan changed; this is the whole new plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChanged {
    /// The steps.
    pub items: Vec<PlanItem>,
}

/// A child session may have been started for a step of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildSpawned {
    /// Its position: the run and turn that made the plan, and its number among the children of that plan. With the
    /// session's id this is the child's key, so that it is started once.
    pub child: CallId,
    /// The step it carries out, from 0.
    pub step: u32,
}

/// A child session has ended its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildReported {
    /// Its position, see [`ChildSpawned`].
    pub child: CallId,
    /// Its session, unless it could not be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// How its run ended.
    pub reason: EndReason,
    /// Its answer, shortened; its own journal has all of it.
    pub answer: String,
    /// The files it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Where text came from that it was shown and nobody has checked, each once: its answer may repeat it (X4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<TextOrigin>,
    /// The tokens it used.
    #[serde(default)]
    pub usage: Usage,
    /// What it spent; this counts against the limits of the run that started it (M7).
    #[serde(default)]
    pub spent: Spending,
}
