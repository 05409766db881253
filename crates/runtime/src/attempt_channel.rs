//! One stream of an attempt without its secrets: a fragment is passed on once it certainly holds none.

use std::borrow::Cow;

use windlass_tools::{Secrets, StreamScrubber};

/// One stream of an attempt: its text, thinking or a call.
pub(crate) struct AttemptChannel {
    scrubber: StreamScrubber,
    /// How many bytes were passed on.
    pub(crate) offset: u64,
}

impl AttemptChannel {
    pub(crate) fn new(secrets: &Secrets) -> Self {
        Self { scrubber: secrets.stream(), offset: 0 }
    }

    /// Returns the part of the fragment that certainly holds no secret, with its offset.
    pub(crate) fn take<'f>(&mut self, fragment: &'f str) -> (u64, Cow<'f, str>) {
        let clean = self.scrubber.push(fragment);
        let at = self.offset;
        self.offset += clean.len() as u64;
        (at, clean)
    }

    /// Returns the part that was held back.
    pub(crate) fn rest(&mut self) -> (u64, Cow<'static, str>) {
        let (at, rest) = (self.offset, self.scrubber.finish());
        self.offset += rest.len() as u64;
        (at, Cow::Owned(rest))
    }

    /// Whether a part of what arrived is held back.
    pub(crate) fn holds_back(&self) -> bool {
        self.scrubber.holds_back()
    }
}
