//! What a model's tokens cost.

use serde::{Deserialize, Serialize};

use crate::{NanoMoney, Usage};

/// The unit of the prices: they are for this many tokens.
const PER_TOKENS: i128 = 1_000_000;

/// Prices for a million tokens. Integers, so that sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prices {
    /// For tokens sent.
    pub input: NanoMoney,
    /// For tokens received, reasoning included.
    pub output: NanoMoney,
    /// For tokens sent that the provider read from its cache; absent where they cost the same as others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<NanoMoney>,
    /// For tokens sent that the provider wrote to its cache; absent where they cost the same as others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_written: Option<NanoMoney>,
}

impl Prices {
    /// Returns what these tokens cost, rounded to the nearest billionth. Counts are a server's word, so sums saturate.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> NanoMoney {
        let cached = usage.cached.min(usage.input);
        let written = usage.cache_written.min(usage.input - cached);
        let plain = usage.input - cached - written;
        let priced = [
            (plain, self.input),
            (cached, self.cached.unwrap_or(self.input)),
            (written, self.cache_written.unwrap_or(self.input)),
            (usage.output, self.output),
        ];
        let sum = priced.into_iter().map(|(tokens, price)| i128::from(tokens) * i128::from(price.0));
        let sum = sum.fold(0i128, i128::saturating_add);
        NanoMoney(i64::try_from(sum.saturating_add(PER_TOKENS / 2) / PER_TOKENS).unwrap_or(i64::MAX))
    }
}

/// The prices in a seller's list, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListPrices {
    /// The usual prices.
    pub usual: Prices,
    /// Prices of calls with a long input, where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongInputPrices>,
}

/// Prices of calls with a long input. All tokens of such a call are charged at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongInputPrices {
    /// Calls that send more tokens than this are charged so.
    pub above: u64,
    /// The prices.
    pub prices: Prices,
}

impl ListPrices {
    /// The prices where tokens cost nothing.
    pub const FREE: Self = Self {
        usual: Prices { input: NanoMoney(0), output: NanoMoney(0), cached: None, cache_written: None },
        long: None,
    };

    /// Returns the prices of a call that sends this many tokens.
    #[must_use]
    pub fn for_input(&self, tokens: u64) -> Prices {
        match self.long {
            Some(long) if tokens > long.above => long.prices,
            Some(_) | None => self.usual,
        }
    }

    /// Returns what a call cost more because this many of its tokens were not read from the cache. They were written to
    /// it again, where the provider counts that.
    #[must_use]
    pub fn cost_of_miss(&self, usage: &Usage, missed: u64) -> NanoMoney {
        let missed = missed.min(usage.input.saturating_sub(usage.cached));
        let read = Usage {
            cached: usage.cached.saturating_add(missed),
            cache_written: usage.cache_written.saturating_sub(missed),
            ..*usage
        };
        let prices = self.for_input(usage.input);
        NanoMoney(prices.cost(usage).0.saturating_sub(prices.cost(&read).0).max(0))
    }

    /// Returns the cost of one call. A sum over several calls is not one: each may have its own prices.
    #[must_use]
    pub fn cost_of_call(&self, usage: &Usage) -> NanoMoney {
        self.for_input(usage.input).cost(usage)
    }
}

#[cfg(test)]
mod tests {
    use super::{ListPrices, LongInputPrices, Prices};
    use crate::{NanoMoney, Usage};

    /// 3 dollars for a million tokens sent, 15 for a million received, 0.30 from the cache, 3.75 into it.
    const PRICES: Prices = Prices {
        input: NanoMoney(3_000_000_000),
        output: NanoMoney(15_000_000_000),
        cached: Some(NanoMoney(300_000_000)),
        cache_written: Some(NanoMoney(3_750_000_000)),
    };

    fn usage(input: u64, cached: u64, output: u64) -> Usage {
        Usage { input, cached, output, ..Usage::default() }
    }

    // proves M7
    #[test]
    fn every_kind_of_token_is_charged_once_at_its_price() {
        for (usage, written, cost) in [
            (usage(0, 0, 0), 0, 0),
            (usage(1, 0, 0), 0, 3_000),
            (usage(10_000, 6_000, 200), 0, 4_000 * 3_000 + 6_000 * 300 + 200 * 15_000),
            (usage(10_000, 6_000, 200), 3_000, 1_000 * 3_000 + 6_000 * 300 + 3_000 * 3_750 + 200 * 15_000),
        ] {
            assert_eq!(PRICES.cost(&Usage { cache_written: written, ..usage }), NanoMoney(cost), "{usage:?}");
        }
        let flat = Prices { cached: None, cache_written: None, ..PRICES };
        assert_eq!(flat.cost(&usage(10_000, 6_000, 200)), NanoMoney(10_000 * 3_000 + 200 * 15_000));
    }

    // proves M6, M7
    #[test]
    fn a_miss_costs_what_reading_from_the_cache_would_have_saved() {
        let list = ListPrices { usual: PRICES, long: None };
        for (written, missed, cost) in [
            (0, 0, 0),
            (0, 4_000, 4_000 * (3_000 - 300)),
            // What was missed was written again, at the price of that.
            (4_000, 4_000, 4_000 * (3_750 - 300)),
            (1_000, 4_000, 1_000 * (3_750 - 300) + 3_000 * (3_000 - 300)),
            // No more can be missed than was sent.
            (0, 9_000, 8_000 * (3_000 - 300)),
        ] {
            let usage = Usage { cache_written: written, ..usage(10_000, 2_000, 7) };
            assert_eq!(list.cost_of_miss(&usage, missed), NanoMoney(cost), "{written} {missed}");
        }
        assert_eq!(ListPrices::FREE.cost_of_miss(&usage(10, 0, 0), 10), NanoMoney(0));
    }

    #[test]
    fn a_price_below_a_billionth_for_a_token_is_exact_over_many() {
        let cheap = Prices { input: NanoMoney(2_800_000), cached: Some(NanoMoney(37_500_000)), ..Prices::default() };
        assert_eq!(cheap.cost(&usage(1_000, 0, 0)), NanoMoney(2_800));
        assert_eq!(cheap.cost(&usage(2, 2, 0)), NanoMoney(75));
        assert_eq!(cheap.cost(&usage(1, 1, 0)), NanoMoney(38), "37.5 is rounded");
    }

    #[test]
    fn counts_that_make_no_sense_overflow_nothing() {
        let dear = Prices { output: NanoMoney(i64::MAX), ..PRICES };
        assert_eq!(dear.cost(&usage(u64::MAX, 9, u64::MAX)), NanoMoney(i64::MAX));
        assert_eq!(PRICES.cost(&Usage { cache_written: 9, ..usage(5, 9, 0) }), NanoMoney(5 * 300));
    }

    #[test]
    fn a_long_input_has_its_own_prices_for_the_whole_call() {
        let long = LongInputPrices { above: 200_000, prices: Prices { input: NanoMoney(6_000_000_000), ..PRICES } };
        let list = ListPrices { usual: PRICES, long: Some(long) };
        assert_eq!(list.cost_of_call(&usage(200_000, 0, 0)), NanoMoney(600_000_000));
        assert_eq!(list.cost_of_call(&usage(200_001, 0, 1)), NanoMoney(200_001 * 6_000 + 15_000));
        assert_eq!(ListPrices::FREE.cost_of_call(&usage(9_999, 5, 7)), NanoMoney(0));
    }
}
