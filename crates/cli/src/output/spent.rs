//! What model calls used and cost, in words.

use windlass_narrate::grouped;
use windlass_vocab::{Dollars, NanoMoney, Usage};

/// `about 1,200 tokens in (1,000 cached), 30 out, 2 model calls, $0.0124`. Without a price the money is left out.
pub(crate) fn spent(usage: &Usage, cost: Option<NanoMoney>) -> String {
    let about = if usage.estimated { "about " } else { "" };
    let cached = if usage.cached > 0 { format!(" ({} cached)", grouped(usage.cached)) } else { String::new() };
    let calls = if usage.calls == 1 { "1 model call".to_owned() } else { format!("{} model calls", usage.calls) };
    let money = cost.map(|cost| format!(", {}", Dollars::from(cost).for_people()));
    format!(
        "{about}{} tokens in{cached}, {} out, {calls}{}",
        grouped(usage.input),
        grouped(usage.output),
        money.unwrap_or_default()
    )
}
