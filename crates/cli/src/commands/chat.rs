//! `windlass` and `windlass chat`: finds the session that is meant and hands it to the chat.

use std::path::PathBuf;
use std::sync::Arc;

use windlass::store::{SessionRow, Store};
use windlass::vocab::{Attendance, ModelName};

use super::{CommandError, Done, Job, agent, block_on, job, session};
use crate::args::{ChatArgs, flags};
use crate::chat::{self, Conversation};
use crate::settings::{Env, Place};

pub(super) fn chat(data_dir: Option<PathBuf>, args: &ChatArgs, env: Env) -> Done {
    let flags = flags(data_dir, &args.rules, &args.common);
    let place = job::place(flags.clone(), env.clone())?;
    block_on(async {
        let store = agent::open_store(&place)?;
        let known = known(store.as_ref(), args, &place).await?;
        let place = match &known {
            Some(row) => session::at_home(place, row, args.common.workspace.as_deref())?,
            None => place,
        };
        let mut job = Job::prepare(flags, &args.common, env, place)?;
        let look = if args.common.json { None } else { chat::look(&job.env) };
        if look.is_some() {
            job.attendance = Attendance::Attended;
        }
        let model = model(&job, &store, known.as_ref()).await?;
        let talk = Conversation::new(job, store, model, known, args.session.clone())?;
        match look {
            Some(look) => chat::at_terminal(talk, look).await,
            None => chat::by_lines(talk).await,
        }
    })
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

/// The model of new runs: the one that is configured, else the one the session had.
async fn model(job: &Job, store: &Arc<dyn Store>, known: Option<&SessionRow>) -> Result<ModelName, CommandError> {
    if let (None, Some(row)) = (&job.settings.model, known)
        && let Some(model) = session::model_of(store.as_ref(), row.session).await?
    {
        return Ok(model);
    }
    Ok(job.settings.model()?.clone())
}
