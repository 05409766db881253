//! Describes a session's events in words: the one place where a record or an event becomes text.
//!
//! The protocol: create a [`Narrator`], for a person who watches a run ([`Detail::Brief`]) or reads the journal
//! ([`Detail::Full`]); pass it every event of the session in order; display the [`NarratedLine`]s it returns. A door
//! that starts in the middle of a run passes the calls it missed to [`Narrator::recall`].
//!
//! A line has its content in its text and its purpose in its [`Tone`]. The door decides which lines it shows, and
//! their colours, marks, width and indentation; a door without any of these prints the line's `Display` form. Advice
//! that only one door can give (a flag, a command) is the door's too.
//!
//! ```
//! use windlass_narrate::{Detail, Narrator};
//! use windlass_vocab::{CancelAsked, Record, StopBy, Timestamp};
//!
//! let mut narrator = Narrator::new(Detail::Brief);
//! let lines = narrator.record(&Record::from(CancelAsked { by: StopBy::Deadline }), Timestamp(0));
//! assert_eq!(lines[0].to_string(), "stopping: the deadline is reached");
//! ```
//!
//! Invariants: no line is made anywhere else, and every kind of record has an arm in `brief.rs` and in `full.rs`; brief
//! lines are short, except for messages and questions, which are complete and unchanged: the door makes untrusted text
//! harmless ([`harmless_lines`]) when it displays it. Nothing here reads a clock, a terminal or the store.

#![deny(missing_docs)]

mod activity;
mod attempt;
mod brief;
mod cache;
mod call;
mod call_end;
mod count;
mod cut_input;
mod duration;
mod full;
mod harmless;
mod line;
mod memory;
mod message;
mod narrator;
mod nudge;
mod question;
mod refused_call;
mod reply;
mod run;
mod run_end;
mod step;
mod stream;
#[cfg(test)]
mod tests;
mod wait;

pub use activity::Activity;
pub use call::call_line_in;
pub use call_end::outcome_problem;
pub use count::grouped;
pub use duration::duration;
pub use harmless::{harmless_chars, harmless_codes, harmless_json, harmless_line, harmless_lines, short_line};
pub use line::{LineSpeaker, NarratedCallEnd, NarratedLine, Problem, Tone};
pub use narrator::{Detail, Narrator};
pub use question::{about, answer_words, expiry_words, preview_text};
pub use run_end::{RunEndWords, answer_of, changed_unasked, changes_line, claims_too_much, left_unchanged, lost_files};
pub use stream::{WITHDRAWN, thought_for};
pub use wait::{source_left_out, waiting};
