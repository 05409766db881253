//! Points in time, supplied by the caller. Written as RFC 3339 in UTC with milliseconds, so that a journal is readable
//! and sorts as text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const DAY_MS: i64 = 86_400_000;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The first moment of the year 0 and the last of the year 9999. A time outside this range could not be read back,
    /// so it is written as the nearer of the two.
    const WRITABLE: (Self, Self) = (Self(-62_167_219_200_000), Self(253_402_300_799_999));

    /// Returns the time `millis` later, clamped to the latest writable time: a server may ask for any wait.
    #[must_use]
    pub const fn plus_ms(self, millis: u64) -> Self {
        let (_, latest) = Self::WRITABLE;
        let later = self.0.saturating_add_unsigned(millis);
        if later > latest.0 { latest } else { Self(later) }
    }

    /// Returns the first moment of its day, by UTC.
    #[must_use]
    pub const fn day_start(self) -> Self {
        Self(self.0.div_euclid(DAY_MS).saturating_mul(DAY_MS))
    }

    /// Returns the milliseconds since `earlier`; 0 if `earlier` is later.
    #[must_use]
    pub const fn ms_since(self, earlier: Self) -> u64 {
        let gap = self.0.saturating_sub(earlier.0);
        if gap < 0 { 0 } else { gap.unsigned_abs() }
    }
}

/// Howard Hinnant's civil-from-days: the proleptic Gregorian date of a day number.
const fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let mp = if month > 2 { month - 3 } else { month + 9 };
    let doy = (153 * mp + 2) / 5 + day - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    era * 146_097 + doe - 719_468
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

/// Returns a number below 100 as two digits.
fn pair(number: i64) -> [u8; 2] {
    let number = u8::try_from(number).unwrap_or_default();
    [b'0' + number / 10, b'0' + number % 10]
}

impl Timestamp {
    /// Returns the written form, without `fmt`, which is slower: every record has a timestamp.
    pub(crate) fn digits(self) -> [u8; 24] {
        let (earliest, latest) = Self::WRITABLE;
        let at = self.clamp(earliest, latest).0;
        let (year, month, day) = civil(at.div_euclid(DAY_MS));
        let ms = at.rem_euclid(DAY_MS);
        let mut text = *b"dddd-dd-ddTdd:dd:dd.dddZ";
        for (place, number) in [
            (0, year / 100),
            (2, year % 100),
            (5, month),
            (8, day),
            (11, ms / 3_600_000),
            (14, ms / 60_000 % 60),
            (17, ms / 1_000 % 60),
            (20, ms % 1_000 / 10),
        ] {
            text[place..place + 2].copy_from_slice(&pair(number));
        }
        text[22] = pair(ms % 10)[1];
        text
    }
}

/// The text was not a UTC timestamp of the form `2026-01-31T23:59:59.999Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a timestamp of the form 2026-01-31T23:59:59.999Z")]
pub struct ParseTimestampError;

impl FromStr for Timestamp {
    type Err = ParseTimestampError;

    fn from_str(text: &str) -> Result<Self, ParseTimestampError> {
        let form = b"dddd-dd-ddTdd:dd:dd.dddZ";
        let fits = text.len() == form.len()
            && text
                .bytes()
                .zip(form)
                .all(|(byte, want)| if *want == b'd' { byte.is_ascii_digit() } else { byte == *want });
        if !fits {
            return Err(ParseTimestampError);
        }
        let number = |from: usize, to: usize| text[from..to].parse::<i64>().map_err(|_| ParseTimestampError);
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second, ms) = (number(11, 13)?, number(14, 16)?, number(17, 19)?, number(20, 23)?);
        let days = days_from_civil(year, month, day);
        if civil(days) != (year, month, day) || hour > 23 || minute > 59 || second > 59 {
            return Err(ParseTimestampError);
        }
        Ok(Self(days * DAY_MS + hour * 3_600_000 + minute * 60_000 + second * 1_000 + ms))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::text::parsed(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn a_timestamp_reads_back_as_it_was_written() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_794_711_599_999, "2026-11-15T02:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp(ms).to_string(), text);
            assert_eq!(serde_json::to_value(Timestamp(ms)).unwrap(), text);
            assert_eq!(text.parse(), Ok(Timestamp(ms)));
        }
    }

    #[test]
    fn every_moment_that_can_be_written_is_read_back() {
        // The step shares no factor with days, hours or seconds, so that every digit changes.
        for ms in (-62_167_219_200_000..253_402_300_799_999).step_by(99_999_999_977) {
            assert_eq!(Timestamp(ms).to_string().parse(), Ok(Timestamp(ms)));
        }
    }

    #[test]
    fn no_moment_is_written_that_can_not_be_read_back() {
        // proves J7
        let (earliest, latest) = Timestamp::WRITABLE;
        assert_eq!(earliest.to_string(), "0000-01-01T00:00:00.000Z");
        assert_eq!(latest.to_string(), "9999-12-31T23:59:59.999Z");
        for (at, nearest) in
            [(Timestamp(i64::MIN), earliest), (Timestamp(latest.0 + 1), latest), (Timestamp(i64::MAX), latest)]
        {
            assert_eq!(at.to_string().parse(), Ok(nearest));
        }
        assert_eq!(Timestamp(0).plus_ms(u64::MAX), latest);
        assert_eq!(latest.plus_ms(1), latest);
    }

    #[test]
    fn a_date_that_does_not_exist_is_refused() {
        for text in ["2026-02-30T00:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-01-01T00:00:00Z", "", "é"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }
}
