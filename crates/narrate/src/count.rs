//! Counts with singular and plural.

/// `1 file`, `2 files`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
