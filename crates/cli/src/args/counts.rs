//! Parses counts, with sentences for what is none.

use std::num::{NonZeroU32, NonZeroU64};

/// Parses how many turns a run may take.
pub(super) fn turns(text: &str) -> Result<u32, String> {
    let turns = text.parse().map(NonZeroU32::get);
    turns.map_err(|_| "write a whole number of turns, at least 1, e.g. 20".to_owned())
}

/// Parses how many tokens a run may use; the digits may be grouped.
pub(super) fn tokens(text: &str) -> Result<NonZeroU64, String> {
    let tokens = text.replace([',', '_'], "").parse();
    tokens.map_err(|_| "write a whole number of tokens, at least 1, e.g. 200000".to_owned())
}

/// Parses the number of a record or a question, as it is listed.
pub(super) fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "write a whole number, e.g. 17".to_owned())
}
