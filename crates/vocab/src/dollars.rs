//! Amounts of money as people write them.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::NanoMoney;

/// Billionths in a dollar.
const NANO: u64 = 1_000_000_000;
/// Decimal places of a billionth.
const PLACES: usize = 9;

/// An amount of US dollars, zero or more. It is written in decimals, `0.50`, so that nothing is rounded; in a
/// configuration file it may be a number, too. The field is one more than the billionths, so that an absent amount
/// takes no room in a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dollars(NonZeroU64);

impl Dollars {
    /// Returns the amount in billionths of a dollar.
    #[must_use]
    pub const fn nano(self) -> u64 {
        self.0.get() - 1
    }

    /// Returns the amount of this many billionths of a dollar.
    #[must_use]
    pub const fn of_nano(nano: u64) -> Self {
        Self(NonZeroU64::MIN.saturating_add(nano))
    }

    /// Returns the amount as people read it: `$0.0124`, rounded up to a ten-thousandth of a dollar.
    #[must_use]
    pub fn for_people(self) -> String {
        const STEP: u64 = 100_000;
        format!("${}", Self::of_nano(self.nano().div_ceil(STEP).saturating_mul(STEP)))
    }
}

impl From<NanoMoney> for Dollars {
    /// A negative amount, which no list of prices leads to, counts as zero.
    fn from(NanoMoney(nano): NanoMoney) -> Self {
        Self::of_nano(u64::try_from(nano).unwrap_or_default())
    }
}

/// The text was not an amount of money.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseDollarsError {
    /// It has a minus sign.
    #[error("an amount of money can't be negative: {0:?}")]
    Negative(String),
    /// It is no decimal number that fits.
    #[error("not an amount of dollars such as 0.50: {0:?}")]
    NotDecimal(String),
}

impl FromStr for Dollars {
    type Err = ParseDollarsError;

    fn from_str(text: &str) -> Result<Self, ParseDollarsError> {
        let bare = text.trim();
        let bare = bare.strip_prefix('$').unwrap_or(bare);
        if bare.starts_with('-') {
            return Err(ParseDollarsError::Negative(text.to_owned()));
        }
        let wrong = || ParseDollarsError::NotDecimal(text.to_owned());
        let (whole, part) = bare.split_once('.').unwrap_or((bare, ""));
        let all_digits = [whole, part].iter().all(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        if !all_digits || (whole.is_empty() && part.is_empty()) || part.len() > PLACES {
            return Err(wrong());
        }
        let number = |digits: &str| if digits.is_empty() { Ok(0) } else { digits.parse::<u64>().map_err(|_| wrong()) };
        let nano = number(&format!("{part:0<PLACES$}"))?;
        let dollars = number(whole)?.checked_mul(NANO).and_then(|whole| whole.checked_add(nano));
        // Sums are kept in signed billionths.
        dollars.filter(|nano| i64::try_from(*nano).is_ok()).map(Self::of_nano).ok_or_else(wrong)
    }
}

impl fmt::Display for Dollars {
    /// Writes at least two decimals, and as many as the amount has.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = format!("{:0PLACES$}", self.nano() % NANO);
        let ends = part.trim_end_matches('0').len().max(2);
        write!(f, "{}.{}", self.nano() / NANO, &part[..ends])
    }
}

impl Serialize for Dollars {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

struct AmountVisitor;

impl Visitor<'_> for AmountVisitor {
    type Value = Dollars;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount of dollars such as \"0.50\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Dollars, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: serde::de::Error>(self, whole: u64) -> Result<Dollars, E> {
        self.visit_str(&whole.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, whole: i64) -> Result<Dollars, E> {
        self.visit_str(&whole.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Dollars, E> {
        self.visit_str(&number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::Dollars;

    // proves M7
    #[test]
    fn an_amount_is_read_exactly_as_text_or_as_a_number_and_written_as_text() {
        for (json, nano, text) in [
            ("\"0.50\"", 500_000_000, "0.50"),
            ("\"$12\"", 12_000_000_000, "12.00"),
            ("0.1", 100_000_000, "0.10"),
            ("3", 3_000_000_000, "3.00"),
            ("0", 0, "0.00"),
            ("\".000000001\"", 1, "0.000000001"),
            ("1e-7", 100, "0.0000001"),
        ] {
            let amount: Dollars = serde_json::from_str(json).unwrap();
            assert_eq!((amount.nano(), amount.to_string().as_str()), (nano, text), "{json}");
            let written = serde_json::to_string(&amount).unwrap();
            assert_eq!(serde_json::from_str::<Dollars>(&written).unwrap(), amount);
        }
    }

    #[test]
    fn what_is_no_amount_is_refused_in_a_sentence() {
        for (text, why) in [
            ("-1", "can't be negative"),
            ("-0.5", "can't be negative"),
            ("ten", "not an amount of dollars such as 0.50"),
            ("", "not an amount"),
            (".", "not an amount"),
            ("1.2.3", "not an amount"),
            ("0.0000000001", "not an amount"),
            ("99999999999", "not an amount"),
        ] {
            let error = text.parse::<Dollars>().unwrap_err().to_string();
            assert!(error.contains(why), "{text:?}: {error}");
        }
        let error = serde_json::from_str::<Dollars>("-3").unwrap_err().to_string();
        assert!(error.contains("can't be negative"), "{error}");
    }
}
