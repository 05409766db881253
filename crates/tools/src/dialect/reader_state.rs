//! The states of a reader.

use super::pending_call::{Fence, PendingCall};

/// The state of a reader.
pub(super) enum ReaderState {
    /// At the beginning of a line.
    Line,
    /// Within a line.
    Middle,
    /// In a code fence, from its first line on.
    Fence(Fence, FenceLine),
    Pending(Box<PendingCall>),
    /// After a call, where only another call may follow at once.
    BetweenCalls,
    /// No calls are read any more: the rest is text.
    Words,
    /// The rest is dropped.
    Dropped,
}

/// Which line of a fence.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FenceLine {
    First,
    Later,
}

/// Whether the position is in inline code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InCode {
    Outside,
    Inside,
}

/// Whether anything but white space has arrived.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextBegun {
    No,
    Yes,
}

/// Whether the reader can continue, or needs more text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReaderStep {
    On,
    More,
}
