//! Runs the floor and Windlass alternately, round by round, and takes the median of each.

use std::time::{Duration, Instant};

use anyhow::Result;

/// The times of the floor and of Windlass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloorComparison {
    /// The floor's median.
    pub floor: Duration,
    /// The median of Windlass.
    pub ours: Duration,
}

impl FloorComparison {
    /// The time of Windlass as a multiple of the floor's.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ours.as_secs_f64() / self.floor.as_secs_f64()
    }
}

/// Runs both alternately, `rounds` times after a warm-up round that does not count. Each gets the round number.
pub async fn compare(
    rounds: usize,
    mut floor: impl AsyncFnMut(usize) -> Result<()>,
    mut ours: impl AsyncFnMut(usize) -> Result<()>,
) -> Result<FloorComparison> {
    let (mut floors, mut all_ours) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let begun = Instant::now();
        floor(round).await?;
        let between = Instant::now();
        ours(round).await?;
        if round > 0 {
            floors.push(between - begun);
            all_ours.push(between.elapsed());
        }
    }
    Ok(FloorComparison { floor: median(&mut floors), ours: median(&mut all_ours) })
}

/// The median of some times.
#[must_use]
pub fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{FloorComparison, median};

    #[test]
    fn the_median_is_the_middle_one_in_any_order() {
        let mut times = [5, 1, 9].map(Duration::from_millis);
        assert_eq!(median(&mut times), Duration::from_millis(5));
        assert_eq!(median(&mut []), Duration::ZERO);
    }

    #[test]
    fn a_ratio_says_how_many_floors_ours_took() {
        let compared = FloorComparison { floor: Duration::from_millis(4), ours: Duration::from_millis(6) };
        assert!((compared.ratio() - 1.5).abs() < 1e-9);
    }
}
