//! Windlass over HTTP (W3): sessions, their events, and the page, for people and programs.
//!
//! The protocol: a request is checked ([`access`]: host, origin, token → [`access::Caller`]), finds the caller's session,
//! and reads the store, or opens the session with an agent built for it ([`windlass_setup::session_agent`]) and sends it
//! something. A message is answered with 202 once it is stored: what follows is read from the session's events
//! ([`events`]), which are the records of the journal and the deltas of the turn, exactly as everywhere else (E1).
//! Nothing waits in this process that is not in the store: a restart resumes the open runs ([`resuming`]). A server that is
//! told to end finishes what is under way ([`draining`]).
//!
//! Every route is in the OpenAPI document ([`document`]): both are made by one line of `serving.rs`.
//!
//! Errors are answered as `{"error": {"kind", "message", "hint"}}` ([`error`]).

pub mod access;
mod api;
mod background;
mod cleaning;
mod connections;
mod document;
mod draining;
mod editing;
mod error;
mod events;
mod html;
mod keeping;
mod limits;
mod metrics;
mod open_runs;
mod openai;
mod page;
mod places;
mod resuming;
mod resumptions;
mod server_file;
mod serving;
mod state;

pub use draining::{StopWish, serve};
pub use limits::ServiceLimits;
pub use resuming::{ResumedRuns, resume_open_runs};
pub use server_file::{RunningServer, RunningServerFile};
pub use serving::app;
pub use state::HttpServer;
