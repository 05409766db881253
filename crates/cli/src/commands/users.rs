//! `windlass users`: who may use the server besides the operator. A running server notices every change.

use std::path::{Path, PathBuf};

use windlass_server::access::{CallerRole, UsersError, add_user, read_users, remove_user, users_file};
use windlass_setup::settings::{Env, Flags};
use windlass_setup::{store, test_hooks};

use super::{prepared_run, session};
use crate::args::{UsersArgs, UsersCommand};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::harmless_line;
use crate::streams::print;

pub(super) fn users(data_dir: Option<PathBuf>, args: &UsersArgs, env: Env) -> CommandResult {
    let place = prepared_run::place(&prepared_run::gather(Flags { data_dir, ..Flags::default() }, env)?)?;
    let file = users_file(&place.data_dir.value);
    let text = match args.command.as_ref().unwrap_or(&UsersCommand::List) {
        UsersCommand::Add { user, admin } => {
            // The data folder is made as the store makes it, readable by nobody else.
            drop(store::open(&place)?);
            let role = if *admin { CallerRole::Admin } else { CallerRole::User };
            let token = add_user(&file, session::OWNER, user, role, test_hooks::clock().now())?;
            format!("{}\n", token.expose())
        }
        UsersCommand::List => listed(&file)?,
        UsersCommand::Remove { user } => {
            remove_user(&file, user)?;
            format!("{} is out; their sessions stay.\n", harmless_line(user))
        }
    };
    print(&text)?;
    Ok(Exit::Done)
}

fn listed(file: &Path) -> Result<String, UsersError> {
    let users = read_users(file)?;
    if users.is_empty() {
        return Ok("There are no users but you; `windlass users add NAME` adds one.\n".to_owned());
    }
    let lines = users.into_iter().map(|user| {
        let role = match user.role {
            CallerRole::User => "user",
            CallerRole::Admin => "admin",
        };
        format!("{}  {role}  added {}\n", harmless_line(&user.name), user.added)
    });
    Ok(lines.collect())
}

impl From<UsersError> for CommandError {
    fn from(error: UsersError) -> Self {
        let exit = match error {
            UsersError::Name { .. } | UsersError::Known(_) | UsersError::Unknown(_) => Exit::Usage,
            UsersError::Damaged { .. } | UsersError::Random(_) | UsersError::Disk { .. } => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}
