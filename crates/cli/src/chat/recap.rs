//! The last messages and answers of a session, shown again when a person resumes it.

use windlass_narrate::RunEndWords;
use windlass_vocab::{EndReason, Envelope, Record, RunEnded};

use super::console::dimmed;
use crate::output::harmless_lines;
use crate::screen::{TerminalLook, rendered_answer};

/// Messages and answers shown, and lines of each.
const SAID: usize = 4;
const LINES: usize = 6;

/// Returns the last few messages, dimmed, and answers, rendered as when they arrived; empty if there are none.
pub(crate) fn recap(records: &[Envelope], prompt: &str, look: TerminalLook) -> String {
    let said = records.iter().rev().filter_map(|envelope| match &envelope.record {
        Record::MessageAccepted(message) => {
            let text = harmless_lines(message.text.trim());
            let lines = shortened(text.lines().map(str::to_owned));
            Some(dimmed(&format!("{prompt}{lines}\n"), look.colour))
        }
        Record::RunEnded(ended) => Some(end_of_run(ended, look)).filter(|text| !text.is_empty()),
        _ => None,
    });
    let mut last: Vec<String> = said.take(SAID).collect();
    last.reverse();
    last.concat()
}

/// Returns the answer of a run, and below it why it is not a whole one. The error of a failed run is no answer.
fn end_of_run(ended: &RunEnded, look: TerminalLook) -> String {
    let words = RunEndWords::of(ended);
    let answer = if ended.reason == EndReason::Failed { "" } else { ended.answer.trim() };
    let answer = if answer.is_empty() { String::new() } else { shortened(rendered_answer(answer, look)) + "\n" };
    let note = match words {
        Some(words) if ended.reason == EndReason::Failed => harmless_lines(&words.advised("")),
        Some(words) => format!("({})", words.reason),
        None => return answer,
    };
    let note = shortened(note.lines().map(str::to_owned));
    answer + &dimmed(&format!("{note}\n"), look.colour)
}

fn shortened(lines: impl IntoIterator<Item = String>) -> String {
    let mut lines: Vec<String> = lines.into_iter().take(LINES + 1).collect();
    if lines.len() > LINES {
        lines[LINES] = "…".to_owned();
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{EndReason, Failure, FailureClass};

    use super::end_of_run;
    use crate::sample::ended;
    use crate::screen::{Colour, Glyphs, TerminalLook};

    // proves L8: a stopped answer does not look whole, and an error does not look like an answer
    #[test]
    fn the_end_of_a_run_that_gave_no_whole_answer_is_marked() {
        let look = TerminalLook { width: 60, height: 24, colour: Colour::None, glyphs: Glyphs::Unicode };
        let shown = |reason, failure| end_of_run(&ended(reason, "Half an ans", failure), look);
        assert_eq!(shown(EndReason::Completed, None), "Half an ans\n");
        assert_eq!(shown(EndReason::Cancelled, None), "Half an ans\n(stopped)\n");
        let failure = Failure::new(FailureClass::Auth, "It refused the key.");
        assert_eq!(shown(EndReason::Failed, Some(failure)), "the run failed: It refused the key.\n");
    }
}
