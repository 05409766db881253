//! Lines of standard error: those that stay, and on a terminal one live line that is written over until
//! something stays.

use std::io::Write;
use std::time::Duration;

use tokio::sync::watch;
use windlass_narrate::harmless_line;

use super::StreamTarget;

/// How a line that stays looks on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineWeight {
    Plain,
    Dim,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LiveLineShown {
    Yes,
    No,
}

/// Where lines go. What can't be written is lost: nobody is left to tell.
#[derive(Debug)]
pub(crate) struct StatusLines<W: Write> {
    out: W,
    stream: StreamTarget,
    live: LiveLineShown,
}

impl<W: Write> StatusLines<W> {
    pub(crate) fn new(out: W, stream: StreamTarget) -> Self {
        Self { out, stream, live: LiveLineShown::No }
    }

    pub(crate) fn stream(&self) -> StreamTarget {
        self.stream
    }

    /// Shows this in the live line, where there is one.
    pub(crate) fn show(&mut self, text: &str) {
        if self.stream == StreamTarget::Terminal {
            let text = harmless_line(text);
            // Without wrapping (?7l): a second row would stay behind when the line is erased.
            let _ = write!(self.out, "\r\u{1b}[K\u{1b}[?7l\u{1b}[2m{text}\u{1b}[0m\u{1b}[?7h");
            let _ = self.out.flush();
            self.live = LiveLineShown::Yes;
        }
    }

    /// Takes the live line away.
    pub(crate) fn erase(&mut self) {
        if self.live == LiveLineShown::Yes {
            self.live = LiveLineShown::No;
            let _ = write!(self.out, "\r\u{1b}[K");
            let _ = self.out.flush();
        }
    }

    /// Writes a line that stays.
    pub(crate) fn print(&mut self, weight: LineWeight, text: &str) {
        self.erase();
        let text = harmless_line(text);
        let _ = match (self.stream, weight) {
            (StreamTarget::Terminal, LineWeight::Dim) => writeln!(self.out, "\u{1b}[2m{text}\u{1b}[0m"),
            (StreamTarget::Terminal, LineWeight::Plain) | (StreamTarget::Piped, _) => writeln!(self.out, "{text}"),
        };
    }
}

/// Between two lines of what passes.
const PACE: Duration = Duration::from_millis(300);

/// What a call says of how far it is, as often as it likes: the newest is shown a few times a second, in
/// the live line or as lines, and what came in between is not.
#[derive(Debug)]
pub(crate) struct ThrottledProgress<W: Write> {
    newest: watch::Receiver<String>,
    /// A channel nobody can send to any more would not say that its last was not seen.
    _open: watch::Sender<String>,
    lines: StatusLines<W>,
}

impl<W: Write> ThrottledProgress<W> {
    /// Shows what is sent to the first on the way of the second.
    pub(crate) fn on(lines: StatusLines<W>) -> (watch::Sender<String>, Self) {
        let (sender, newest) = watch::channel(String::new());
        (sender.clone(), Self { newest, _open: sender, lines })
    }

    /// Shows what comes, until it is dropped.
    pub(crate) async fn show(&mut self) {
        while self.newest.changed().await.is_ok() {
            self.tell();
            tokio::time::sleep(PACE).await;
        }
    }

    /// Shows the last that came, if it was not shown: nothing comes after it.
    pub(crate) fn finish(mut self) {
        if self.lines.stream() == StreamTarget::Piped && self.newest.has_changed().unwrap_or(false) {
            self.tell();
        }
        self.lines.erase();
    }

    fn tell(&mut self) {
        let text = self.newest.borrow_and_update().clone();
        match self.lines.stream() {
            StreamTarget::Terminal => self.lines.show(&text),
            StreamTarget::Piped => self.lines.print(LineWeight::Plain, &text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{PACE, StatusLines, StreamTarget, ThrottledProgress};

    /// What is shown of many steps, of which the last came just before the end, and how often it may be.
    fn rendered(stream: StreamTarget) -> (String, usize) {
        let (begun, mut out) = (Instant::now(), Vec::new());
        let (sender, mut passing) = ThrottledProgress::on(StatusLines::new(&mut out, stream));
        let steps = async move {
            for step in 1..=400 {
                sender.send_replace(format!("step {step}"));
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            sender.send_replace("step last".into());
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = passing.show() => {}
                () = steps => {}
            }
        });
        passing.finish();
        let most = begun.elapsed().as_millis() / PACE.as_millis() + 2;
        (String::from_utf8(out).expect("text"), usize::try_from(most).expect("a number"))
    }

    // proves P4: progress is passed on, a flood of it is not
    #[test]
    fn a_flood_of_progress_is_a_few_lines_and_the_last_is_among_them() {
        let (piped, most) = rendered(StreamTarget::Piped);
        let lines: Vec<&str> = piped.lines().collect();
        assert!(lines.len() <= most, "{lines:?}");
        assert_eq!((lines[0], lines[lines.len() - 1]), ("step 1", "step last"));
    }

    // proves P4
    #[test]
    fn on_a_terminal_progress_is_one_line_that_is_gone_at_the_end() {
        let (shown, most) = rendered(StreamTarget::Terminal);
        assert!(!shown.contains('\n') && shown.ends_with("\r\u{1b}[K"), "{shown:?}");
        assert!(shown.matches("step").count() <= most, "{shown:?}");
    }
}
