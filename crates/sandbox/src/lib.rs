//! The sandbox commands run in (X3): what a command may write, read and reach, enforced by the kernel.
//!
//! The protocol. [`Surroundings`] say where commands run and what the person has set; a [`Confinement`] is what
//! one command is held to, plain data that travels to its guard process. There, on Linux, [`enter_namespaces`]
//! and [`confine`] put it into effect, each in its place; on macOS [`seatbelt_profile`] is handed to `sandbox-exec`. [`Support`] says what this machine can enforce: it is found out by confining a command that
//! does nothing, never assumed.
//!
//! ```
//! use std::path::PathBuf;
//! use windlass_sandbox::{Network, Rules, Surroundings, Walls};
//!
//! let surroundings = Surroundings { workspace: PathBuf::from("/src/app"), ..Surroundings::default() };
//! let confinement =
//!     surroundings.confinement(Walls::Namespaces, Network::Off, PathBuf::from("/var/tmp/a"), &Rules::NONE);
//! assert_eq!(confinement.map(|held| held.writable), Some(vec![PathBuf::from("/src/app")]));
//! ```

#![deny(missing_docs)]

mod apart;
mod bubblewrap;
mod confinement;
mod git;
mod git_config;
mod lack;
#[cfg(all(target_os = "linux", feature = "enforce"))]
mod linux;
mod listing;
pub mod path_wire;
mod places;
mod plain_file;
mod protected;
mod seatbelt;
mod support;
mod surroundings;

pub use bubblewrap::bubblewrap_arguments;
pub use confinement::{Clearing, Confinement, KeptLink, Network, SandboxMode, Walls};
pub use git::{OBEYED_BY_GIT, is_repository};
pub use git_config::{GitSettings, git_folders};
pub use lack::{Lack, kept_from_changing, lacked};
#[cfg(all(target_os = "linux", feature = "enforce"))]
pub use linux::{confine, enter_namespaces, has_landlock};
pub use places::{BUBBLEWRAPS, HIDDEN, WAYS_OUT};
pub use plain_file::{open_plain, read_plain, read_plain_text};
pub use protected::{Looked, closed_since};
pub use seatbelt::seatbelt_profile;
pub use support::{Support, told};
pub use surroundings::{Closed, Rules, Surroundings};
