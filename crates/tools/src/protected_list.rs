//! The patterns of `protected.txt`: paths that are protected by default.

use std::sync::LazyLock;

use crate::path_pattern::{PathFault, PathPattern};

/// A pattern with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedPattern {
    pub(crate) text: String,
    pub(crate) pattern: PathPattern,
}

impl NamedPattern {
    pub(crate) fn new(text: &str) -> Result<Self, PathFault> {
        Ok(Self { text: text.to_owned(), pattern: PathPattern::new(text)? })
    }
}

/// The default patterns. A test parses every line.
pub(crate) static BUILT_IN: LazyLock<Vec<NamedPattern>> =
    LazyLock::new(|| lines().filter_map(|line| NamedPattern::new(line).ok()).collect());

fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("protected.txt").lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the literal paths among the default patterns that are in folders.
pub(crate) fn built_in_paths() -> &'static [String] {
    static PATHS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let paths = BUILT_IN.iter().filter_map(|named| named.pattern.literal_path());
        paths.filter(|path| path.contains('/')).collect()
    });
    &PATHS
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves X5
    #[test]
    fn every_line_of_the_list_is_a_pattern() {
        assert_eq!(lines().count(), BUILT_IN.len());
        assert!(lines().all(|line| line.starts_with("**/")), "at any depth");
    }
}
