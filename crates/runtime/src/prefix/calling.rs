//! Tool schemas and the rules for writing calls, where calls are text (T4).

use windlass_tools::dialect::prompt;
use windlass_vocab::{Dialect, Policy, ToolSpec};

/// Returns the schemas and rules; nothing where the wire carries them.
pub(crate) fn section(policy: &Policy, offer: &[ToolSpec], dialect: Option<Dialect>) -> Option<String> {
    dialect.and_then(|dialect| prompt(dialect, offer, policy.parallel.into()))
}
