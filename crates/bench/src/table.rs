//! The table of results: one row per figure.

use std::fmt;
use std::time::Duration;

use crate::pace::FloorComparison;

/// Whether a figure is within its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It is.
    Met,
    /// It is not.
    Missed,
    /// It has no limit, or could not be measured.
    Noted,
}

impl Mark {
    /// Compares a measured value with its upper limit.
    fn of(measured: f64, limit: f64) -> Self {
        if measured <= limit { Self::Met } else { Self::Missed }
    }
}

/// A figure and the measured value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// What the figure is about.
    pub figure: String,
    /// The limit.
    pub target: String,
    /// The measured value.
    pub measured: String,
    /// Whether the limit is met.
    pub mark: Mark,
}

impl Measurement {
    /// A comparison with a floor.
    #[must_use]
    pub fn compared(figure: &str, limit: f64, compared: &FloorComparison) -> Self {
        let mark = Mark::of(compared.ratio(), limit);
        Self { target: format!("≤ {limit} × floor"), mark, ..Self::beside(figure, compared) }
    }

    /// A comparison with a floor, without a limit.
    #[must_use]
    pub fn beside(figure: &str, compared: &FloorComparison) -> Self {
        let (ours, floor) = (readable(compared.ours), readable(compared.floor));
        Self::noted(figure, format!("{:.2} × ({ours} / {floor})", compared.ratio()))
    }

    /// A measured value with an upper limit.
    #[must_use]
    pub fn at_most(figure: &str, limit: f64, measured: f64, unit: &str) -> Self {
        let mark = Mark::of(measured, limit);
        let (target, measured) = (format!("≤ {limit} {unit}"), format!("{measured:.2} {unit}"));
        Self { figure: figure.to_owned(), target, measured, mark }
    }

    /// A value for information, without a limit.
    #[must_use]
    pub fn noted(figure: &str, measured: impl Into<String>) -> Self {
        Self { figure: figure.to_owned(), target: "–".to_owned(), measured: measured.into(), mark: Mark::Noted }
    }
}

/// Formats it as a row of a Markdown table.
impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let met = match self.mark {
            Mark::Met => "yes",
            Mark::Missed => "**no**",
            Mark::Noted => "–",
        };
        write!(f, "| {} | {} | {} | {met} |", self.figure, self.target, self.measured)
    }
}

/// The header rows of the table.
pub const HEAD: &str = "| figure | target | measured (ours / floor) | met |\n|---|---|---|---|";

/// A duration in a readable unit.
#[must_use]
pub fn readable(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    if micros < 1e3 {
        format!("{micros:.0} µs")
    } else if micros < 1e6 {
        format!("{:.2} ms", micros / 1e3)
    } else {
        format!("{:.2} s", micros / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Mark, Measurement};
    use crate::pace::FloorComparison;

    #[test]
    fn a_figure_at_its_limit_is_met_and_one_above_it_is_not() {
        let of = |ours| FloorComparison { floor: Duration::from_micros(100), ours: Duration::from_micros(ours) };
        assert_eq!(Measurement::compared("turn", 2.0, &of(200)).mark, Mark::Met);
        let missed = Measurement::compared("turn", 2.0, &of(201));
        assert_eq!(missed.to_string(), "| turn | ≤ 2 × floor | 2.01 × (201 µs / 100 µs) | **no** |");
        assert_eq!(Measurement::at_most("idle", 15.0, 15.1, "MiB").mark, Mark::Missed);
    }
}
