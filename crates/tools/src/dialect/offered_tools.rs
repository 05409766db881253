//! What a reader knows of the tools on offer. Whether a text may become a call is decided by a name alone, as soon as that
//! has arrived; whether it is one, by its name and its arguments, once it is complete.

use crate::offer::Offer;

/// The tools that a reply may call.
pub trait OfferedTools: Send {
    /// Whether a tool of this name is offered, or may be.
    fn knows(&self, name: &str) -> bool;

    /// Whether these arguments have everything that the tool requires, and nothing that it does not know. Values may still
    /// be of a type that has to be coerced.
    fn fits(&self, name: &str, arguments: &str) -> bool;
}

impl OfferedTools for Offer {
    fn knows(&self, name: &str) -> bool {
        self.knows(name)
    }

    fn fits(&self, name: &str, arguments: &str) -> bool {
        self.knows(name) && self.fits(name, arguments)
    }
}

/// Tools of which only the names are known: any arguments fit.
#[derive(Clone, Copy, Debug)]
pub struct NamedTools<F>(pub F);

impl<F: Fn(&str) -> bool + Send> OfferedTools for NamedTools<F> {
    fn knows(&self, name: &str) -> bool {
        (self.0)(name)
    }

    fn fits(&self, name: &str, _: &str) -> bool {
        (self.0)(name)
    }
}
