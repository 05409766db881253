//! Whether the line before a call announces an example and not a call.

/// Words by which a line says that what follows is how a call would look.
const EXPLAINING: &[&str] = &[
    "example",
    "e.g.",
    "for instance",
    "such as",
    "format",
    "syntax",
    "would",
    "could",
    "might",
    "you can",
    "you may",
    "you should",
    "can be called",
    "is called like",
    "are called like",
    "looks like",
    "look like",
    "usage",
    "to use",
    "how to",
    "instead of",
    "do not",
    "don't",
    "never",
    "was:",
    "were:",
    "previously",
    "earlier",
];

/// Whether `line` explains.
pub(super) fn explains(line: &str) -> bool {
    // The end of a long line is what stands next to the call.
    let end = &line[line.floor_char_boundary(line.len().saturating_sub(160))..];
    let end = end.to_lowercase();
    EXPLAINING.iter().any(|words| end.contains(words))
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
        for line in ["I will read the file now.", "Let me look:", "First, the listing:", ""] {
            assert!(!explains(line), "{line}");
        }
    }
}
