//! Describes a JSON syntax error to the person who typed the text, quoting the place of the error.

use windlass_narrate::short_line;
use windlass_setup::json_fault::{JsonPlace, json_fault};

/// Characters quoted from the place of the error.
const SHOWN: usize = 20;

/// Returns the error with its position and the text there.
pub(crate) fn broken_json(text: &str, error: &serde_json::Error) -> String {
    let fault = json_fault(text, error);
    match fault.place {
        Some(JsonPlace { line, column, text }) if !text.is_empty() => {
            format!("line {line}, column {column}, at `{}`: {}", short_line(text, SHOWN), fault.what)
        }
        Some(_) | None => fault.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::broken_json;

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
            assert_eq!(broken_json(text, &error), want, "{text}");
        }
    }
}
