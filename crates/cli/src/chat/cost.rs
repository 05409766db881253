//! The cost of a run and of its session, computed from the journal, and the limits of the next run.

use windlass_narrate::grouped;
use windlass_vocab::{Dollars, Envelope, LimitUnit, NanoMoney, Policy, Record, RunStarted, SpendingLimit, Usage};

use super::cache_line;
use crate::output::spent;

/// Tokens, and money where it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    usage: Usage,
    money: Option<NanoMoney>,
}

impl Cost {
    fn add(&mut self, usage: Usage, money: Option<NanoMoney>) {
        self.usage += usage;
        if let Some(NanoMoney(more)) = money {
            let NanoMoney(sum) = self.money.unwrap_or_default();
            self.money = Some(NanoMoney(sum.saturating_add(more)));
        }
    }
}

/// Returns one line for the last run, one for what the provider's cache had of it, one for the session, and one for the
/// limits; those of cache and limits where there is something to say.
pub(crate) fn report(records: &[Envelope], policy: &Policy) -> String {
    let (mut run, mut session) = (Cost::default(), Cost::default());
    let mut started: Option<&RunStarted> = None;
    let mut cache = Vec::new();
    for envelope in records {
        match &envelope.record {
            Record::RunStarted(of_run) => {
                run = Cost::default();
                cache.clear();
                started = Some(of_run);
            }
            Record::ModelReplied(replied) => {
                run.add(replied.usage, replied.cost);
                cache.extend(replied.cache.as_deref().map(|report| (envelope.turn, *report)));
                session.add(replied.usage, replied.cost);
            }
            Record::AttemptFailed(failed) => {
                let usage = failed.usage.unwrap_or_default();
                let prices = started.and_then(|run| run.model(&failed.model)).and_then(|model| model.prices);
                let cost = prices.filter(|_| failed.usage.is_some()).map(|prices| prices.cost_of_call(&usage));
                run.add(usage, cost);
                session.add(usage, cost);
            }
            _ => {}
        }
    }
    let cache = cache_line::of_run(&cache);
    format!("{}\n{cache}{}\n{}", line("last run", &run), line("session", &session), limits(policy))
}

/// Returns the line of the limits; empty where there are none.
fn limits(policy: &Policy) -> String {
    let set = SpendingLimit::ALL.into_iter().filter_map(|limit| Some((limit, limit.in_policy(policy)?)));
    let set: Vec<String> = set
        .map(|(limit, value)| {
            let value = match limit.unit() {
                LimitUnit::Cost => format!("${}", Dollars::of_nano(value)),
                LimitUnit::Tokens => grouped(value),
                LimitUnit::Time => windlass_narrate::duration(value),
            };
            format!("{} {value}", limit.row())
        })
        .collect();
    if set.is_empty() { String::new() } else { format!("limits: {}\n", set.join(", ")) }
}

fn line(what: &str, Cost { usage, money }: &Cost) -> String {
    format!("{what}: {}", spent(usage, *money))
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{NanoMoney, Usage};

    use super::{Cost, limits, line};

    #[test]
    fn tokens_are_counted_and_money_shown_where_it_is_known() {
        let mut cost = Cost::default();
        cost.add(Usage { input: 1200, output: 30, cached: 1000, calls: 1, ..Usage::default() }, None);
        assert_eq!(line("session", &cost), "session: 1,200 tokens in (1,000 cached), 30 out, 1 model call");
        cost.add(Usage { input: 1, calls: 1, estimated: true, ..Usage::default() }, Some(NanoMoney(12_345_678)));
        let expected = "session: about 1,201 tokens in (1,000 cached), 30 out, 2 model calls, $0.0124";
        assert_eq!(line("session", &cost), expected);
    }

    // proves M7
    #[test]
    fn the_limits_of_the_next_run_are_named() {
        let mut policy = windlass_machine::preset("default").unwrap();
        assert_eq!(limits(&policy), "");
        policy.run_cost_limit = Some("0.50".parse().unwrap());
        policy.session_token_limit = std::num::NonZeroU64::new(200_000);
        assert_eq!(limits(&policy), "limits: run_cost_limit $0.50, session_token_limit 200,000\n");
    }
}
