//! Breakers (M2): a model that has failed three times in a row is not called for a minute, as long as another model of
//! the chain can be.
//!
//! They belong to the process and learn from the records of all its sessions. What they decide about a call is a failure
//! like any other, and so becomes a record: the machine knows no breaker, and a replay needs none.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_vocab::{AttemptFailed, Failure, FailureCause, FailureClass, ModelName, NextAttempt, Record, Timestamp};

/// Consecutive failures that open a breaker.
const FAILURES: u32 = 3;
/// How long a breaker stays open after a failure, in milliseconds.
const OPEN_MS: u64 = 60_000;

/// The breakers of a process, one for each model that has failed. Cheap to clone: clones share what they learn.
#[derive(Clone, Debug, Default)]
pub struct Breakers(Arc<Mutex<HashMap<ModelName, Breaker>>>);

/// How a model did lately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelHealth {
    /// Its last call was answered, or it was not called yet.
    Fine,
    /// It was given up the last time.
    Failing,
    /// It is not called before then, as long as another model of the chain can be.
    Resting(Timestamp),
}

#[derive(Clone, Copy, Debug)]
struct Breaker {
    /// Failures since the last reply.
    failures: u32,
    /// When the last of them happened.
    last: Timestamp,
}

impl Breaker {
    /// Returns until when it is open, if it is.
    fn open_until(&self, now: Timestamp) -> Option<Timestamp> {
        let until = self.last.plus_ms(OPEN_MS);
        (self.failures >= FAILURES && now < until).then_some(until)
    }
}

impl Breakers {
    /// Returns why the first of these models should not be called now; `chain` is the rest of the run's chain. Where the
    /// breakers of all are open, the one that closes first is called all the same.
    pub(crate) fn refusal(&self, chain: &[ModelName], now: Timestamp) -> Option<Failure> {
        let breakers = self.breakers();
        let open_until = |model: &ModelName| breakers.get(model).and_then(|breaker| breaker.open_until(now));
        let first = chain.first()?;
        let until = open_until(first)?;
        let another = chain.iter().skip(1).any(|model| open_until(model).is_none_or(|other| other < until));
        let message = format!(
            "The model `{first}` was not called: it failed {FAILURES} times in a row, the last time less than a minute ago."
        );
        another
            .then(|| Failure { cause: Some(FailureCause::NotCalled), ..Failure::new(FailureClass::Transient, message) })
    }

    /// Returns how a model did lately.
    #[must_use]
    pub fn health(&self, model: &ModelName, now: Timestamp) -> ModelHealth {
        let known = self.breakers().get(model).copied();
        let Some(breaker) = known else { return ModelHealth::Fine };
        breaker.open_until(now).map_or(ModelHealth::Failing, ModelHealth::Resting)
    }

    /// Learns from a record that was stored at `at`.
    pub(crate) fn observe(&self, record: &Record, at: Timestamp) {
        if let Record::ModelReplied(replied) = record {
            self.breakers().remove(&replied.model);
        }
        let Record::AttemptFailed(failed) = record else { return };
        if is_outage(failed) {
            let mut breakers = self.breakers();
            let breaker = breakers.entry(failed.model.clone()).or_insert(Breaker { failures: 0, last: at });
            *breaker = Breaker { failures: breaker.failures.saturating_add(1), last: at };
        }
    }

    fn breakers(&self) -> MutexGuard<'_, HashMap<ModelName, Breaker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the model was given up because it can't be reached or does not work; a rate limit is no outage.
fn is_outage(failed: &AttemptFailed) -> bool {
    let given_up = match failed.next {
        NextAttempt::Model { .. } | NextAttempt::PlainSummary | NextAttempt::End => true,
        NextAttempt::Retry { .. }
        | NextAttempt::Whole
        | NextAttempt::Shorter
        | NextAttempt::Dialect { .. }
        | NextAttempt::Output { .. } => false,
    };
    let status = failed.failure.status;
    let broken = match failed.failure.class {
        FailureClass::Transient => status.is_none_or(|status| status >= 500 || status == 408),
        FailureClass::BadRequest => status == Some(404),
        FailureClass::Quota
        | FailureClass::Auth
        | FailureClass::Overflow
        | FailureClass::Filtered
        | FailureClass::Protocol
        | FailureClass::Store
        | FailureClass::Internal => false,
    };
    given_up && broken && failed.failure.cause != Some(FailureCause::NotCalled)
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{
        AttemptFailed, Failure, FailureCause, FailureClass, ModelName, ModelReplied, NextAttempt, Record, StopReason,
        Timestamp, Usage,
    };

    use super::{Breakers, ModelHealth, OPEN_MS};

    fn failed(model: &str, status: Option<u16>, next: NextAttempt) -> Record {
        let class = if status == Some(404) { FailureClass::BadRequest } else { FailureClass::Transient };
        let failure = Failure { status, ..Failure::new(class, "it failed") };
        AttemptFailed {
            attempt: 1,
            model: model.into(),
            failure,
            next,
            usage: None,
            role: windlass_vocab::ModelRole::Turn,
        }
        .into()
    }

    fn given_up(model: &str) -> Record {
        failed(model, Some(503), NextAttempt::End)
    }

    fn replied(model: &str) -> Record {
        ModelReplied {
            attempt: 1,
            model: model.into(),
            parts: vec![],
            stop: StopReason::Stop,
            usage: Usage::default(),
            cost: None,
            partial: false,
            misfit: None,
            malformed: None,
            role: windlass_vocab::ModelRole::Turn,
            cache: None,
            cut: None,
            retrieved: 0,
            intent: None,
        }
        .into()
    }

    fn after(records: &[(Record, i64)]) -> Breakers {
        let breakers = Breakers::default();
        records.iter().for_each(|(record, at)| breakers.observe(record, Timestamp(*at)));
        breakers
    }

    fn calls(breakers: &Breakers, chain: &[&str], now: i64) -> bool {
        let chain: Vec<ModelName> = chain.iter().map(|name| ModelName::from(*name)).collect();
        let refusal = breakers.refusal(&chain, Timestamp(now));
        assert!(refusal.as_ref().is_none_or(|failure| failure.cause == Some(FailureCause::NotCalled)));
        refusal.is_none()
    }

    // proves M2
    #[test]
    fn three_failures_in_a_row_open_a_breaker_for_a_minute() {
        let twice = [(given_up("a"), 0), (given_up("a"), 10)];
        assert!(calls(&after(&twice), &["a", "b"], 20));
        let breakers = after(&[twice.as_slice(), &[(given_up("a"), 20)]].concat());
        let open_ms = i64::try_from(OPEN_MS).unwrap();
        assert!(!calls(&breakers, &["a", "b"], 20));
        assert!(!calls(&breakers, &["a", "b"], 19 + open_ms));
        assert!(calls(&breakers, &["a", "b"], 20 + open_ms));
        // The next failure is the fourth in a row.
        breakers.observe(&given_up("a"), Timestamp(30 + open_ms));
        assert!(!calls(&breakers, &["a", "b"], 31 + open_ms));
        breakers.observe(&replied("a"), Timestamp(40 + open_ms));
        assert!(calls(&breakers, &["a", "b"], 41 + open_ms));
    }

    // proves M2
    #[test]
    fn clones_share_what_they_learn_and_say_how_a_model_does() {
        let (breakers, now) = (Breakers::default(), Timestamp(20));
        let health = |breakers: &Breakers| breakers.clone().health(&"a".into(), now);
        assert_eq!(health(&breakers), ModelHealth::Fine);
        breakers.observe(&given_up("a"), Timestamp(0));
        assert_eq!(health(&breakers), ModelHealth::Failing);
        breakers.observe(&given_up("a"), Timestamp(5));
        breakers.observe(&given_up("a"), Timestamp(10));
        assert_eq!(health(&breakers), ModelHealth::Resting(Timestamp(10).plus_ms(OPEN_MS)));
        breakers.observe(&replied("a"), now);
        assert_eq!(health(&breakers), ModelHealth::Fine);
    }

    // proves M2
    #[test]
    fn only_a_model_that_is_given_up_for_an_outage_counts() {
        let model = || NextAttempt::Model { model: "b".into() };
        let retry = NextAttempt::Retry { at: Timestamp(9) };
        for (record, counts) in [
            (failed("a", None, model()), true),
            (failed("a", Some(529), NextAttempt::End), true),
            (failed("a", Some(404), model()), true),
            (failed("a", Some(429), model()), false),
            (failed("a", Some(503), retry), false),
            (failed("a", None, NextAttempt::Whole), false),
        ] {
            let records: Vec<(Record, i64)> = (0..3).map(|at| (record.clone(), at)).collect();
            assert_eq!(calls(&after(&records), &["a", "b"], 5), !counts, "{record:?}");
        }
    }

    // proves M2
    #[test]
    fn where_all_breakers_are_open_the_one_that_closes_first_is_called() {
        let thrice = |model: &str, at: i64| [(given_up(model), at), (given_up(model), at), (given_up(model), at)];
        let breakers = after(&[thrice("a", 20), thrice("b", 10), thrice("c", 30)].concat());
        assert!(!calls(&breakers, &["a", "b", "c"], 40));
        assert!(calls(&breakers, &["b", "c"], 40));
        assert!(calls(&breakers, &["c"], 40), "the last one is called in any case");
        assert!(!calls(&breakers, &["c", "d"], 40));
    }
}
