//! Finds the session that a command names.

use std::num::NonZeroU32;
use std::path::Path;

use windlass_setup::session_agent::{SessionFolderError, session_place};
use windlass_setup::settings::PlaceSettings;
use windlass_store::{SessionQuery, SessionRow, Store};
use windlass_vocab::SessionId;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::harmless_line;
use crate::streams::print_notice;

/// How many characters of a made-up key are random.
const SUFFIX: usize = 12;

/// How many rows of the list are read at once.
const LIST_PAGE: NonZeroU32 = NonZeroU32::MIN.saturating_add(999);

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

/// Returns all sessions that the query finds, in the order of the list.
pub(crate) async fn listed(store: &dyn Store, query: SessionQuery) -> Result<Vec<SessionRow>, CommandError> {
    let (mut rows, mut query) = (Vec::new(), SessionQuery { limit: LIST_PAGE, ..query });
    loop {
        let page = store.list(OWNER, query.clone()).await?;
        rows.extend(page.rows);
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(rows),
        }
    }
}

/// Returns the sessions that this one started, in order.
pub(crate) async fn children(store: &dyn Store, parent: SessionId) -> Result<Vec<SessionRow>, CommandError> {
    let mut rows = store.sessions(OWNER).await?;
    rows.retain(|row| row.parent().is_some_and(|(of, _)| of == parent));
    rows.sort_by_key(SessionRow::parent);
    Ok(rows)
}

/// Returns the session with this key, or this folder's last used one that is not archived.
pub(crate) async fn by_key_or_last(
    store: &dyn Store,
    key: Option<&str>,
    folder: &Path,
) -> Result<SessionRow, CommandError> {
    match key {
        Some(key) => by_key(store, key).await,
        None => {
            let rows = of_folder(store, folder).await?;
            let none = if rows.is_empty() {
                "this folder has no session yet; name one (windlass sessions list shows them)"
            } else {
                "every session of this folder is archived; name one (windlass sessions list --archived shows them)"
            };
            let last = rows.into_iter().find(|row| row.archived.is_none());
            last.ok_or_else(|| CommandError::new(Exit::Usage, none))
        }
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
    format!("{what}-{}", fresh_suffix())
}

/// Makes up the random end of a name.
pub(crate) fn fresh_suffix() -> String {
    let id = uuid::Uuid::now_v7().simple().to_string();
    id[id.len() - SUFFIX..].to_owned()
}

/// Returns the place settings with the folder the session was begun in: a session works there, wherever the command is
/// typed. `named` is the folder the person asked for.
pub(crate) fn in_session_folder(
    place: PlaceSettings,
    row: &SessionRow,
    named: Option<&Path>,
) -> Result<PlaceSettings, CommandError> {
    session_place(place, row, named).map_err(|error| session_folder_error(&row.key, &error))
}

/// Returns the error for a session whose folder can't be used.
pub(crate) fn session_folder_error(key: &str, error: &SessionFolderError) -> CommandError {
    let advice = match error {
        SessionFolderError::Missing { .. } => "name its folder with --workspace",
        SessionFolderError::Other { .. } => "leave --workspace out, or take another session",
    };
    CommandError::new(Exit::Usage, format!("session `{key}` {error}; {advice}"))
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
