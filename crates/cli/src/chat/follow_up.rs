//! What follows from a slash command at the terminal.

/// What the caller, which displays the conversation, has to do next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CommandFollowUp {
    /// Print this text, in whole lines.
    Tell(String),
    /// Print this text and the recap: the chat switched to another session.
    Moved(String),
    /// A run was started: follow it.
    Follow,
    /// Switch between full and folded thinking.
    TurnThinking,
    /// Leave the chat.
    Leave,
}
