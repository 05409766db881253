//! Detects whether the line before a call announces an example instead of a call.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Words by which a line announces an example of a call.
const EXPLAINING: &[&str] = &[
    "example",
    "e.g.",
    "for instance",
    "syntax",
    "the format is",
    "in the format",
    "in this format",
    "following format",
    "looks like",
    "look like",
    "would write",
    "would call",
    "could write",
    "could call",
    "could use",
    "you can",
    "you could",
    "you would",
    "you may",
    "you should",
    "can be called",
    "is called like",
    "are called like",
    "usage:",
    "how to call",
    "how to use",
    "instead of",
    "never write",
    "do not write",
    "don't write",
    "was called",
    "were called",
];

/// Searches for all of them at once.
static FINDER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(EXPLAINING).ok());

/// Whether `line` announces an example.
pub(super) fn explains(line: &str) -> bool {
    // Only the end of a long line is next to the call.
    let end = &line[line.floor_char_boundary(line.len().saturating_sub(160))..];
    FINDER.as_ref().is_some_and(|finder| finder.is_match(end))
}

#[cfg(test)]
mod tests {
    use super::explains;

    // proves T4
    #[test]
    fn an_announcement_of_an_example_is_told_from_one_of_a_call() {
        for line in ["For example:", "The syntax is:", "You could write", "It would look like this:", "How to call it:"]
        {
            assert!(explains(line), "{line}");
        }
        for line in [
            "I will read the file now.",
            "Let me look:",
            "I would like to see the format of the file:",
            "It could not be found, so I list the folder:",
            "",
        ] {
            assert!(!explains(line), "{line}");
        }
    }
}
