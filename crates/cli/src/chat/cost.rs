//! The cost of a run and of its session, computed from the journal.

use windlass_vocab::{Envelope, NanoMoney, Record, Usage};

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
            self.money = Some(NanoMoney(sum + more));
        }
    }
}

/// Returns one line for the last run and one for the session.
pub(crate) fn report(records: &[Envelope]) -> String {
    let (mut run, mut session) = (Cost::default(), Cost::default());
    for envelope in records {
        match &envelope.record {
            Record::RunStarted(_) => run = Cost::default(),
            Record::ModelReplied(replied) => {
                run.add(replied.usage, replied.cost);
                session.add(replied.usage, replied.cost);
            }
            Record::AttemptFailed(failed) => {
                let usage = failed.usage.unwrap_or_default();
                run.add(usage, None);
                session.add(usage, None);
            }
            _ => {}
        }
    }
    format!("{}\n{}\n", line("last run", &run), line("session", &session))
}

fn line(what: &str, Cost { usage, money }: &Cost) -> String {
    let about = if usage.estimated { "about " } else { "" };
    let cached = if usage.cached > 0 { format!(" ({} cached)", grouped(usage.cached)) } else { String::new() };
    let calls = if usage.calls == 1 { "1 model call".to_owned() } else { format!("{} model calls", usage.calls) };
    let money = money.map(|NanoMoney(nano)| format!(", {:.4} of the model's currency", nano as f64 / 1e9));
    format!(
        "{what}: {about}{} tokens in{cached}, {} out, {calls}{}",
        grouped(usage.input),
        grouped(usage.output),
        money.unwrap_or_default()
    )
}

/// `1234567` as `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    let all: Vec<String> = Some(head.to_owned()).filter(|head| !head.is_empty()).into_iter().chain(groups).collect();
    all.join(",")
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{NanoMoney, Usage};

    use super::{Cost, grouped, line};

    #[test]
    fn tokens_are_counted_and_money_shown_where_it_is_known() {
        let mut cost = Cost::default();
        cost.add(Usage { input: 1200, output: 30, cached: 1000, calls: 1, ..Usage::default() }, None);
        assert_eq!(line("session", &cost), "session: 1,200 tokens in (1,000 cached), 30 out, 1 model call");
        cost.add(Usage { input: 1, calls: 1, estimated: true, ..Usage::default() }, Some(NanoMoney(12_345_678)));
        let expected =
            "session: about 1,201 tokens in (1,000 cached), 30 out, 2 model calls, 0.0123 of the model's currency";
        assert_eq!(line("session", &cost), expected);
    }

    #[test]
    fn digits_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
