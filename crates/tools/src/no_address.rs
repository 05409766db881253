//! Web addresses where nothing is fetched: there are none. Rules about them are read all the same.

/// Whether a pattern is of a rule that allows or of one that forbids or asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleSide {
    Allow,
    Forbid,
}

/// An address of the web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {}

/// A pattern of addresses, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressPattern(String);

impl From<&str> for AddressPattern {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl AddressPattern {
    pub(crate) fn matches(&self, address: &Address, _: RuleSide) -> bool {
        match *address {}
    }
}
