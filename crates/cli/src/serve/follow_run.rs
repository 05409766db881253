//! Follows a run until its request can be answered.

use tokio_util::sync::CancellationToken;
use windlass::door::{FollowError, end_awaited};
use windlass::{Event, Session};
use windlass_narrate::{Detail, Narrator};
use windlass_vocab::{QuestionAsked, StopBy};

use super::awaited_run::{AwaitedRun, RunEnding};
use super::client::{Client, ElicitationRoute, PageDelivery};
use super::denied_calls::denied_calls;
use super::open_sessions::OpenSessions;
use super::progress::{ClientProgress, progress_lines};
use super::questions;
use crate::commands::recall;
use crate::error::CommandError;
use crate::exit::Exit;

/// The result of a request that awaits a run.
pub(super) enum FollowResult {
    /// The run is over.
    Ended(Box<RunEnding>),
    /// The client must send answers first; the run is parked.
    Asks { questions: Vec<QuestionAsked>, delivery: PageDelivery, state: String },
}

/// Why following a run stopped.
enum FollowHalt {
    Ended,
    Asks(Vec<QuestionAsked>, PageDelivery),
    Gone,
}

/// Follows the run until its request can be answered.
pub(super) async fn follow_to_result(
    mut awaited_run: AwaitedRun,
    open_sessions: &OpenSessions,
    client: &Client,
) -> Result<FollowResult, CommandError> {
    let stopper =
        tokio::spawn(stop_if_cancelled(awaited_run.session.clone(), client.cancelled.clone(), client.gone.clone()));
    let progress = ClientProgress::to(client);
    progress.send(&format!("session {}", awaited_run.key));
    let halt = follow(&mut awaited_run, client, &progress).await;
    stopper.abort();
    progress.finish().await;
    match halt {
        Ok(FollowHalt::Asks(questions, delivery)) => {
            let state = super::state::of(&awaited_run);
            open_sessions.park(awaited_run);
            Ok(FollowResult::Asks { questions, delivery, state })
        }
        Ok(FollowHalt::Ended) => {
            let ending = ending(&mut awaited_run).await;
            awaited_run.end(open_sessions).await;
            ending.map(|ending| FollowResult::Ended(Box::new(ending)))
        }
        Ok(FollowHalt::Gone) => {
            awaited_run.end(open_sessions).await;
            Err(CommandError::new(Exit::Failed, "the client is gone; `resume` goes on with the run"))
        }
        Err(error) => {
            awaited_run.end(open_sessions).await;
            Err(error)
        }
    }
}

async fn follow(
    awaited_run: &mut AwaitedRun,
    client: &Client,
    progress: &ClientProgress,
) -> Result<FollowHalt, CommandError> {
    let mut narrator = Narrator::new(Detail::Brief);
    let store = awaited_run.built_agent.agent.hub().store().clone();
    for call in recall::calls_of_last_run(store.as_ref(), awaited_run.session.id()).await? {
        narrator.recall(&call);
    }
    loop {
        let show = |event: &Event| {
            for line in progress_lines(&mut narrator, event) {
                progress.send(&line);
            }
        };
        let AwaitedRun { built_agent, session, events, awaited, .. } = &mut *awaited_run;
        let ended = tokio::select! {
            biased;
            () = client.gone.cancelled() => return Ok(FollowHalt::Gone),
            ended = built_agent.agent.follow(session, events, awaited.clone(), show) => ended,
        };
        let questions = match ended {
            Ok(_) => return Ok(FollowHalt::Ended),
            Err(FollowError::Waiting(questions)) => questions,
            Err(error) => return Err(error.into()),
        };
        match client.route {
            ElicitationRoute::Nobody => {
                return Err(awaited_run.built_agent.nobody_can_answer(&questions, &awaited_run.key));
            }
            ElicitationRoute::ByResult(delivery) => {
                let (asks, others): (Vec<_>, Vec<_>) =
                    questions.into_iter().partition(|asked| questions::request(asked, delivery).is_some());
                if !asks.is_empty() {
                    return Ok(FollowHalt::Asks(asks, delivery));
                }
                for asked in others {
                    awaited_run.answer(&asked, questions::default(&asked)).await?;
                }
            }
            ElicitationRoute::InMidCall(delivery) => {
                for asked in questions {
                    tokio::select! {
                        biased;
                        () = client.gone.cancelled() => return Ok(FollowHalt::Gone),
                        answer = questions::ask(&client.peer, &awaited_run.session, &asked, delivery) => {
                            if let Some(answer) = answer {
                                awaited_run.answer(&asked, answer).await?;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the recorded end of the run.
async fn ending(awaited_run: &mut AwaitedRun) -> Result<RunEnding, CommandError> {
    let store = awaited_run.built_agent.agent.hub().store().clone();
    let end = end_awaited(store.as_ref(), awaited_run.session.id(), &mut awaited_run.awaited).await?;
    let found = end.and_then(|(envelope, ended)| Some((envelope.run?, ended)));
    let Some((run, ended)) = found else { return Err(FollowError::Dropped.into()) };
    let denied = denied_calls(store.as_ref(), awaited_run.session.id(), run).await?;
    Ok(RunEnding { key: awaited_run.key.clone(), run, ended, denied })
}

/// Stops the run when the client cancels its request. Requests are also cancelled when the client disconnects, which
/// must not stop the run.
async fn stop_if_cancelled(session: Session, cancelled: CancellationToken, gone: CancellationToken) {
    cancelled.cancelled().await;
    if !gone.is_cancelled() {
        let _ = session.stop(StopBy::Person).await;
    }
}
