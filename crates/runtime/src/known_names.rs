//! The names a model call can make something of.

use windlass_tools::{Offer, is_of_server};

/// The names a model call can make something of: what it was offered, and servers on their way.
#[derive(Clone)]
pub(crate) struct KnownNames {
    /// What is offered.
    pub(crate) offer: Offer,
    /// Servers on their way, whose tools are not known for certain yet.
    pub(crate) starting: Vec<String>,
}

impl KnownNames {
    /// Whether this names a tool that is there, or may be one of a server on its way.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.offer.knows(name) || self.starting.iter().any(|server| is_of_server(name, server))
    }
}
