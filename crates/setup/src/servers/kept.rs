//! The servers of a process that serves many requests, in several folders: kept between them.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Attached, News};

/// Servers by the folder they work in. Those whose settings were changed since stay for the runs that
/// have them.
#[derive(Debug, Default)]
pub struct Kept(Mutex<Vec<(PathBuf, Attached)>>);

impl Kept {
    /// The servers that run in a folder already, where they are those that are wanted now.
    pub fn in_place_of(&self, fresh: Attached, folder: &Path) -> Attached {
        let mut kept = self.kept();
        match kept.iter().find(|(known, attached)| known == folder && attached.is_like(&fresh)) {
            Some((_, attached)) => attached.clone(),
            None => {
                kept.push((folder.to_owned(), fresh.clone()));
                fresh
            }
        }
    }

    /// What they have told since this was last asked.
    pub fn news(&self) -> Vec<News> {
        self.kept().iter().flat_map(|(_, attached)| attached.news()).collect()
    }

    /// Lets them go.
    pub async fn close(&self) {
        let kept = std::mem::take(&mut *self.kept());
        for (_, attached) in kept {
            attached.close().await;
        }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(PathBuf, Attached)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
