//! What follows a failed model call (M3, M4): the class of the failure says whether a retry makes sense, the policy how
//! often, the chain with which model.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use windlass_vocab::{Failure, FailureCause, FailureClass, NextAttempt, Retry, SessionId, Timestamp};

use crate::control::{Attempt, Run};
use crate::{AttemptKey, texts};

/// A call without streaming is tried only if the deadline leaves this much time.
const ROOM_FOR_WHOLE_MS: u64 = 1_000;

/// Limits for a server on this machine that is not running: the number of tries, and the least wait before the second.
/// Enough for a server that is being restarted, but no more.
const NOT_RUNNING_TRIES: u32 = 3;
const NOT_RUNNING_WAIT_MS: u64 = 1_000;

/// Returns what follows `failure` of `attempt`. The caller handles overflow.
pub(crate) fn next_attempt(
    session: SessionId,
    run: &Run,
    attempt: &Attempt,
    failure: &Failure,
    at: Timestamp,
) -> NextAttempt {
    if failure.cause == Some(FailureCause::NotCalled) || failure.no_model {
        return next_model(run, attempt);
    }
    let has_room = run.deadline.is_none_or(|deadline| deadline.ms_since(at) >= ROOM_FOR_WHOLE_MS);
    match failure.class {
        FailureClass::Transient if failure.first_byte && !attempt.whole && has_room => NextAttempt::Whole,
        FailureClass::Transient if asks_too_much(run, failure, at) => next_model(run, attempt),
        FailureClass::Transient if attempt.tries < retry_of(run, failure).tries => {
            let key = AttemptKey { run: run.id, turn: run.turn, attempt: attempt.number };
            let backoff = || backoff(retry_of(run, failure), attempt.tries, session, key);
            NextAttempt::Retry { at: at.plus_ms(failure.retry_after_ms.unwrap_or_else(backoff)) }
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

/// Returns how often a call with this failure is tried, and with which waits.
fn retry_of(run: &Run, failure: &Failure) -> Retry {
    let Retry { tries, first_wait_ms, ceiling_ms } = run.policy().retry;
    if !failure.not_running {
        return Retry { tries, first_wait_ms, ceiling_ms };
    }
    Retry { tries: tries.min(NOT_RUNNING_TRIES), first_wait_ms: first_wait_ms.max(NOT_RUNNING_WAIT_MS), ceiling_ms }
}

/// Whether the server asks for a longer wait than the policy allows, or than the deadline leaves. A policy from before
/// this limit existed has none, and waits regardless of the deadline.
fn asks_too_much(run: &Run, failure: &Failure, at: Timestamp) -> bool {
    let (Some(limit), Some(wait)) = (run.policy().retry_after_limit_ms, failure.retry_after_ms) else { return false };
    wait > limit || run.deadline.is_some_and(|deadline| at.plus_ms(wait) > deadline)
}

/// Returns the failure with which the run ends: its message includes when the server asks to come back, and that no
/// model of a chain answered.
pub(crate) fn ending_failure(run: &Run, attempt: &Attempt, failure: Failure, at: Timestamp) -> Failure {
    let failure = with_retry_time(run, failure, at);
    match run.started.chain_of(attempt.mode.role()).get(..=attempt.model) {
        Some(tried @ [_, _, ..]) => Failure { message: texts::no_model_text(tried, &failure.message), ..failure },
        Some(_) | None => failure,
    }
}

fn with_retry_time(run: &Run, failure: Failure, at: Timestamp) -> Failure {
    let Some((limit, wait)) = run.policy().retry_after_limit_ms.zip(failure.retry_after_ms) else { return failure };
    let limit = (wait > limit).then_some(limit);
    Failure { message: texts::retry_later_text(&failure.message, wait, at.plus_ms(wait), limit), ..failure }
}

fn next_model(run: &Run, attempt: &Attempt) -> NextAttempt {
    match run.started.chain_of(attempt.mode.role()).get(attempt.model + 1) {
        Some(model) => NextAttempt::Model { model: model.clone() },
        None => NextAttempt::End,
    }
}

/// Returns a doubling wait with up to a tenth of jitter. The jitter is a hash of ids, so that a replay computes the
/// same wait. The ceiling applies to the sum, because a user who sets one wants no wait above it.
fn backoff(retry: Retry, tries: u32, session: SessionId, key: AttemptKey) -> u64 {
    let doubled = retry.first_wait_ms.saturating_mul(1 << tries.saturating_sub(1).min(20));
    let wait = doubled.min(retry.ceiling_ms);
    let mut hasher = DefaultHasher::new();
    (session, key).hash(&mut hasher);
    let jitter = hasher.finish() % (wait / 10 + 1);
    wait.saturating_add(jitter).min(retry.ceiling_ms)
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{Retry, RunId, SessionId, TurnId};

    use super::backoff;
    use crate::AttemptKey;

    const TRIES: u32 = 40;

    fn session(number: u8) -> SessionId {
        format!("01890000-0000-7000-8000-0000000000{number:02x}").parse().expect("an id")
    }

    /// Returns the wait after the try `tries` of the first turn of `session`.
    fn wait(retry: Retry, tries: u32, session: SessionId) -> u64 {
        backoff(retry, tries, session, AttemptKey { run: RunId(1), turn: TurnId(1), attempt: tries })
    }

    #[test]
    fn a_wait_is_the_first_doubled_and_at_most_a_tenth_more_and_never_above_the_ceiling() {
        // proves M3
        // Some ceilings lie between a wait and a tenth more, where only the jitter can reach them.
        for (first_wait_ms, ceiling_ms) in
            [(500, 32_000), (500, 4_001), (1_000, 1_000), (950, 1_000), (3_000, 1_000), (7, 60_000), (0, 60_000)]
        {
            let retry = Retry { tries: TRIES, first_wait_ms, ceiling_ms };
            for session in (0..=u8::MAX).map(session) {
                let mut doubled = first_wait_ms;
                for tries in 1..TRIES {
                    let wait = wait(retry, tries, session);
                    let allowed = doubled.min(ceiling_ms)..=(doubled + doubled / 10).min(ceiling_ms);
                    assert!(allowed.contains(&wait), "{wait} is not in {allowed:?}: {retry:?}, try {tries}");
                    doubled = (doubled * 2).min(ceiling_ms);
                }
            }
        }
    }

    #[test]
    fn waits_that_have_no_end_in_numbers_overflow_nothing() {
        // proves M3
        let retry = Retry { tries: TRIES, first_wait_ms: u64::MAX, ceiling_ms: u64::MAX };
        assert_eq!(wait(retry, 1, session(0)), u64::MAX);
        assert_eq!(wait(retry, u32::MAX, session(0)), u64::MAX);
    }

    #[test]
    fn the_same_ids_wait_the_same_and_others_each_their_own_time() {
        // proves M3
        let retry = Retry { tries: TRIES, first_wait_ms: 10_000, ceiling_ms: 60_000 };
        let waits = || (0..=u8::MAX).map(|number| wait(retry, 1, session(number))).collect::<Vec<_>>();
        assert_eq!(waits(), waits());
        let distinct = waits().into_iter().collect::<std::collections::BTreeSet<_>>().len();
        assert!(distinct > 200, "only {distinct} of 256 sessions that fail together come back apart");
    }

    #[test]
    fn a_wait_does_not_change_from_build_to_build() {
        // proves J8: a journal that another build wrote is decided again with the same waits
        let retry = Retry { tries: TRIES, first_wait_ms: 10_000, ceiling_ms: 60_000 };
        let waits: Vec<u64> = (1..=4).map(|tries| wait(retry, tries, session(0))).collect();
        assert_eq!(waits, [10_846, 21_191, 43_799, 60_000]);
    }
}
