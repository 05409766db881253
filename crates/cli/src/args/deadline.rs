//! Durations as people write them: `30s`, `5m`, `1h30m`, `500ms`.

use std::time::Duration;

const FORMS: &str = "write it like 30s, 5m, 1h30m or 500ms";

/// Parses a duration. Units are w, d, h, m, s and ms, each at most once, the larger first.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let mut rest = text;
    let mut total: u64 = 0;
    let mut smallest = u64::MAX;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
        let (unit, after) = after.split_at(after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len()));
        let unit_ms = unit_ms(unit).filter(|ms| *ms < smallest).ok_or(FORMS)?;
        let number: u64 = number.parse().map_err(|_| FORMS)?;
        total = number.checked_mul(unit_ms).and_then(|ms| total.checked_add(ms)).ok_or("it is too long")?;
        smallest = unit_ms;
        rest = after;
    }
    match total {
        0 if text.is_empty() => Err(FORMS.into()),
        0 => Err("nothing can be done in no time: write more than that, e.g. 30s, or leave it out".into()),
        ms => Ok(Duration::from_millis(ms)),
    }
}

/// Parses a duration, or `never`: a time that does not come.
pub(crate) fn parse_or_never(text: &str) -> Result<Duration, String> {
    if text == "never" { Ok(Duration::MAX) } else { parse(text).map_err(|error| format!("{error}, or `never`")) }
}

fn unit_ms(unit: &str) -> Option<u64> {
    match unit {
        "w" => Some(604_800_000),
        "d" => Some(86_400_000),
        "h" => Some(3_600_000),
        "m" => Some(60_000),
        "s" => Some(1_000),
        "ms" => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, parse_or_never};

    #[test]
    fn a_deadline_is_read_as_people_write_it() {
        for (text, ms) in [
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("500ms", 500),
            ("1d2h3m4s5ms", 93_784_005),
            ("1w1d", 691_200_000),
            ("0h1s", 1_000),
        ] {
            assert_eq!(parse(text).map(|time| time.as_millis()), Ok(ms), "{text}");
        }
    }

    #[test]
    fn a_time_that_never_comes_is_longer_than_any_other() {
        assert_eq!(parse_or_never("30d"), parse("30d"));
        assert!(parse_or_never("never").expect("a time") > parse("9999999d").expect("a time"));
        assert!(parse_or_never("no").expect_err("no time").ends_with("or `never`"));
    }

    #[test]
    fn a_deadline_without_unit_without_length_or_out_of_order_is_refused() {
        for text in ["", "30", "s", "0s", "-5s", "5 m", "1.5h", "5m1h", "5m5m", "1x", "3é", "99999999999999999999s"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("18446744073709551615d").is_err());
        let nothing = parse("0s").expect_err("no time");
        assert!(nothing.contains("more than that"), "{nothing}");
    }
}
