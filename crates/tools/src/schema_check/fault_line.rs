//! How the faults of a value are listed.

/// At most this many faults are reported at once.
pub(super) const FAULTS: usize = 5;

/// Formats a fault: its place, or the name of the whole value, and what is wrong.
pub(super) fn fault_line(place: &str, whole: &str, problem: &str) -> String {
    let place = if place.is_empty() { whole.to_owned() } else { crate::shorten::shorten(place, 200) };
    format!("- {place}: {}", crate::shorten::shorten(problem, 400))
}
