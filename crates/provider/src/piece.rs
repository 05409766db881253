//! The pieces of a reply.

/// A fragment of a reply, as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text of the answer.
    Text(&'a str),
    /// Text of the reasoning.
    Thinking(&'a str),
    /// A fragment of a call's arguments; the first one has the tool's name.
    Call {
        /// The call's position in the reply.
        index: u32,
        /// The tool's name, in the first fragment.
        name: Option<&'a str>,
        /// The fragment.
        arguments: &'a str,
    },
}

/// Receives the pieces.
pub type Sink = Box<dyn FnMut(Piece<'_>) + Send>;
