//! Where in a text a reader can stand.

use super::pending_call::{Fence, PendingCall};

/// Where the reader stands.
pub(super) enum ReaderState {
    /// At the beginning of a line.
    Line,
    /// Within one.
    Middle,
    /// In a fence of code; from its first line on.
    Fence(Fence, FenceLine),
    Pending(Box<PendingCall>),
    /// Nothing is read any more: the rest is words.
    Words,
    /// Nothing is wanted any more: the rest is dropped.
    Dropped,
}

/// Which line of a fence.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FenceLine {
    First,
    Later,
}

/// Whether the text is in quoted code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InCode {
    Outside,
    Inside,
}

/// Whether anything but white space has come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextBegun {
    No,
    Yes,
}

/// Whether the reader can go on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReaderStep {
    On,
    More,
}
