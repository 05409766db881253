//! Settles writes of unknown outcome by writing the same again: the store reports a batch that it already has.

use crate::{AppendError, BoxFuture, Head, SealedBatch, Store, StoreError};

/// How many times a write is tried before the store counts as unavailable.
pub const TRIES: u32 = 5;

/// Restores a journal, and retries while the outcome is unknown, with a `pause` before each retry.
pub async fn restore_for_certain(
    store: &dyn Store,
    batches: Vec<SealedBatch>,
    pause: impl Fn(u32) -> BoxFuture<'static, ()> + Send,
) -> Result<(), StoreError> {
    let head = batches.last().map_or(Head::default(), |last| last.head);
    let mut tried = 0;
    loop {
        match store.restore(batches.clone()).await {
            Err(AppendError::Unknown { .. }) if tried + 1 < TRIES => {}
            // The previous try stored it.
            Err(AppendError::Refused(StoreError::Exists { session }))
                if tried > 0 && store.head(session).await? == head =>
            {
                return Ok(());
            }
            restored => return Ok(restored?),
        }
        tried += 1;
        pause(tried).await;
    }
}

/// Appends a batch again until it is known whether it is stored, with a `pause` before each try. For a batch whose
/// first try returned [`AppendError::Unknown`].
pub async fn append_again(
    store: &dyn Store,
    sealed: SealedBatch,
    pause: impl Fn(u32) -> BoxFuture<'static, ()> + Send,
) -> Result<(), StoreError> {
    let mut tried = 1;
    loop {
        pause(tried).await;
        match store.append(sealed.clone()).await {
            Err(AppendError::Unknown { .. }) if tried + 1 < TRIES => tried += 1,
            appended => return Ok(appended?),
        }
    }
}

/// A `pause` that does not wait.
pub(crate) fn at_once(_tried: u32) -> BoxFuture<'static, ()> {
    Box::pin(std::future::ready(()))
}
