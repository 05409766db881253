//! `windlass` and `windlass chat`: finds the session that is meant and hands it to the chat.

use std::path::PathBuf;
use std::sync::Arc;

use windlass_setup::demo::PROMPT;
use windlass_setup::models::{DEMO, Otherwise, Wish};
use windlass_setup::settings::{Env, Place, SettingsError};
use windlass_setup::store;
use windlass_store::{SessionRow, Store};
use windlass_vocab::Attendance;

use super::block_on::block_on;
use super::job::Job;
use super::{demo, job, session};
use crate::args::{ChatArgs, flags};
use crate::chat::{self, Conversation};
use crate::error::{CommandError, Done};
use crate::screen::Look;

pub(super) fn chat(data_dir: Option<PathBuf>, args: &ChatArgs, env: Env) -> Done {
    let flags = flags(data_dir, &args.rules, &args.common);
    let sources = job::gather(flags, env)?;
    let place = job::place(&sources)?;
    block_on(async {
        let store = store::open(&place)?;
        let known = known(store.as_ref(), args, &place).await?;
        let place = match &known {
            Some(row) => session::at_home(place, row, args.common.workspace.as_deref())?,
            None => place,
        };
        let mut job = Job::prepare(sources, &args.common, place)?;
        let look = if args.common.json { None } else { chat::look(&job.setup.env) };
        if look.is_some() {
            job.setup.attendance = Attendance::Attended;
        }
        if job.setup.attendance == Attendance::Attended {
            // A person at a chat is never kept waiting (P2): servers that come late join at a turn boundary.
            job.setup.settings.policy.server_wait_ms = 0;
        }
        let wanted = job.setup.settings.model.is_some() || known.is_some();
        let session = match &known {
            Some(row) => session::begun_with(store.as_ref(), row.session).await?,
            None => None,
        };
        let otherwise = if look.is_some() { Otherwise::Ask } else { Otherwise::Demo };
        let model = job.choose(Wish::new(session, otherwise)).await?;
        if model.as_str() == DEMO && !wanted {
            return show(job, store, look).await;
        }
        job.refuse_secret("--session", args.session.as_deref())?;
        if look.is_none() {
            job.tell_loosened();
        }
        let talk = Conversation::new(job, store, model, known, args.session.clone())?;
        match look {
            Some(look) => chat::at_terminal(talk, look, None).await,
            None => chat::by_lines(talk).await,
        }
    })
}

/// Nobody named a model and there is none: the demo's job shows what would happen if there were.
async fn show(job: Job, store: Arc<dyn Store>, look: Option<Look>) -> Done {
    let Some(look) = look else {
        // Whoever wants an answer must not take the demo's for it.
        return if chat::is_spoken_to().await? {
            Err(SettingsError::NoServer.into())
        } else {
            demo::watch(job, store).await
        };
    };
    let demo::Beginning { key, folder } = demo::begin(None)?;
    let mut job = demo::prepare(job.setup.settings.place, &folder, job.setup.env)?;
    job.setup.attendance = Attendance::Attended;
    let talk = Conversation::new(job, store, DEMO.into(), None, Some(key))?;
    chat::at_terminal(talk, look, Some(PROMPT)).await
}

/// The session to go on with, if one is meant and there.
async fn known(store: &dyn Store, args: &ChatArgs, place: &Place) -> Result<Option<SessionRow>, CommandError> {
    match (&args.resume, &args.session) {
        (Some(key), _) => session::by_key(store, key).await.map(Some),
        (None, Some(key)) => session::found(store, key).await,
        (None, None) if args.continue_last => session::named(store, None, &place.workspace).await.map(Some),
        (None, None) => Ok(None),
    }
}
