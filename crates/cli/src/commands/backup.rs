//! `windlass backup`: a copy of the data folder at one moment, verified.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use windlass_server::access::users_file;
use windlass_setup::settings::{Env, Flags};
use windlass_setup::store;
use windlass_store::BackupError;

use super::block_on::block_on;
use super::prepared_run;
use crate::args::BackupArgs;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::harmless_line;
use crate::streams::{print, print_notice};

pub(super) fn backup(data_dir: Option<PathBuf>, args: &BackupArgs, env: Env) -> CommandResult {
    let place = prepared_run::place(&prepared_run::gather(Flags { data_dir, ..Flags::default() }, env)?)?;
    block_on(async {
        let store = store::open_to_read(&place)?;
        let held = store.backup(&args.folder).await?;
        copy_users(&place.data_dir.value, &args.folder)?;
        let verified = match held.broken.len() {
            0 if !held.inconsistent.is_empty() => "the database does not agree with itself".to_owned(),
            0 => "verified".to_owned(),
            1 => "1 session does not verify".to_owned(),
            broken => format!("{broken} sessions do not verify"),
        };
        print(&format!(
            "{}: {} sessions, {} records, {} bytes, {verified}\n",
            args.folder.display(),
            held.sessions,
            held.records,
            held.bytes
        ))?;
        if let Some(loss) = &held.loss {
            print_notice(&format!("windlass: the backup lacks what the data folder lacks: {loss}"));
        }
        for inconsistency in &held.inconsistent {
            print_notice(&harmless_line(&format!("windlass: there as here: {inconsistency}")));
        }
        for (key, broken) in &held.broken {
            print_notice(&harmless_line(&format!(
                "windlass: session `{key}` does not verify, there as here: {broken}"
            )));
        }
        let is_whole = held.broken.is_empty() && held.inconsistent.is_empty() && held.loss.is_none();
        Ok(if is_whole { Exit::Done } else { Exit::Store })
    })
}

/// Copies the server's users: whoever has a token is let in by a server of the backup, too.
fn copy_users(data_dir: &Path, backup: &Path) -> Result<(), CommandError> {
    match fs::copy(users_file(data_dir), users_file(backup)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(CommandError::new(Exit::Store, format!("the server's users can't be copied: {error}")))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

impl From<BackupError> for CommandError {
    fn from(error: BackupError) -> Self {
        match error {
            BackupError::NotEmpty { .. } => Self::new(Exit::Usage, error.to_string()),
            BackupError::Store(error) => error.into(),
        }
    }
}
