//! Formats durations for people.

/// `12 ms`, `1.5 s`, `2 min 0 s`.
#[must_use]
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 if ms % 1_000 >= 100 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        1_000..60_000 => format!("{} s", ms / 1_000),
        60_000.. => format!("{} min {} s", ms / 60_000, ms / 1_000 % 60),
    }
}
