//! Export and import.

use std::sync::Arc;

use windlass_vocab::{ImportDetails, SessionChanged, SessionId};

use super::checked::{CheckResult, append, batch, holds, live, open, same, session};
use super::sample;
use crate::{
    AppendError, BODY_LIMIT, Batch, ExportError, Head, Import, ImportError, Store, StoreError, export, verify,
};

async fn exported(store: &Arc<dyn Store>, session: SessionId) -> Result<Vec<u8>, ExportError> {
    let mut out = Vec::new();
    export(&**store, session, &mut out).await?;
    Ok(out)
}

async fn import(store: &dyn Store, file: &[u8]) -> Result<SessionId, ImportError> {
    Import::read(&mut { file }, 9)?.finish(store).await
}

/// A batch that gives a session another key.
fn renamed(key: &str) -> Batch {
    batch([SessionChanged { key: Some(key.into()), ..SessionChanged::default() }.into()])
}

/// A batch that gives a session another owner, as an import does.
fn owned_by(owner: &str) -> Batch {
    let imported = Some(ImportDetails { workspace: None, owner: Some(owner.into()) });
    batch([SessionChanged { imported, ..SessionChanged::default() }.into()])
}

// proves J8
pub(super) async fn a_journal_moves_byte_for_byte(from: &Arc<dyn Store>, to: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(from, 1, "moved").await?;
    let binary: Arc<[u8]> = vec![0xff, 0x00, 0x80].into();
    let text: Arc<[u8]> = "über\n".as_bytes().into();
    for n in 0..2 {
        let long = sample::accepted(&format!("m{n}"), &"é\"\n".repeat(BODY_LIMIT));
        let blobs = vec![Arc::clone(&binary), Arc::clone(&text)];
        append(from, &mut writer, Batch { blobs, ..batch([sample::lease(1), long]) }).await?;
    }
    live(from, 2).await?;
    for n in [1, 2] {
        let file = exported(from, session(n)).await?;
        same!(import(&**to, &file).await?, session(n));
        holds!(exported(to, session(n)).await? == file);
        same!(to.batches(session(n)).await?, from.batches(session(n)).await?);
        same!(to.read(session(n), 0).await?, from.read(session(n), 0).await?);
        same!(to.row(session(n)).await?, from.row(session(n)).await?);
        same!(verify(&**to, session(n)).await?, verify(&**from, session(n)).await?);
    }
    same!(to.put(session(2), sample::waiting("m1", "again")).await?, crate::PutOutcome::AlreadyThere);
    Ok(())
}

pub(super) async fn a_session_is_not_brought_in_twice(store: &Arc<dyn Store>) -> CheckResult {
    live(store, 1).await?;
    let file = exported(store, session(1)).await?;
    let again = import(&**store, &file).await;
    holds!(matches!(again, Err(ImportError::Store(StoreError::Exists { session: s })) if s == session(1)));
    Ok(())
}

pub(super) async fn a_taken_key_is_refused_or_replaced(from: &Arc<dyn Store>, to: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(from, 1, "tidy-notes").await?;
    append(from, &mut writer, batch([sample::accepted("m1", "hello")])).await?;
    open(to, 2, "tidy-notes").await?;
    let file = exported(from, session(1)).await?;
    let refused = import(&**to, &file).await;
    holds!(matches!(refused, Err(ImportError::Store(StoreError::KeyTaken { .. }))));
    same!(to.head(session(1)).await?, Head::default());
    let mut import = Import::read(&mut file.as_slice(), 9)?;
    import.add(renamed("mine"))?;
    import.finish(&**to).await?;
    same!(to.find("ada", "mine").await?, Some(session(1)));
    let (old, new) = (from.batches(session(1)).await?, to.batches(session(1)).await?);
    same!(new[..old.len()], old);
    verify(&**to, session(1)).await?;
    Ok(())
}

// proves X6: the importer becomes the owner, at once and by a later record, and its key is checked among their sessions
pub(super) async fn an_imported_journal_belongs_to_its_importer(
    from: &Arc<dyn Store>,
    to: &Arc<dyn Store>,
) -> CheckResult {
    open(from, 1, "notes").await?;
    let file = exported(from, session(1)).await?;
    let mut import = Import::read(&mut file.as_slice(), 9)?;
    import.add(owned_by("eve"))?;
    import.finish(&**to).await?;
    same!(to.find("eve", "notes").await?, Some(session(1)));
    same!(to.find("ada", "notes").await?, None);
    same!(to.row(session(1)).await?.map(|row| row.owner), Some("eve".to_owned()));
    same!(to.sessions("ada").await?, []);
    verify(&**to, session(1)).await?;
    let mut writer = open(to, 2, "notes").await?;
    let sealed = writer.seal(owned_by("eve"))?;
    same!(to.append(sealed).await, Err(AppendError::Refused(StoreError::KeyTaken { key: "notes".into() })));
    let mut writer = open(from, 2, "more").await?;
    append(from, &mut writer, owned_by("eve")).await?;
    same!(from.find("eve", "more").await?, Some(session(2)));
    same!(from.find("ada", "more").await?, None);
    Ok(())
}

pub(super) async fn a_restored_journal_is_all_or_nothing(from: &Arc<dyn Store>, to: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(from, 1, "notes").await?;
    let content: Arc<[u8]> = b"content"[..].into();
    let sealed = writer.seal(Batch { blobs: vec![Arc::clone(&content)], ..batch([sample::accepted("m1", "one")]) })?;
    let mut first = crate::Writer::new(session(1), Head::default(), 5);
    let opened = first.seal(batch([sample::opened("ada", "taken")]))?;
    open(to, 2, "taken").await?;
    let refused = to.restore(vec![opened, sealed]).await;
    same!(refused, Err(AppendError::Refused(StoreError::KeyTaken { key: "taken".into() })));
    same!(to.head(session(1)).await?, Head::default());
    same!(to.row(session(1)).await?, None);
    same!(to.blob(crate::hash_of(&content)).await?, None);
    same!(to.put(session(1), sample::waiting("m1", "one")).await?, crate::PutOutcome::Added);
    Ok(())
}

// proves J2, J6: a session that is stored with its first message continues like any other
pub(super) async fn a_journal_goes_on_from_where_it_was_restored(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = crate::Writer::new(session(1), Head::default(), 5);
    let opened = writer.seal(batch([sample::opened("ada", "notes"), sample::lease(1)]))?;
    let said = writer.seal(batch([sample::accepted("m1", "one")]))?;
    let stored = [opened.clone(), said.clone()];
    store.restore(stored.to_vec()).await?;
    same!(store.head(session(1)).await?, writer.head);
    let again = store.restore(stored.to_vec()).await;
    same!(again, Err(AppendError::Refused(StoreError::Exists { session: session(1) })));
    same!(store.head(session(1)).await?, writer.head);
    same!(store.put(session(1), sample::waiting("m1", "one")).await?, crate::PutOutcome::AlreadyThere);
    append(store, &mut writer, batch([sample::accepted("m2", "two")])).await?;
    same!(store.head(session(1)).await?, writer.head);
    same!(store.batches(session(1)).await?.len(), 3);
    verify(&**store, session(1)).await?;
    Ok(())
}

// proves J7: nothing is written after a record of an unknown kind
pub(super) async fn a_journal_of_a_newer_version_is_not_added_to(
    from: &Arc<dyn Store>,
    to: &Arc<dyn Store>,
) -> CheckResult {
    let mut writer = open(from, 1, "notes").await?;
    append(from, &mut writer, batch([sample::unknown()])).await?;
    let file = exported(from, session(1)).await?;
    let added = Import::read(&mut file.as_slice(), 9)?.add(renamed("mine"));
    holds!(matches!(added, Err(ImportError::Newer { kind }) if kind == sample::unknown().kind()));
    same!(to.head(session(1)).await?, Head::default());
    Ok(())
}

// proves J10, X6: what follows an imported record has a number that fits
pub(super) async fn a_number_that_no_journal_reaches_is_refused(
    from: &Arc<dyn Store>,
    to: &Arc<dyn Store>,
) -> CheckResult {
    for (n, record) in [(1, sample::lease((1 << 53) + 1)), (2, sample::run_started(u32::MAX))] {
        let mut writer = open(from, n, &format!("notes-{n}")).await?;
        append(from, &mut writer, batch([record])).await?;
        let file = exported(from, session(n)).await?;
        holds!(matches!(import(&**to, &file).await, Err(ImportError::Line { .. })));
        same!(to.head(session(n)).await?, Head::default());
    }
    Ok(())
}
