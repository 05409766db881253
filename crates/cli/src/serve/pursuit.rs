//! From a run under way to what its request is answered with.

use tokio_util::sync::CancellationToken;
use windlass::door::{FollowError, end_awaited};
use windlass::{Event, Session};
use windlass_narrate::{Detail, Narrator};
use windlass_vocab::{QuestionAsked, StopBy};

use super::client::{Client, Reach, Visits};
use super::errand::{Ending, Errand};
use super::live::Live;
use super::progress::{Progress, told};
use super::questions;
use crate::commands::recall;
use crate::error::CommandError;
use crate::exit::Exit;

/// What a request that awaits a run comes to.
pub(super) enum Outcome {
    /// The run is over.
    Ended(Ending),
    /// The client must bring answers first; the run is parked.
    Asks { questions: Vec<QuestionAsked>, visits: Visits, state: String },
}

/// Where following a run came to a halt.
enum Halt {
    Ended,
    Asks(Vec<QuestionAsked>, Visits),
    Gone,
}

/// Follows the run until its request can be answered.
pub(super) async fn pursue(mut errand: Errand, live: &Live, client: &Client) -> Result<Outcome, CommandError> {
    let stopper =
        tokio::spawn(stop_if_cancelled(errand.session.clone(), client.cancelled.clone(), client.gone.clone()));
    let progress = Progress::to(client);
    progress.say(&format!("session {}", errand.key));
    let halt = follow(&mut errand, client, &progress).await;
    stopper.abort();
    progress.finish().await;
    match halt {
        Ok(Halt::Asks(questions, visits)) => {
            let state = super::state::of(&errand);
            live.park(errand);
            Ok(Outcome::Asks { questions, visits, state })
        }
        Ok(Halt::Ended) => {
            let ending = ending(&mut errand).await;
            errand.end(live).await;
            ending.map(Outcome::Ended)
        }
        Ok(Halt::Gone) => {
            errand.end(live).await;
            Err(CommandError::new(Exit::Failed, "the client is gone; `resume` goes on with the run"))
        }
        Err(error) => {
            errand.end(live).await;
            Err(error)
        }
    }
}

async fn follow(errand: &mut Errand, client: &Client, progress: &Progress) -> Result<Halt, CommandError> {
    let mut narrator = Narrator::new(Detail::Brief);
    let store = errand.hired.agent.hub().store().clone();
    for call in recall::calls_of_last_run(store.as_ref(), errand.session.id()).await? {
        narrator.recall(&call);
    }
    loop {
        let show = |event: &Event| {
            for line in told(&mut narrator, event) {
                progress.say(&line);
            }
        };
        let Errand { hired, session, events, awaited, .. } = &mut *errand;
        let ended = tokio::select! {
            biased;
            () = client.gone.cancelled() => return Ok(Halt::Gone),
            ended = hired.agent.follow(session, events, awaited.clone(), show) => ended,
        };
        let questions = match ended {
            Ok(_) => return Ok(Halt::Ended),
            Err(FollowError::Waiting(questions)) => questions,
            Err(error) => return Err(error.into()),
        };
        match client.reach {
            Reach::Nobody => return Err(errand.hired.nobody_can_answer(&questions, &errand.key)),
            Reach::ByResult(visits) => {
                let (asks, others): (Vec<_>, Vec<_>) =
                    questions.into_iter().partition(|asked| questions::request(asked, visits).is_some());
                if !asks.is_empty() {
                    return Ok(Halt::Asks(asks, visits));
                }
                for asked in others {
                    errand.answer(&asked, questions::default(&asked)).await?;
                }
            }
            Reach::InMidCall(visits) => {
                for asked in questions {
                    tokio::select! {
                        biased;
                        () = client.gone.cancelled() => return Ok(Halt::Gone),
                        answer = questions::ask(&client.peer, &errand.session, &asked, visits) => {
                            if let Some(answer) = answer {
                                errand.answer(&asked, answer).await?;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// How it ended, as it is recorded.
async fn ending(errand: &mut Errand) -> Result<Ending, CommandError> {
    let store = errand.hired.agent.hub().store().clone();
    let end = end_awaited(store.as_ref(), errand.session.id(), &mut errand.awaited).await?;
    let found = end.and_then(|(envelope, ended)| Some((envelope.run?, ended)));
    let Some((run, ended)) = found else { return Err(FollowError::Dropped.into()) };
    Ok(Ending { key: errand.key.clone(), run, ended })
}

/// Who cancels a request stops its run. Requests are also cancelled at the end of everything, and that
/// stops nothing.
async fn stop_if_cancelled(session: Session, cancelled: CancellationToken, gone: CancellationToken) {
    cancelled.cancelled().await;
    if !gone.is_cancelled() {
        let _ = session.stop(StopBy::Person).await;
    }
}
