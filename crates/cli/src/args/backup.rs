//! The arguments of `windlass backup`.

use std::path::PathBuf;

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  windlass backup /mnt/backup/windlass-monday
  windlass --data-dir /mnt/backup/windlass-monday sessions list

To restore: move the data folder away and copy the backup, all of it, into its place.";

// `windlass backup`.
#[derive(Debug, Args)]
pub struct BackupArgs {
    /// Where to: a folder that is empty or not there yet
    pub folder: PathBuf,
}
