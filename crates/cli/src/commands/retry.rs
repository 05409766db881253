//! `windlass retry`: starts a new run on the history of a failed one, with fresh limits.

use std::path::PathBuf;

use windlass_setup::agent;
use windlass_setup::models::{DEMO, ModelFallback, ModelPreference};
use windlass_setup::settings::Env;
use windlass_setup::store;

use super::block_on::block_on;
use super::prepared_run::PreparedRun;
use super::{follow, prepared_run, session};
use crate::args::{RetryArgs, flags};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;

pub(super) fn retry(data_dir: Option<PathBuf>, args: &RetryArgs, env: Env) -> CommandResult {
    let flags = flags(data_dir, &args.rules, &args.common);
    let sources = prepared_run::gather(flags, env)?;
    let place = prepared_run::place(&sources)?;
    block_on(async {
        let store = store::open(&place)?;
        let row = session::by_key_or_last(store.as_ref(), args.key.as_deref(), &place.workspace).await?;
        let nothing = |why| CommandError::new(Exit::Usage, format!("nothing to retry in session `{}`: {why}", row.key));
        // Opening the session would continue the open run. A process that works on it is reported first.
        if session::is_open(&row) {
            store.claim(row.session).await.map_err(|error| CommandError::of_store(error, Some(&row.key)))?;
            return Err(nothing("a run is still open; use `windlass resume`"));
        }
        let place = session::in_named_session_folder(place, &row, args.common.workspace.as_deref())?;
        let mut prepared_run = PreparedRun::prepare(sources, &args.common, place)?;
        let session = session::model_of_last_run(store.as_ref(), row.session).await?;
        let was_demo = session.as_ref().is_some_and(|begun| begun.model.as_str() == DEMO);
        let otherwise = if was_demo { ModelFallback::Demo } else { ModelFallback::Refuse };
        let model = prepared_run.choose(ModelPreference::new(session, otherwise)).await?;
        prepared_run.print_loosened();
        let agent = agent::build(&prepared_run.setup, store, &model)?;
        let Some((session, mut events, run)) = agent.open_to_retry(row.session).await? else {
            return Err(nothing("its last run did not end badly"));
        };
        follow::until_nothing_waits(&mut prepared_run, &agent, session, &mut events, run).await
    })
}
