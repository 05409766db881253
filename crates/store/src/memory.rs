//! A store in memory that lives as long as its handles: for tests, and for sessions that need not be kept.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_vocab::{CommandId, ControlOutcome, Envelope, Hash, MessageId, Record, SessionId, Timestamp};

use crate::line::{self, BlobMap};
use crate::listing::RowFilter;
use crate::memory_rules::MemoryRules;
use crate::projections::{SessionFold, project};
use crate::verify::{BatchNote, Chain};
use crate::{
    AddressedCommand, Addressee, AllowedRule, AppendError, Blobs, BoxFuture, COMMAND_KEPT_MS, ChildFilter,
    CommandState, ControlLane, ForgetOutcome, Head, Inbox, Inconsistency, KeepOutcome, KeptRule, Lease, LeaseHolder,
    Loss, Ownership, PutOutcome, SealedBatch, SentCommand, SessionCursor, SessionHolder, SessionList, SessionLog,
    SessionQuery, SessionRow, StoreError, StoredBatch, TakenCommand, UserRuleId, UserRules, WaitingMessage,
};

/// Journals in memory. Clones share them.
#[derive(Clone, Default)]
pub struct MemoryStore {
    journals: Arc<Mutex<MemoryJournals>>,
}

#[derive(Default)]
struct MemoryJournals {
    sessions: HashMap<SessionId, MemorySession>,
    blobs: BlobMap,
    claimed: HashMap<SessionId, LeaseHolder>,
    commands: Vec<QueuedCommand>,
    rules: MemoryRules,
}

/// A command that was sent; they are kept in the order of arrival.
struct QueuedCommand {
    addressed: AddressedCommand,
    expires: Timestamp,
    state: CommandState,
}

#[derive(Default)]
struct MemorySession {
    batches: Vec<StoredBatch>,
    fold: Option<SessionFold>,
    accepted: HashSet<MessageId>,
    waiting: Vec<WaitingMessage>,
}

impl MemorySession {
    fn head(&self) -> Head {
        self.batches.last().map(|batch| batch.head).unwrap_or_default()
    }

    fn holds(&self, sealed: &SealedBatch) -> bool {
        let first = sealed.expected.seq + 1;
        self.batches.iter().rev().any(|batch| batch.seq == first && batch.head.hash == sealed.head.hash)
    }

    fn store(&mut self, sealed: SealedBatch) {
        for envelope in &sealed.envelopes {
            if let Record::MessageAccepted(message) = &envelope.record {
                self.accepted.insert(message.message_id.clone());
            }
        }
        self.waiting.retain(|w| !sealed.takes.contains(&w.message_id) && !self.accepted.contains(&w.message_id));
        self.batches.push(StoredBatch {
            seq: sealed.expected.seq + 1,
            head: sealed.head,
            bytes: sealed.bytes,
            blobs: sealed.blobs.iter().map(|(hash, _)| *hash).collect(),
        });
    }
}

impl MemoryJournals {
    fn append(&mut self, sealed: SealedBatch) -> Result<(), AppendError> {
        let session = self.sessions.entry(sealed.session).or_default();
        if session.head() != sealed.expected {
            if session.holds(&sealed) {
                return Ok(());
            }
            if let Some(holder) = self.claimed.get(&sealed.session) {
                holder.lose();
            }
            return Err(AppendError::Conflict);
        }
        Ok(self.write(sealed.session, vec![sealed])?)
    }

    fn restore(&mut self, batches: Vec<SealedBatch>) -> Result<(), StoreError> {
        let Some(session) = batches.first().map(|batch| batch.session) else { return Ok(()) };
        if self.sessions.get(&session).is_some_and(|known| !known.batches.is_empty()) {
            return Err(StoreError::Exists { session });
        }
        self.write(session, batches)
    }

    fn write(&mut self, id: SessionId, batches: Vec<SealedBatch>) -> Result<(), StoreError> {
        let before = self.sessions.get(&id).and_then(|session| session.fold.clone());
        let envelopes = batches.iter().flat_map(|batch| &batch.envelopes).map(AsRef::as_ref);
        let old_row = before.as_ref().map(|fold| fold.row.clone());
        let fold = project(before, envelopes);
        if let Some(SessionFold { row, .. }) = &fold
            && !old_row.is_some_and(|old_row| old_row.has_name_of(row))
            && self.find(&row.owner, &row.key).is_some_and(|other| other != id)
        {
            return Err(StoreError::KeyTaken { key: row.key.clone() });
        }
        self.blobs.extend(batches.iter().flat_map(|batch| batch.blobs.iter().cloned()));
        let session = self.sessions.entry(id).or_default();
        session.fold = fold;
        batches.into_iter().for_each(|batch| session.store(batch));
        Ok(())
    }

    fn rows(&self) -> impl Iterator<Item = &SessionRow> {
        self.sessions.values().filter_map(|session| session.fold.as_ref()).map(|fold| &fold.row)
    }

    fn list(&self, owner: &str, query: &SessionQuery) -> SessionList {
        let filter = RowFilter::new(query);
        let own = || self.rows().filter(|row| row.owner == owner);
        let known: HashSet<SessionId> = own().map(|row| row.session).collect();
        let is_listed = |row: &&SessionRow| {
            let is_child = row.parent().is_some_and(|(parent, _)| known.contains(&parent));
            query.after.is_none_or(|after| SessionCursor::of(row) < after)
                && (query.children == ChildFilter::Included || !is_child)
                && filter.admits((*row).into())
        };
        let mut rows: Vec<&SessionRow> = own().filter(is_listed).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(SessionCursor::of(row)));
        SessionList::cut(rows.into_iter().cloned().collect(), query.limit)
    }

    fn find(&self, owner: &str, key: &str) -> Option<SessionId> {
        self.rows().find(|row| row.owner == owner && row.key == key).map(|row| row.session)
    }

    fn batches(&self, id: SessionId) -> &[StoredBatch] {
        self.sessions.get(&id).map(|session| session.batches.as_slice()).unwrap_or_default()
    }

    fn read(&self, id: SessionId, after_seq: u64) -> Result<Vec<Envelope>, StoreError> {
        let mut records = self.decode(id, self.batches(id).iter().filter(|batch| batch.head.seq > after_seq))?;
        records.retain(|envelope| envelope.seq > after_seq);
        Ok(records)
    }

    fn read_some(&self, id: SessionId, after_seq: u64, most_bytes: usize) -> Result<Vec<Envelope>, StoreError> {
        let mut bytes_read = 0;
        let is_asked = |batch: &&StoredBatch| {
            let is_asked = bytes_read <= most_bytes;
            bytes_read += batch.bytes.len();
            is_asked
        };
        let behind = self.batches(id).iter().filter(|batch| batch.head.seq > after_seq);
        let mut records = self.decode(id, behind.take_while(is_asked))?;
        records.retain(|envelope| envelope.seq > after_seq);
        Ok(records)
    }

    fn read_before(&self, id: SessionId, before_seq: u64, most: u32) -> Result<Vec<Envelope>, StoreError> {
        let batches = self.batches(id);
        let end = batches.partition_point(|batch| batch.head.seq < before_seq);
        let start = end.saturating_sub(usize::try_from(most).unwrap_or(usize::MAX));
        self.decode(id, &batches[start..end])
    }

    /// A chain positioned after the last batch before the one that begins with the record `seq`.
    fn chain_before(&self, id: SessionId, seq: u64) -> Chain {
        let before = self.batches(id).iter().rev().find(|batch| batch.seq < seq);
        Chain::behind(id, before.map(|batch| batch.head).unwrap_or_default())
    }

    fn decode<'a>(
        &self,
        id: SessionId,
        batches: impl IntoIterator<Item = &'a StoredBatch>,
    ) -> Result<Vec<Envelope>, StoreError> {
        let (mut records, mut chain) = (Vec::new(), None);
        for batch in batches {
            let bodies = line::bodies_elsewhere(&batch.bytes)
                .filter_map(|hash| Some((hash, Arc::clone(self.blobs.get(&hash)?))))
                .collect();
            let noted = BatchNote { seq: batch.seq, head: batch.head };
            let chain = chain.get_or_insert_with(|| self.chain_before(id, batch.seq));
            chain.read_stored(noted, &batch.bytes, &bodies, &mut records)?;
        }
        Ok(records)
    }

    fn put(&mut self, session: SessionId, message: WaitingMessage) -> PutOutcome {
        let session = self.sessions.entry(session).or_default();
        let known = session.accepted.contains(&message.message_id)
            || session.waiting.iter().any(|waiting| waiting.message_id == message.message_id);
        if known {
            return PutOutcome::AlreadyThere;
        }
        session.waiting.push(message);
        PutOutcome::Added
    }

    fn send_command(&mut self, session: SessionId, sent: SentCommand) -> Addressee {
        if !self.claimed.contains_key(&session) {
            return Addressee::Nobody;
        }
        let SentCommand { id, control, at, expires } = sent;
        self.commands.retain(|command| command.expires.plus_ms(COMMAND_KEPT_MS) >= at);
        if let Some(known) = self.commands.iter().find(|command| command.addressed.id == id) {
            return Addressee::Owner { epoch: known.addressed.epoch };
        }
        let epoch = self.sessions.get(&session).map(MemorySession::head).unwrap_or_default().epoch;
        let addressed = AddressedCommand { id, session, epoch, control };
        self.commands.push(QueuedCommand { addressed, expires, state: CommandState::Waiting });
        Addressee::Owner { epoch }
    }

    fn command(&mut self, id: &CommandId) -> Option<&mut QueuedCommand> {
        self.commands.iter_mut().find(|command| command.addressed.id == *id)
    }

    fn take_command(&mut self, id: &CommandId) -> TakenCommand {
        match self.command(id) {
            Some(command) if command.state == CommandState::Waiting => {
                command.state = CommandState::Taken;
                TakenCommand::Yes
            }
            Some(_) | None => TakenCommand::No,
        }
    }

    fn settle_command(&mut self, id: &CommandId, outcome: ControlOutcome) {
        if let Some(command) = self.command(id).filter(|command| command.state == CommandState::Taken) {
            command.state = CommandState::Settled(outcome);
        }
    }

    fn command_state(&mut self, id: &CommandId) -> CommandState {
        self.command(id).map_or(CommandState::Gone, |command| command.state)
    }

    fn withdraw_command(&mut self, id: &CommandId) -> CommandState {
        let stood = self.command_state(id);
        if stood != CommandState::Taken {
            self.commands.retain(|command| command.addressed.id != *id);
        }
        stood
    }

    fn remove(&mut self, session: SessionId) -> Result<(), StoreError> {
        if self.claimed.contains_key(&session) {
            return Err(busy());
        }
        if self.sessions.get(&session).is_none_or(|known| known.batches.is_empty()) {
            return Err(StoreError::Missing);
        }
        self.sessions.remove(&session);
        self.commands.retain(|command| command.addressed.session != session);
        let used: HashSet<Hash> = self
            .sessions
            .values()
            .flat_map(|session| &session.batches)
            .flat_map(|batch| batch.blobs.iter().copied())
            .collect();
        self.blobs.retain(|hash, _| used.contains(hash));
        Ok(())
    }
}

fn busy() -> StoreError {
    StoreError::Busy { holder: "this process".into() }
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn journals(&self) -> MutexGuard<'_, MemoryJournals> {
        self.journals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("sessions", &self.journals().sessions.len()).finish_non_exhaustive()
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl SessionLog for MemoryStore {
    fn append(&self, sealed: SealedBatch) -> BoxFuture<'_, Result<(), AppendError>> {
        ready(self.journals().append(sealed))
    }

    fn restore(&self, batches: Vec<SealedBatch>) -> BoxFuture<'_, Result<(), AppendError>> {
        ready(self.journals().restore(batches).map_err(AppendError::from))
    }

    fn read(&self, session: SessionId, after_seq: u64) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        ready(self.journals().read(session, after_seq))
    }

    fn read_some(
        &self,
        session: SessionId,
        after_seq: u64,
        most_bytes: usize,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        ready(self.journals().read_some(session, after_seq, most_bytes))
    }

    fn read_before(
        &self,
        session: SessionId,
        before_seq: u64,
        most: u32,
    ) -> BoxFuture<'_, Result<Vec<Envelope>, StoreError>> {
        ready(self.journals().read_before(session, before_seq, most))
    }

    fn last_records(&self, sessions: Vec<SessionId>) -> BoxFuture<'_, Result<Vec<u64>, StoreError>> {
        let journals = self.journals();
        let last = |session: &SessionId| journals.sessions.get(session).map_or(0, |session| session.head().seq);
        ready(Ok(sessions.iter().map(last).collect()))
    }

    fn head(&self, session: SessionId) -> BoxFuture<'_, Result<Head, StoreError>> {
        ready(Ok(self.journals().sessions.get(&session).map(MemorySession::head).unwrap_or_default()))
    }

    fn find<'a>(&'a self, owner: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<SessionId>, StoreError>> {
        ready(Ok(self.journals().find(owner, key)))
    }

    fn row(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionRow>, StoreError>> {
        ready(Ok(self.journals().rows().find(|row| row.session == session).cloned()))
    }

    fn sessions<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Vec<SessionRow>, StoreError>> {
        let mut rows: Vec<_> = self.journals().rows().filter(|row| row.owner == owner).cloned().collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.updated, row.session)));
        ready(Ok(rows))
    }

    fn list<'a>(&'a self, owner: &'a str, query: SessionQuery) -> BoxFuture<'a, Result<SessionList, StoreError>> {
        ready(Ok(self.journals().list(owner, &query)))
    }

    fn session_count<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<u64, StoreError>> {
        let count = self.journals().rows().filter(|row| row.owner == owner).count();
        ready(Ok(u64::try_from(count).unwrap_or(u64::MAX)))
    }

    fn batches(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<StoredBatch>, StoreError>> {
        ready(Ok(self.journals().batches(session).to_vec()))
    }

    fn check(&self) -> BoxFuture<'_, Result<Vec<Inconsistency>, StoreError>> {
        ready(Ok(Vec::new()))
    }

    /// Always `None`: memory is lost with the process, so nobody is left to report it to.
    fn loss(&self) -> Option<Loss> {
        None
    }

    fn accept_loss(&self) -> BoxFuture<'_, Result<Option<Loss>, StoreError>> {
        ready(Ok(None))
    }

    fn remove(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        ready(self.journals().remove(session))
    }
}

/// Releases the session when dropped.
struct MemoryClaim {
    store: MemoryStore,
    session: SessionId,
}

impl Drop for MemoryClaim {
    fn drop(&mut self) {
        self.store.journals().claimed.remove(&self.session);
    }
}

impl Ownership for MemoryStore {
    fn claim(&self, session: SessionId) -> BoxFuture<'_, Result<Lease, StoreError>> {
        let mut journals = self.journals();
        if journals.claimed.contains_key(&session) {
            return ready(Err(busy()));
        }
        let head = journals.sessions.get(&session).map(MemorySession::head).unwrap_or_default();
        let (lease, holder) = Lease::new(session, head, MemoryClaim { store: self.clone(), session });
        journals.claimed.insert(session, holder);
        ready(Ok(lease))
    }

    fn is_claimed(&self, session: SessionId) -> BoxFuture<'_, Result<bool, StoreError>> {
        ready(Ok(self.journals().claimed.contains_key(&session)))
    }

    fn holder(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionHolder>, StoreError>> {
        let holder = SessionHolder { process: Some(std::process::id()) };
        ready(Ok(self.journals().claimed.contains_key(&session).then_some(holder)))
    }
}

impl Inbox for MemoryStore {
    fn put(&self, session: SessionId, message: WaitingMessage) -> BoxFuture<'_, Result<PutOutcome, StoreError>> {
        ready(Ok(self.journals().put(session, message)))
    }

    fn waiting(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<WaitingMessage>, StoreError>> {
        ready(Ok(self.journals().sessions.get(&session).map(|session| session.waiting.clone()).unwrap_or_default()))
    }

    fn drop_waiting(&self, session: SessionId) -> BoxFuture<'_, Result<usize, StoreError>> {
        let dropped = self.journals().sessions.get_mut(&session).map(|session| std::mem::take(&mut session.waiting));
        ready(Ok(dropped.unwrap_or_default().len()))
    }
}

impl ControlLane for MemoryStore {
    fn send_command(&self, session: SessionId, command: SentCommand) -> BoxFuture<'_, Result<Addressee, StoreError>> {
        ready(Ok(self.journals().send_command(session, command)))
    }

    fn commands(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<AddressedCommand>, StoreError>> {
        let journals = self.journals();
        let waits = |command: &&QueuedCommand| command.state == CommandState::Waiting && command.expires > now;
        ready(Ok(journals.commands.iter().filter(waits).map(|command| command.addressed.clone()).collect()))
    }

    fn take_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<TakenCommand, StoreError>> {
        ready(Ok(self.journals().take_command(id)))
    }

    fn settle_command<'a>(
        &'a self,
        id: &'a CommandId,
        outcome: ControlOutcome,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.journals().settle_command(id, outcome);
        ready(Ok(()))
    }

    fn command_state<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>> {
        ready(Ok(self.journals().command_state(id)))
    }

    fn withdraw_command<'a>(&'a self, id: &'a CommandId) -> BoxFuture<'a, Result<CommandState, StoreError>> {
        ready(Ok(self.journals().withdraw_command(id)))
    }
}

impl Blobs for MemoryStore {
    fn blob(&self, hash: Hash) -> BoxFuture<'_, Result<Option<Arc<[u8]>>, StoreError>> {
        ready(Ok(self.journals().blobs.get(&hash).cloned()))
    }
}

impl UserRules for MemoryStore {
    fn keep_rule(&self, allowed: AllowedRule) -> BoxFuture<'_, Result<KeepOutcome, StoreError>> {
        ready(Ok(self.journals().rules.keep(allowed)))
    }

    fn rules_of<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Vec<KeptRule>, StoreError>> {
        ready(Ok(self.journals().rules.of(user)))
    }

    fn forget_rule<'a>(&'a self, user: &'a str, id: UserRuleId) -> BoxFuture<'a, Result<ForgetOutcome, StoreError>> {
        ready(Ok(self.journals().rules.forget(user, id)))
    }
}
