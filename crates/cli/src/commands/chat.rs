//! `windlass` and `windlass chat`: finds the requested session and starts the chat with it.

use std::path::PathBuf;
use std::sync::Arc;

use windlass_setup::demo::PROMPT;
use windlass_setup::last_run::last_run;
use windlass_setup::models::{DEMO, ModelFallback, ModelPreference};
use windlass_setup::settings::{Env, PlaceSettings, SettingsError};
use windlass_setup::store;
use windlass_store::{SessionRow, Store};
use windlass_vocab::Attendance;

use super::block_on::block_on;
use super::prepared_run::PreparedRun;
use super::{demo, prepared_run, session};
use crate::args::{ChatArgs, flags};
use crate::chat::{self, Conversation};
use crate::error::{CommandError, CommandResult};
use crate::screen::TerminalLook;

pub(super) fn chat(data_dir: Option<PathBuf>, args: &ChatArgs, env: Env) -> CommandResult {
    let flags = flags(data_dir, &args.rules, &args.common);
    let mut sources = prepared_run::gather(flags, env)?;
    let place = prepared_run::place(&sources)?;
    block_on(async {
        let store = store::open(&place)?;
        let known = find_session(store.as_ref(), args, &place).await?;
        let place = match &known {
            Some(row) => session::in_session_folder(place, row, args.common.workspace.as_deref())?,
            None => place,
        };
        let last = last_run(store.as_ref(), known.as_ref()).await?;
        sources.flags.session_agent = last.as_ref().and_then(|last| last.agent.clone());
        let mut prepared_run = PreparedRun::prepare(sources, &args.common, place)?;
        let look = if args.common.json { None } else { chat::look(&prepared_run.setup.env) };
        if look.is_some() {
            prepared_run.setup.attendance = Attendance::Attended;
        }
        if prepared_run.setup.attendance == Attendance::Attended {
            // A person at a chat is never kept waiting (P2): servers that come late join at a turn boundary.
            prepared_run.setup.settings.policy.server_wait_ms = 0;
        }
        let wanted = prepared_run.setup.settings.model.is_some() || known.is_some();
        let otherwise = if look.is_some() { ModelFallback::Ask } else { ModelFallback::Demo };
        let begun = last.and_then(|last| last.model);
        let model = prepared_run.choose(ModelPreference::new(begun, otherwise)).await?;
        if model.as_str() == DEMO && !wanted {
            return show(prepared_run, store, look).await;
        }
        prepared_run.refuse_secret("--session", args.session.as_deref())?;
        if look.is_none() {
            prepared_run.print_loosened();
            prepared_run.print_script_notice(&model);
        }
        let talk = Conversation::new(prepared_run, store, model, known, args.session.clone())?;
        match look {
            Some(look) => chat::at_terminal(talk, look, None).await,
            None => chat::by_lines(talk).await,
        }
    })
}

/// No model is named and none is available: runs the demo's job to show what a model would do.
async fn show(prepared_run: PreparedRun, store: Arc<dyn Store>, look: Option<TerminalLook>) -> CommandResult {
    let Some(look) = look else {
        // Piped input expects an answer of a model, and must not get the demo's.
        return if chat::has_input().await? {
            Err(SettingsError::NoServer.into())
        } else {
            demo::watch(prepared_run, store).await
        };
    };
    let demo::DemoStart { key, folder } = demo::begin(None)?;
    let mut prepared_run = demo::prepare(prepared_run.setup.settings.place, &folder, prepared_run.setup.env)?;
    prepared_run.setup.attendance = Attendance::Attended;
    let talk = Conversation::new(prepared_run, store, DEMO.into(), None, Some(key))?;
    chat::at_terminal(talk, look, Some(PROMPT)).await
}

/// Returns the session to continue, if the arguments name one and it exists.
async fn find_session(
    store: &dyn Store,
    args: &ChatArgs,
    place: &PlaceSettings,
) -> Result<Option<SessionRow>, CommandError> {
    match (&args.resume, &args.session) {
        (Some(key), _) => session::by_key(store, key).await.map(Some),
        (None, Some(key)) => session::find(store, key).await,
        (None, None) if args.continue_last => session::by_key_or_last(store, None, &place.workspace).await.map(Some),
        (None, None) => Ok(None),
    }
}
