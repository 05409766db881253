//! When to retry according to the server: `retry-after-ms`, or `retry-after` in seconds or as a date. A date is
//! measured from the answer's own `date`, so the local clock does not matter.

use windlass_vocab::Timestamp;

/// The relevant headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryHeaders<'a> {
    /// `retry-after-ms`.
    pub retry_after_ms: Option<&'a str>,
    /// `retry-after`.
    pub retry_after: Option<&'a str>,
    /// `date`.
    pub date: Option<&'a str>,
    /// When a limit that is used up is restored, in RFC 3339, by whatever header says so.
    pub reset: Option<&'a str>,
}

impl<'a> RetryHeaders<'a> {
    /// Picks them from an answer's headers.
    pub(crate) fn of(header: impl Fn(&str) -> Option<&'a str>) -> Self {
        Self {
            retry_after_ms: header("retry-after-ms"),
            retry_after: header("retry-after"),
            date: header("date"),
            reset: restored_at(header),
        }
    }
}

/// Returns when the limit that is used up is restored, the latest one if there are several.
fn restored_at<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<&'a str> {
    const LIMITS: [[&str; 2]; 4] = [
        ["anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"],
        ["anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"],
        ["anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"],
        ["anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"],
    ];
    let used_up = LIMITS.iter().filter(|[remaining, _]| header(remaining) == Some("0"));
    // In RFC 3339, which sorts by time.
    used_up.filter_map(|[_, reset]| header(reset)).max()
}

/// Returns the requested wait in milliseconds; `None` if there is none or it is not valid.
pub(crate) fn retry_after_ms(headers: &RetryHeaders<'_>) -> Option<u64> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    if let Some(ms) = headers.retry_after_ms.and_then(number) {
        return Some(whole(ms));
    }
    if let Some(seconds) = headers.retry_after.and_then(number) {
        return Some(whole(seconds * 1000.0));
    }
    let until = headers.retry_after.and_then(http_date).or_else(|| headers.reset.and_then(whole_seconds))?;
    let wait = until.0 - http_date(headers.date?)?.0;
    u64::try_from(wait).ok().or(Some(0))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and `as` saturates")]
fn whole(ms: f64) -> u64 {
    ms.ceil() as u64
}

/// Parses `2026-01-01T00:00:05Z`; a fraction of a second is dropped.
fn whole_seconds(text: &str) -> Option<Timestamp> {
    let seconds = text.trim().strip_suffix('Z')?.split('.').next()?;
    format!("{seconds}.000Z").parse().ok()
}

/// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, the one form servers are required to send.
fn http_date(text: &str) -> Option<Timestamp> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut parts = text.trim().split(' ').skip(1);
    let (day, month, year, time) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let month = 1 + MONTHS.iter().position(|name| *name == month)?;
    format!("{year}-{month:02}-{day}T{time}.000Z").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{RetryHeaders, retry_after_ms};

    // proves M3
    #[test]
    fn the_wait_is_read_from_milliseconds_seconds_or_a_date() {
        let date = Some("Wed, 31 Dec 2025 23:59:50 GMT");
        for (ms, after, expected) in [
            (Some("250"), Some("9"), Some(250)),
            (None, Some("2"), Some(2_000)),
            (None, Some(" 1.5 "), Some(1_500)),
            (None, Some("Thu, 01 Jan 2026 00:00:20 GMT"), Some(30_000)),
            (None, Some("Wed, 31 Dec 2025 23:00:00 GMT"), Some(0)),
            (None, Some("-1"), None),
            (None, Some("soon"), None),
            (None, Some("NaN"), None),
            (None, Some("Thu, 99 Jan 2026 00:00:20 GMT"), None),
            (None, None, None),
        ] {
            let headers = RetryHeaders { retry_after_ms: ms, retry_after: after, date, reset: None };
            assert_eq!(retry_after_ms(&headers), expected, "{headers:?}");
        }
        let no_date = RetryHeaders { retry_after: Some("Thu, 01 Jan 2026 00:00:20 GMT"), ..RetryHeaders::default() };
        assert_eq!(retry_after_ms(&no_date), None);
        let reset = RetryHeaders { reset: Some("2026-01-01T00:00:05Z"), date, ..RetryHeaders::default() };
        assert_eq!(retry_after_ms(&reset), Some(15_000));
        assert_eq!(retry_after_ms(&RetryHeaders { retry_after: Some("1"), ..reset }), Some(1_000));
    }
}
