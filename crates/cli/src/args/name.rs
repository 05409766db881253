//! Parses names of sessions, servers and tools.

use crate::output::harmless_line;

/// Parses a key or an id, which must be displayable in a list.
pub(crate) fn name(text: &str) -> Result<String, String> {
    const LONGEST: usize = 200;
    if text.trim().is_empty() {
        return Err("it is empty".into());
    }
    if text.chars().any(char::is_control) {
        return Err("it contains a control character".into());
    }
    if harmless_line(text) != text {
        return Err("it contains a character that can't be seen, or that changes the direction of text".into());
    }
    if text.chars().count() > LONGEST {
        return Err(format!("it is longer than {LONGEST} characters"));
    }
    Ok(text.to_owned())
}
