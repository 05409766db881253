//! Claiming and removing sessions.

use std::sync::Arc;

use super::checked::{CheckResult, append, batch, holds, live, open, same, session};
use super::sample;
use crate::{BODY_LIMIT, Batch, Head, PutOutcome, SessionHolder, Store, StoreError, Writer, hash_of};

// proves J5
pub(super) async fn a_session_has_one_owner(store: &Arc<dyn Store>) -> CheckResult {
    let lease = store.claim(session(1)).await?;
    same!(lease.session(), session(1));
    same!((store.is_claimed(session(1)).await?, store.is_claimed(session(2)).await?), (true, false));
    holds!(matches!(store.claim(session(1)).await, Err(StoreError::Busy { .. })));
    let other = store.claim(session(2)).await?;
    drop(lease);
    let again = store.claim(session(1)).await?;
    holds!(matches!(store.claim(session(2)).await, Err(StoreError::Busy { .. })));
    drop((again, other));
    same!((store.is_claimed(session(1)).await?, store.is_claimed(session(2)).await?), (false, false));
    Ok(())
}

// proves J5
pub(super) async fn a_session_has_one_owner_among_all_handles(
    one: &Arc<dyn Store>,
    other: &Arc<dyn Store>,
) -> CheckResult {
    let lease = one.claim(session(1)).await?;
    holds!(matches!(other.claim(session(1)).await, Err(StoreError::Busy { .. })));
    holds!(other.is_claimed(session(1)).await?);
    // Both handles are of this process here; `processes.rs` asks for the holder from another one.
    same!(other.holder(session(1)).await?, Some(SessionHolder { process: Some(std::process::id()) }));
    drop(lease);
    same!(other.holder(session(1)).await?, None);
    let lease = other.claim(session(1)).await?;
    holds!(matches!(one.claim(session(1)).await, Err(StoreError::Busy { .. })));
    holds!(!lease.is_lost());
    Ok(())
}

// proves J5: the journal fences out the old writer, whatever happened to the lock
pub(super) async fn a_lease_that_was_taken_over_is_lost_and_says_so(
    one: &Arc<dyn Store>,
    other: &Arc<dyn Store>,
) -> CheckResult {
    let mut old = open(one, 1, "notes").await?;
    let lease = one.claim(session(1)).await?;
    same!((lease.head(), lease.epoch()), (old.head, 2));
    append(one, &mut old, batch([sample::lease(lease.epoch())])).await?;
    let mut new = Writer::new(session(1), other.head(session(1)).await?, 99);
    append(other, &mut new, batch([sample::lease(lease.epoch() + 1)])).await?;
    same!(append(one, &mut old, batch([sample::lease(2)])).await.err(), Some(StoreError::Conflict));
    holds!(lease.is_lost());
    lease.lost().await;
    drop(lease);
    let again = one.claim(session(1)).await?;
    same!((again.is_lost(), again.head(), again.epoch()), (false, new.head, 4));
    Ok(())
}

pub(super) async fn a_removed_session_leaves_nothing(store: &Arc<dyn Store>) -> CheckResult {
    live(store, 1).await?;
    let lease = store.claim(session(1)).await?;
    holds!(matches!(store.remove(session(1)).await, Err(StoreError::Busy { .. })));
    drop(lease);
    store.put(session(1), sample::waiting("m9", "hello")).await?;
    store.remove(session(1)).await?;
    same!(store.head(session(1)).await?, Head::default());
    same!(store.read(session(1), 0).await?, []);
    same!(store.find("ada", "tidy-notes").await?, None);
    same!(store.waiting(session(1)).await?, []);
    same!(store.remove(session(1)).await, Err(StoreError::Missing));
    same!(store.put(session(1), sample::waiting("m1", "new life")).await?, PutOutcome::Added);
    live(store, 1).await?;
    store.claim(session(1)).await?;
    Ok(())
}

pub(super) async fn contents_stay_while_another_session_has_them(store: &Arc<dyn Store>) -> CheckResult {
    let small: Arc<[u8]> = b"small"[..].into();
    let large: Arc<[u8]> = vec![1; 9 * 1024 * 1024].into();
    let lonely: Arc<[u8]> = b"lonely"[..].into();
    let body = "x".repeat(BODY_LIMIT);
    for n in [1, 2] {
        let mut writer = open(store, n, &format!("s{n}")).await?;
        let mut blobs = vec![Arc::clone(&small), Arc::clone(&large)];
        blobs.extend((n == 1).then(|| Arc::clone(&lonely)));
        append(store, &mut writer, Batch { blobs, ..batch([sample::accepted("m1", &body)]) }).await?;
    }
    store.remove(session(1)).await?;
    same!(store.blob(hash_of(&lonely)).await?, None);
    holds!(store.blob(hash_of(&small)).await?.is_some());
    holds!(store.blob(hash_of(&large)).await? == Some(Arc::clone(&large)));
    same!(store.read(session(2), 0).await?.len(), 3);
    store.remove(session(2)).await?;
    same!(store.blob(hash_of(&small)).await?, None);
    holds!(store.blob(hash_of(&large)).await?.is_none());
    Ok(())
}
