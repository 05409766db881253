//! What a request was to the provider's cache (M6).

use windlass_vocab::{CacheReport, CacheResult, Dollars};

/// Returns a report: `cache: missed 8000 of 9000 tokens (history shortened), $0.0072 more`.
pub(crate) fn report(report: &CacheReport) -> String {
    let CacheReport { result, expected, missed, why, cost, at: _ } = report;
    let why = why.map(|why| format!(" ({})", why.words())).unwrap_or_default();
    let cost = cost.map(|cost| format!(", {} more", Dollars::from(cost).for_people())).unwrap_or_default();
    match result {
        CacheResult::Hit => "cache: hit".to_owned(),
        CacheResult::Partial | CacheResult::Missed if *missed > 0 => {
            format!("cache: missed {missed} of {expected} tokens{why}{cost}")
        }
        CacheResult::Partial | CacheResult::Missed => format!("cache: nothing to read{why}"),
        CacheResult::NotReported => "cache: not reported".to_owned(),
    }
}
