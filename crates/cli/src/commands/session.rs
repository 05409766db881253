//! Finds the session that a command names.

use std::collections::BTreeSet;
use std::path::Path;

use windlass_setup::models::{RunState, SessionModel};
use windlass_setup::settings::{PlaceSettings, RepeatedFlags};
use windlass_store::{ReverseRecords, SessionRow, SessionStatus, Store};
use windlass_vocab::{Policy, Record, SessionId};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::harmless_line;
use crate::streams::print_notice;

/// How many characters of a made-up key are random.
const SUFFIX: usize = 12;

/// Owner of the sessions that the command line works on.
pub(crate) const OWNER: &str = "local";

/// Returns this folder's sessions, the last used first, without those that another session started.
pub(crate) async fn of_folder(store: &dyn Store, folder: &Path) -> Result<Vec<SessionRow>, CommandError> {
    let mut rows = store.sessions(OWNER).await?;
    let folder = folder.display().to_string();
    rows.retain(|row| row.workspace.as_ref() == Some(&folder) && row.parent().is_none());
    rows.sort_by_key(|row| std::cmp::Reverse(row.updated));
    Ok(rows)
}

/// Returns all sessions but those that another one started. One whose parent is gone is among them.
pub(crate) async fn without_children(store: &dyn Store) -> Result<Vec<SessionRow>, CommandError> {
    let mut rows = store.sessions(OWNER).await?;
    let known: BTreeSet<SessionId> = rows.iter().map(|row| row.session).collect();
    rows.retain(|row| row.parent().is_none_or(|(parent, _)| !known.contains(&parent)));
    Ok(rows)
}

/// Returns the sessions that this one started, in order.
pub(crate) async fn children(store: &dyn Store, parent: SessionId) -> Result<Vec<SessionRow>, CommandError> {
    let mut rows = store.sessions(OWNER).await?;
    rows.retain(|row| row.parent().is_some_and(|(of, _)| of == parent));
    rows.sort_by_key(SessionRow::parent);
    Ok(rows)
}

/// Returns the session with this key, or this folder's last used one.
pub(crate) async fn by_key_or_last(
    store: &dyn Store,
    key: Option<&str>,
    folder: &Path,
) -> Result<SessionRow, CommandError> {
    match key {
        Some(key) => by_key(store, key).await,
        None => of_folder(store, folder).await?.into_iter().next().ok_or_else(|| {
            CommandError::new(
                Exit::Usage,
                "this folder has no session yet; name one (windlass sessions list shows them)",
            )
        }),
    }
}

/// Returns the session with this key or id.
pub(crate) async fn by_key(store: &dyn Store, key: &str) -> Result<SessionRow, CommandError> {
    let missing =
        || CommandError::new(Exit::Usage, format!("there is no session `{key}`; `windlass sessions list` shows them"));
    if let Some(row) = find(store, key).await? {
        return Ok(row);
    }
    let by_id = match key.parse::<SessionId>() {
        Ok(id) => store.row(id).await?.filter(|row| row.owner == OWNER),
        Err(_) => None,
    };
    by_id.ok_or_else(missing)
}

/// Returns the session with this key, if there is one.
pub(crate) async fn find(store: &dyn Store, key: &str) -> Result<Option<SessionRow>, CommandError> {
    Ok(match store.find(OWNER, key).await? {
        Some(session) => store.row(session).await?,
        None => None,
    })
}

/// What the sessions are for that `windlass run` begins where no session is named.
pub(crate) const RUN: &str = "run";

/// Whether `windlass run` made up this key, as far as the key tells.
fn is_of_run(key: &str) -> bool {
    let suffix = key.strip_prefix(RUN).and_then(|rest| rest.strip_prefix('-'));
    suffix.is_some_and(|suffix| suffix.len() == SUFFIX && suffix.chars().all(|c| c.is_ascii_hexdigit()))
}

/// Whether `windlass run` began the session for one prompt, and nothing else has begun a run there since.
pub(crate) fn has_only_its_run(row: &SessionRow) -> bool {
    is_of_run(&row.key) && row.runs <= 1
}

/// Makes up a key for a session that nobody named: `what` it is for, and a random suffix.
pub(crate) fn fresh_key(what: &str) -> String {
    let id = uuid::Uuid::now_v7().simple().to_string();
    format!("{what}-{}", &id[id.len() - SUFFIX..])
}

/// Returns the place settings with the folder the session was begun in: a session works there, wherever the command is
/// typed. `named` is the folder the person asked for.
pub(crate) fn in_session_folder(
    place: PlaceSettings,
    row: &SessionRow,
    named: Option<&Path>,
) -> Result<PlaceSettings, CommandError> {
    let Some(home) = row.workspace.as_deref() else { return Ok(place) };
    if place.workspace.display().to_string() == home {
        return Ok(place);
    }
    let refused = |why: String| Err(CommandError::new(Exit::Usage, format!("session `{}` {why}", row.key)));
    match (named, Path::new(home).is_dir()) {
        (None, true) => Ok(PlaceSettings { workspace: home.into(), ..place }),
        (None, false) => refused(format!("works in {home}, which is not there; name its folder with --workspace")),
        (Some(named), true) => refused(format!(
            "works in {home}, not in {}; leave --workspace out, or take another session",
            named.display()
        )),
        // The session's folder was moved, or the session came from another machine.
        (Some(_), false) => Ok(place),
    }
}

/// Like [`in_session_folder`], and prints the session's folder where the command was typed in another one.
pub(crate) fn in_named_session_folder(
    place: PlaceSettings,
    row: &SessionRow,
    named: Option<&Path>,
) -> Result<PlaceSettings, CommandError> {
    let here = place.workspace.clone();
    let place = in_session_folder(place, row, named)?;
    if place.workspace != here {
        let folder = place.workspace.display().to_string();
        let text = format!("windlass: session `{}` works in {}", harmless_line(&row.key), harmless_line(&folder));
        print_notice(&text);
    }
    Ok(place)
}

/// Whether the session has an open run.
pub(crate) fn is_open(row: &SessionRow) -> bool {
    match row.status {
        SessionStatus::Processing | SessionStatus::ToolLoop | SessionStatus::Waiting => true,
        SessionStatus::Idle | SessionStatus::Failed => false,
    }
}

/// What the last run of a session began with.
pub(crate) struct LastRun {
    pub(crate) policy: Policy,
    /// `None` if it had no model.
    pub(crate) model: Option<SessionModel>,
    /// `None` if the session was imported since: its record chooses nothing here (X6).
    pub(crate) agent: Option<String>,
}

impl LastRun {
    /// Returns the flags that name its model and the model's server; `None` if the server is unknown, if its address may hold
    /// a password, or if the session was imported: its record must not say where words are sent (X6).
    pub(crate) fn model_flags(&self) -> Option<RepeatedFlags> {
        let SessionModel { model, server, .. } = self.model.as_ref().filter(|_| self.agent.is_some())?;
        let base_url = server.clone().filter(|server| !server.contains(['@', '?']))?;
        Some(RepeatedFlags { model: Some(model.0.clone()), base_url: Some(base_url), ..RepeatedFlags::default() })
    }
}

/// Returns what the session's last run began with, if it has one.
pub(crate) async fn last_run(store: &dyn Store, row: Option<&SessionRow>) -> Result<Option<LastRun>, CommandError> {
    let Some(row) = row else { return Ok(None) };
    let mut is_imported = false;
    let newest = ReverseRecords::new(store, row.session).find_map(|envelope| match envelope.record {
        Record::RunStarted(started) => Some(started),
        Record::SessionChanged(changed) => {
            is_imported |= changed.imported.is_some();
            None
        }
        _ => None,
    });
    let Some(started) = newest.await? else { return Ok(None) };
    let state = if is_open(row) { RunState::Open } else { RunState::Ended };
    let model = SessionModel::of(&started, state);
    let agent = Some(started.agent).filter(|_| !is_imported);
    Ok(Some(LastRun { policy: started.policy, model, agent }))
}
