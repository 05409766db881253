//! Describes what is wrong with a text that should be JSON, for the person who wrote it by hand.

use std::fmt;

use serde_json::error::Category;

/// What is wrong with the text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFault<'t> {
    /// Where the fault is; `None` when the text is empty or ends too early.
    pub place: Option<JsonPlace<'t>>,
    /// The description of the fault.
    pub what: String,
}

/// A position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonPlace<'t> {
    /// The line number, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// The wrong word and the rest of its line. It may contain a secret.
    pub text: &'t str,
}

/// Leaves the text out: it may contain a key (X1).
impl fmt::Display for JsonFault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(JsonPlace { line, column, .. }) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.what)
    }
}

/// Describes why a text could not be parsed as JSON.
#[must_use]
pub fn json_fault<'t>(text: &'t str, error: &serde_json::Error) -> JsonFault<'t> {
    if error.classify() == Category::Eof {
        let what = match text.trim() {
            "" => "it is empty",
            _ => "it breaks off: a quote or a bracket is not closed",
        };
        return JsonFault { place: None, what: what.to_owned() };
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
    // Start at the wrong word, not at the letter where the parser noticed it.
    let noticed = on_line.char_indices().map(|(at, _)| at).take_while(|at| *at < column).last().unwrap_or(0);
    let begin = on_line[..noticed]
        .rfind(|c: char| !c.is_alphanumeric())
        .map_or(0, |at| at + on_line[at..].chars().next().map_or(0, char::len_utf8));
    JsonFault { place: Some(JsonPlace { line, column, text: &on_line[begin..] }), what: what.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::json_fault;

    // proves X1: an error in a file with keys does not quote the file
    #[test]
    fn of_a_file_with_keys_only_the_place_is_said() {
        let text = "{\"key\": sk-secret}";
        let error = serde_json::from_str::<Value>(text).expect_err("no JSON");
        let said = json_fault(text, &error).to_string();
        assert_eq!(said, "line 1, column 9: this is no value; a text must stand in double quotes");
    }
}
