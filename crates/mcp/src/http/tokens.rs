//! Storage of tokens (P1): one file that only its owner can read, or memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rmcp::transport::auth::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};
use windlass_tools::{ReadableBy, write_whole};

use crate::name::ServerName;

/// The result of a logout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logout {
    /// The tokens were deleted.
    Forgotten,
    /// There were no tokens.
    NotThere,
}

/// The tokens of one server. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ServerTokens {
    place: TokenPlace,
    /// Includes the address: servers of the same name at other addresses have their own tokens.
    key: String,
    /// Serializes refreshes.
    refreshing: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Debug)]
enum TokenPlace {
    File(PathBuf),
    Memory(Arc<Mutex<Option<StoredCredentials>>>),
}

impl ServerTokens {
    /// The tokens of `server` at `url`.
    pub(crate) fn of(server: &ServerName, url: &str, file: Option<&Path>) -> Self {
        let place = match file {
            Some(file) => TokenPlace::File(file.to_owned()),
            None => TokenPlace::Memory(Arc::default()),
        };
        Self { place, key: format!("{server} {url}"), refreshing: Arc::default() }
    }

    /// Deletes the tokens.
    pub(crate) fn forget(&self) -> io::Result<Logout> {
        let there = self.get()?.is_some();
        self.put(None)?;
        Ok(if there { Logout::Forgotten } else { Logout::NotThere })
    }

    fn put(&self, credentials: Option<StoredCredentials>) -> io::Result<()> {
        match &self.place {
            TokenPlace::Memory(kept) => {
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = credentials;
                Ok(())
            }
            TokenPlace::File(path) => {
                let _lock = lock(path)?;
                let mut all = read(path)?;
                let changed = match credentials {
                    Some(credentials) => {
                        all.insert(self.key.clone(), serde_json::to_value(credentials)?);
                        true
                    }
                    None => all.remove(&self.key).is_some(),
                };
                if changed { write_whole(path, &serde_json::to_vec_pretty(&all)?, ReadableBy::Owner) } else { Ok(()) }
            }
        }
    }

    fn get(&self) -> io::Result<Option<StoredCredentials>> {
        match &self.place {
            TokenPlace::Memory(kept) => Ok(kept.lock().unwrap_or_else(PoisonError::into_inner).clone()),
            TokenPlace::File(path) => {
                Ok(read(path)?.remove(&self.key).and_then(|credentials| serde_json::from_value(credentials).ok()))
            }
        }
    }
}

type AllTokens = BTreeMap<String, serde_json::Value>;

fn read(path: &Path) -> io::Result<AllTokens> {
    match std::fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| {
            io::Error::other(format!("{} can't be read ({error}): mend or remove it", path.display()))
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(AllTokens::new()),
        Err(error) => Err(error),
    }
}

/// Locks the file while it is read and written; other processes wait.
fn lock(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(format!("{name}.lock")))?;
    file.lock()?;
    Ok(file)
}

fn failed(error: &io::Error) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

#[async_trait]
impl CredentialStore for ServerTokens {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        self.get().map_err(|error| failed(&error))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.put(Some(credentials)).map_err(|error| failed(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.put(None).map_err(|error| failed(&error))
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        Ok(Some(CredentialRefreshGuard::new(Arc::clone(&self.refreshing).lock_owned().await)))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn credentials(id: &str) -> StoredCredentials {
        StoredCredentials::new(id.into(), None, Vec::new(), None)
    }

    // proves P1, X1
    #[tokio::test]
    async fn tokens_are_kept_for_their_owner_alone_and_apart_from_each_other() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("state/mcp-tokens.json");
        let name: ServerName = "s".parse().unwrap();
        let one = ServerTokens::of(&name, "https://a", Some(&path));
        let other = ServerTokens::of(&name, "https://b", Some(&path));
        one.save(credentials("first")).await.unwrap();
        other.save(credentials("second")).await.unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(one.load().await.unwrap().unwrap().client_id, "first");
        assert_eq!(one.forget().unwrap(), Logout::Forgotten);
        assert_eq!(one.forget().unwrap(), Logout::NotThere);
        assert!(one.load().await.unwrap().is_none());
        assert_eq!(other.load().await.unwrap().unwrap().client_id, "second");
    }

    #[tokio::test]
    async fn a_damaged_file_of_tokens_is_not_written_over() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("tokens.json");
        std::fs::write(&path, "{broken").unwrap();
        let tokens = ServerTokens::of(&"s".parse().unwrap(), "https://a", Some(&path));
        assert!(tokens.save(credentials("x")).await.is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{broken");
    }
}
