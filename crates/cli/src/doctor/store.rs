//! Checks whether journals can be stored: opens the store, then locks, writes, reads back and verifies a session in a
//! temporary folder inside the data folder.

use std::path::Path;

use uuid::Uuid;
use windlass_runtime::{Clock, SystemClock};
use windlass_setup::settings::{PlaceSettings, create_data_dir};
use windlass_store::{
    Batch, Entry, Head, Inconsistency, Loss, Ownership, SessionLog, SqliteOptions, SqliteStore, StoreError,
    VerifyError, Writer, verify,
};
use windlass_vocab::{SessionId, SessionOpened};

use super::check::Check;
use crate::commands::session;

const OWNER: &str = "doctor";

pub(crate) async fn check(place: &PlaceSettings) -> Check {
    let folder = &place.data_dir.value;
    match try_it(folder).await {
        Ok(sessions) => {
            let said = format!("{}: written, read back, verified, locked; sessions: {sessions}", folder.display());
            Check::ok("store", said)
        }
        Err(StoreFault::Lost(loss)) => Check::fail("store", StoreError::Lost(loss).to_string())
            .advise("restore a backup, or go on from what is there with `windlass sessions accept-loss`"),
        Err(StoreFault::Inconsistent(found)) => Check::fail("store", format!("{}: {found}", folder.display()))
            .advise("restore a backup; `windlass sessions verify` tells all that is wrong"),
        Err(StoreFault::Other(why)) => {
            Check::fail("store", why).advise("give another data folder with --data-dir or WINDLASS_DATA_DIR")
        }
    }
}

/// Why journals can't be stored.
enum StoreFault {
    /// Commits are missing.
    Lost(Loss),
    /// The database contradicts itself.
    Inconsistent(Inconsistency),
    Other(String),
}

impl From<String> for StoreFault {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

async fn try_it(folder: &Path) -> Result<usize, StoreFault> {
    create_data_dir(folder).map_err(|error| format!("{} can't be made: {error}", folder.display()))?;
    let store = SqliteStore::open(folder, SqliteOptions::default()).map_err(|error| error.to_string())?;
    if let Some(loss) = store.loss() {
        return Err(StoreFault::Lost(loss));
    }
    if let Some(first) = store.check().await.map_err(|error| error.to_string())?.into_iter().next() {
        return Err(StoreFault::Inconsistent(first));
    }
    let sessions = store.sessions(session::OWNER).await.map_err(|error| error.to_string())?.len();
    // Inside the data folder, so that the same disk is tested and no journal is touched.
    let probe = folder.join(format!("doctor-{}", Uuid::now_v7().simple()));
    let tried = write_and_read(&probe).await;
    let removed = std::fs::remove_dir_all(&probe);
    tried?;
    removed.map_err(|error| format!("{} can't be removed: {error}", probe.display()))?;
    Ok(sessions)
}

async fn write_and_read(folder: &Path) -> Result<(), String> {
    create_data_dir(folder).map_err(|error| format!("{} can't be made: {error}", folder.display()))?;
    write(folder).await.map_err(|error| error.to_string())
}

async fn write(folder: &Path) -> Result<(), VerifyError> {
    let store = SqliteStore::open(folder, SqliteOptions::default())?;
    let session = SessionId(Uuid::now_v7());
    let _lease = store.claim(session).await?;
    let other = SqliteStore::open(folder, SqliteOptions::default())?;
    match other.claim(session).await {
        Err(StoreError::Busy { .. }) => {}
        Err(error) => return Err(error.into()),
        Ok(_) => return Err(damaged("two could lock the same session: this file system's locks don't work").into()),
    }
    let opened = SessionOpened {
        owner: OWNER.to_owned(),
        key: OWNER.to_owned(),
        workspace: None,
        parent: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        forked_from: Vec::new(),
    };
    let mut writer = Writer::new(session, Head::default(), session.0.as_u64_pair().1);
    let batch = Batch { at: SystemClock.now(), entries: vec![Entry::new(opened)], ..Batch::default() };
    store.append(writer.seal(batch)?).await.map_err(StoreError::from)?;
    if other.read(session, 0).await?.len() != 1 || verify(&store, session).await?.records != 1 {
        return Err(damaged("what was written was not read back").into());
    }
    Ok(())
}

fn damaged(what: &str) -> StoreError {
    StoreError::Damaged { what: what.to_owned() }
}
