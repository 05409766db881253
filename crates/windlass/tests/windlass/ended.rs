//! Finding how a run ended, without reading the whole journal before it.

use std::sync::Arc;

use windlass::door::{AwaitedEnd, end_awaited};
use windlass_machine::preset;
use windlass_store::{Batch, Entry, Head, MemoryStore, SessionLog as _, Writer};
use windlass_vocab::{
    Attendance, EndReason, MessageAccepted, Record, RunEnded, RunId, RunStarted, SessionId, SessionOpened, Timestamp,
    Usage,
};

struct Journal {
    store: MemoryStore,
    writer: Writer,
}

impl Journal {
    async fn new() -> Self {
        let session: SessionId = "0198f3a0-0000-7000-8000-000000000001".parse().expect("an id");
        let mut journal = Self { store: MemoryStore::new(), writer: Writer::new(session, Head::default(), 1) };
        let opened = SessionOpened {
            owner: "me".into(),
            key: "k".into(),
            workspace: None,
            parent: None,
            version: String::new(),
            forked_from: vec![],
        };
        journal.add(None, [opened.into()]).await;
        journal
    }

    async fn add(&mut self, run: Option<u32>, records: impl IntoIterator<Item = Record>) {
        let entry = |record| Entry { run: run.map(RunId), turn: None, record };
        let entries = records.into_iter().map(entry).collect();
        let sealed = self.writer.seal(Batch { at: Timestamp(0), entries, ..Batch::default() }).expect("sealed");
        self.store.append(sealed).await.expect("stored");
    }

    /// Writes a message that begins a run, in the batch that the machine would write.
    async fn begin(&mut self, id: &str, run: u32) {
        let accepted = Entry::new(accepted(id));
        let started = Entry { run: Some(RunId(run)), turn: None, record: started(run, None) };
        let batch = Batch { at: Timestamp(0), entries: vec![accepted, started], ..Batch::default() };
        let sealed = self.writer.seal(batch).expect("sealed");
        self.store.append(sealed).await.expect("stored");
    }

    async fn end(&self, mut awaited: AwaitedEnd) -> (Option<String>, AwaitedEnd) {
        let end = end_awaited(&self.store, self.writer.session, &mut awaited).await.expect("read");
        if let Some((envelope, ended)) = &end {
            assert_eq!(Arc::clone(envelope).record, Record::from(ended.clone()));
        }
        (end.map(|(_, ended)| ended.answer), awaited)
    }
}

fn accepted(id: &str) -> Record {
    MessageAccepted::new(id, "go").into()
}

fn started(run: u32, retry_of: Option<u32>) -> Record {
    RunStarted {
        run: RunId(run),
        policy: preset("default").expect("a preset"),
        agent: String::new(),
        chain: vec![],
        deadline: None,
        attendance: Attendance::Unattended,
        retry_of: retry_of.map(RunId),
        output: None,
        server: None,
        models: Vec::new(),
        role_chains: Default::default(),
        compact: false,
        began: None,
        spent_today: None,
        spent_by_agent: None,
        system: None,
    }
    .into()
}

fn ended(answer: &str) -> Record {
    RunEnded {
        reason: EndReason::Failed,
        answer: answer.into(),
        failure: None,
        tools: Default::default(),
        turns: 1,
        usage: Usage::default(),
        cost: None,
        wants_title: false,
        output: None,
        cut_off: false,
        dropped: Vec::new(),
        changes: None,
    }
    .into()
}

fn message(id: &str) -> AwaitedEnd {
    AwaitedEnd::Message(id.into())
}

#[tokio::test]
async fn a_run_that_is_over_has_its_end_and_an_open_one_has_none() {
    // proves J6
    let mut journal = Journal::new().await;
    journal.begin("m1", 1).await;
    assert_eq!(journal.end(message("m1")).await, (None, AwaitedEnd::Run(RunId(1))));
    assert_eq!(journal.end(message("m0")).await, (None, message("m0")), "it was never taken up");
    journal.add(Some(1), [accepted("m2")]).await;
    journal.add(Some(1), [ended("one")]).await;
    // Adds more than a page of other records after it.
    for run in 2..60 {
        journal.begin(&format!("n{run}"), run).await;
        journal.add(Some(run), [ended("other")]).await;
    }
    for awaited in [message("m1"), message("m2"), AwaitedEnd::Run(RunId(1))] {
        assert_eq!(journal.end(awaited).await, (Some("one".to_owned()), AwaitedEnd::Run(RunId(1))));
    }
    assert_eq!(journal.end(AwaitedEnd::Run(RunId(60))).await.0, None);
}

#[tokio::test]
async fn a_message_is_answered_by_the_newest_try_of_its_run() {
    // proves J6, J3
    let mut journal = Journal::new().await;
    journal.begin("m1", 1).await;
    journal.add(Some(1), [ended("one")]).await;
    journal.add(Some(2), [started(2, Some(1))]).await;
    assert_eq!(journal.end(message("m1")).await, (None, AwaitedEnd::Run(RunId(2))), "the new try is open");
    journal.add(Some(2), [ended("two")]).await;
    journal.add(Some(3), [started(3, Some(2))]).await;
    journal.add(Some(3), [ended("three")]).await;
    journal.begin("m2", 4).await;
    journal.add(Some(4), [ended("four")]).await;
    assert_eq!(journal.end(message("m1")).await, (Some("three".to_owned()), AwaitedEnd::Run(RunId(3))));
    assert_eq!(journal.end(AwaitedEnd::Run(RunId(1))).await.0.as_deref(), Some("one"), "asked for itself it is itself");
}
