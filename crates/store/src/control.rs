//! Commands on their way to the process that owns a session (`ControlLane`).

use windlass_vocab::{CommandId, Control, ControlOutcome, SessionId, Timestamp};

/// How long a command is kept after it expired, in milliseconds: its sender may still want to know what became of it.
/// After that anybody who sends another removes it.
pub const COMMAND_KEPT_MS: u64 = 600_000;

/// A command as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentCommand {
    /// The sender's id for it.
    pub id: CommandId,
    /// What is asked.
    pub control: Control,
    /// When it was sent.
    pub at: Timestamp,
    /// From when on nobody takes it any more.
    pub expires: Timestamp,
}

/// A command as its owner finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressedCommand {
    /// The sender's id for it.
    pub id: CommandId,
    /// The session it is for.
    pub session: SessionId,
    /// The lease of whoever had the session when it was sent. A later owner leaves it alone.
    pub epoch: u64,
    /// What is asked.
    pub control: Control,
}

/// Whom a command was left for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressee {
    /// The holder of this lease.
    Owner {
        /// Its epoch.
        epoch: u64,
    },
    /// Nobody has the session; nothing was left.
    Nobody,
}

/// Whether a command is the caller's to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenCommand {
    /// It is, and nobody else's.
    Yes,
    /// It was taken before, or withdrawn.
    No,
}

/// Where a command stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandState {
    /// Nobody has taken it.
    Waiting,
    /// The owner is at it, or died over it.
    Taken,
    /// This is what became of it.
    Settled(ControlOutcome),
    /// It is not there: never sent, withdrawn, or too old.
    Gone,
}
