//! Limits on what a run, its session and its day may spend (M7). They are checked before each model call: a call is
//! started only if what was spent, together with an estimate of this call, stays within every limit of the policy. The
//! estimate is a third of the bytes that are sent, as tokens, and a reserve for the reply; so a long reply may exceed a
//! limit, but the call after it is not started.
//!
//! Where a person can be asked, a call that a limit forbids is a question (T8). Whoever agrees raises the limit by its
//! own value, as often as the call needs. Otherwise the run ends as `budget_spent`.

use windlass_vocab::{
    EndReason, LimitUnit, MaxTokens, NextAttempt, Preview, QuestionAsked, QuestionKind, QuestionOption, Record,
    Spending, SpendingLimit, Timestamp, TurnMode, Usage,
};

use crate::breach::Breach;
use crate::control::{Attempt, LoopState, Phase, Run};
use crate::draft::Draft;
use crate::sent_bytes;

/// The tokens reserved for a reply whose length the policy does not limit.
const REPLY_TOKENS: u64 = 1_000;
/// Bytes for a token of input: fewer than in prose, because JSON and other scripts are denser.
const BYTES_PER_TOKEN: u64 = 3;

impl LoopState {
    /// Adds what a record says was spent.
    pub(crate) fn charge(&mut self, record: &Record) {
        let Some(run) = &mut self.run else { return };
        let spent = match record {
            Record::ModelReplied(replied) => Spending::of_call(&replied.usage, replied.cost),
            Record::AttemptFailed(failed) => {
                let Some(usage) = failed.usage else { return };
                Spending::of_call(&usage, run.cost(&failed.model, &usage))
            }
            _ => return,
        };
        run.spending += spent;
        self.spending += spent;
    }

    /// Forgets what a person allowed for the last run; what they allowed for the session stays.
    pub(crate) fn forget_raised_limits(&mut self) {
        self.raised_limits.retain(|limit, _| match limit {
            SpendingLimit::SessionCost | SpendingLimit::SessionTokens => true,
            SpendingLimit::RunCost
            | SpendingLimit::RunTokens
            | SpendingLimit::RunTime
            | SpendingLimit::DayCost
            | SpendingLimit::DayTokens => false,
        });
    }

    /// Notes the limit that a person raised with this answer to the open question.
    pub(crate) fn raise_limit(&mut self, answered: &windlass_vocab::QuestionAnswered) {
        let asked = self.run.as_ref().and_then(|run| run.parked.as_deref());
        let Some(asked) = asked.filter(|asked| asked.question == answered.question) else { return };
        if let (QuestionKind::Purse { limit, raised_to, .. }, QuestionOption::Once) =
            (&asked.kind, answered.answer.option)
        {
            self.raised_limits.insert(*limit, *raised_to);
        }
    }

    /// Returns what was spent of a limit.
    fn spent(&self, run: &Run, limit: SpendingLimit, at: Timestamp) -> u64 {
        let cost = |spending: Spending| u64::try_from(spending.cost.0).unwrap_or_default();
        let today = || {
            let mut today = run.started.spent_today.as_deref().copied().unwrap_or_default();
            today += run.spending;
            today
        };
        match limit {
            SpendingLimit::RunCost => cost(run.spending),
            SpendingLimit::RunTokens => run.spending.tokens,
            SpendingLimit::RunTime => run.started.began.map_or(0, |began| at.ms_since(began)),
            SpendingLimit::SessionCost => cost(self.spending),
            SpendingLimit::SessionTokens => self.spending.tokens,
            SpendingLimit::DayCost => cost(today()),
            SpendingLimit::DayTokens => today().tokens,
        }
    }
}

impl Draft<'_> {
    /// Returns the first limit that a call of the model at this index of the chain would exceed. `charged` was spent
    /// and is not recorded yet.
    pub(crate) fn breach(&self, model: usize, charged: Spending) -> Option<Breach> {
        let run = self.run()?;
        let limits = SpendingLimit::ALL.into_iter().filter_map(|limit| Some((limit, limit.in_policy(run.policy())?)));
        let mut next = None;
        for (limit, own) in limits {
            let next = *next.get_or_insert_with(|| self.next_call(run, model));
            let unit = |spending: Spending| match limit.unit() {
                LimitUnit::Cost => u64::try_from(spending.cost.0).unwrap_or_default(),
                LimitUnit::Tokens => spending.tokens,
                LimitUnit::Time => 0,
            };
            let spent = self.control.spent(run, limit, self.at).saturating_add(unit(charged));
            let allowed = self.control.raised_limits.get(&limit).map_or(own, |raised| own.max(*raised));
            // A call takes some time, however little.
            let least = if limit.unit() == LimitUnit::Time { 1 } else { 0 };
            let needed = spent.saturating_add(unit(next)).saturating_add(least);
            if needed > allowed {
                return Some(Breach { limit, own, allowed, spent, needed });
            }
        }
        None
    }

    /// Returns the first limit that the attempt after this failed one would exceed.
    pub(crate) fn breach_after(&self, failed: &Attempt, next: &NextAttempt, usage: Option<Usage>) -> Option<Breach> {
        let run = self.run()?;
        let place = match next {
            NextAttempt::End | NextAttempt::PlainSummary => return None,
            NextAttempt::Model { .. } => failed.model + 1,
            NextAttempt::Retry { .. } | NextAttempt::Whole | NextAttempt::Shorter | NextAttempt::Dialect { .. } => {
                failed.model
            }
        };
        let usage = usage.unwrap_or_default();
        self.breach(place, Spending::of_call(&usage, run.cost(&run.model(failed.model), &usage)))
    }

    /// Returns an estimate of what the next call of this model spends.
    fn next_call(&self, run: &Run, model: usize) -> Spending {
        let sent = sent_bytes::of_next_call(&self.state.transcript, &self.records);
        let input = sent.div_ceil(BYTES_PER_TOKEN);
        let output = match run.policy().sampling.max_tokens {
            MaxTokens::Fixed(tokens) => u64::from(tokens),
            MaxTokens::ModelOwn | MaxTokens::Budget => REPLY_TOKENS,
        };
        let usage = Usage { input, output, ..Usage::default() };
        Spending::of_call(&usage, run.cost(&run.model(model), &usage))
    }

    /// Whether a person is asked about a call that a limit forbids. A limit of zero is meant as it is.
    pub(crate) fn asks_about(&self, breach: &Breach) -> bool {
        self.is_attended() && breach.own > 0
    }

    /// Asks whether to exceed the limit, or ends the run. `turn` is the turn that would begin.
    pub(crate) fn stop_at_limit(&mut self, breach: &Breach, turn: Option<TurnMode>) {
        if !self.asks_about(breach) {
            return self.end_budget_spent(breach);
        }
        let wait = self.run().map_or(0, |run| run.policy().approval_wait_ms);
        let raised_to = breach.raised(wait);
        let title = breach.question(raised_to);
        self.push(QuestionAsked {
            question: self.control.next_question(),
            kind: QuestionKind::Purse { limit: breach.limit, raised_to, turn },
            preview: Some(Preview { title, body: String::new(), rule: None }),
            options: vec![QuestionOption::Once, QuestionOption::No],
            expires: Some(self.at.plus_ms(wait)),
            default: QuestionOption::No,
            elicitation: None,
            because: None,
        });
    }

    /// Continues after a person raised a limit. Another limit may forbid the call, too.
    pub(crate) fn go_on_spending(&mut self, turn: Option<TurnMode>) {
        if let Some(mode) = turn {
            return self.start_turn(mode);
        }
        let model = self.run().and_then(|run| match &run.phase {
            Phase::Modelling(attempt) => Some(attempt.model),
            Phase::Pinning | Phase::Calling(_) | Phase::Between => None,
        });
        if let Some(breach) = model.and_then(|model| self.breach(model, Spending::default())) {
            self.stop_at_limit(&breach, None);
        }
    }

    /// Ends the run, because nobody agreed to exceed the limit.
    pub(crate) fn keep_limit(&mut self, limit: SpendingLimit) {
        let Some(run) = self.run() else { return };
        let own = limit.in_policy(run.policy()).unwrap_or_default();
        let allowed = self.control.raised_limits.get(&limit).map_or(own, |raised| own.max(*raised));
        let spent = self.control.spent(run, limit, self.at);
        self.end_budget_spent(&Breach { limit, own, allowed, spent, needed: spent });
    }

    fn end_budget_spent(&mut self, breach: &Breach) {
        self.end(EndReason::BudgetSpent, breach.end(), None);
    }
}
