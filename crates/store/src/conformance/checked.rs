//! Helpers shared by the conformance checks.

use std::error::Error;
use std::sync::Arc;

use windlass_vocab::{Record, SessionId, Timestamp};

use super::sample;
use crate::{Batch, Entry, Head, SealedBatch, Store, StoreError, Writer};

/// The result of a check.
pub(super) type CheckResult = Result<(), Box<dyn Error + Send + Sync>>;

/// Fails the check unless both are equal.
macro_rules! same {
    ($left:expr, $right:expr) => {{
        let (left, right) = (&$left, &$right);
        if left != right {
            return Err(format!("{} is {left:?}, not {right:?}", stringify!($left)).into());
        }
    }};
}

/// Fails the check unless the condition holds.
macro_rules! holds {
    ($condition:expr) => {
        if !$condition {
            return Err(concat!("not so: ", stringify!($condition)).into());
        }
    };
}

pub(super) use {holds, same};

/// The n-th session of a check.
pub(super) fn session(n: u8) -> SessionId {
    let mut bytes = [0x01, 0x98, 0xf3, 0xa0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0];
    bytes[15] = n;
    SessionId(uuid::Uuid::from_bytes(bytes))
}

/// A batch of records that belong to no run.
pub(super) fn batch(records: impl IntoIterator<Item = Record>) -> Batch {
    Batch { at: Timestamp(1_000), entries: records.into_iter().map(Entry::new).collect(), ..Batch::default() }
}

/// Appends a batch and returns it sealed.
pub(super) async fn append(
    store: &Arc<dyn Store>,
    writer: &mut Writer,
    batch: Batch,
) -> Result<SealedBatch, StoreError> {
    let sealed = writer.seal(batch)?;
    store.append(sealed.clone()).await?;
    Ok(sealed)
}

/// Opens a session of `ada` under `key`.
pub(super) async fn open(store: &Arc<dyn Store>, n: u8, key: &str) -> Result<Writer, StoreError> {
    let mut writer = Writer::new(session(n), Head::default(), u64::from(n));
    append(store, &mut writer, batch([sample::opened("ada", key), sample::lease(1)])).await?;
    Ok(writer)
}

/// Opens a session with a record of every kind, under the key `tidy-notes`.
pub(super) async fn live(store: &Arc<dyn Store>, n: u8) -> Result<Vec<SealedBatch>, StoreError> {
    let mut writer = Writer::new(session(n), Head::default(), u64::from(n));
    let mut sealed = Vec::new();
    for batch in sample::every_kind(session(n)) {
        sealed.push(append(store, &mut writer, batch).await?);
    }
    Ok(sealed)
}
