//! What follows a failed model call (M3, M4): the class of the failure says whether another try makes
//! sense, the policy how often, the chain with which model.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use windlass_vocab::{At, Failure, FailureClass, NextAttempt, Retry, SessionId};

use crate::AttemptKey;
use crate::control::{Attempt, Run};

/// A whole answer is asked for only if the deadline leaves this much.
const ROOM_FOR_WHOLE_MS: u64 = 1_000;

/// What follows `failure` of `attempt`. Overflow is the caller's business.
pub(crate) fn next_attempt(session: SessionId, run: &Run, attempt: &Attempt, failure: &Failure, at: At) -> NextAttempt {
    let has_room = run.deadline.is_none_or(|deadline| deadline.ms_since(at) >= ROOM_FOR_WHOLE_MS);
    match failure.class {
        FailureClass::Transient if failure.first_byte && !attempt.whole && has_room => NextAttempt::Whole,
        FailureClass::Transient if attempt.tries < run.policy().retry.tries => {
            let key = AttemptKey { run: run.id, turn: run.turn, attempt: attempt.number };
            let wait =
                failure.retry_after_ms.unwrap_or_else(|| backoff(run.policy().retry, attempt.tries, session, key));
            NextAttempt::Retry { at: at.plus_ms(wait) }
        }
        FailureClass::Transient => next_model(run, attempt),
        FailureClass::BadRequest if failure.status == Some(404) => next_model(run, attempt),
        FailureClass::Quota
        | FailureClass::Auth
        | FailureClass::BadRequest
        | FailureClass::Overflow
        | FailureClass::Filtered
        | FailureClass::Protocol
        | FailureClass::Store
        | FailureClass::Internal => NextAttempt::End,
    }
}

fn next_model(run: &Run, attempt: &Attempt) -> NextAttempt {
    match run.started.chain.get(attempt.model + 1) {
        Some(model) => NextAttempt::Model { model: model.clone() },
        None => NextAttempt::End,
    }
}

/// Doubling waits with up to a tenth of jitter, a hash of ids so that it is the same every time.
fn backoff(retry: Retry, tries: u32, session: SessionId, key: AttemptKey) -> u64 {
    let doubled = retry.first_wait_ms.saturating_mul(1 << tries.saturating_sub(1).min(20));
    let wait = doubled.min(retry.ceiling_ms);
    let mut hasher = DefaultHasher::new();
    (session, key).hash(&mut hasher);
    wait + hasher.finish() % (wait / 10 + 1)
}
