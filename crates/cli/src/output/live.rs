//! Lines of standard error: permanent lines, and on a terminal one live line that is overwritten until the next
//! permanent line.

use std::io::Write;
use std::time::Duration;

use tokio::sync::watch;
use windlass_narrate::harmless_line;

use super::StreamTarget;

/// The style of a permanent line on a terminal.
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

/// Writes status lines. Write errors are ignored: there is no other place to report them.
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

    /// Displays a text in the live line, if the stream has one.
    pub(crate) fn show(&mut self, text: &str) {
        if self.stream == StreamTarget::Terminal {
            let text = harmless_line(text);
            // Without wrapping (?7l): a second row would stay behind when the line is erased.
            let _ = write!(self.out, "\r\u{1b}[K\u{1b}[?7l\u{1b}[2m{text}\u{1b}[0m\u{1b}[?7h");
            let _ = self.out.flush();
            self.live = LiveLineShown::Yes;
        }
    }

    /// Erases the live line.
    pub(crate) fn erase(&mut self) {
        if self.live == LiveLineShown::Yes {
            self.live = LiveLineShown::No;
            let _ = write!(self.out, "\r\u{1b}[K");
            let _ = self.out.flush();
        }
    }

    /// Writes a permanent line.
    pub(crate) fn print(&mut self, weight: LineWeight, text: &str) {
        self.erase();
        let text = harmless_line(text);
        let _ = match (self.stream, weight) {
            (StreamTarget::Terminal, LineWeight::Dim) => writeln!(self.out, "\u{1b}[2m{text}\u{1b}[0m"),
            (StreamTarget::Terminal, LineWeight::Plain) | (StreamTarget::Piped, _) => writeln!(self.out, "{text}"),
        };
    }
}

/// Shortest time between two displayed progress texts.
const PACE: Duration = Duration::from_millis(300);

/// Progress of a call, which may report it at any rate: the newest text is displayed a few times a second, in the live
/// line or as lines; texts in between are skipped.
#[derive(Debug)]
pub(crate) struct ThrottledProgress<W: Write> {
    newest: watch::Receiver<String>,
    /// Kept so that the channel stays open: a closed one would not report an unseen last value.
    _open: watch::Sender<String>,
    lines: StatusLines<W>,
}

impl<W: Write> ThrottledProgress<W> {
    /// Returns a sender and the display of the texts sent to it.
    pub(crate) fn on(lines: StatusLines<W>) -> (watch::Sender<String>, Self) {
        let (sender, newest) = watch::channel(String::new());
        (sender.clone(), Self { newest, _open: sender, lines })
    }

    /// Displays progress until the future is dropped.
    pub(crate) async fn show(&mut self) {
        while self.newest.changed().await.is_ok() {
            self.print_newest();
            tokio::time::sleep(PACE).await;
        }
    }

    /// Prints the last text if it was not displayed yet.
    pub(crate) fn finish(mut self) {
        if self.lines.stream() == StreamTarget::Piped && self.newest.has_changed().unwrap_or(false) {
            self.print_newest();
        }
        self.lines.erase();
    }

    fn print_newest(&mut self) {
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

    /// Returns the output for many steps, the last just before the end, and the most updates allowed.
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

    // proves P4: progress is displayed, but throttled
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
