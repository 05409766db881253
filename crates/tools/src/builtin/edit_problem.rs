//! Why an edit does not apply, in words by which the model can write one that does: which places match, or the text that
//! is most like the one it looked for, to be copied.

use std::ops::Range;

use super::loose_match::loose_matches;
use crate::shorten::shorten;

/// Why an edit does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditProblem {
    /// Nothing would change.
    Same,
    /// The text is not there.
    Absent,
    /// The text is there more than once.
    Ambiguous,
    /// More than one place differs from the text only in white space.
    LooselyAmbiguous,
}

/// Most places, lines and characters that are shown.
const PLACES: usize = 3;
const LINES: usize = 12;
const CHARS: usize = 1_200;

/// What it means that the new text stands in the file and the old one does not.
const MADE_OR_SWAPPED: &str = "the change may have been made already, or the two texts are the wrong way round";

impl EditProblem {
    /// Returns the message for the model; `text` is the file as the model may see it.
    pub(super) fn message(self, path: &str, (old, new): (&str, &str), text: &str) -> String {
        match self {
            Self::Same => format!(
                "old_text and new_text are the same: there is nothing to change. Copy old_text from the file, and write in \
                 new_text how it should read. `{path}` begins:\n{}",
                text.lines().take(LINES).collect::<Vec<_>>().join("\n").chars().take(CHARS).collect::<String>()
            ),
            Self::Ambiguous => {
                let height = old.lines().count().max(1);
                let starts = text.match_indices(old).map(|(at, _)| line_of(text, at) - 1);
                let places: Vec<Range<usize>> = starts.map(|start| start..start + height).collect();
                format!(
                    "old_text occurs {} times in `{path}` ({}): add lines around it until it is unique, or set \
                     replace_all.{}",
                    places.len(),
                    line_numbers(&places),
                    shown_places(text, &places)
                )
            }
            Self::LooselyAmbiguous => {
                let places: Vec<Range<usize>> = loose_matches(text, old).into_iter().map(|found| found.lines).collect();
                format!(
                    "old_text does not occur in `{path}` as it is written. {} places differ from it only in white space \
                     ({}): copy one exactly, with lines around it.{}",
                    places.len(),
                    line_numbers(&places),
                    shown_places(text, &places)
                )
            }
            Self::Absent => {
                let made = line_of_new_text(text, new)
                    .map(|line| format!(" new_text is there, at line {line}: {MADE_OR_SWAPPED}."));
                let near = nearest(text, old);
                format!("old_text does not occur in `{path}`.{}{near}", made.unwrap_or_default())
            }
        }
    }
}

/// Returns the line at which the new text stands already.
fn line_of_new_text(text: &str, new: &str) -> Option<usize> {
    let new = new.trim_end_matches('\n');
    let found = if new.trim().is_empty() { None } else { text.find(new) };
    found.map(|at| line_of(text, at))
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// `at lines 3, 9, 14`.
fn line_numbers(places: &[Range<usize>]) -> String {
    const MOST: usize = 10;
    let numbers: Vec<String> = places.iter().take(MOST).map(|place| (place.start + 1).to_string()).collect();
    let more = if places.len() > MOST { " …" } else { "" };
    format!("at lines {}{more}", numbers.join(", "))
}

/// Shows the first places, each with the line before and after it.
fn shown_places(text: &str, places: &[Range<usize>]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let shown = places.iter().take(PLACES).map(|place| {
        let from = place.start.saturating_sub(1);
        let to = (place.end + 1).min(lines.len()).min(from + LINES / PLACES + 1);
        let part = lines.get(from..to).unwrap_or_default().join("\n");
        format!("\nFrom line {}:\n{}", from + 1, shorten(&part, CHARS / PLACES))
    });
    shown.collect()
}

/// Shows the text that is most like the one that was looked for, or the whole file if it is short.
fn nearest(text: &str, old: &str) -> String {
    let is_short = text.lines().count() <= LINES && text.chars().count() <= CHARS / 2;
    if is_short && !text.trim().is_empty() {
        return format!(" The file reads:\n{}", text.trim_end_matches('\n'));
    }
    // The longest line says most about the place.
    let anchor = old.lines().map(str::trim).enumerate().max_by_key(|(_, line)| line.len());
    let Some((below, wanted)) = anchor.filter(|(_, line)| !line.is_empty()) else {
        return " It is only white space: copy text from the file.".into();
    };
    let alike = |line: &str| match line.trim() {
        line if line == wanted => 1.0,
        line if line.len() > 400 || wanted.len() > 400 => 0.0,
        line => strsim::normalized_levenshtein(line, wanted),
    };
    let best = text.lines().take(20_000).map(alike).enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
    match best {
        Some((index, likeness)) if likeness > 0.5 => {
            let from = index.saturating_sub(below + 1);
            let lines: Vec<&str> = text.lines().skip(from).take(old.lines().count().min(LINES - 2) + 2).collect();
            let part = shorten(&lines.join("\n"), CHARS);
            format!(" The nearest text is, from line {}:\n{part}\nCopy old_text from it exactly.", from + 1)
        }
        Some(_) | None => " No text in it is like that. Read the file first.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered() -> String {
        (1..=40).map(|number| format!("    let value_{number} = {number};\n")).collect()
    }

    fn told(problem: EditProblem, old: &str, new: &str, text: &str) -> String {
        problem.message("f", (old, new), text)
    }

    // proves T5: the model can copy what it looked for
    #[test]
    fn a_missing_text_is_answered_with_the_nearest() {
        let text = told(EditProblem::Absent, "{\n  let valeu_20 = 20;\n}", "x", &numbered());
        assert!(text.contains("from line 18:\n") && text.contains("\n    let value_20 = 20;\n"), "{text}");
        let text = told(EditProblem::Absent, "something else entirely", "x", &numbered());
        assert!(text.contains("Read the file first"), "{text}");
        let text = told(EditProblem::Absent, "two", "x", "one\nthree\n");
        assert_eq!(text, "old_text does not occur in `f`. The file reads:\none\nthree");
        let long = format!("{}\n", "y".repeat(5_000)).repeat(100);
        assert!(told(EditProblem::Absent, &long, "x", &long.replace('y', "z")).len() < 2_000);
    }

    // proves T5
    #[test]
    fn a_change_that_is_made_already_is_said_to_be() {
        let text = told(EditProblem::Absent, "let value_20 = 2;", "let value_20 = 20;", &numbered());
        let made =
            "new_text is there, at line 20: the change may have been made already, or the two texts are the wrong way ";
        assert!(text.contains(made), "{text}");
    }

    // proves T5
    #[test]
    fn several_places_are_counted_numbered_and_shown() {
        let text = told(EditProblem::Ambiguous, "a", "x", "a\nb\na");
        assert!(text.contains("occurs 2 times in `f` (at lines 1, 3)"), "{text}");
        assert!(text.ends_with("\nFrom line 1:\na\nb\nFrom line 2:\nb\na"), "{text}");
        let text = told(EditProblem::LooselyAmbiguous, "x = 1", "x", "  x = 1\ny\n\tx = 1\n");
        assert!(text.contains("2 places differ from it only in white space (at lines 1, 3)"), "{text}");
        let many = "a\n".repeat(1_000);
        assert!(told(EditProblem::Ambiguous, "a", "x", &many).len() < 600);
    }
}
