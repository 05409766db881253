//! The fields of a span or an event as text: ` name=value` each.

use std::fmt::{Debug, Write as _};

use tracing::field::{Field, Visit};

/// Fields, as they are written.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(pub(super) String);

impl Fields {
    /// A value stays on its line and is told from the next one, whoever chose it.
    fn add(&mut self, field: &Field, value: &str) {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+".contains(c);
        let name = field.name();
        // Nothing is lost: a text takes what is written into it.
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
