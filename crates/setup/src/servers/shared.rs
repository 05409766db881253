//! The servers of a process that serves many requests in several folders; they are kept between requests.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{AttachedServers, ServerNews};

/// Servers by the folder they work in. Servers whose settings have changed stay for the runs that use them.
#[derive(Debug, Default)]
pub struct SharedServers(Mutex<Vec<(PathBuf, AttachedServers)>>);

impl SharedServers {
    /// Returns the servers already running in a folder if they are configured like `fresh`; otherwise keeps `fresh`.
    pub fn in_place_of(&self, fresh: AttachedServers, folder: &Path) -> AttachedServers {
        let mut servers = self.servers();
        match servers.iter().find(|(known, attached)| known == folder && *attached == fresh) {
            Some((_, attached)) => attached.clone(),
            None => {
                servers.push((folder.to_owned(), fresh.clone()));
                fresh
            }
        }
    }

    /// Returns the notices since the last call.
    pub fn news(&self) -> Vec<ServerNews> {
        self.servers().iter().flat_map(|(_, attached)| attached.news()).collect()
    }

    /// Closes all servers.
    pub async fn close(&self) {
        let servers = std::mem::take(&mut *self.servers());
        for (_, attached) in servers {
            attached.close().await;
        }
    }

    fn servers(&self) -> MutexGuard<'_, Vec<(PathBuf, AttachedServers)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
