//! Stand-in for web addresses in builds that fetch nothing. Rules about addresses are parsed all the same.

/// Whether a pattern belongs to a rule that allows, or to one that forbids or asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleSide {
    Allow,
    Forbid,
}

/// A web address; there are none in this build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {}

/// A pattern of addresses, unparsed.
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
