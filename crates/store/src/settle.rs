//! Writes whose outcome was not known, settled by writing the same again: what is stored already answers so.

use crate::{AppendError, BoxFuture, Head, SealedBatch, Store, StoreError};

/// How often something is written again before the store counts as out of reach.
pub const TRIES: u32 = 5;

/// Restores a journal; where the outcome is not known, again, with a `pause` before each try but the first.
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
            // It was stored by the try before.
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

/// Appends the same batch again until it is known to be stored or not, with a `pause` before each try. For one whose
/// first try answered [`AppendError::Unknown`].
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

/// No pause.
pub(crate) fn at_once(_tried: u32) -> BoxFuture<'static, ()> {
    Box::pin(std::future::ready(()))
}
