//! Tracing spans of a session, for programs that set a subscriber (0020): the session, its runs, their turns, and the
//! model attempts and tool calls in them. Spans carry names, ids, counts and classes; never text of a message, of
//! arguments or of a result. Without a subscriber they cost nothing.

use tracing::field::Empty;
use tracing::{Instrument, Span, debug, debug_span, info_span};
use windlass_machine::{AttemptKey, Fact};
use windlass_provider::Sink;
use windlass_vocab::{
    CallRequested, EndReason, Envelope, Failure, FailureClass, OutcomeKind, Reply, RunMilestone, SessionId,
};

use crate::call::EndedCall;

/// The spans of a driven session.
pub(crate) struct Spans {
    session: Span,
    run: Span,
    turn: Span,
}

impl Spans {
    pub(crate) fn of(session: SessionId) -> Self {
        let session = info_span!(parent: None, "session", id = %session);
        Self { session, run: Span::none(), turn: Span::none() }
    }

    /// Opens and closes spans as records are stored: runs and turns start and end with records.
    pub(crate) fn observe(&mut self, envelope: &Envelope) {
        match envelope.record.milestone() {
            Some(RunMilestone::Started(_) | RunMilestone::Resumed(_)) => {
                let run = envelope.run.unwrap_or_default();
                self.run = info_span!(parent: &self.session, "run", run = run.0, end = Empty);
            }
            Some(RunMilestone::Turn(started)) => {
                self.turn = info_span!(parent: &self.run, "turn", turn = started.turn.0);
            }
            Some(RunMilestone::Ended(ended)) => {
                self.turn = Span::none();
                self.run.record("end", end_name(ended.reason));
                self.run = Span::none();
            }
            Some(RunMilestone::Accepted(_) | RunMilestone::Replied(_)) | None => {}
        }
    }

    /// Returns the innermost open span. A resumed run continues in the middle of a turn, so it may have no turn span.
    fn innermost(&self) -> &Span {
        [&self.turn, &self.run].into_iter().find(|span| !span.is_none()).unwrap_or(&self.session)
    }

    /// Returns the span of one model attempt.
    pub(crate) fn attempt(&self, key: AttemptKey, model: &str) -> Span {
        info_span!(
            parent: self.innermost(),
            "attempt",
            model,
            attempt = key.attempt,
            outcome = Empty,
            status = Empty,
            input_tokens = Empty,
            output_tokens = Empty
        )
    }

    /// Runs a call in a span of its own.
    pub(crate) fn call<F: Future<Output = EndedCall>>(
        &self,
        request: &CallRequested,
        running: F,
    ) -> impl Future<Output = EndedCall> + use<F> {
        let tool = request.tool.as_ref().map_or("", |tool| tool.as_str());
        let span = info_span!(parent: self.innermost(), "call", call = %request.call, tool, outcome = Empty);
        let seen = span.clone();
        let watched = async move {
            let ended = running.await;
            if let Fact::CallDone { finished, .. } = &ended.fact {
                seen.record("outcome", outcome_name(finished.outcome));
            }
            ended
        };
        watched.instrument(span)
    }
}

/// Returns the span of a batch that is being appended to the store.
pub(crate) fn append(session: SessionId, records: usize) -> Span {
    debug_span!("append", session = %session, records)
}

/// Wraps a sink so that the span records the arrival of the first piece of a reply.
pub(crate) fn noting_first_byte(span: &Span, mut sink: Sink) -> Sink {
    if span.is_disabled() {
        return sink;
    }
    let mut first = Some(span.clone());
    Box::new(move |piece| {
        if let Some(span) = first.take() {
            debug!(parent: &span, "first byte");
        }
        sink(piece);
    })
}

/// Awaits a reply in the span of its attempt, and records the outcome there.
pub(crate) async fn watched(
    span: Span,
    attempt: impl Future<Output = Result<Reply, Failure>>,
) -> Result<Reply, Failure> {
    let result = attempt.instrument(span.clone()).await;
    match &result {
        Ok(reply) => {
            span.record("outcome", "ok");
            if let Some(usage) = &reply.usage {
                span.record("input_tokens", usage.input);
                span.record("output_tokens", usage.output);
            }
        }
        Err(failure) => {
            span.record("outcome", class_name(failure.class));
            if let Some(status) = failure.status {
                span.record("status", status);
            }
        }
    }
    result
}

const fn end_name(reason: EndReason) -> &'static str {
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

const fn class_name(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Transient => "transient",
        FailureClass::Quota => "quota",
        FailureClass::Auth => "auth",
        FailureClass::BadRequest => "bad_request",
        FailureClass::Overflow => "overflow",
        FailureClass::Filtered => "filtered",
        FailureClass::Protocol => "protocol",
        FailureClass::Store => "store",
        FailureClass::Internal => "internal",
    }
}

const fn outcome_name(outcome: OutcomeKind) -> &'static str {
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
