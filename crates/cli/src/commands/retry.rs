//! `windlass retry`: a new run on the history of a failed one, with a fresh cap.

use std::path::PathBuf;

use windlass_setup::agent;
use windlass_setup::models::{DEMO, Otherwise, Wish};
use windlass_setup::settings::Env;
use windlass_setup::store;

use super::block_on::block_on;
use super::job::Job;
use super::{follow, job, session};
use crate::args::{RetryArgs, flags};
use crate::error::{CommandError, Done};
use crate::exit::Exit;

pub(super) fn retry(data_dir: Option<PathBuf>, args: &RetryArgs, env: Env) -> Done {
    let flags = flags(data_dir, &args.rules, &args.common);
    let sources = job::gather(flags, env)?;
    let place = job::place(&sources)?;
    block_on(async {
        let store = store::open(&place)?;
        let row = session::named(store.as_ref(), args.key.as_deref(), &place.workspace).await?;
        let nothing = |why| CommandError::new(Exit::Usage, format!("nothing to retry in session `{}`: {why}", row.key));
        // Opening it would take the run up. Whoever works on it is told of first.
        if session::is_open(&row) {
            store.claim(row.session).await?;
            return Err(nothing("a run is still open; use `windlass resume`"));
        }
        let place = session::at_home(place, &row, args.common.workspace.as_deref())?;
        let mut job = Job::prepare(sources, &args.common, place)?;
        let session = session::begun_with(store.as_ref(), row.session).await?;
        let was_demo = session.as_ref().is_some_and(|begun| begun.model.as_str() == DEMO);
        let otherwise = if was_demo { Otherwise::Demo } else { Otherwise::Refuse };
        let model = job.choose(Wish::new(session, otherwise)).await?;
        job.tell_loosened();
        let agent = agent::build(&job.setup, store, &model)?;
        let Some((session, mut events, run)) = agent.retrying(row.session).await? else {
            return Err(nothing("its last run did not end badly"));
        };
        follow::until_nothing_waits(&mut job, &agent, session, &mut events, run).await
    })
}
