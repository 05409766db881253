//! Pinned and archived sessions, and the list in pages.

use std::num::NonZeroU32;
use std::sync::Arc;

use windlass_vocab::{ImportDetails, Record, SessionChanged, SessionEdit, Timestamp, child_key};

use super::checked::{CheckResult, append, batch, holds, open, same, session};
use super::sample;
use crate::projections::project;
use crate::{
    ArchivedFilter, Batch, ChildFilter, Fork, ForkTarget, Head, SessionCursor, SessionQuery, Store, StoreError, Writer,
};

fn edited(edit: SessionEdit) -> Record {
    SessionChanged::from(edit).into()
}

/// Appends records at this time.
async fn at(
    store: &Arc<dyn Store>,
    writer: &mut Writer,
    time: i64,
    records: impl IntoIterator<Item = Record>,
) -> Result<(), StoreError> {
    append(store, writer, Batch { at: Timestamp(time), ..batch(records) }).await.map(drop)
}

// proves J1, L4: pinned and archived are folds of the journal, and a message takes a session out of the archive
pub(super) async fn a_session_is_pinned_and_archived_by_its_records(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    let steps = [
        (edited(SessionEdit::Pin), (true, None, 1_000)),
        (edited(SessionEdit::Archive), (true, Some(2_001), 1_000)),
        (edited(SessionEdit::Archive), (true, Some(2_001), 1_000)),
        (edited(SessionEdit::Unpin), (false, Some(2_001), 1_000)),
        (edited(SessionEdit::Title("Notes".into())), (false, Some(2_001), 2_004)),
        (sample::accepted("m1", "hello"), (false, None, 2_005)),
        (edited(SessionEdit::Archive), (false, Some(2_006), 2_005)),
        (edited(SessionEdit::Unarchive), (false, None, 2_007)),
        (edited(SessionEdit::Archive), (false, Some(2_008), 2_007)),
        (sample::run_started(1), (false, None, 2_009)),
    ];
    for ((record, expected), time) in steps.into_iter().zip(2_000..) {
        at(store, &mut writer, time, [record]).await?;
        let row = store.row(session(1)).await?.ok_or("no row")?;
        same!((row.pinned, row.archived.map(|at| at.0), row.updated.0), expected);
        let read = store.read(session(1), 0).await?;
        same!(Some(row), project(None, &read).map(|fold| fold.row));
    }
    Ok(())
}

// proves J8, X6: neither a fork nor an import inherits a place in the list
pub(super) async fn a_fork_and_an_import_are_neither_pinned_nor_archived(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    at(store, &mut writer, 2_000, [edited(SessionEdit::Pin), edited(SessionEdit::Archive)]).await?;
    let (key, version) = ("fork".to_owned(), "0.1.0".to_owned());
    let target = ForkTarget { session: session(2), key, version, at: Timestamp(3_000), nonce: 2 };
    Fork::begin(&**store, session(1), None, target).await?.finish(&**store).await?;
    let imported = ImportDetails { workspace: None, owner: None };
    let imported = SessionChanged { imported: Some(imported), ..SessionChanged::default() };
    at(store, &mut writer, 4_000, [imported.into()]).await?;
    for n in [1, 2] {
        let row = store.row(session(n)).await?.ok_or("no row")?;
        same!((n, row.pinned, row.archived), (n, false, None));
    }
    Ok(())
}

fn number(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN)
}

/// All keys that a query finds, in pages of this many.
async fn keys(store: &Arc<dyn Store>, query: SessionQuery, limit: u32) -> Result<Vec<String>, StoreError> {
    let (mut keys, mut query) = (Vec::new(), SessionQuery { limit: number(limit), ..query });
    loop {
        let page = store.list("ada", query.clone()).await?;
        keys.extend(page.rows.into_iter().map(|row| row.key));
        let Some(next) = page.next else { return Ok(keys) };
        // A client gets the position as text.
        query.after = next.to_string().parse::<SessionCursor>().ok();
    }
}

// proves W3
pub(super) async fn the_list_has_pinned_sessions_first_and_every_session_once(store: &Arc<dyn Store>) -> CheckResult {
    same!(keys(store, SessionQuery::default(), 3).await?, Vec::<String>::new());
    for n in 0..7 {
        let mut writer = open(store, n, &format!("s{n}")).await?;
        // Two of them changed at the same time.
        at(store, &mut writer, 2_000 + i64::from(n / 2), [sample::accepted("m", "hello")]).await?;
        if n == 1 || n == 4 {
            at(store, &mut writer, 9_000, [edited(SessionEdit::Pin)]).await?;
        }
    }
    let mut other = Writer::new(session(9), Head::default(), 9);
    append(store, &mut other, batch([sample::opened("bob", "his")])).await?;
    let expected = ["s4", "s1", "s6", "s5", "s3", "s2", "s0"];
    for limit in 1..9 {
        same!((limit, keys(store, SessionQuery::default(), limit).await?), (limit, expected.map(str::to_owned).into()));
    }
    let page = store.list("ada", SessionQuery { limit: number(7), ..SessionQuery::default() }).await?;
    same!(page.next, None);
    for row in page.rows {
        same!(store.row(row.session).await?, Some(row));
    }
    same!(store.list("nobody", SessionQuery::default()).await?.rows, []);
    Ok(())
}

// proves W3: a session that changes between two pages is not listed twice, and hides no other
pub(super) async fn a_page_goes_on_where_the_last_one_ended(store: &Arc<dyn Store>) -> CheckResult {
    let mut writers = Vec::new();
    for n in 0..5 {
        writers.push(open(store, n, &format!("s{n}")).await?);
    }
    let first = store.list("ada", SessionQuery { limit: number(2), ..SessionQuery::default() }).await?;
    same!(first.rows.iter().map(|row| row.key.as_str()).collect::<Vec<_>>(), ["s4", "s3"]);
    at(store, &mut writers[3], 5_000, [sample::accepted("m", "hello")]).await?;
    at(store, &mut writers[0], 5_000, [edited(SessionEdit::Archive)]).await?;
    let rest = keys(store, SessionQuery { after: first.next, ..SessionQuery::default() }, 2).await?;
    same!(rest, ["s2", "s1"]);
    Ok(())
}

// proves W3
pub(super) async fn the_list_is_searched_and_filtered(store: &Arc<dyn Store>) -> CheckResult {
    for (n, key, prompt) in [(1, "alpha", "Fix the PARSER"), (2, "beta", "Größe ändern"), (3, "gamma", "100 % done")]
    {
        let mut writer = open(store, n, key).await?;
        at(store, &mut writer, 2_000 + i64::from(n), [sample::accepted("m", prompt)]).await?;
    }
    let mut writer = open(store, 4, "delta").await?;
    at(store, &mut writer, 3_000, [edited(SessionEdit::Title("Parser notes".into()))]).await?;
    at(store, &mut writer, 3_001, [edited(SessionEdit::Archive)]).await?;
    let search = |text: &str, archived| SessionQuery { search: Some(text.into()), archived, ..SessionQuery::default() };
    let (left_out, included) = (ArchivedFilter::LeftOut, ArchivedFilter::Included);
    for (query, expected) in [
        (search("parser", left_out), &["alpha"][..]),
        (search("PARSER", included), &["delta", "alpha"]),
        (search("", ArchivedFilter::Only), &["delta"]),
        (search(" GRÖSSE", left_out), &[]),
        (search("GRÖ", left_out), &["beta"]),
        (search("%", left_out), &["gamma"]),
        (search("ETA", left_out), &["beta"]),
        (search("/home/ada/NOTES", left_out), &["gamma", "beta", "alpha"]),
        (search("", included), &["delta", "gamma", "beta", "alpha"]),
        (search("nothing like it", included), &[]),
    ] {
        same!(
            (&query, keys(store, query.clone(), 1).await?),
            (&query, expected.iter().map(|key| (*key).into()).collect())
        );
    }
    Ok(())
}

// proves W3, S3
pub(super) async fn children_are_left_out_of_the_list_unless_asked_for(store: &Arc<dyn Store>) -> CheckResult {
    open(store, 1, "plan").await?;
    let call = "1.1.0".parse()?;
    let (child, orphan) = (child_key(session(1), call), child_key(session(9), call));
    open(store, 2, &child).await?;
    open(store, 3, &orphan).await?;
    same!(keys(store, SessionQuery::default(), 1).await?, [orphan.clone(), "plan".into()]);
    let all = SessionQuery { children: ChildFilter::Included, ..SessionQuery::default() };
    same!(keys(store, all, 1).await?, [orphan, child.clone(), "plan".into()]);
    store.remove(session(1)).await?;
    holds!(keys(store, SessionQuery::default(), 9).await?.contains(&child));
    Ok(())
}
