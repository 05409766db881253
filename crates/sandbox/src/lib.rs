//! The sandbox commands run in (X3): what a command may write, read and reach, enforced by the kernel.
//!
//! The protocol. [`Surroundings`] say where commands run and what the person has set; a [`Confinement`] is what
//! one command is held to, plain data that travels to its guard process. There, on Linux, [`enter_namespaces`]
//! and [`confine`] put it into effect, each in its place; on macOS [`seatbelt_profile`] is handed to `sandbox-exec`. [`SandboxSupport`] says what this machine can enforce: it is found out by confining a command that
//! does nothing, never assumed.
//!
//! ```
//! use std::path::PathBuf;
//! use windlass_sandbox::{Isolation, Network, PathRules, Surroundings};
//!
//! let surroundings = Surroundings { workspace: PathBuf::from("/src/app"), ..Surroundings::default() };
//! let confinement =
//!     surroundings.confinement(Isolation::Namespaces, Network::Off, PathBuf::from("/var/tmp/a"), &PathRules::NONE);
//! assert_eq!(confinement.map(|held| held.writable), Some(vec![PathBuf::from("/src/app")]));
//! ```

#![deny(missing_docs)]

mod bubblewrap;
mod confinement;
mod follow_links;
mod git;
mod git_config;
#[cfg(all(target_os = "linux", feature = "enforce"))]
mod linux;
mod listing;
mod missing_access;
pub mod path_wire;
mod places;
mod plain_file;
mod protected;
mod seatbelt;
mod support;
mod surroundings;

pub use bubblewrap::bubblewrap_arguments;
pub use confinement::{CleanupRules, Confinement, Isolation, Network, ProtectedLink, SandboxMode};
pub use git::{OBEYED_BY_GIT, is_repository};
pub use git_config::{GitSettings, git_folders};
#[cfg(all(target_os = "linux", feature = "enforce"))]
pub use linux::{confine, enter_namespaces, has_landlock};
pub use missing_access::{MissingAccess, find_missing_access, reports_blocked_change};
pub use places::{BUBBLEWRAP_PATHS, ESCAPE_VARIABLES, HIDDEN_FOLDERS};
pub use plain_file::{open_plain, read_plain, read_plain_text};
pub use protected::{ScanExtent, new_closed_paths};
pub use seatbelt::seatbelt_profile;
pub use support::{SandboxSupport, describe_sandbox};
pub use surroundings::{PathAccess, PathRules, Surroundings};
