//! Texts for a streamed reply: after its thinking, and after an attempt that broke off.

use crate::duration::duration;

/// Returns the line that replaces finished thinking.
#[must_use]
pub fn thought_for(ms: u64) -> String {
    format!("thought for {}", duration(ms))
}

/// Displayed below the text of an attempt that another one replaces.
pub const WITHDRAWN: &str = "withdrawn: this reply broke off and is begun again";
