//! The sandbox for commands (X3): which files and networks a command may use, enforced by the kernel.
//!
//! The protocol: [`Surroundings`] describe where commands run and what the person has set. A [`Confinement`] holds the
//! limits of one command, as plain data that is sent to its guard process. There, on Linux, [`enter_namespaces`] and
//! [`confine`] apply it, each in its own process; on macOS [`seatbelt_profile`] is passed to `sandbox-exec`.
//! [`SandboxSupport`] reports what this machine can enforce: it is found out by confining an empty command, never
//! assumed.
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
