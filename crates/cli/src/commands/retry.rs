//! `windlass retry`: a new run on the history of a failed one, with a fresh cap.

use std::path::PathBuf;

use windlass::{Awaited, RunError};

use super::{CommandError, Done, Job, agent, block_on, follow, session};
use crate::args::RetryArgs;
use crate::exit::Exit;
use crate::settings::Env;

pub(super) fn retry(data_dir: Option<PathBuf>, args: &RetryArgs, env: Env) -> Done {
    let mut job = Job::prepare(data_dir, &args.rules, &args.common, env)?;
    block_on(async {
        let store = agent::open_store(&job.settings.place)?;
        let row = session::named(store.as_ref(), args.key.as_deref(), &job.settings.place.workspace).await?;
        let model = match &job.settings.model {
            Some(model) => model.value.clone(),
            None => session::model_of(store.as_ref(), row.session).await?.unwrap_or_default(),
        };
        let agent = agent::build(&job, store, &model)?;
        let (session, mut events) = agent.existing(row.session).await?;
        let Some(run) = session.retry().await.map_err(RunError::from)? else {
            let open = session.standing() != windlass::Standing::Idle;
            session.close().await;
            let why =
                if open { "a run is still open; use `windlass resume`" } else { "its last run did not end badly" };
            return Err(CommandError::new(Exit::Usage, format!("nothing to retry in session `{}`: {why}", row.key)));
        };
        let done = follow::follow(&mut job, &agent, &session, &mut events, Awaited::Run(run)).await;
        session.close().await;
        done
    })
}
