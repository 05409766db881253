//! Commands sent to the process that owns a session (`ControlLane`).

use windlass_vocab::{CommandId, Control, ControlOutcome, SessionId, Timestamp};

/// How long a command is kept after it expired, in milliseconds, so that its sender can still read the outcome.
/// Later, the next process that sends a command removes it.
pub const COMMAND_KEPT_MS: u64 = 600_000;

/// A command as the sender leaves it in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentCommand {
    /// The sender's id for the command.
    pub id: CommandId,
    /// The requested action.
    pub control: Control,
    /// When it was sent.
    pub at: Timestamp,
    /// From this time on nobody may take it.
    pub expires: Timestamp,
}

/// A command as the owner reads it from the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressedCommand {
    /// The sender's id for the command.
    pub id: CommandId,
    /// The session it is for.
    pub session: SessionId,
    /// Epoch of the lease held on the session when the command was sent. A later owner ignores the command.
    pub epoch: u64,
    /// The requested action.
    pub control: Control,
}

/// The owner that a command is addressed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressee {
    /// The holder of this lease.
    Owner {
        /// The epoch of that lease.
        epoch: u64,
    },
    /// Nobody holds the session, so no command was stored.
    Nobody,
}

/// Whether the caller took a command and must now execute it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenCommand {
    /// The caller took it; nobody else can.
    Yes,
    /// It was already taken or withdrawn.
    No,
}

/// The state of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandState {
    /// Nobody has taken it.
    Waiting,
    /// The owner is executing it, or died while doing so.
    Taken,
    /// The owner executed it, with this outcome.
    Settled(ControlOutcome),
    /// It does not exist: never sent, withdrawn, or removed because of its age.
    Gone,
}
