//! The file of users, `users.json` in the data folder: names, roles and the hashes of tokens, never a token.
//!
//! `windlass users` changes it under a lock, each time as a whole; a running server reads it again when it has changed
//! ([`super::user_list`]).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_tools::{ReadableBy, write_whole};
use windlass_vocab::Timestamp;

use super::caller::CallerRole;
use super::token::{AccessToken, TokenHash};

/// The longest name of a user, in characters.
const LONGEST_NAME: usize = 64;

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// The name, which their sessions carry as owner.
    pub name: String,
    /// What they may do.
    pub role: CallerRole,
    /// The hash of their token.
    pub(super) token_blake3: TokenHash,
    /// When they were added.
    pub added: Timestamp,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UsersFile {
    users: Vec<User>,
}

/// Why the users can't be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum UsersError {
    /// The name can't be one of a user.
    #[error("a user's name has 1 to {LONGEST_NAME} letters, digits and - . _ @, and is not `{reserved}`")]
    Name {
        /// The name that is the operator's.
        reserved: &'static str,
    },
    /// There is a user of this name.
    #[error("there is a user `{0}` already; removing and adding them again makes a new token, and their sessions stay")]
    Known(String),
    /// There is no such user.
    #[error("there is no user `{0}`")]
    Unknown(String),
    /// The file is not one of users.
    #[error("{}: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// No token could be made up.
    #[error("no random token can be made: {0}")]
    Random(#[from] getrandom::Error),
    /// The file can't be read or written.
    #[error("{}: {error}", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// Returns where the users of a data folder stand.
#[must_use]
pub fn users_file(data_dir: &Path) -> PathBuf {
    data_dir.join("users.json")
}

/// Returns the users, none where there is no file.
pub fn read_users(path: &Path) -> Result<Vec<User>, UsersError> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(UsersError::Disk { path: path.to_owned(), error }),
    };
    let file: UsersFile = serde_json::from_slice(&text)
        .map_err(|error| UsersError::Damaged { path: path.to_owned(), why: error.to_string() })?;
    Ok(file.users)
}

/// Adds a user and returns their token, which is kept nowhere. `operator` is the name that nobody else may have.
pub fn add_user(
    path: &Path,
    operator: &'static str,
    name: &str,
    role: CallerRole,
    now: Timestamp,
) -> Result<AccessToken, UsersError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._@".contains(c);
    if !(1..=LONGEST_NAME).contains(&name.len()) || !name.chars().all(fits) || name == operator {
        return Err(UsersError::Name { reserved: operator });
    }
    let token = AccessToken::random()?;
    let user = User { name: name.to_owned(), role, token_blake3: TokenHash::of(token.expose()), added: now };
    change(path, |users| {
        if users.iter().any(|known| known.name == name) {
            return Err(UsersError::Known(name.to_owned()));
        }
        users.push(user);
        Ok(())
    })?;
    Ok(token)
}

/// Removes a user; their sessions stay.
pub fn remove_user(path: &Path, name: &str) -> Result<(), UsersError> {
    change(path, |users| {
        let before = users.len();
        users.retain(|known| known.name != name);
        if users.len() == before { Err(UsersError::Unknown(name.to_owned())) } else { Ok(()) }
    })
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<User>) -> Result<(), UsersError>) -> Result<(), UsersError> {
    let on_disk = |error| UsersError::Disk { path: path.to_owned(), error };
    let folder = path.parent().unwrap_or(Path::new("."));
    // The lock ends with the file.
    let lock = File::open(folder).map_err(on_disk)?;
    lock.lock().map_err(on_disk)?;
    let mut users = read_users(path)?;
    change(&mut users)?;
    let text = serde_json::to_vec_pretty(&UsersFile { users })
        .map_err(|error| UsersError::Damaged { path: path.to_owned(), why: error.to_string() })?;
    write_whole(path, &text, ReadableBy::Owner).map_err(on_disk)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use windlass_vocab::Timestamp;

    use super::{UsersError, add_user, read_users, remove_user, users_file};
    use crate::access::caller::CallerRole;

    // proves W3: a token is never kept, and only the owner can read who may come in
    #[test]
    fn users_are_added_once_and_removed_and_no_token_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = users_file(dir.path());
        assert_eq!(read_users(&path).unwrap(), []);
        let add = |name: &str| add_user(&path, "local", name, CallerRole::User, Timestamp(1_000));
        let token = add("ann").unwrap();
        add_user(&path, "local", "root", CallerRole::Admin, Timestamp(2_000)).unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(!written.contains(token.expose()), "{written}");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
        assert!(matches!(add("ann"), Err(UsersError::Known(_))));
        for wrong in ["", "local", "a b", "a/b", "é", &"x".repeat(65)] {
            assert!(matches!(add(wrong), Err(UsersError::Name { .. })), "{wrong}");
        }
        let names: Vec<_> = read_users(&path).unwrap().into_iter().map(|user| (user.name, user.role)).collect();
        assert_eq!(names, [("ann".to_owned(), CallerRole::User), ("root".to_owned(), CallerRole::Admin)]);
        remove_user(&path, "ann").unwrap();
        assert!(matches!(remove_user(&path, "ann"), Err(UsersError::Unknown(_))));
        assert_eq!(read_users(&path).unwrap().len(), 1);
        std::fs::write(&path, "{\"users\": [{\"name\": \"eve\"}]}").unwrap();
        assert!(matches!(add("bob"), Err(UsersError::Damaged { .. })), "a damaged file is not written over");
    }
}
