//! Renders the fields of a span or an event as text: ` name=value` each.

use std::fmt::{Debug, Write as _};

use tracing::field::{Field, Visit};

/// Fields as rendered text.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(pub(super) String);

impl Fields {
    /// Adds a field. The value is quoted if need be, so that it stays on its line and can't imitate another field.
    fn add(&mut self, field: &Field, value: &str) {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+".contains(c);
        let name = field.name();
        // Writing into a `String` can't fail.
        let _ = match (name, !value.is_empty() && value.chars().all(plain)) {
            ("message", _) => write!(self.0, " {}", value.escape_debug()),
            (_, true) => write!(self.0, " {name}={value}"),
            (_, false) => write!(self.0, " {name}={value:?}"),
        };
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, &format!("{value:?}"));
    }
}
