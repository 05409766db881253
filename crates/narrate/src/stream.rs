//! A reply as it comes: what is left of its thoughts, and of what breaks off.

use crate::duration::duration;

/// What stays of a thought.
#[must_use]
pub fn thought_for(ms: u64) -> String {
    format!("thought for {}", duration(ms))
}

/// Below the words of an attempt that another one takes over from.
pub const WITHDRAWN: &str = "withdrawn: this reply broke off and is begun again";
