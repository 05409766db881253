//! A server as a child process: messages are lines of JSON on its standard input and output.
//!
//! rmcp has a transport for this; ours stands in its place because real servers print log lines,
//! blank lines, byte order marks and worse on standard output, answer with megabytes or thousands of
//! levels of nesting, and die in mid-sentence (P3, P4). Here each line is read by itself: what is no
//! message is told and skipped, and an answer that can't be read becomes an error for the one call
//! that waits for it, not silence.

mod frame;
mod lines;
mod process;
mod scan;
mod tail;
mod transport;

pub(crate) use frame::UNREADABLE;
pub use lines::{LineSplitter, ProtocolLine};
pub(crate) use process::{ProcessEnd, ServerProgram, StartedProcess, start};
pub use scan::MessagePurpose;
pub(crate) use tail::StderrTail;
pub(crate) use transport::{LineTransport, NoticeSink};
