//! The file by which a running server is found: `server.json` in the data folder, which only its owner can read.
//!
//! The protocol: a server claims the file while it listens ([`RunningServerFile::claim`]) and removes it when it stops. It holds a
//! lock of the operating system on the file all the time, which ends with its process however that ends: a file that nobody
//! has locked was left behind, and is not believed ([`RunningServer::find`]). A process id would not tell that, since another
//! process may have got the same one.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::access::AccessToken;

const NAME: &str = "server.json";

/// How often a file is looked at again that is locked or written just now, and after how long.
const ATTEMPTS: usize = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// A server that runs, as its file says.
#[derive(Clone, Serialize, Deserialize)]
pub struct RunningServer {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its process.
    pub process: u32,
    /// Its version.
    pub version: String,
    entry_key: String,
}

impl std::fmt::Debug for RunningServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningServer").field("address", &self.address).field("process", &self.process).finish()
    }
}

impl RunningServer {
    /// Returns the server that runs for this data folder, if one does.
    pub fn find(data_dir: &Path) -> io::Result<Option<Self>> {
        let path = data_dir.join(NAME);
        for _ in 0..ATTEMPTS {
            let mut file = match File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
            match file.try_lock_shared() {
                Ok(()) => return Ok(None),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            if let Ok(server) = serde_json::from_str(&text) {
                return Ok(Some(server));
            }
            // The server has locked it and is about to write it.
            std::thread::sleep(PAUSE);
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, format!("{} can't be read", path.display())))
    }

    /// Returns the address of its page.
    #[must_use]
    pub fn page(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Returns the key by which the server gives out entry codes.
    #[must_use]
    pub fn entry_key(&self) -> &str {
        &self.entry_key
    }
}

/// The file of this process's server. It is removed when this is dropped.
#[derive(Debug)]
pub struct RunningServerFile {
    path: PathBuf,
    /// Keeps the lock.
    _file: File,
}

impl RunningServerFile {
    /// Writes the file; `None` if another server of this data folder has it.
    pub fn claim(data_dir: &Path, address: SocketAddr, entry_key: &AccessToken) -> io::Result<Option<Self>> {
        let path = data_dir.join(NAME);
        for _ in 0..ATTEMPTS {
            let mut options = OpenOptions::new();
            let mut file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                // Whoever looks for a server holds the lock for a moment too.
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(PAUSE);
                    continue;
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            if !is_at(&file, &path) {
                // The server that had it removed it between the opening and the lock.
                continue;
            }
            file.set_permissions(Permissions::from_mode(0o600))?;
            let server = RunningServer {
                address: reachable(address),
                process: std::process::id(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                entry_key: entry_key.expose().to_owned(),
            };
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(serde_json::to_string(&server)?.as_bytes())?;
            return Ok(Some(Self { path, _file: file }));
        }
        Ok(None)
    }
}

impl Drop for RunningServerFile {
    fn drop(&mut self) {
        // The lock is still held here. A file that stays behind is not believed.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let same =
        |(file, found): (std::fs::Metadata, std::fs::Metadata)| (file.dev(), file.ino()) == (found.dev(), found.ino());
    file.metadata().ok().zip(std::fs::metadata(path).ok()).is_some_and(same)
}

/// Returns the address by which this machine reaches a server that may listen at all of its addresses.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(at) if at.ip().is_unspecified() => (Ipv4Addr::LOCALHOST, at.port()).into(),
        SocketAddr::V6(at) if at.ip().is_unspecified() => (Ipv6Addr::LOCALHOST, at.port()).into(),
        SocketAddr::V4(_) | SocketAddr::V6(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::{NAME, RunningServer, RunningServerFile};
    use crate::access::AccessToken;

    // proves W3: a server is found while it runs, by its owner only, and one of two
    #[test]
    fn a_server_is_found_while_it_runs_and_not_after() {
        let folder = tempfile::tempdir().unwrap();
        let (key, other) = (AccessToken::random().unwrap(), AccessToken::random().unwrap());
        assert!(RunningServer::find(folder.path()).unwrap().is_none());
        let file =
            RunningServerFile::claim(folder.path(), "0.0.0.0:7700".parse().unwrap(), &key).unwrap().expect("free");
        let mode = fs::metadata(folder.path().join(NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(RunningServerFile::claim(folder.path(), "127.0.0.1:1".parse().unwrap(), &other).unwrap().is_none());
        let found = RunningServer::find(folder.path()).unwrap().expect("it runs");
        assert_eq!((found.address.to_string().as_str(), found.process), ("127.0.0.1:7700", std::process::id()));
        assert_eq!(found.entry_key(), key.expose());
        assert!(!format!("{found:?}").contains(key.expose()));
        drop(file);
        assert!(!folder.path().join(NAME).exists());
        assert!(RunningServer::find(folder.path()).unwrap().is_none());
    }

    // proves W3: what a dead server left is not believed, and makes room; nobody else can read it afterwards
    #[test]
    fn a_file_that_nobody_holds_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let left = r#"{"address":"127.0.0.1:9","process":1,"version":"0","entry_key":"k"}"#;
        fs::write(&path, left.repeat(3)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(RunningServer::find(folder.path()).unwrap().is_none());
        let key = AccessToken::random().unwrap();
        let _file = RunningServerFile::claim(folder.path(), "[::]:7700".parse().unwrap(), &key).unwrap().expect("free");
        assert_eq!(RunningServer::find(folder.path()).unwrap().expect("it runs").address.to_string(), "[::1]:7700");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
