//! Limits on what a run, its session, its agent and its day may spend (M7). They are checked before each model call: a call is
//! started only if what was spent, together with an estimate of this call, stays within every limit of the policy. The
//! estimate is the size of the request as the context budget counts it, and a reserve for the reply; so a long reply may
//! exceed a limit, but the call after it is not started.
//!
//! What other runs have spent comes with the run's settings, and is counted again before each call by whoever makes it:
//! [`shared_room`] says how much the others may have spent. If it is more, the call fails with what they have spent.
//!
//! Where a person can be asked, a call that a limit forbids is a question (T8). Whoever agrees raises the limit by its
//! own value, as often as the call needs, or to the amount they name; if that is too little for the call, they are asked
//! again. Otherwise the run ends as `budget_spent`.

use windlass_vocab::{
    AttemptFailed, EndReason, LimitUnit, MaxTokens, ModelName, ModelReplied, ModelRole, NextAttempt, Preview,
    QuestionAsked, QuestionKind, QuestionOption, Spending, SpendingLimit, SpentElsewhere, Timestamp, TurnMode, Usage,
};

use crate::breach::Breach;
use crate::control::{Attempt, LoopState, Phase, Run};
use crate::counting::ContextMeter;
use crate::draft::Draft;
use crate::state::State;
use crate::texts;

/// The tokens reserved for a reply whose length the policy does not limit.
const REPLY_TOKENS: u64 = 1_000;

impl LoopState {
    /// Charges the model call of a reply to the run that it belongs to.
    pub(crate) fn charge_reply(&mut self, replied: &ModelReplied) {
        let spent = Spending::of_call(&replied.usage, replied.cost);
        self.charge(replied.role, |_| spent);
    }

    /// Charges a failed model call, where it is known what it used.
    pub(crate) fn charge_failure(&mut self, failed: &AttemptFailed) {
        if let Some(usage) = failed.usage {
            self.charge(failed.role, |run| Spending::of_call(&usage, run.cost(&failed.model, &usage)));
        }
    }

    fn charge(&mut self, role: ModelRole, spent: impl FnOnce(&Run) -> Spending) {
        // A title is written after the run it belongs to.
        let run = if role == ModelRole::Title { self.title.as_deref_mut() } else { self.run.as_mut() };
        let Some(run) = run else { return };
        let spent = spent(run);
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
            | SpendingLimit::DayTokens
            | SpendingLimit::AgentCost
            | SpendingLimit::AgentTokens => false,
        });
    }

    /// Notes the limit that a person raised with this answer to the open question.
    pub(crate) fn raise_limit(&mut self, answered: &windlass_vocab::QuestionAnswered) {
        let asked = self.run.as_ref().and_then(|run| run.parked.as_deref());
        let Some(asked) = asked.filter(|asked| asked.question == answered.question) else { return };
        if let (QuestionKind::Purse { limit, raised_to, .. }, QuestionOption::Once) =
            (&asked.kind, answered.answer.option)
        {
            let chosen = answered.answer.arguments.as_ref().and_then(|amount| amount.as_str().parse().ok());
            self.raised_limits.insert(*limit, chosen.unwrap_or(*raised_to));
        }
    }

    /// Returns what is allowed of a limit now: its own value, or more where a person agreed to it.
    fn allowed(&self, limit: SpendingLimit, own: u64) -> u64 {
        self.raised_limits.get(&limit).map_or(own, |raised| own.max(*raised))
    }

    /// Returns what is left of a limit of the run's policy.
    pub(crate) fn left_of(&self, run: &Run, limit: SpendingLimit, at: Timestamp) -> Option<u64> {
        let allowed = self.allowed(limit, limit.in_policy(run.policy())?);
        Some(allowed.saturating_sub(self.spent(run, limit, at)))
    }

    /// Returns what was spent of a limit.
    fn spent(&self, run: &Run, limit: SpendingLimit, at: Timestamp) -> u64 {
        let cost = |spending: Spending| u64::try_from(spending.cost.0).unwrap_or_default();
        let SpentElsewhere { mut day, mut agent } = run.spent_elsewhere;
        day += run.spending;
        agent += run.spending;
        match limit {
            SpendingLimit::RunCost => cost(run.spent_in_all()),
            SpendingLimit::RunTokens => run.spent_in_all().tokens,
            SpendingLimit::RunTime => run.started.began.map_or(0, |began| at.ms_since(began)),
            SpendingLimit::SessionCost => cost(self.spending),
            SpendingLimit::SessionTokens => self.spending.tokens,
            SpendingLimit::DayCost => cost(day),
            SpendingLimit::DayTokens => day.tokens,
            SpendingLimit::AgentCost => cost(agent),
            SpendingLimit::AgentTokens => agent.tokens,
        }
    }
}

/// A limit that other runs draw on, and the most that they may have spent of it, so that the next call is within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedRoom {
    limit: SpendingLimit,
    most: u64,
}

impl SharedRoom {
    /// Whether the others have spent more than that.
    #[must_use]
    pub fn is_exceeded_by(&self, others: &SpentElsewhere) -> bool {
        let cost = |spending: &Spending| u64::try_from(spending.cost.0).unwrap_or_default();
        let spent = match self.limit {
            SpendingLimit::DayCost => cost(&others.day),
            SpendingLimit::DayTokens => others.day.tokens,
            SpendingLimit::AgentCost => cost(&others.agent),
            SpendingLimit::AgentTokens => others.agent.tokens,
            SpendingLimit::RunCost
            | SpendingLimit::RunTokens
            | SpendingLimit::RunTime
            | SpendingLimit::SessionCost
            | SpendingLimit::SessionTokens => 0,
        };
        spent > self.most
    }
}

/// Returns what other runs may have spent, at most, for the model call that the open run owes. Empty where its policy
/// has no limit that they share.
#[must_use]
pub fn shared_room(state: &State) -> Vec<SharedRoom> {
    let Some(run) = state.control.run.as_ref().filter(|run| run.policy().has_shared_limit()) else { return Vec::new() };
    let Phase::Modelling(attempt) = &run.phase else { return Vec::new() };
    let next = next_call(&state.transcript.meter, run, &run.model_of(attempt));
    let shared =
        [SpendingLimit::DayCost, SpendingLimit::DayTokens, SpendingLimit::AgentCost, SpendingLimit::AgentTokens];
    let room = |limit: SpendingLimit| {
        let allowed = state.control.allowed(limit, limit.in_policy(run.policy())?);
        let mut own = run.spending;
        own += next;
        Some(SharedRoom { limit, most: allowed.saturating_sub(in_unit(limit, own)) })
    };
    shared.into_iter().filter_map(room).collect()
}

/// Returns a spending in the unit of a limit.
fn in_unit(limit: SpendingLimit, spending: Spending) -> u64 {
    match limit.unit() {
        LimitUnit::Cost => u64::try_from(spending.cost.0).unwrap_or_default(),
        LimitUnit::Tokens => spending.tokens,
        LimitUnit::Time => 0,
    }
}

/// Returns an estimate of what a call of this model spends, with a request of the measured size.
fn next_call(meter: &ContextMeter, run: &Run, model: &ModelName) -> Spending {
    let input = meter.tokens(model).total().saturating_add(run.most_passages());
    let output = match run.policy().sampling.max_tokens {
        MaxTokens::Fixed(tokens) => u64::from(tokens),
        MaxTokens::ModelOwn | MaxTokens::Budget => REPLY_TOKENS,
    };
    let usage = Usage { input, output, ..Usage::default() };
    Spending::of_call(&usage, run.cost(model, &usage))
}

impl Draft<'_> {
    /// Returns the first limit that a call of this model would exceed. `charged` was spent and is not recorded yet.
    pub(crate) fn breach(&self, model: &ModelName, charged: Spending) -> Option<Breach> {
        self.breach_of(self.run()?, model, charged)
    }

    /// Like `breach`, for a call that belongs to this run.
    pub(crate) fn breach_of(&self, run: &Run, model: &ModelName, charged: Spending) -> Option<Breach> {
        let limits = SpendingLimit::ALL.into_iter().filter_map(|limit| Some((limit, limit.in_policy(run.policy())?)));
        let mut next = None;
        for (limit, own) in limits {
            let next = *next.get_or_insert_with(|| next_call(&self.meter(), run, model));
            let spent = self.control.spent(run, limit, self.at).saturating_add(in_unit(limit, charged));
            let allowed = self.control.allowed(limit, own);
            // A call takes some time, however little.
            let least = if limit.unit() == LimitUnit::Time { 1 } else { 0 };
            let needed = spent.saturating_add(in_unit(limit, next)).saturating_add(least);
            if needed > allowed {
                return Some(Breach { limit, own, allowed, spent, needed });
            }
        }
        None
    }

    /// Returns the first limit that the attempt after this failed one would exceed.
    pub(crate) fn breach_after(&self, failed: &Attempt, next: &NextAttempt, usage: Option<Usage>) -> Option<Breach> {
        let run = self.run()?;
        let failing = run.model_of(failed);
        let called = match next {
            NextAttempt::End | NextAttempt::PlainSummary => return None,
            NextAttempt::Model { model } => model,
            NextAttempt::Retry { .. }
            | NextAttempt::Whole
            | NextAttempt::Shorter
            | NextAttempt::Dialect { .. }
            | NextAttempt::Output { .. } => &failing,
        };
        let usage = usage.unwrap_or_default();
        self.breach(called, Spending::of_call(&usage, run.cost(&failing, &usage)))
    }

    /// Handles a call that was not made, because other runs have spent what a shared limit allows: a person is asked
    /// about the limit, or the run ends. A summary is written without a model.
    pub(crate) fn spent_elsewhere(&mut self, failed: AttemptFailed, mode: TurnMode) {
        let asks = self.is_attended() && mode != TurnMode::Summary && mode != TurnMode::Route;
        let next = match mode {
            TurnMode::Summary => NextAttempt::PlainSummary,
            TurnMode::Tools | TurnMode::Talk | TurnMode::WrapUp | TurnMode::Plan | TurnMode::Synthesis if asks => {
                NextAttempt::Retry { at: self.at }
            }
            TurnMode::Tools
            | TurnMode::Talk
            | TurnMode::WrapUp
            | TurnMode::Plan
            | TurnMode::Synthesis
            | TurnMode::Title
            | TurnMode::Route => NextAttempt::End,
        };
        let failed = AttemptFailed { next, ..failed };
        if mode == TurnMode::Summary {
            return self.summary_failed(failed);
        }
        let model = self.run().and_then(Run::called_model);
        self.push(failed);
        if mode == TurnMode::Route {
            return;
        }
        match model.and_then(|model| self.breach(&model, Spending::default())) {
            Some(breach) => self.stop_at_limit(&breach, None),
            None if asks => {}
            None => self.end(EndReason::BudgetSpent, texts::SPENT_ELSEWHERE, None),
        }
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
        match turn {
            // The plan goes on, with its next step or with the answer.
            Some(TurnMode::Synthesis) => return self.next_step(),
            Some(mode) => return self.start_turn(mode),
            None => {}
        }
        let model = self.run().and_then(Run::called_model);
        if let Some(breach) = model.and_then(|model| self.breach(&model, Spending::default())) {
            self.stop_at_limit(&breach, None);
        }
    }

    /// Ends the run, because nobody agreed to exceed the limit.
    pub(crate) fn keep_limit(&mut self, limit: SpendingLimit) {
        let Some(run) = self.run() else { return };
        let own = limit.in_policy(run.policy()).unwrap_or_default();
        let allowed = self.control.allowed(limit, own);
        let spent = self.control.spent(run, limit, self.at);
        self.end_budget_spent(&Breach { limit, own, allowed, spent, needed: spent });
    }

    fn end_budget_spent(&mut self, breach: &Breach) {
        self.end(EndReason::BudgetSpent, breach.end(), None);
    }
}
