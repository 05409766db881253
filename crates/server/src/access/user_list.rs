//! The users who may come in now. The file is read again when it has changed: a removed user is out at the next request,
//! and their streams of events end within a second or two.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::watch;

use super::caller::Caller;
use super::token::{TokenHash, TokenHolder};
use super::users_file::{User, UsersError, read_users};

/// How often the file is looked at while no request comes.
const LOOK: Duration = Duration::from_secs(1);

/// The users of a file.
#[derive(Debug)]
pub struct UserList {
    path: PathBuf,
    /// What the file was when it was read; `None` where there was none.
    stamp: Mutex<Option<UsersFileStamp>>,
    holders: watch::Sender<Vec<TokenHolder>>,
}

/// By what a changed file is noticed: it is always replaced as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct UsersFileStamp {
    inode: u64,
    changed: Option<SystemTime>,
    bytes: u64,
}

impl UserList {
    /// Reads the users of this file; none where it is not there.
    pub fn read(path: PathBuf) -> Result<Self, UsersError> {
        let stamp = stamp(&path);
        let (holders, _) = watch::channel(holders(read_users(&path)?));
        Ok(Self { path, stamp: Mutex::new(stamp), holders })
    }

    /// Returns whose token this is, in the file as it is now. Every token is compared, each in constant time.
    pub(super) fn holder_of(&self, sent: &TokenHash) -> Option<Caller> {
        self.refresh();
        let mut found = None;
        for holder in self.holders.borrow().iter() {
            if holder.has(sent) {
                found = Some(holder.caller.clone());
            }
        }
        found
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.holders.borrow().iter().map(|holder| holder.caller.user.clone()).collect()
    }

    /// Waits until this token is no user's any more. It lasts no longer than the list.
    pub(super) fn withdrawn(&self, token: TokenHash) -> impl Future<Output = ()> + Send + 'static {
        let mut holders = self.holders.subscribe();
        async move {
            // An error means that the server is gone.
            let _ = holders.wait_for(|holders| !holders.iter().any(|holder| holder.has(&token))).await;
        }
    }

    /// Looks at the file again and again, for those who make no requests.
    pub(crate) async fn watch(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            self.refresh();
        }
    }

    /// Reads the file again if it has changed. One that can't be read leaves the users as they were, and is tried again; a
    /// damaged one is not, until it changes.
    fn refresh(&self) {
        let mut known = self.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamp(&self.path);
        if *known == now {
            return;
        }
        let read = read_users(&self.path);
        if !matches!(read, Err(UsersError::Disk { .. })) {
            *known = now;
        }
        match read {
            Ok(users) => drop(self.holders.send_replace(holders(users))),
            Err(error) => tracing::error!(%error, "the users can't be read again"),
        }
    }
}

fn holders(users: Vec<User>) -> Vec<TokenHolder> {
    users.into_iter().map(|user| TokenHolder::of_user(&user)).collect()
}

fn stamp(path: &std::path::Path) -> Option<UsersFileStamp> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::metadata(path).ok()?;
    Some(UsersFileStamp { inode: found.ino(), changed: found.modified().ok(), bytes: found.len() })
}

impl TokenHolder {
    fn of_user(user: &User) -> Self {
        Self::of_hash(user.token_blake3, Caller { user: user.name.clone(), role: user.role })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use windlass_vocab::Timestamp;

    use super::UserList;
    use crate::access::caller::CallerRole;
    use crate::access::token::TokenHash;
    use crate::access::users_file::{add_user, remove_user, users_file};

    // proves W3: who is added is let in at the next request, and who is removed is out at the next
    #[tokio::test]
    async fn the_list_is_the_file_as_it_is_now() {
        let dir = tempfile::tempdir().unwrap();
        let path = users_file(dir.path());
        let list = UserList::read(path.clone()).unwrap();
        let token = add_user(&path, "local", "ann", CallerRole::User, Timestamp(1)).unwrap();
        let sent = TokenHash::of(token.expose());
        let caller = list.holder_of(&sent).unwrap();
        assert_eq!((caller.user.as_str(), caller.role), ("ann", CallerRole::User));
        assert_eq!(list.holder_of(&TokenHash::of("other")), None);
        let mut withdrawn = Box::pin(list.withdrawn(sent));
        assert!((&mut withdrawn).now_or_never().is_none());
        std::fs::write(&path, "no users").unwrap();
        assert!(list.holder_of(&sent).is_some(), "a damaged file shuts nobody out");
        std::fs::remove_file(&path).unwrap();
        add_user(&path, "local", "ann", CallerRole::User, Timestamp(1)).unwrap();
        assert_eq!(list.holder_of(&sent), None, "a new token takes the place of the old one");
        withdrawn.now_or_never().expect("the token is nobody's, though the user is there again");
        remove_user(&path, "ann").unwrap();
        list.refresh();
        assert!(list.names().is_empty());
    }
}
