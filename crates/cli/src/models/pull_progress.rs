//! How far a download has come, for a terminal and for a log.

use std::collections::BTreeMap;
use std::time::Duration;

use windlass_narrate::duration;
use windlass_provider::{PullStep, PulledLayer};

/// The widest bar.
const BAR: usize = 30;
/// Before this, a speed means nothing.
const FIRST_SPEED: Duration = Duration::from_secs(2);

/// How far the download of a model has come.
#[derive(Debug, Default)]
pub(crate) struct PullProgress {
    layers: BTreeMap<String, LayerProgress>,
    /// What the server does, while it downloads nothing.
    status: String,
    /// What was last said in a log: the step, and how many tenths had come.
    last_logged: (String, u64),
}

#[derive(Debug)]
struct LayerProgress {
    total: u64,
    completed: u64,
    /// What was there before.
    before: u64,
}

impl PullProgress {
    /// Takes in a step.
    pub(crate) fn note(&mut self, step: PullStep) {
        match step.layer {
            Some(PulledLayer { digest, total, completed }) => {
                self.status.clear();
                let new = LayerProgress { total, completed, before: completed };
                let layer = self.layers.entry(digest).or_insert(new);
                (layer.total, layer.completed) = (total, completed);
            }
            None => self.status = step.status,
        }
    }

    /// The size of all that is known of the model.
    pub(crate) fn total(&self) -> u64 {
        self.layers.values().map(|layer| layer.total).sum()
    }

    fn completed(&self) -> u64 {
        self.layers.values().map(|layer| layer.completed).sum()
    }

    /// How many bytes came, besides those that were there.
    pub(crate) fn downloaded(&self) -> u64 {
        self.layers.values().map(|layer| layer.completed.saturating_sub(layer.before)).sum()
    }

    fn hundredths(&self) -> u64 {
        self.completed().saturating_mul(100) / self.total().max(1)
    }

    /// The line of a terminal this wide, after this time.
    pub(crate) fn line(&self, name: &str, width: usize, elapsed: Duration) -> String {
        if !self.status.is_empty() || self.layers.is_empty() {
            return cut(&format!("{name}  {}", self.status), width);
        }
        let (completed, total) = (self.completed(), self.total());
        let mut figures = format!("{:>3} %  {}", self.hundredths(), size_of(completed, total));
        if let Some(speed) = self.speed(elapsed) {
            let left = total.saturating_sub(completed) / speed * 1_000;
            figures += &format!("  {}/s  {} left", size(speed), duration(left));
        }
        let room = width.saturating_sub(name.chars().count() + figures.chars().count() + 7).min(BAR);
        let bar = if room < 5 { String::new() } else { format!("  [{}]", bar(completed, total, room)) };
        cut(&format!("{name}{bar}  {figures}"), width)
    }

    /// Bytes in a second, once that can be said.
    fn speed(&self, elapsed: Duration) -> Option<u64> {
        let ms = u64::try_from(elapsed.as_millis()).ok().filter(|_| elapsed >= FIRST_SPEED)?;
        Some(self.downloaded().saturating_mul(1_000) / ms).filter(|speed| *speed > 0)
    }

    /// A line for a log, where a step or a tenth of the whole has been reached since the last.
    pub(crate) fn log_line(&mut self, name: &str) -> Option<String> {
        let now = (self.status.clone(), self.hundredths() / 10);
        let is_new = if now.0.is_empty() { now.1 > self.last_logged.1 } else { now.0 != self.last_logged.0 };
        if !is_new {
            return None;
        }
        let line = if now.0.is_empty() {
            format!("{name}: {} %, {}", now.1 * 10, size_of(self.completed(), self.total()))
        } else {
            format!("{name}: {}", now.0)
        };
        self.last_logged = (now.0, now.1.max(self.last_logged.1));
        Some(line)
    }
}

fn bar(completed: u64, total: u64, room: usize) -> String {
    let whole = u64::try_from(room).unwrap_or_default();
    let filled = usize::try_from(completed.saturating_mul(whole) / total.max(1)).unwrap_or(room).min(room);
    format!("{}{}", "=".repeat(filled), " ".repeat(room - filled))
}

/// A line that does not reach the last column, so that it is not continued on the next row.
fn cut(line: &str, width: usize) -> String {
    line.chars().take(width.saturating_sub(1)).collect()
}

fn size_of(completed: u64, total: u64) -> String {
    format!("{} of {}", size(completed), size(total))
}

/// Returns a size as the library of models writes it, in powers of a thousand.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        1_000_000_000.. => format!("{}.{} GB", bytes / 1_000_000_000, bytes / 100_000_000 % 10),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use windlass_provider::{PullStep, PulledLayer};

    use super::PullProgress;

    fn status(text: &str) -> PullStep {
        PullStep { status: text.to_owned(), layer: None }
    }

    fn layer(digest: &str, completed: u64, total: u64) -> PullStep {
        let layer = Some(PulledLayer { digest: digest.to_owned(), total, completed });
        PullStep { status: format!("pulling {digest}"), layer }
    }

    const GB: u64 = 1_000_000_000;

    // proves W2: one line that fits the terminal, however narrow
    #[test]
    fn a_terminal_sees_one_line_that_fits() {
        let mut progress = PullProgress::default();
        let line =
            |progress: &PullProgress, width, seconds| progress.line("qwen3:4b", width, Duration::from_secs(seconds));
        progress.note(status("pulling manifest"));
        assert_eq!(line(&progress, 80, 0), "qwen3:4b  pulling manifest");
        progress.note(layer("a", 0, 2 * GB));
        progress.note(layer("a", GB, 2 * GB));
        assert_eq!(line(&progress, 80, 1), "qwen3:4b  [===============               ]   50 %  1.0 GB of 2.0 GB");
        assert_eq!(
            line(&progress, 80, 10),
            "qwen3:4b  [==========           ]   50 %  1.0 GB of 2.0 GB  100 MB/s  10 s left"
        );
        for width in 1..100 {
            assert!(line(&progress, width, 10).chars().count() < width.max(2), "{width}");
        }
        assert_eq!(line(&progress, 40, 1), "qwen3:4b   50 %  1.0 GB of 2.0 GB");
    }

    // proves W2: a log is not flooded
    #[test]
    fn a_log_gets_each_step_and_each_tenth_once() {
        let mut progress = PullProgress::default();
        let mut lines = Vec::new();
        let steps = [status("pulling manifest"), status("pulling manifest")]
            .into_iter()
            .chain((0..=100).map(|part| layer("a", part * GB / 100, GB)))
            .chain([layer("b", 0, 10), layer("b", 10, 10), status("verifying sha256 digest"), status("success")]);
        for step in steps {
            progress.note(step);
            lines.extend(progress.log_line("m"));
        }
        assert_eq!(lines.len(), 1 + 10 + 2, "{lines:?}");
        assert_eq!((lines[0].as_str(), lines[3].as_str()), ("m: pulling manifest", "m: 30 %, 300 MB of 1.0 GB"));
        assert_eq!(progress.downloaded(), GB + 10);
    }

    #[test]
    fn what_was_there_is_not_counted_as_downloaded() {
        let mut progress = PullProgress::default();
        progress.note(layer("a", GB, GB));
        progress.note(layer("b", 3, 10));
        progress.note(layer("b", 10, 10));
        assert_eq!((progress.downloaded(), progress.total()), (7, GB + 10));
    }
}
