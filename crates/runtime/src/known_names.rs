//! The tool names that a model call can resolve.

use windlass_tools::dialect::OfferedTools;
use windlass_tools::{Offer, is_of_server};

/// The tool names that a model call can resolve: offered tools, and tools of servers that are still connecting.
#[derive(Clone)]
pub(crate) struct KnownNames {
    /// The offered tools.
    pub(crate) offer: Offer,
    /// Servers that are still connecting, whose tools are not known for certain yet.
    pub(crate) starting: Vec<String>,
}

impl OfferedTools for KnownNames {
    /// Whether this names an offered tool, or possibly one of a server that is still connecting.
    fn knows(&self, name: &str) -> bool {
        self.offer.knows(name) || self.starting.iter().any(|server| is_of_server(name, server))
    }

    fn fits(&self, name: &str, arguments: &str) -> bool {
        self.knows(name) && self.offer.fits(name, arguments)
    }
}
