//! `windlass usage`: adds up what model calls used and cost, by day, model or session (M7).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use serde_json::json;
use windlass::door::{NamedModel, NamedServer, is_on_this_machine};
use windlass_narrate::{grouped, harmless_json, harmless_line};
use windlass_setup::settings::{Env, Flags};
use windlass_store::{Charge, Charges, SessionLog as _, charges};
use windlass_vocab::{Dollars, NanoMoney, SessionId, Timestamp, Usage};

use super::block_on::block_on;
use super::readable_store::open_to_show;
use super::{prepared_run, session};
use crate::args::{Since, UsageArgs, UsageGroup};
use crate::error::CommandResult;
use crate::exit::Exit;
use crate::streams::{print, print_notice};
use crate::tty;

pub(super) fn usage(data_dir: Option<PathBuf>, args: &UsageArgs, env: Env) -> CommandResult {
    let place = prepared_run::place(&prepared_run::gather_unasked(Flags { data_dir, ..Flags::default() }, env)?)?;
    block_on(async {
        let store = open_to_show(&place)?;
        let now = windlass_setup::test_hooks::clock().now();
        let since = match args.since {
            None => Timestamp(0),
            Some(Since::Moment(at)) => at,
            Some(Since::Ago(ms)) => Timestamp(now.0.saturating_sub_unsigned(ms)),
        };
        let Charges { charges, unreadable } = charges(store.as_ref(), session::OWNER, since).await?;
        for (row, error) in &unreadable {
            let (key, what) = (harmless_line(&row.key), harmless_line(&error.to_string()));
            print_notice(&format!("windlass: the session `{key}` is left out, it can't be read: {what}"));
        }
        let rows = store.sessions(session::OWNER).await?;
        let keys: HashMap<SessionId, String> = rows.into_iter().map(|row| (row.session, row.key)).collect();
        let sums = sums(&charges, args.by, &keys);
        if args.json {
            for (name, sum) in &sums {
                print(&(harmless_json(sum.json(args.by, name).to_string()) + "\n"))?;
            }
        } else if sums.is_empty() {
            print_notice("windlass: no model call is recorded");
        } else {
            print(&table(args.by, &sums, tty::size().map(|(columns, _)| columns)))?;
        }
        Ok(if unreadable.is_empty() { Exit::Done } else { Exit::Store })
    })
}

/// What several calls used and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct UsageSum {
    usage: Usage,
    cost: i64,
    /// Tokens whose price was not known.
    unpriced: u64,
    /// Tokens that were expected in a provider's cache and not found there.
    cache_missed: u64,
    /// What they cost more for that.
    cache_miss_cost: i64,
}

impl UsageSum {
    fn add(&mut self, charge: &Charge) {
        self.usage += charge.usage;
        if let Some(report) = &charge.cache {
            self.cache_missed = self.cache_missed.saturating_add(report.missed);
            let NanoMoney(cost) = report.cost.unwrap_or_default();
            self.cache_miss_cost = self.cache_miss_cost.saturating_add(cost);
        }
        // As for the limits of money: a server on this machine costs nothing unless prices were configured.
        let is_free = || charge.server.as_deref().is_some_and(is_on_this_machine);
        match charge.cost.or_else(|| is_free().then_some(NanoMoney(0))) {
            Some(NanoMoney(nano)) => self.cost = self.cost.saturating_add(nano),
            None => {
                self.unpriced = self.unpriced.saturating_add(charge.usage.input.saturating_add(charge.usage.output));
            }
        }
    }

    fn has_price(&self) -> bool {
        self.cost > 0 || self.unpriced == 0
    }

    fn money(&self) -> String {
        let cost = Dollars::from(NanoMoney(self.cost)).for_people();
        match (self.has_price(), self.unpriced) {
            (false, _) => "price unknown".to_owned(),
            (true, 0) => cost,
            (true, _) => format!("{cost} + price unknown"),
        }
    }

    /// Returns the tokens that the cache did not have, and what they cost more.
    fn missed(&self) -> String {
        match self.cache_miss_cost {
            0 => grouped(self.cache_missed),
            cost => format!("{} ({})", grouped(self.cache_missed), Dollars::from(NanoMoney(cost)).for_people()),
        }
    }

    fn json(&self, by: UsageGroup, name: &str) -> serde_json::Value {
        let Usage { input, output, cached, cache_written, reasoning, calls, estimated } = self.usage;
        json!({
            label(by): name,
            "calls": calls,
            "input": input,
            "output": output,
            "cached": cached,
            "cache_written": cache_written,
            "cache_missed": self.cache_missed,
            "cache_miss_cost": Dollars::from(NanoMoney(self.cache_miss_cost)).to_string(),
            "reasoning": reasoning,
            "estimated": estimated,
            "cost": self.has_price().then(|| Dollars::from(NanoMoney(self.cost)).to_string()),
            "tokens_without_price": self.unpriced,
        })
    }
}

const fn label(by: UsageGroup) -> &'static str {
    match by {
        UsageGroup::Day => "day",
        UsageGroup::Model => "model",
        UsageGroup::Session => "session",
    }
}

fn sums(charges: &[Charge], by: UsageGroup, keys: &HashMap<SessionId, String>) -> BTreeMap<String, UsageSum> {
    let mut sums: BTreeMap<String, UsageSum> = BTreeMap::new();
    let servers = servers_by_model(charges);
    for charge in charges {
        let name = match by {
            UsageGroup::Day => charge.at.to_string().chars().take(10).collect(),
            UsageGroup::Model => match (&charge.server, servers.get(bare_name(charge)).map(BTreeSet::len)) {
                (Some(server), Some(2..)) => format!("{} ({server})", bare_name(charge)),
                (Some(_) | None, _) => bare_name(charge).to_owned(),
            },
            UsageGroup::Session => keys.get(&charge.session).cloned().unwrap_or_else(|| charge.session.to_string()),
        };
        sums.entry(name).or_default().add(charge);
    }
    sums
}

/// The name of a model without its server: one model may have been named in several ways.
fn bare_name(charge: &Charge) -> &str {
    let name = charge.model.as_str();
    let named = NamedModel::parse(name);
    match (named.server, named.id) {
        (NamedServer::Provider(_) | NamedServer::Address(_), Some(id)) => id,
        (NamedServer::Provider(_) | NamedServer::Address(_) | NamedServer::Unnamed, _) => name,
    }
}

/// The servers of each model, so that one id on two servers stays two models.
fn servers_by_model(charges: &[Charge]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut servers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for charge in charges {
        servers.entry(bare_name(charge)).or_default().extend(charge.server.as_deref());
    }
    servers
}

/// Returns what all lines used and cost together.
fn total(sums: &BTreeMap<String, UsageSum>) -> UsageSum {
    let mut total = UsageSum::default();
    for sum in sums.values() {
        total.usage += sum.usage;
        total.cost = total.cost.saturating_add(sum.cost);
        total.unpriced = total.unpriced.saturating_add(sum.unpriced);
        total.cache_missed = total.cache_missed.saturating_add(sum.cache_missed);
        total.cache_miss_cost = total.cache_miss_cost.saturating_add(sum.cache_miss_cost);
    }
    total
}

/// Lays the lines out. What the cache had is left out where a terminal has too little room.
fn table(by: UsageGroup, sums: &BTreeMap<String, UsageSum>, room: Option<usize>) -> String {
    let head = [label(by), "calls", "tokens in", "cached", "missed", "out", "cost"].map(str::to_owned);
    let row = |name: &str, sum: &UsageSum| {
        let Usage { input, output, cached, calls, estimated, .. } = sum.usage;
        let about = if estimated { "~" } else { "" };
        let [calls, input, cached, output] = [u64::from(calls), input, cached, output].map(grouped);
        let (input, output) = (format!("{about}{input}"), format!("{about}{output}"));
        [harmless_line(name), calls, input, cached, sum.missed(), output, sum.money()]
    };
    let mut rows = vec![head];
    rows.extend(sums.iter().map(|(name, sum)| row(name, sum)));
    if sums.len() > 1 {
        rows.push(row("total", &total(sums)));
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..7).map(width).collect();
    let all = widths.iter().sum::<usize>() + 2 * 6;
    let is_shown = |column: usize| room.is_none_or(|room| all <= room) || !matches!(column, 3 | 4);
    let line = |row: &[String; 7]| {
        let cells = row.iter().enumerate().filter(|(column, _)| is_shown(*column)).map(|(column, cell)| match column {
            0 => format!("{cell:<width$}", width = widths[column]),
            _ => format!("{cell:>width$}", width = widths[column]),
        });
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{CacheMissCause, CacheReport, CacheResult};

    use super::*;

    fn charge(day: i64, model: &str, input: u64, cost: Option<i64>) -> Charge {
        Charge {
            at: Timestamp(day * 86_400_000 + 5),
            session: "01890000-0000-7000-8000-000000000000".parse().expect("an id"),
            run: None,
            agent: String::new(),
            model: model.into(),
            server: None,
            usage: Usage { input, output: 1, calls: 1, ..Usage::default() },
            cost: cost.map(NanoMoney),
            cache: None,
        }
    }

    // proves M7
    #[test]
    fn calls_are_added_up_by_day_model_and_session_and_an_unknown_price_is_named() {
        let charges =
            [charge(0, "dear", 10, Some(1_000_000)), charge(0, "own", 5, None), charge(1, "dear", 7, Some(500_000))];
        let of = |by| table(by, &sums(&charges, by, &HashMap::new()), None);
        let days = of(UsageGroup::Day);
        let expected = "day         calls  tokens in  cached  missed  out                     cost\n\
                        1970-01-01      2         15       0       0    2   $0.001 + price unknown\n\
                        1970-01-02      1          7       0       0    1                  $0.0005\n\
                        total           3         22       0       0    3  $0.0015 + price unknown\n";
        assert_eq!(days, expected);
        let narrow = table(UsageGroup::Day, &sums(&charges, UsageGroup::Day, &HashMap::new()), Some(60));
        let head = "day         calls  tokens in  out                     cost\n";
        assert!(narrow.starts_with(head), "{narrow}");
        let models = of(UsageGroup::Model);
        assert!(models.contains("$0.0015\n") && models.contains("price unknown\n"), "{models}");
        assert_eq!(of(UsageGroup::Session).lines().count(), 2);
        let unpriced = sums(&charges[1..2], UsageGroup::Model, &HashMap::new());
        let line = unpriced["own"].json(UsageGroup::Model, "own");
        assert_eq!((&line["cost"], &line["tokens_without_price"]), (&serde_json::Value::Null, &json!(6)));
    }

    // proves M7: what the limits of money count as free is free here, too
    #[test]
    fn a_model_on_this_machine_without_a_price_is_free() {
        let at = |server: &str, cost| Charge { server: Some(server.into()), ..charge(0, "own", 5, cost) };
        for (charge, money, cost) in [
            (at("http://127.0.0.1:8080/v1", None), "$0.00", json!("0.00")),
            (at("http://localhost:11434/v1", None), "$0.00", json!("0.00")),
            (at("http://127.0.0.1:8080/v1", Some(1_000_000)), "$0.001", json!("0.001")),
            (at("https://proxy.example/v1", None), "price unknown", serde_json::Value::Null),
        ] {
            let sum = sums(&[charge], UsageGroup::Model, &HashMap::new())["own"];
            assert_eq!((sum.money().as_str(), &sum.json(UsageGroup::Model, "own")["cost"]), (money, &cost));
        }
    }

    // proves M7, M2: a model has one name, however it was named; one id on two servers is two models
    #[test]
    fn a_model_is_listed_under_one_name() {
        let at = |model: &str, server: &str| Charge { server: Some(server.into()), ..charge(0, model, 5, Some(1)) };
        let openai = "https://api.openai.com/v1";
        let charges = [at("gpt-5", openai), at("openai:gpt-5", openai), charge(0, "gpt-5", 5, Some(1))];
        let names =
            |charges: &[Charge]| sums(charges, UsageGroup::Model, &HashMap::new()).into_keys().collect::<Vec<_>>();
        assert_eq!(names(&charges), ["gpt-5"]);
        let two =
            [at("gpt-5", openai), at("https://proxy/v1#gpt-5", "https://proxy/v1"), at("qwen3:8b", "http://h/v1")];
        assert_eq!(names(&two), ["gpt-5 (https://api.openai.com/v1)", "gpt-5 (https://proxy/v1)", "qwen3:8b"]);
    }

    // proves M6, M7
    #[test]
    fn what_the_cache_did_not_have_is_added_up_with_its_cost() {
        let report = |missed, cost| CacheReport {
            at: Timestamp(0),
            result: CacheResult::Missed,
            expected: missed,
            missed,
            why: Some(CacheMissCause::Expired),
            cost,
        };
        let with = |report| Charge { cache: Some(report), ..charge(0, "m", 9_000, Some(1_000_000)) };
        let charges = [with(report(8_000, Some(NanoMoney(7_200_000)))), with(report(500, None))];
        let sums = sums(&charges, UsageGroup::Model, &HashMap::new());
        let table = table(UsageGroup::Model, &sums, None);
        assert!(table.contains("  8,500 ($0.0072)  "), "{table}");
        let line = sums["m"].json(UsageGroup::Model, "m");
        assert_eq!((&line["cache_missed"], &line["cache_miss_cost"]), (&json!(8_500), &json!("0.0072")));
    }
}
