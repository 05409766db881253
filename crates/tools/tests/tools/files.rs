//! The built-in tools that need no process, called as a run calls them: prepared, then run through
//! the offer.

mod beginnings;
mod containment;
mod exchanged;
mod others;
mod previews;
mod protected;
mod reading;
mod room;
mod rules;
mod secrets;
mod skills;
mod writing;
