//! A server as a child process: messages are lines of JSON on its standard input and output.
//!
//! rmcp has a transport for this; ours replaces it because real servers print log lines, blank lines, byte order
//! marks and worse on standard output, answer with megabytes or thousands of levels of nesting, and die in the middle
//! of a message (P3, P4). Here each line is parsed on its own: a line that is not a message is reported and skipped,
//! and an unreadable answer becomes an error for the one call that waits for it, not silence.

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
pub(crate) use tail::{StderrLog, StderrTail};
pub(crate) use transport::{LineTransport, NoticeSink};
