//! Appending and reading.

use std::sync::Arc;

use windlass_vocab::{EndReason, Envelope, Timestamp};

use super::checked::{CheckResult, append, batch, holds, live, open, same, session};
use super::sample;
use crate::projections::project;
use crate::{AppendError, BODY_LIMIT, Batch, Head, SessionStatus, Store, StoreError, Writer, hash_of, verify};

// proves J1, J2
pub(super) async fn a_batch_is_read_back_as_it_was_sealed(store: &Arc<dyn Store>) -> CheckResult {
    let sealed = live(store, 1).await?;
    let written: Vec<Envelope> = sealed.iter().flat_map(|batch| &batch.envelopes).map(|e| (**e).clone()).collect();
    same!(store.read(session(1), 0).await?, written);
    same!(Some(store.head(session(1)).await?), sealed.last().map(|batch| batch.head));
    for (stored, sealed) in store.batches(session(1)).await?.iter().zip(&sealed) {
        same!((stored.seq, stored.head), (sealed.expected.seq + 1, sealed.head));
        same!(stored.bytes, sealed.bytes);
    }
    holds!(written.iter().zip(1..).all(|(envelope, seq)| envelope.seq == seq));
    same!(verify(&**store, session(1)).await?.records, written.len() as u64);
    Ok(())
}

pub(super) async fn reading_goes_on_from_any_record(store: &Arc<dyn Store>) -> CheckResult {
    live(store, 1).await?;
    let all = store.read(session(1), 0).await?;
    for after in 0..=all.len() {
        same!(store.read(session(1), after as u64).await?, all[after..]);
    }
    same!(store.read(session(1), u64::MAX).await?, []);
    Ok(())
}

// proves E1: a reader who holds a page at a time reads the same, and makes headway whatever the page's size
pub(super) async fn reading_in_pages_gives_the_whole_journal(store: &Arc<dyn Store>) -> CheckResult {
    live(store, 1).await?;
    let all = store.read(session(1), 0).await?;
    for most_bytes in [0, 1_000, usize::MAX] {
        let (mut read, mut pages) = (Vec::new(), 0);
        loop {
            let page = store.read_some(session(1), read.len() as u64, most_bytes).await?;
            if page.is_empty() {
                break;
            }
            read.extend(page);
            pages += 1;
        }
        same!(read, all);
        holds!(most_bytes == usize::MAX || pages > 1);
        holds!(most_bytes < usize::MAX || pages == 1);
    }
    same!(store.read_some(session(9), 0, 1_000).await?, []);
    Ok(())
}

pub(super) async fn the_last_records_of_many_sessions_are_read_at_once(store: &Arc<dyn Store>) -> CheckResult {
    let mut first = open(store, 1, "one").await?;
    open(store, 2, "two").await?;
    append(store, &mut first, batch([sample::accepted("m", "hello")])).await?;
    let ends = (store.head(session(1)).await?.seq, store.head(session(2)).await?.seq);
    let asked = vec![session(2), session(9), session(1), session(2)];
    same!(store.last_records(asked).await?, [ends.1, 0, ends.0, ends.1]);
    same!(store.last_records(Vec::new()).await?, Vec::<u64>::new());
    Ok(())
}

pub(super) async fn an_unknown_session_is_empty(store: &Arc<dyn Store>) -> CheckResult {
    same!(store.read(session(9), 0).await?, []);
    same!(store.head(session(9)).await?, Head::default());
    same!(store.row(session(9)).await?, None);
    same!(store.find("ada", "nothing").await?, None);
    same!(store.batches(session(9)).await?, []);
    same!(store.waiting(session(9)).await?, []);
    same!(store.blob(hash_of(b"nothing")).await?, None);
    same!(store.remove(session(9)).await, Err(StoreError::Missing));
    Ok(())
}

pub(super) async fn what_one_handle_stores_the_other_reads(
    one: &Arc<dyn Store>,
    other: &Arc<dyn Store>,
) -> CheckResult {
    let sealed = live(one, 1).await?;
    same!(other.read(session(1), 0).await?, one.read(session(1), 0).await?);
    same!(Some(other.head(session(1)).await?), sealed.last().map(|batch| batch.head));
    same!(other.find("ada", "tidy-notes").await?, Some(session(1)));
    // The two handles take turns: each continues where the other ended.
    let mut writer = Writer::new(session(1), other.head(session(1)).await?, 7);
    for (turn, epoch) in (0..4).zip(3..) {
        append(if turn % 2 == 0 { other } else { one }, &mut writer, batch([sample::lease(epoch)])).await?;
    }
    same!(one.head(session(1)).await?, writer.head);
    verify(&**one, session(1)).await?;
    Ok(())
}

// proves J5
pub(super) async fn a_stale_writer_is_refused(store: &Arc<dyn Store>) -> CheckResult {
    let mut old = open(store, 1, "notes").await?;
    let mut new = Writer::new(session(1), store.head(session(1)).await?, 99);
    append(store, &mut new, batch([sample::lease(2)])).await?;
    for _ in 0..3 {
        let stale = append(store, &mut old, batch([sample::accepted("m", "too late")])).await;
        same!(stale.err(), Some(StoreError::Conflict));
    }
    let fresh = append(store, &mut new, batch([sample::accepted("m", "in time")])).await?;
    same!(fresh.head.epoch, 2);
    same!(store.read(session(1), 0).await?.len(), 4);
    Ok(())
}

// proves J9: a refused batch is not half-written
pub(super) async fn a_refused_batch_leaves_nothing_behind(store: &Arc<dyn Store>) -> CheckResult {
    let mut old = open(store, 1, "notes").await?;
    store.put(session(1), sample::waiting("m1", "hello")).await?;
    let mut new = old.clone();
    append(store, &mut new, batch([sample::lease(2)])).await?;
    let content: Arc<[u8]> = b"content"[..].into();
    let stale = Batch {
        blobs: vec![Arc::clone(&content)],
        takes: vec!["m1".into()],
        ..batch([sample::accepted("m1", "hello"), sample::run_started(1)])
    };
    let before = store.row(session(1)).await?;
    same!(append(store, &mut old, stale).await.err(), Some(StoreError::Conflict));
    same!(store.row(session(1)).await?, before);
    same!(store.waiting(session(1)).await?.len(), 1);
    same!(store.blob(hash_of(&content)).await?, None);
    Ok(())
}

// An unknown outcome is settled by appending the same batch again.
pub(super) async fn the_same_batch_again_is_no_conflict(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    let first = append(store, &mut writer, batch([sample::accepted("m1", "one")])).await?;
    store.append(first.clone()).await?;
    append(store, &mut writer, batch([sample::accepted("m2", "two")])).await?;
    store.append(first).await?;
    same!(store.read(session(1), 0).await?.len(), 4);
    Ok(())
}

pub(super) async fn a_conflict_harms_nobody_else(store: &Arc<dyn Store>) -> CheckResult {
    let mut writers = Vec::new();
    for n in 0..24 {
        let writer = open(store, n, &format!("s{n}")).await?;
        if n % 3 == 0 {
            append(store, &mut writer.clone(), batch([sample::lease(2)])).await?;
        }
        writers.push((n, writer));
    }
    let mut appends = Vec::new();
    for (n, mut writer) in writers {
        let key = if n % 3 == 1 { "s0".to_owned() } else { format!("t{n}") };
        let sealed = writer.seal(batch([change_key(&key)]))?;
        let store = Arc::clone(store);
        appends.push((n, tokio::spawn(async move { store.append(sealed).await })));
    }
    for (n, append) in appends {
        let expected = match n % 3 {
            0 => Err(AppendError::Conflict),
            1 => Err(AppendError::Refused(StoreError::KeyTaken { key: "s0".into() })),
            _ => Ok(()),
        };
        same!((n, append.await?), (n, expected));
        verify(&**store, session(n)).await?;
    }
    Ok(())
}

fn change_key(key: &str) -> windlass_vocab::Record {
    windlass_vocab::SessionChanged { key: Some(key.into()), ..Default::default() }.into()
}

pub(super) async fn a_long_body_leaves_its_line_unseen(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    let frame = r#"{"message_id":"m32768","text":""}"#.len();
    let lengths = [BODY_LIMIT - 400, BODY_LIMIT - frame, BODY_LIMIT - frame + 1, BODY_LIMIT + 1];
    let texts = lengths.map(|length| "x".repeat(length));
    for text in texts.into_iter().chain(["\"é\n".repeat(BODY_LIMIT)]) {
        let length = text.len();
        let records = [sample::lease(1), sample::accepted(&format!("m{length}"), &text), sample::lease(1)];
        let sealed = append(store, &mut writer, batch(records)).await?;
        holds!(sealed.bytes.len() < 2 * BODY_LIMIT);
        let read = store.read(session(1), sealed.expected.seq).await?;
        holds!(read.iter().zip(&sealed.envelopes).all(|(read, written)| read == &**written));
        same!(read.len(), 3);
    }
    verify(&**store, session(1)).await?;
    Ok(())
}

pub(super) async fn contents_are_stored_with_their_batch(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    let contents: Vec<Arc<[u8]>> = vec![b"".as_slice().into(), vec![0xff; 40].into(), vec![7; 9 * 1024 * 1024].into()];
    for _ in 0..2 {
        append(store, &mut writer, Batch { blobs: contents.clone(), ..batch([sample::lease(1)]) }).await?;
    }
    for content in contents {
        holds!(store.blob(hash_of(&content)).await? == Some(content));
    }
    verify(&**store, session(1)).await?;
    Ok(())
}

// proves J7
pub(super) async fn a_record_of_unknown_kind_survives(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    append(store, &mut writer, batch([sample::unknown()])).await?;
    let last = store.read(session(1), 2).await?;
    same!(last.first().map(|envelope| &envelope.record), Some(&sample::unknown()));
    Ok(())
}

pub(super) async fn a_key_belongs_to_one_session_of_its_owner(store: &Arc<dyn Store>) -> CheckResult {
    open(store, 1, "notes").await?;
    same!(open(store, 2, "notes").await.err(), Some(StoreError::KeyTaken { key: "notes".into() }));
    same!(store.read(session(2), 0).await?, []);
    let mut other = Writer::new(session(3), Head::default(), 3);
    append(store, &mut other, batch([sample::opened("bob", "notes")])).await?;
    same!(store.find("ada", "notes").await?, Some(session(1)));
    same!(store.find("bob", "notes").await?, Some(session(3)));
    Ok(())
}

pub(super) async fn a_session_can_change_its_key(store: &Arc<dyn Store>) -> CheckResult {
    let mut first = open(store, 1, "one").await?;
    open(store, 2, "two").await?;
    let refused = append(store, &mut first.clone(), batch([change_key("two")])).await;
    same!(refused.err(), Some(StoreError::KeyTaken { key: "two".into() }));
    append(store, &mut first, batch([change_key("three")])).await?;
    same!(store.find("ada", "one").await?, None);
    same!(store.find("ada", "three").await?, Some(session(1)));
    open(store, 3, "one").await?;
    same!(store.find("ada", "one").await?, Some(session(3)));
    Ok(())
}

// proves L4, J1
pub(super) async fn rows_are_a_fold_of_the_journal(store: &Arc<dyn Store>) -> CheckResult {
    use SessionStatus::{Failed, Idle, Processing, ToolLoop, Waiting};
    let mut writer = open(store, 1, "notes").await?;
    let steps = [
        (sample::accepted("m1", &"long ".repeat(100)), Idle),
        (sample::run_started(1), Processing),
        (sample::question_asked(1), Waiting),
        (sample::question_answered(1), Processing),
        (sample::call_requested(session(1), 0), ToolLoop),
        (sample::question_asked(2), Waiting),
        (sample::question_asked(3), Waiting),
        (sample::call_requested(session(1), 1), Waiting),
        (sample::question_answered(3), Waiting),
        (sample::question_answered(2), ToolLoop),
        (sample::run_ended(EndReason::Failed), Failed),
        (sample::question_answered(2), Failed),
        (sample::run_started(2), Processing),
        (sample::run_ended(EndReason::TurnCap), Failed),
    ];
    for ((record, status), at) in steps.into_iter().zip(1_001..) {
        append(store, &mut writer, Batch { at: Timestamp(at), ..batch([record.clone()]) }).await?;
        let row = store.row(session(1)).await?;
        let read = store.read(session(1), 0).await?;
        same!(row, project(None, &read).map(|fold| fold.row));
        same!((row.map(|row| row.status), record.kind()), (Some(status), record.kind()));
    }
    let row = store.row(session(1)).await?.ok_or("no row")?;
    same!((row.runs, row.created, row.updated), (2, Timestamp(1_000), Timestamp(1_014)));
    same!(row.last_prompt.map(|prompt| prompt.len()), Some(200));
    Ok(())
}

pub(super) async fn the_session_that_changed_last_comes_first(store: &Arc<dyn Store>) -> CheckResult {
    let mut first = open(store, 1, "one").await?;
    open(store, 2, "two").await?;
    let listed = |rows: Vec<crate::SessionRow>| rows.into_iter().map(|row| row.key).collect::<Vec<_>>();
    same!(listed(store.sessions("ada").await?), ["two", "one"]);
    append(store, &mut first, Batch { at: Timestamp(2_000), ..batch([sample::accepted("m", "hello")]) }).await?;
    same!(listed(store.sessions("ada").await?), ["one", "two"]);
    same!(store.sessions("bob").await?, []);
    Ok(())
}
