//! Reading a journal from its end.

use std::sync::Arc;

use windlass_vocab::{Envelope, Record};

use super::checked::{CheckResult, append, batch, live, open, same, session};
use super::sample;
use crate::{BODY_LIMIT, ReverseRecords, Store};

pub(super) async fn a_journal_is_read_from_its_end_in_whole_batches(store: &Arc<dyn Store>) -> CheckResult {
    let sealed = live(store, 1).await?;
    let all = store.read(session(1), 0).await?;
    let ends: Vec<u64> = sealed.iter().map(|batch| batch.head.seq).collect();
    for most in [0, 1, 3, u32::MAX] {
        for before in (0..=all.len() as u64 + 1).chain([u64::MAX]) {
            let whole = ends.iter().filter(|end| **end < before).count();
            let first = whole.saturating_sub(usize::try_from(most)?);
            let skipped = if first == 0 { 0 } else { ends[first - 1] };
            let last = if whole == 0 { 0 } else { ends[whole - 1] };
            let expected: Vec<Envelope> = all.iter().filter(|e| e.seq > skipped && e.seq <= last).cloned().collect();
            same!(store.read_before(session(1), before, most).await?, expected);
        }
    }
    same!(store.read_before(session(9), u64::MAX, 5).await?, []);
    Ok(())
}

pub(super) async fn every_record_is_met_once_from_the_end(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    for n in 0..100 {
        let text = if n == 50 { "x".repeat(BODY_LIMIT + 1) } else { n.to_string() };
        append(store, &mut writer, batch([sample::lease(1), sample::accepted(&format!("m{n}"), &text)])).await?;
    }
    let mut all = store.read(session(1), 0).await?;
    all.reverse();
    let mut met = Vec::new();
    let mut records = ReverseRecords::new(&**store, session(1));
    while let Some(envelope) = records.next().await? {
        met.push(envelope);
    }
    same!(met, all);
    same!(records.next().await?, None);
    let newest = ReverseRecords::new(&**store, session(1)).find_map(|envelope| match envelope.record {
        Record::MessageAccepted(accepted) => Some(accepted.text),
        _ => None,
    });
    same!(newest.await?, Some("99".to_owned()));
    same!(ReverseRecords::new(&**store, session(9)).next().await?, None);
    Ok(())
}
