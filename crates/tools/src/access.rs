//! What a call does to a path: rules that forbid or ask go by this, not by the name of the tool (X5).

/// What a call does to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Something of it may reach the model.
    Read,
    /// It may change, come into being or go.
    Write,
}

impl Access {
    /// As rules write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// The built-in tools that work on files, each with the access its name stands for in a rule that forbids or
/// asks.
pub(crate) const FILE_TOOLS: &[(&str, Access)] = &[
    ("edit_file", Access::Write),
    ("list_directory", Access::Read),
    ("move_file", Access::Write),
    ("read_file", Access::Read),
    ("search_files", Access::Read),
    ("write_file", Access::Write),
];
