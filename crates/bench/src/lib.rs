//! Measures Windlass against floors.
//!
//! A floor does the minimum that the same work needs. The first ([`floor::bare`]) makes the requests of
//! a run and reads the answers; the second ([`floor::committing`]) also commits the same batches as the journal.
//! Both repeat a recorded run of Windlass itself ([`trace`]), so that requests and commits are the same to the
//! byte. Windlass and the floor alternate in one process, and the medians are compared ([`pace`]).
//!
//! The scripted model server runs as a separate process ([`server`]), on a separate core if there
//! is one. Figures about a whole process are measured in a fresh one ([`child`]).

pub mod child;
pub mod conversation;
pub mod fake_servers;
pub mod figures;
pub mod floor;
pub mod followers;
pub mod memory;
pub mod ours;
pub mod pace;
pub mod programs;
pub mod sending;
pub mod served;
pub mod server;
pub mod simulated_journal;
pub mod table;
pub mod terminal;
pub mod trace;
