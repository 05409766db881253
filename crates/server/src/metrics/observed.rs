//! What is counted of records as they are stored.

use std::borrow::Cow;

use windlass_runtime::RecordObserver;
use windlass_vocab::{EndReason, Envelope, ModelName, OutcomeKind, Record, Usage};

use super::{MetricLabel, Metrics};

const NANOS: f64 = 1e9;

impl RecordObserver for Metrics {
    fn observe(&self, envelope: &Envelope) {
        match &envelope.record {
            Record::RunStarted(_) => {
                self.0.runs_started.inc();
            }
            Record::RunEnded(ended) => {
                self.0.runs_ended.get_or_create(&[("reason", Cow::Borrowed(reason(ended.reason)))]).inc();
            }
            Record::ModelReplied(replied) => {
                self.model_call(&replied.model, "ok", replied.usage);
                if let Some(cost) = replied.cost {
                    #[expect(clippy::cast_precision_loss, reason = "a counter of money for charts")]
                    self.0.cost_dollars.inc_by(cost.0.max(0) as f64 / NANOS);
                }
            }
            Record::AttemptFailed(failed) => {
                self.model_call(&failed.model, "failed", failed.usage.unwrap_or_default());
            }
            Record::CallFinished(finished) => {
                let outcome: [MetricLabel; 1] = [("outcome", Cow::Borrowed(outcome(finished.outcome)))];
                self.0.tool_calls.get_or_create(&outcome).inc();
                let took = std::time::Duration::from_millis(finished.took_ms);
                self.0.tool_call_seconds.get_or_create(&outcome).observe(took.as_secs_f64());
            }
            Record::SessionOpened(_)
            | Record::SessionChanged(_)
            | Record::LeaseTaken(_)
            | Record::MessageAccepted(_)
            | Record::RunResumed(_)
            | Record::ContextPinned(_)
            | Record::TurnStarted(_)
            | Record::CallRequested(_)
            | Record::SnapshotTaken(_)
            | Record::CallStarted(_)
            | Record::CallPaused(_)
            | Record::CallSettled(_)
            | Record::QuestionAsked(_)
            | Record::QuestionAnswered(_)
            | Record::Nudged(_)
            | Record::ToolWithheld(_)
            | Record::PlanChanged(_)
            | Record::ChildSpawned(_)
            | Record::ChildReported(_)
            | Record::Compacted(_)
            | Record::FilesChanged(_)
            | Record::UndoStarted(_)
            | Record::Undone(_)
            | Record::CancelAsked(_)
            | Record::Unknown(_) => {}
        }
    }
}

impl Metrics {
    fn model_call(&self, model: &ModelName, outcome: &'static str, usage: Usage) {
        let model = self.model(model.as_str());
        self.0.model_calls.get_or_create(&[model.clone(), ("outcome", Cow::Borrowed(outcome))]).inc();
        for (kind, tokens) in [("input", usage.input), ("output", usage.output), ("cached", usage.cached)] {
            self.0.tokens.get_or_create(&[model.clone(), ("kind", Cow::Borrowed(kind))]).inc_by(tokens);
        }
    }
}

const fn reason(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Completed => "completed",
        EndReason::Asked => "asked",
        EndReason::Conversed => "conversed",
        EndReason::Unfinished => "unfinished",
        EndReason::Cancelled => "cancelled",
        EndReason::TurnCap => "turn_cap",
        EndReason::BudgetSpent => "budget_spent",
        EndReason::Failed => "failed",
    }
}

const fn outcome(outcome: OutcomeKind) -> &'static str {
    match outcome {
        OutcomeKind::Ok => "ok",
        OutcomeKind::ToolError => "tool_error",
        OutcomeKind::NotFound => "not_found",
        OutcomeKind::InfrastructureError => "infrastructure_error",
        OutcomeKind::Unknown => "unknown",
        OutcomeKind::InvalidArguments => "invalid_arguments",
        OutcomeKind::Denied => "denied",
        OutcomeKind::Cancelled => "cancelled",
        OutcomeKind::TimedOut => "timed_out",
        OutcomeKind::Interrupted => "interrupted",
    }
}
