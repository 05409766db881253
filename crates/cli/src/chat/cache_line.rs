//! What the provider's cache had of a run's requests, turn by turn (M6).

use windlass_narrate::grouped;
use windlass_vocab::{CacheReport, CacheResult, Dollars, TurnId};

/// The most turns whose misses are named.
const NAMED: usize = 5;

/// Returns the line of a run's reports: how many turns were read from the cache, and for the last of the others why not
/// and what that cost. Empty where there is nothing to say.
pub(super) fn of_run(reports: &[(Option<TurnId>, CacheReport)]) -> String {
    let reported: Vec<_> = reports.iter().filter(|(_, report)| report.result != CacheResult::NotReported).collect();
    if reported.is_empty() {
        return String::new();
    }
    let misses: Vec<_> = reported.iter().filter(|(_, report)| report.result != CacheResult::Hit).collect();
    let hits = reported.len() - misses.len();
    let turns = if reported.len() == 1 { "turn" } else { "turns" };
    let named = misses.iter().skip(misses.len().saturating_sub(NAMED)).map(|(turn, report)| miss(*turn, report));
    let named: Vec<String> = named.collect();
    let missed = if named.is_empty() { String::new() } else { format!("; missed: {}", named.join("; ")) };
    format!("cache: {hits} of {} {turns} read from it{missed}\n", reported.len())
}

/// `turn 26: 8,000 tokens, history shortened, $0.0072`.
fn miss(turn: Option<TurnId>, report: &CacheReport) -> String {
    let tokens = (report.missed > 0).then(|| format!("{} tokens", grouped(report.missed)));
    let why = report.why.map(|why| why.words().to_owned());
    let cost = report.cost.map(|cost| Dollars::from(cost).for_people());
    let parts: Vec<String> = [tokens, why, cost].into_iter().flatten().collect();
    let turn = turn.map(|turn| format!("turn {turn}: ")).unwrap_or_default();
    format!("{turn}{}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{CacheMissCause, CacheReport, CacheResult, NanoMoney, Timestamp, TurnId};

    use super::of_run;

    fn report(result: CacheResult, missed: u64, why: Option<CacheMissCause>) -> CacheReport {
        let cost = (missed > 0).then_some(NanoMoney(7_200_000));
        CacheReport { at: Timestamp(0), result, expected: 9_000, missed, why, cost }
    }

    // proves M6
    #[test]
    fn a_run_tells_how_many_turns_were_read_from_the_cache_and_why_others_were_not() {
        let turn = |number| Some(TurnId(number));
        let first = (turn(1), report(CacheResult::Missed, 0, Some(CacheMissCause::FirstRequest)));
        let hit = (turn(2), report(CacheResult::Hit, 0, None));
        let shortened = (turn(3), report(CacheResult::Partial, 8_000, Some(CacheMissCause::Compaction)));
        let silent = (turn(4), report(CacheResult::NotReported, 0, None));
        assert_eq!(of_run(&[silent]), "");
        assert_eq!(of_run(&[hit]), "cache: 1 of 1 turn read from it\n");
        let all = of_run(&[first, hit, shortened, silent]);
        let expected = "cache: 1 of 3 turns read from it; missed: turn 1: first request; \
                        turn 3: 8,000 tokens, history shortened, $0.0072\n";
        assert_eq!(all, expected);
        let many: Vec<_> = std::iter::repeat_n(shortened, 7).collect();
        assert_eq!(of_run(&many).matches("turn 3").count(), 5);
    }
}
