//! The string literals of a Rust source, with their line numbers. Comments, character literals and the test module at
//! the end of the file are skipped.

use super::tokens::{passed_over, raw_text};

/// The string literals of a source as written, each with the line number of its start.
pub(super) fn texts(source: &str) -> Vec<(usize, &str)> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let (length, is_text) = if first.is_alphanumeric() || first == '_' {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            match raw_text(&rest[..word], &rest[word..]) {
                Some(text) => (word + text, true),
                None => (word, false),
            }
        } else {
            let passed = passed_over(rest);
            (passed.unwrap_or(first.len_utf8()), passed.is_some() && first == '"')
        };
        let length = length.min(rest.len());
        if is_text {
            found.push((line, &rest[..length]));
        }
        line += rest[..length].matches('\n').count();
        at += length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::texts;

    #[test]
    fn texts_are_found_with_their_lines_and_nothing_else_is() {
        let source = "// \"a\"\nlet x = \"b \\\" c\";\n/* \"d\" */ r#\"e \" f\"#; '\"' 'x'\n\"g\\\n  h\" \"i\"\n\
                      #[cfg(test)]\nmod tests { \"j\" }";
        let expected = [(2, "\"b \\\" c\""), (3, "r#\"e \" f\"#"), (4, "\"g\\\n  h\""), (5, "\"i\"")];
        assert_eq!(texts(source), expected);
    }
}
