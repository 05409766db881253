//! Removes a session for good, with the sessions of its plans' steps: without their parent nobody would find those.
//!
//! Nothing here needs a journal that can be read: whoever removes a damaged session wants to get rid of it.

use std::path::Path;

use crate::projections::audit;
use crate::{SessionRow, Store, StoreError, append_audit};

/// A session that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedSession {
    /// Its last entry in the list.
    pub row: SessionRow,
    /// Why its journal could not be read: then there are no audit lines of its calls.
    pub unread: Option<StoreError>,
}

/// Removes a session and all that were started in it, the parents last; `rows` are the sessions of its owner. The audit
/// lines of their calls are kept in the data folder (T11). Fails with [`StoreError::Busy`], and removes nothing, where a
/// process has one of them open.
pub async fn remove_family(
    store: &dyn Store,
    data: &Path,
    rows: &[SessionRow],
    head: &SessionRow,
) -> Result<Vec<RemovedSession>, StoreError> {
    let family = family(rows, head);
    for row in &family {
        if let Some(holder) = store.holder(row.session).await? {
            let holder =
                holder.process.map_or_else(|| "another process".to_owned(), |process| format!("process {process}"));
            return Err(StoreError::Busy { holder });
        }
    }
    let mut removed = Vec::with_capacity(family.len());
    for row in family {
        let unread = keep_audit(store, data, &row).await?;
        match store.remove(row.session).await {
            Ok(()) => removed.push(RemovedSession { row, unread }),
            // Somebody else removes the family, too.
            Err(StoreError::Missing) if row.session != head.session => {}
            Err(error) => return Err(error),
        }
    }
    Ok(removed)
}

/// Returns a session and those that were started in it, each before its parent.
fn family(rows: &[SessionRow], head: &SessionRow) -> Vec<SessionRow> {
    let mut family = vec![head.clone()];
    let mut known = 0;
    while let Some(parent) = family.get(known).map(|row| row.session) {
        let children = rows.iter().filter(|row| row.parent().is_some_and(|(of, _)| of == parent));
        family.extend(children.cloned());
        known += 1;
    }
    family.reverse();
    family
}

/// Keeps the audit lines of a session's calls. Returns why there are none, if its journal is damaged.
async fn keep_audit(store: &dyn Store, data: &Path, row: &SessionRow) -> Result<Option<StoreError>, StoreError> {
    let records = match store.read(row.session, 0).await {
        Ok(records) => records,
        Err(error @ (StoreError::Damaged { .. } | StoreError::Broken { .. })) => return Ok(Some(error)),
        Err(error) => return Err(error),
    };
    let calls = audit(&records);
    if !calls.is_empty() {
        append_audit(data, &calls)?;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{CallId, RunId, SessionId, SessionOpened, TurnId, child_key};

    use super::remove_family;
    use crate::{Batch, Entry, Head, MemoryStore, Ownership as _, SessionLog as _, StoreError, Writer};

    const DATA: &str = "/nonexistent";

    fn id(n: u128) -> SessionId {
        SessionId(uuid::Uuid::from_u128(n))
    }

    fn child_of(parent: SessionId) -> String {
        child_key(parent, CallId { run: RunId(1), turn: TurnId(1), index: 0 })
    }

    async fn create(store: &MemoryStore, session: SessionId, key: String) {
        let opened = SessionOpened {
            owner: "ada".into(),
            key,
            workspace: None,
            parent: None,
            version: "0.1.0".into(),
            forked_from: Vec::new(),
        };
        let entries = vec![Entry { run: None, turn: None, record: opened.into() }];
        let sealed = Writer::new(session, Head::default(), 1).seal(Batch { entries, ..Batch::default() });
        store.restore(vec![sealed.unwrap()]).await.unwrap();
    }

    // proves S3: a session goes with all that were started in it, and stays with all where one of them is open
    #[tokio::test]
    async fn a_family_is_removed_as_a_whole_or_not_at_all() {
        let store = MemoryStore::new();
        create(&store, id(1), "notes".into()).await;
        create(&store, id(2), child_of(id(1))).await;
        create(&store, id(3), child_of(id(2))).await;
        create(&store, id(4), "other".into()).await;
        let rows = store.sessions("ada").await.unwrap();
        let head = store.row(id(1)).await.unwrap().unwrap();
        let held = store.claim(id(3)).await.unwrap();
        let refused = remove_family(&store, DATA.as_ref(), &rows, &head).await;
        assert!(matches!(refused, Err(StoreError::Busy { .. })), "{refused:?}");
        assert_eq!(store.sessions("ada").await.unwrap().len(), 4);
        drop(held);
        let removed = remove_family(&store, DATA.as_ref(), &rows, &head).await.unwrap();
        let removed: Vec<SessionId> = removed.into_iter().map(|removed| removed.row.session).collect();
        assert_eq!(removed, [id(3), id(2), id(1)]);
        assert_eq!(store.sessions("ada").await.unwrap().len(), 1);
    }
}
