//! A tool in one line: `read_file(path): Reads a text file.` It has the required parameters only; a call may give others.

use serde_json::Value;
use windlass_vocab::ToolSpec;

use crate::shorten::shorten;

/// The most characters of a description.
const LONGEST: usize = 80;

/// Returns the line for a tool.
pub(super) fn signature(spec: &ToolSpec) -> String {
    let name = if spec.name.is_local() { spec.name.bare() } else { spec.name.as_str() };
    let schema = spec.schema.to_value();
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let required: Vec<&str> = required.iter().filter_map(Value::as_str).collect();
    let call = format!("{name}({})", required.join(", "));
    match first_clause(&spec.description) {
        "" => call,
        described => format!("{call}: {}", shorten(described, LONGEST)),
    }
}

/// Returns the first sentence, up to where it goes into details.
fn first_clause(description: &str) -> &str {
    let description = description.trim();
    let ends = [". ", ".\n", ": ", "; ", " (", "\n"].iter().filter_map(|end| description.find(end));
    let end = ends.min().unwrap_or(description.len());
    description[..end].trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::first_clause;

    // proves S5: a description in one line
    #[test]
    fn a_description_is_cut_before_its_details() {
        for (description, want) in [
            ("Reads a text file. Long files come in parts.", "Reads a text file"),
            ("Writes a file whole: makes it or replaces it.", "Writes a file whole"),
            ("Searches files (all of them) for v1.2 of it.", "Searches files"),
            ("Runs a.sh.", "Runs a.sh"),
            ("", ""),
        ] {
            assert_eq!(first_clause(description), want);
        }
    }
}
