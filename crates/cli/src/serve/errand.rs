//! A run that a request awaits: begun by `ask`, taken up by `resume`, or gone on with once the client
//! brought its answers.

use windlass::Session;
use windlass::door::{Awaited, FollowError};
use windlass_runtime::{OpenApprovals, Standing, Subscription};
use windlass_runtime::{OpenError, Stopped};
use windlass_store::{SessionRow, StoreError};
use windlass_tools::looks_like_key;
use windlass_vocab::{Answer, MessageId, QuestionAsked, RunEnded, RunId, SessionId, StopBy};

use super::arguments::{Ask, Name};
use super::client::Client;
use super::live::Live;
use super::premises::{Hired, Premises, Purpose};
use crate::commands::session::{fresh_key, is_open};
use crate::error::CommandError;
use crate::exit::Exit;

/// A run that is awaited, and its open session.
pub(super) struct Errand {
    pub(super) key: String,
    pub(super) hired: Hired,
    pub(super) session: Session,
    pub(super) events: Subscription,
    pub(super) awaited: Awaited,
}

/// How a run that was awaited ended.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) key: String,
    pub(super) run: RunId,
    pub(super) ended: RunEnded,
}

/// What a request to say something leads to.
pub(super) enum Begun {
    /// It was said before, and answered.
    Over(Box<Ending>),
    /// Its run is under way.
    Underway(Box<Errand>),
}

/// Says something, as `windlass run` does: in the session it names, in the one its message id names, or in
/// a new one.
pub(super) async fn say(premises: &Premises, live: &Live, ask: Ask, client: &Client) -> Result<Begun, CommandError> {
    // Another Windlass that tries a call again means the same message.
    let message = ask.message_id.map(|Name(id)| id).or_else(|| client.effect.clone()).map(MessageId);
    let of_message = || message.as_ref().map(|id| format!("message:{id}"));
    let named = ask.session.map(|Name(key)| key).or_else(of_message);
    let known = match &named {
        Some(key) => premises.found(key).await?,
        None => None,
    };
    if let (Some(row), Some(id)) = (&known, &message)
        && let Some((run, ended)) = premises.end_of(row, id).await?
    {
        return Ok(Begun::Over(Box::new(Ending { key: row.key.clone(), run, ended })));
    }
    let key = named.unwrap_or_else(|| fresh_key("ask"));
    let parked = match &known {
        Some(row) => live.take(row.session, &key)?,
        None => None,
    };
    let mut errand = match parked {
        Some(errand) => errand,
        None => {
            let hired = premises.agent(known.as_ref(), Purpose::Say, client.attendance()).await?;
            refuse_secret(&hired, "the session's name", &key)?;
            let (session, events) =
                hired.agent.session_followed(&key).await.map_err(|error| not_opened(&key, error))?;
            live.follow(&session);
            // What is awaited is known once it is said.
            Errand { key, hired, session, events, awaited: Awaited::Run(RunId::default()) }
        }
    };
    match errand.tell(premises, known.as_ref(), message, ask.prompt).await {
        Ok(()) => Ok(Begun::Underway(Box::new(errand))),
        Err(error) => {
            errand.end(live).await;
            Err(error)
        }
    }
}

/// Takes up the open run of a session, as `windlass resume` does.
pub(super) async fn take_up(
    premises: &Premises,
    live: &Live,
    Name(key): &Name,
    client: &Client,
) -> Result<Errand, CommandError> {
    let row = premises.named(key).await?;
    if let Some(parked) = live.take(row.session, key)? {
        return Ok(parked);
    }
    let nothing = || CommandError::new(Exit::Usage, format!("nothing to resume: no run of session `{key}` is open"));
    if !is_open(&row) {
        return Err(nothing());
    }
    let hired = premises.agent(Some(&row), Purpose::GoOn, client.attendance()).await?;
    let awaited = Awaited::Run(RunId(row.runs));
    let errand = open(live, hired, row.session, row.key, awaited, OpenApprovals::JudgedAgain).await?;
    if errand.session.standing() == Standing::Idle {
        errand.end(live).await;
        return Err(nothing());
    }
    Ok(errand)
}

/// Opens a session that is there, for the run that is awaited.
pub(super) async fn open(
    live: &Live,
    hired: Hired,
    session: SessionId,
    key: String,
    awaited: Awaited,
    approvals: OpenApprovals,
) -> Result<Errand, CommandError> {
    let (session, events) = hired.agent.existing(session, approvals).await.map_err(|error| not_opened(&key, error))?;
    live.follow(&session);
    Ok(Errand { key, hired, session, events, awaited })
}

fn not_opened(key: &str, error: OpenError) -> CommandError {
    match error {
        OpenError::Store(StoreError::Busy { .. }) => busy(key),
        OpenError::Store(_) | OpenError::Newer { .. } | OpenError::Survivors { .. } => error.into(),
    }
}

/// Names are recorded as they are; none may tell a secret (X1).
fn refuse_secret(hired: &Hired, what: &str, name: &str) -> Result<(), CommandError> {
    let secret = hired.agent.hub().has_secret(name) || looks_like_key(name);
    if secret { Err(CommandError::secret_in(what)) } else { Ok(()) }
}

/// Somebody works in the session, and one is enough.
pub(super) fn busy(key: &str) -> CommandError {
    let text = format!(
        "session `{key}` is busy with another request: wait until that is answered, `stop` it, or take another session"
    );
    CommandError::new(Exit::Failed, text)
}

impl Errand {
    /// Gives the run an answer, unless the question is settled already.
    pub(super) async fn answer(&mut self, asked: &QuestionAsked, answer: Answer) -> Result<(), CommandError> {
        if self.session.answer(asked.question, answer.clone()).await.map_err(FollowError::from)? {
            self.hired.keep_rule(asked, &answer).await;
        }
        Ok(())
    }

    /// Gives the session a message; its run is what is awaited then. The same words to a run that is not
    /// over mean the same message.
    async fn tell(
        &mut self,
        premises: &Premises,
        known: Option<&SessionRow>,
        message: Option<MessageId>,
        prompt: String,
    ) -> Result<(), CommandError> {
        let recorded = self.hired.agent.hub().scrub(&prompt).into_owned();
        let unfinished = match (&message, known) {
            (None, Some(row)) => premises.unfinished_message(row, &recorded).await?,
            (Some(_), _) | (None, None) => None,
        };
        let message = message.or(unfinished).unwrap_or_else(|| MessageId(uuid::Uuid::now_v7().to_string()));
        refuse_secret(&self.hired, "the message's id", &message.0)?;
        let sent = self.session.send(message.clone(), prompt).await.map_err(FollowError::from)?;
        self.awaited = Awaited::after(sent, message);
        Ok(())
    }

    /// Stops the run as a person would, and waits until that is recorded.
    pub(super) async fn stop(&self) -> Result<Stopped, CommandError> {
        let stopped = self.session.stop(StopBy::Person).await.map_err(FollowError::from)?;
        self.session.settled().await;
        Ok(stopped)
    }

    /// Lets go of the session; a run that is open stays open.
    pub(super) async fn end(self, live: &Live) {
        let id = self.session.id();
        self.session.close().await;
        live.forget(id);
    }
}
