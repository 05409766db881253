//! The built-in tools that need no process, called as a run calls them: prepared, then run through
//! the offer.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod containment;
mod others;
mod previews;
mod reading;
mod room;
mod writing;
