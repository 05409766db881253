//! Forking.

use std::sync::Arc;

use windlass_vocab::{Envelope, Origin, Record, SessionChanged, SessionId, Timestamp};

use super::checked::{CheckResult, append, batch, holds, live, open, same, session};
use super::sample;
use crate::{BODY_LIMIT, Batch, Fork, ForkError, ForkTarget, Head, PutOutcome, Store, StoreError, hash_of, verify};

/// A time after all times in the samples.
const LATER: Timestamp = Timestamp(1_894_711_599_999);

fn branch(n: u8, key: &str) -> ForkTarget {
    ForkTarget { session: session(n), key: key.into(), version: "9.9.9".into(), at: LATER, nonce: u64::from(n) }
}

async fn forked(
    store: &Arc<dyn Store>,
    origin: SessionId,
    through: Option<u64>,
    branch: ForkTarget,
) -> Result<Vec<Envelope>, ForkError> {
    let session = branch.session;
    Fork::begin(&**store, origin, through, branch).await?.finish(&**store).await?;
    Ok(store.read(session, 0).await?)
}

/// The fields that must be equal in origin and fork.
fn comparable(envelope: &Envelope) -> (u64, windlass_vocab::BatchPosition, Option<windlass_vocab::RunId>, &Record) {
    (envelope.seq, envelope.batch, envelope.run, &envelope.record)
}

// proves J8, J11
pub(super) async fn a_fork_at_any_batch_is_a_journal_of_its_own(store: &Arc<dyn Store>) -> CheckResult {
    let mut sealed = live(store, 1).await?;
    // The last batch of the sample holds a record of a newer version.
    sealed.retain(|batch| !batch.envelopes.iter().any(|e| matches!(e.record, Record::Unknown(_))));
    let all = store.read(session(1), 0).await?;
    let before = store.batches(session(1)).await?;
    for (n, batch) in (2u8..).zip(&sealed) {
        let last = batch.head.seq;
        let records = forked(store, session(1), Some(last), branch(n, &format!("fork-{n}"))).await?;
        same!(records.len() as u64, last);
        holds!(records.iter().all(|envelope| envelope.session == session(n)));
        for (taken, written) in records.iter().zip(&all).skip(2) {
            let changes_key = matches!(&written.record, Record::SessionChanged(changed) if changed.key.is_some());
            holds!(changes_key || comparable(taken) == comparable(written));
            same!(taken.at, written.at);
        }
        same!(verify(&**store, session(n)).await?.records, last);
        let row = store.row(session(n)).await?.ok_or("no row")?;
        same!((row.key, row.created, row.updated), (format!("fork-{n}"), LATER, LATER));
        same!(store.head(session(n)).await?.epoch, batch.head.epoch);
    }
    same!(store.batches(session(1)).await?, before);
    Ok(())
}

// proves J8, J2: a batch is never split
pub(super) async fn a_fork_in_the_middle_of_a_batch_takes_all_of_it(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    for n in 0..2 {
        append(store, &mut writer, batch([sample::accepted(&format!("m{n}"), "hello"), sample::lease(1)])).await?;
    }
    for (n, (through, last)) in (2u8..).zip([(Some(1), 2), (Some(2), 2), (Some(3), 4), (Some(6), 6), (None, 6)]) {
        same!(forked(store, session(1), through, branch(n, &format!("f{n}"))).await?.len(), last);
    }
    Ok(())
}

pub(super) async fn a_fork_where_there_is_no_record_is_refused(store: &Arc<dyn Store>) -> CheckResult {
    open(store, 1, "notes").await?;
    for at in [0, 3, u64::MAX] {
        let refused = forked(store, session(1), Some(at), branch(2, "fork")).await;
        same!(refused, Err(ForkError::NoRecord { at, last: 2 }));
    }
    let nothing = forked(store, session(9), None, branch(2, "fork")).await;
    same!(nothing, Err(ForkError::Store(StoreError::Missing)));
    same!(store.head(session(2)).await?, Head::default());
    Ok(())
}

pub(super) async fn a_fork_keeps_to_its_own_key(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "one").await?;
    let change = SessionChanged { title: Some("Notes".into()), key: Some("two".into()), ..SessionChanged::default() };
    append(store, &mut writer, batch([change.into()])).await?;
    let taken = forked(store, session(1), None, branch(2, "two")).await;
    same!(taken, Err(ForkError::Store(StoreError::KeyTaken { key: "two".into() })));
    same!(store.head(session(2)).await?, Head::default());
    forked(store, session(1), None, branch(2, "three")).await?;
    same!(store.find("ada", "two").await?, Some(session(1)));
    same!(store.find("ada", "three").await?, Some(session(2)));
    same!(store.row(session(2)).await?.and_then(|row| row.title), Some("Notes".to_owned()));
    let again = forked(store, session(1), None, branch(2, "four")).await;
    same!(again, Err(ForkError::Store(StoreError::Exists { session: session(2) })));
    Ok(())
}

// proves J8: a fork of a fork must know which session wrote which records
pub(super) async fn a_fork_names_all_it_came_from(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    for n in 0..4 {
        append(store, &mut writer, batch([sample::accepted(&format!("m{n}"), "hello")])).await?;
    }
    let origin = |n, seq| Origin { session: session(n), seq };
    let steps = [
        (1, Some(5), vec![origin(1, 5)]),
        (2, None, vec![origin(1, 5), origin(2, 5)]),
        (3, Some(3), vec![origin(1, 3), origin(2, 3), origin(3, 3)]),
    ];
    for (of, through, expected) in steps {
        let records = forked(store, session(of), through, branch(of + 1, &format!("f{of}"))).await?;
        let Some(Record::SessionOpened(opened)) = records.first().map(|first| &first.record) else {
            return Err("a fork opens its session".into());
        };
        same!(opened.forked_from, expected);
        same!((opened.owner.as_str(), opened.version.as_str()), ("ada", "9.9.9"));
    }
    Ok(())
}

// proves J8
pub(super) async fn contents_are_shared_and_stay_while_one_has_them(store: &Arc<dyn Store>) -> CheckResult {
    let contents: [Arc<[u8]>; 2] = [b"small"[..].into(), vec![1; 9 * 1024 * 1024].into()];
    let body = "x".repeat(BODY_LIMIT);
    for gone in [1, 2] {
        let mut writer = open(store, 1, "notes").await?;
        let with = Batch { blobs: contents.to_vec(), ..batch([sample::accepted("m1", &body)]) };
        append(store, &mut writer, with).await?;
        let told = forked(store, session(1), None, branch(2, "fork")).await?;
        let batches = store.batches(session(2)).await?;
        same!(batches.iter().map(|batch| batch.blobs.len()).collect::<Vec<_>>(), [0, 3]);
        store.remove(session(gone)).await?;
        let left = session(3 - gone);
        verify(&**store, left).await?;
        for content in &contents {
            holds!(store.blob(hash_of(content)).await?.as_ref() == Some(content));
        }
        let read = store.read(left, 2).await?;
        same!(read.first().map(|e| &e.record), told.last().map(|e| &e.record));
        store.remove(left).await?;
        for content in &contents {
            holds!(store.blob(hash_of(content)).await?.is_none());
        }
    }
    Ok(())
}

// proves J6: messages accepted in the origin count as accepted in the fork; waiting ones stay with the origin
pub(super) async fn what_waits_is_not_taken_over(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    append(store, &mut writer, batch([sample::accepted("m1", "hello")])).await?;
    store.put(session(1), sample::waiting("m2", "later")).await?;
    forked(store, session(1), None, branch(2, "fork")).await?;
    same!(store.waiting(session(2)).await?, []);
    same!(store.put(session(2), sample::waiting("m1", "hello")).await?, PutOutcome::AlreadyThere);
    same!(store.put(session(2), sample::waiting("m2", "later")).await?, PutOutcome::Added);
    same!(store.waiting(session(1)).await?.len(), 1);
    Ok(())
}

// proves J7
pub(super) async fn a_record_of_a_newer_version_is_not_taken_over(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    append(store, &mut writer, batch([sample::lease(1), sample::unknown()])).await?;
    let kind = sample::unknown().kind().to_owned();
    let refused = forked(store, session(1), None, branch(2, "fork")).await;
    same!(refused, Err(ForkError::Newer { seq: 4, kind, before: 2 }));
    same!(forked(store, session(1), Some(2), branch(2, "fork")).await?.len(), 2);
    Ok(())
}
