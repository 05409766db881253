//! What model calls were charged (M7), folded from the journals. There is no table of it, so that a turn stays one
//! write; journals are read from their end, and only as far back as asked.
//!
//! A removed session counts no more. What a fork copied counts in the session it was made in, and what was done before
//! an import counts where it was done.

use windlass_vocab::{
    CacheReport, Envelope, ModelName, NanoMoney, Record, RunId, RunStarted, SessionId, Spending, Timestamp, Usage,
};

use crate::{ReverseRecords, SessionRow, SessionStatus, Store, StoreError};

/// What one model call was charged: a reply, or an attempt that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// When it was recorded.
    pub at: Timestamp,
    /// The session.
    pub session: SessionId,
    /// The run.
    pub run: Option<RunId>,
    /// The agent of the run.
    pub agent: String,
    /// The model.
    pub model: ModelName,
    /// The address of its server, where that is recorded.
    pub server: Option<String>,
    /// The tokens.
    pub usage: Usage,
    /// The cost in US dollars, where the price was known.
    pub cost: Option<NanoMoney>,
    /// Whether it was read from the provider's cache.
    pub cache: Option<CacheReport>,
}

/// The charges of several sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Charges {
    /// The charges; those of one session in order.
    pub charges: Vec<Charge>,
    /// The sessions whose journal is damaged, so that their charges are missing.
    pub unreadable: Vec<(SessionRow, StoreError)>,
}

impl Charges {
    /// Returns the sum.
    #[must_use]
    pub fn spending(&self) -> Spending {
        let mut sum = Spending::default();
        self.charges.iter().for_each(|charge| sum += Spending::of_call(&charge.usage, charge.cost));
        sum
    }
}

/// Returns what all sessions of an owner were charged from `since` on.
pub async fn charges(store: &dyn Store, owner: &str, since: Timestamp) -> Result<Charges, StoreError> {
    let mut all = Charges::default();
    for row in store.sessions(owner).await? {
        if !is_open(row.status) && row.updated < since {
            continue;
        }
        match of_session(store, row.session, since).await {
            Ok(found) => all.charges.extend(found.charges),
            Err(error @ (StoreError::Damaged { .. } | StoreError::Broken { .. })) => all.unreadable.push((row, error)),
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

/// Whether a session has an open run. The row of one is as old as its last question or message; its calls may be newer.
pub(crate) const fn is_open(status: SessionStatus) -> bool {
    match status {
        SessionStatus::Processing | SessionStatus::ToolLoop | SessionStatus::Waiting => true,
        SessionStatus::Idle | SessionStatus::Failed => false,
    }
}

/// The charges of one session, in order.
#[derive(Debug, Default)]
pub(crate) struct SessionCharges {
    pub(crate) charges: Vec<Charge>,
    /// The beginning of its last run.
    last_run: Option<Box<RunStarted>>,
    /// The last record that was read.
    pub(crate) seq: u64,
}

/// Returns the charges of one session.
pub(crate) async fn of_session(
    store: &dyn Store,
    session: SessionId,
    since: Timestamp,
) -> Result<SessionCharges, StoreError> {
    let copied = copied_records(store, session).await?;
    let mut reader = ChargeReader::new(since);
    let mut records = ReverseRecords::new(store, session);
    while let Some(envelope) = records.next().await? {
        if envelope.seq <= copied || reader.read(envelope) == ReadOn::No {
            break;
        }
    }
    Ok(reader.found())
}

/// Adds the charges of the records that came since.
pub(crate) async fn add_new(
    known: &mut SessionCharges,
    store: &dyn Store,
    session: SessionId,
    since: Timestamp,
) -> Result<(), StoreError> {
    let mut reader = ChargeReader::new(since);
    let mut is_whole = false;
    for envelope in store.read(session, known.seq).await?.into_iter().rev() {
        if reader.read(envelope) == ReadOn::No {
            is_whole = true;
            break;
        }
    }
    if is_whole {
        *known = reader.found();
        return Ok(());
    }
    if let Some(started) = &known.last_run {
        reader.begin_run(started);
    }
    let new = reader.found();
    known.charges.extend(new.charges);
    known.last_run = new.last_run.or(known.last_run.take());
    known.seq = new.seq.max(known.seq);
    Ok(())
}

/// Returns the number of the last record that a fork copied; 0 where the session is no fork.
async fn copied_records(store: &dyn Store, session: SessionId) -> Result<u64, StoreError> {
    let last = store.head(session).await?.seq;
    let mut before = 4;
    loop {
        let first = store.read_before(session, before, u32::MAX).await?.into_iter().next();
        match first.map(|envelope| envelope.record) {
            Some(Record::SessionOpened(opened)) => return Ok(opened.forked_from.last().map_or(0, |origin| origin.seq)),
            Some(_) => return Ok(0),
            None if before > last => return Ok(0),
            None => before *= 4,
        }
    }
}

#[derive(PartialEq, Eq)]
enum ReadOn {
    Yes,
    No,
}

/// Collects charges from the newest record backwards.
struct ChargeReader {
    since: Timestamp,
    /// Newest first.
    charges: Vec<Charge>,
    /// How many of the last ones belong to the run whose beginning was not reached yet.
    of_run: usize,
    last_run: Option<Box<RunStarted>>,
    /// The newest record.
    seq: u64,
}

impl ChargeReader {
    const fn new(since: Timestamp) -> Self {
        Self { since, charges: Vec::new(), of_run: 0, last_run: None, seq: 0 }
    }

    fn found(mut self) -> SessionCharges {
        self.charges.reverse();
        SessionCharges { charges: self.charges, last_run: self.last_run, seq: self.seq }
    }

    fn read(&mut self, envelope: Envelope) -> ReadOn {
        let Envelope { at, session, run, record, seq, .. } = envelope;
        self.seq = self.seq.max(seq);
        let mut add = |model: ModelName, usage: Usage, cost: Option<NanoMoney>, cache: Option<Box<CacheReport>>| {
            if at >= self.since {
                self.charges.push(Charge {
                    at,
                    session,
                    run,
                    agent: String::new(),
                    model,
                    server: None,
                    usage,
                    cost,
                    cache: cache.map(|report| *report),
                });
                self.of_run += 1;
            }
        };
        match record {
            Record::ModelReplied(replied) => add(replied.model, replied.usage, replied.cost, replied.cache),
            Record::AttemptFailed(failed) => {
                if let Some(usage) = failed.usage {
                    add(failed.model, usage, None, None);
                }
            }
            Record::RunStarted(started) => {
                self.begin_run(&started);
                self.last_run.get_or_insert_with(|| Box::new(started));
                if at < self.since {
                    return ReadOn::No;
                }
            }
            // What was done before belongs to where it was imported from.
            Record::SessionChanged(changed) if changed.imported.is_some() => return ReadOn::No,
            _ => {}
        }
        ReadOn::Yes
    }

    /// Completes the charges of a run with what its first record holds: the agent, and the prices for attempts that
    /// failed.
    fn begin_run(&mut self, started: &RunStarted) {
        let first = self.charges.len() - self.of_run;
        for charge in &mut self.charges[first..] {
            charge.agent.clone_from(&started.agent);
            charge.server = started.server_of(&charge.model).map(str::to_owned);
            let prices = started.model(&charge.model).and_then(|model| model.prices);
            charge.cost = charge.cost.or(prices.map(|prices| prices.cost_of_call(&charge.usage)));
        }
        self.of_run = 0;
    }
}
