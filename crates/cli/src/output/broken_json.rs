//! What is wrong with a text that should be JSON, for whoever wrote it by hand.

use serde_json::error::Category;

use super::short_line;

/// Characters shown of what stands where it is wrong.
const SHOWN: usize = 20;

/// Whether the text itself may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Showing {
    /// What stands in the wrong place is shown.
    Words,
    /// Only the place is: a key may stand there.
    Place,
}

/// What is wrong, and where.
pub(crate) fn broken_json(text: &str, error: &serde_json::Error, showing: Showing) -> String {
    if error.classify() == Category::Eof {
        return match text.trim() {
            "" => "it is empty".to_owned(),
            _ => "it breaks off: a quote or a bracket is not closed".to_owned(),
        };
    }
    let said = error.to_string();
    let what = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
    let what = match what {
        "key must be a string" => "a name must stand in double quotes",
        "expected ident" | "expected value" => "this is no value; a text must stand in double quotes",
        "trailing comma" => "no comma may stand before the end",
        "trailing characters" => "something stands behind its end",
        other => other,
    };
    let (line, column) = (error.line(), error.column());
    let on_line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    // The word that is wrong, not the letter at which it was noticed.
    let noticed = on_line.char_indices().map(|(at, _)| at).take_while(|at| *at < column).last().unwrap_or(0);
    let begin = on_line[..noticed]
        .rfind(|c: char| !c.is_alphanumeric())
        .map_or(0, |at| at + on_line[at..].chars().next().map_or(0, char::len_utf8));
    let there = match showing {
        Showing::Words => short_line(&on_line[begin..], SHOWN),
        Showing::Place => String::new(),
    };
    let there = if there.is_empty() { there } else { format!(", at `{there}`") };
    format!("line {line}, column {column}{there}: {what}")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Showing, broken_json};

    // proves X1: where keys are kept, what stands there is not shown
    #[test]
    fn of_a_file_with_keys_only_the_place_is_said() {
        let error = serde_json::from_str::<Value>("{\"key\": sk-secret}").expect_err("no JSON");
        let said = broken_json("{\"key\": sk-secret}", &error, Showing::Place);
        assert_eq!(said, "line 1, column 9: this is no value; a text must stand in double quotes");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, want) in [
            ("", "it is empty"),
            ("{\"a\": [1", "it breaks off: a quote or a bracket is not closed"),
            ("{a: 1}", "line 1, column 2, at `a: 1}`: a name must stand in double quotes"),
            ("tree", "line 1, column 3, at `tree`: this is no value; a text must stand in double quotes"),
            ("{\"p\": there}", "line 1, column 8, at `there}`: this is no value; a text must stand in double quotes"),
            ("{\"p\":\n über}", "line 2, column 2, at `über}`: this is no value; a text must stand in double quotes"),
            ("{\"p\": 1,}", "line 1, column 9, at `}`: no comma may stand before the end"),
            ("{} {}", "line 1, column 4, at `{}`: something stands behind its end"),
            ("{\"p\" 1}", "line 1, column 6, at `1}`: expected `:`"),
        ] {
            let error = serde_json::from_str::<Value>(text).expect_err(text);
            assert_eq!(broken_json(text, &error, Showing::Words), want, "{text}");
        }
    }
}
