//! The lines about the sandbox at the end of a command's result. They come after the line that reports how the command
//! ended; the command's own output is above that line.

/// How the lines about the sandbox begin.
const NOTE_BEGINNINGS: [&str; 5] =
    ["[Set aside as ", "[Set aside besides: ", "[Put back: ", "[WARNING: ", "[The sandbox "];

/// Extracts the lines about the sandbox from a command's result, to display them to the person.
#[must_use]
pub fn sandbox_notes(result: &str) -> Vec<&str> {
    let notes = result[end_of_exit_line(result)..].lines().filter(|line| is_note(line));
    notes.map(|note| note.trim_matches(['[', ']'])).collect()
}

/// Returns where the line ends that reports how the command ended: before the lines about the sandbox.
#[must_use]
pub fn end_of_exit_line(result: &str) -> usize {
    let mut end = result.trim_end().len();
    while let Some(line_break) = result[..end].rfind('\n').filter(|at| is_note(&result[at + 1..end])) {
        end = line_break;
    }
    end
}

fn is_note(line: &str) -> bool {
    NOTE_BEGINNINGS.iter().any(|begin| line.starts_with(begin)) && line.ends_with(']')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{end_of_exit_line, sandbox_notes};

    const NOTE: &str = "[The sandbox gives commands no network.]";

    // proves T4: whatever the command printed, and however it ended
    #[test]
    fn the_exit_line_ends_before_the_notes() {
        for output in
            ["", "a\n", "a\r\n[b]\r\n", "é\r\n[ä]\r\n[exit code 0]\r\n", "[The sandbox is mine]\n", "[é]\n[ü]\n"]
        {
            for exit in [
                "[exit code 0]",
                "[no output; exit code 1]",
                "[ended by signal 9]",
                "[not done within 60 s: it and all it started was killed]",
                "[stopped: it and all it started was killed]",
                "[killed after 9 bytes of output: make it print less]",
                "[the guard of the command died; what the command started may still be running]",
            ] {
                let ended = format!("{output}{exit}");
                assert_eq!(end_of_exit_line(&ended), ended.len(), "{ended:?}");
                let noted = format!("{ended}\n[Put back: é.]\n{NOTE}");
                assert_eq!(end_of_exit_line(&noted), ended.len(), "{noted:?}");
                assert_eq!(sandbox_notes(&noted).len(), 2, "{noted:?}");
            }
        }
    }

    proptest! {
        // proves X5: the place is one where text can be inserted
        #[test]
        fn any_result_has_a_place_for_a_line(result in "([\\[\\]\r\n é]|\\[The sandbox |\\[exit code 0\\]){0,12}") {
            prop_assert!(result.is_char_boundary(end_of_exit_line(&result)));
            let _ = sandbox_notes(&result);
        }
    }
}
