//! `windlass resume`: goes on with a run that was cut short or waits for an answer.

use std::path::PathBuf;

use windlass::vocab::{Answer, Attendance, RunId};
use windlass::{Awaited, RunError, Session, Standing};

use super::{CommandError, Done, Job, agent, block_on, follow, session};
use crate::args::{ResumeArgs, RuleFlags};
use crate::exit::Exit;
use crate::settings::Env;

pub(super) fn resume(data_dir: Option<PathBuf>, args: &ResumeArgs, env: Env) -> Done {
    // A resumed run keeps the rules it began with.
    let mut job = Job::prepare(data_dir, &RuleFlags::default(), &args.common, env)?;
    if args.answer.is_some() {
        // Whoever gives an answer on the command line is there to be asked.
        job.attendance = Attendance::Attended;
    }
    block_on(async {
        let store = agent::open_store(&job.settings.place)?;
        let row = session::named(store.as_ref(), args.key.as_deref(), &job.settings.place.workspace).await?;
        let model = match &job.settings.model {
            Some(model) => model.value.clone(),
            None => session::model_of(store.as_ref(), row.session).await?.unwrap_or_default(),
        };
        let agent = agent::build(&job, store, &model)?;
        let (session, mut events) = agent.existing(row.session).await?;
        if session.standing() == Standing::Idle {
            session.close().await;
            let text = format!("nothing to resume: no run of session `{}` is open", row.key);
            return Err(CommandError::new(Exit::Usage, text));
        }
        if let Some(choice) = args.answer {
            answer(&session, choice.into()).await?;
        }
        let done = follow::follow(&mut job, &agent, &session, &mut events, Awaited::Run(RunId(row.runs))).await;
        session.close().await;
        done
    })
}

/// Gives the answer to every question the run waits with that offers it.
async fn answer(session: &Session, option: windlass::vocab::QuestionOption) -> Result<(), CommandError> {
    let Standing::Waiting(questions) = session.settled().await else { return Ok(()) };
    let mut taken = false;
    for asked in questions {
        let answer = Answer { option, arguments: None };
        taken |= session.answer(asked.question, answer).await.map_err(RunError::from)?;
    }
    if taken {
        return Ok(());
    }
    Err(CommandError::new(Exit::Usage, "the question the run waits with does not offer that answer"))
}
