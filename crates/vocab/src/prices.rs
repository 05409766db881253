//! Prices of a model's tokens.

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
        NanoMoney(i64::try_from((sum + PER_TOKENS / 2) / PER_TOKENS).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::Prices;
    use crate::{NanoMoney, Usage};

    /// 3 units for a million tokens sent, 15 for a million received, 0.30 from the cache, 3.75 into it.
    const PRICES: Prices = Prices {
        input: NanoMoney(3_000_000_000),
        output: NanoMoney(15_000_000_000),
        cached: Some(NanoMoney(300_000_000)),
        cache_written: Some(NanoMoney(3_750_000_000)),
    };

    // proves M7
    #[test]
    fn every_kind_of_token_is_charged_once_at_its_price() {
        let usage = Usage { input: 10_000, cached: 6_000, cache_written: 3_000, output: 200, ..Usage::default() };
        // 1,000 × 3,000 + 6,000 × 300 + 3,000 × 3,750 + 200 × 15,000 billionths
        assert_eq!(PRICES.cost(&usage), NanoMoney(3_000_000 + 1_800_000 + 11_250_000 + 3_000_000));
        let flat = Prices { cached: None, cache_written: None, ..PRICES };
        assert_eq!(flat.cost(&usage), NanoMoney(30_000_000 + 3_000_000));
        assert_eq!(Prices::default().cost(&usage), NanoMoney(0));
    }

    #[test]
    fn counts_that_make_no_sense_overflow_nothing() {
        let usage = Usage { input: 5, cached: 9, cache_written: 9, output: u64::MAX, ..Usage::default() };
        let dear = Prices { output: NanoMoney(i64::MAX), ..PRICES };
        assert_eq!(dear.cost(&usage), NanoMoney(i64::MAX));
        assert_eq!(PRICES.cost(&Usage { output: 0, ..usage }), NanoMoney(5 * 300));
    }
}
