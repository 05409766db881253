//! Measures Windlass against floors written beside it.
//!
//! A floor does the least that the same work needs. The first ([`floor::bare`]) makes the requests of
//! a run and drains the answers; the second ([`floor::committing`]) also commits what the journal
//! commits, as often and as much. What both do is taken from a run of Windlass itself ([`trace`]), so
//! that requests and commits are the same to the byte. Ours and the floor take turns in one run, and
//! the medians are compared ([`pace`]).
//!
//! The scripted model server runs as a process of its own ([`server`]), on a core of its own where
//! there is one. What is measured of a whole process is measured in a fresh one ([`child`]).

pub mod child;
pub mod fake_servers;
pub mod figures;
pub mod floor;
pub mod memory;
pub mod ours;
pub mod pace;
pub mod programs;
pub mod server;
pub mod table;
pub mod terminal;
pub mod trace;
