//! The floors: programs that do only the minimum that the same requests, and the same commits, need.

use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use rusqlite::{Connection, params};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::oneshot;
use windlass_provider::WireKind;
use windlass_store::Durability;

use crate::trace::{Trace, TraceStep};

/// The HTTP client of a floor.
#[derive(Clone, Debug)]
pub struct FloorWire {
    client: Client,
    url: Url,
}

impl FloorWire {
    /// One keep-alive client for Chat Completions at `base_url`.
    pub fn new(base_url: &str) -> Result<Self> {
        Self::over(WireKind::Chat, base_url)
    }

    /// One keep-alive client for the API at `base_url`.
    pub fn over(wire: WireKind, base_url: &str) -> Result<Self> {
        let path = match wire {
            WireKind::Chat => "chat/completions",
            WireKind::Messages => "messages",
            WireKind::Responses => "responses",
        };
        Ok(Self { client: plain_client()?, url: format!("{base_url}/{path}").parse()? })
    }

    /// Makes a request and reads the answer to its end. The body is copied once: a loop that shared its bodies
    /// with a thousand others would do less than any real client must.
    pub async fn request(&self, body: &Bytes) -> Result<()> {
        let body = Bytes::copy_from_slice(body);
        let request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        let mut response = request.send().await?.error_for_status()?;
        let mut drained = 0;
        while let Some(bytes) = response.chunk().await? {
            drained += bytes.len();
        }
        ensure!(drained > 0, "the server answered with nothing");
        Ok(())
    }
}

/// Returns a client for plain addresses. As in Windlass: they need no certificates, and loading them is not part of a floor.
pub fn plain_client() -> Result<Client> {
    let tls = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    Ok(Client::builder().tls_backend_preconfigured(tls).no_proxy().http1_only().tcp_nodelay(true).build()?)
}

/// The first floor: the requests alone.
pub async fn bare(wire: &FloorWire, trace: &Trace) -> Result<()> {
    for step in &trace.0 {
        match step {
            TraceStep::Request(body) => wire.request(body).await?,
            TraceStep::Commit(_) => {}
        }
    }
    Ok(())
}

/// The second floor for one session: each commit is made immediately.
pub async fn committing(wire: &FloorWire, trace: &Trace, ledger: &BatchTable, session: u64) -> Result<()> {
    for (seq, step) in (0..).zip(&trace.0) {
        match step {
            TraceStep::Request(body) => wire.request(body).await?,
            TraceStep::Commit(bytes) => ledger.insert(session, seq, bytes)?,
        }
    }
    Ok(())
}

/// The second floor for many sessions: one thread commits all waiting batches together.
pub async fn committing_together(
    wire: &FloorWire,
    trace: &Trace,
    committer: &FloorCommitter,
    session: u64,
) -> Result<()> {
    for (seq, step) in (0..).zip(&trace.0) {
        match step {
            TraceStep::Request(body) => wire.request(body).await?,
            TraceStep::Commit(bytes) => committer.commit(session, seq, bytes.clone()).await?,
        }
    }
    Ok(())
}

/// A database with a table of batches, and nothing else.
#[derive(Debug)]
pub struct BatchTable(Connection);

impl BatchTable {
    /// Creates one in `dir`, with the journal's settings.
    pub fn open(dir: &Path, durability: Durability) -> Result<Self> {
        let connection = Connection::open(dir.join("floor.db"))?;
        connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        let synchronous = match durability {
            Durability::Full => "FULL",
            Durability::Normal => "NORMAL",
        };
        connection.pragma_update(None, "synchronous", synchronous)?;
        // The log is not checkpointed during a measurement.
        connection.pragma_update(None, "wal_autocheckpoint", 65_536)?;
        connection.execute_batch(
            "CREATE TABLE batches (session INTEGER, seq INTEGER, bytes BLOB, PRIMARY KEY (session, seq))",
        )?;
        Ok(Self(connection))
    }

    fn insert(&self, session: u64, seq: u64, bytes: &Bytes) -> Result<()> {
        let mut statement = self.0.prepare_cached("INSERT INTO batches VALUES (?1, ?2, ?3)")?;
        statement.execute(params![i64::try_from(session)?, i64::try_from(seq)?, bytes.as_ref()])?;
        Ok(())
    }

    fn insert_together(&self, group: &[PendingBatch]) -> Result<()> {
        self.0.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        for entry in group {
            self.insert(entry.session, entry.seq, &entry.bytes)?;
        }
        self.0.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

/// A batch that waits to be committed.
struct PendingBatch {
    session: u64,
    seq: u64,
    bytes: Bytes,
    done: oneshot::Sender<()>,
}

/// A thread that commits all waiting batches together.
#[derive(Debug)]
pub struct FloorCommitter {
    entries: Option<mpsc::Sender<PendingBatch>>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl FloorCommitter {
    /// Starts the thread.
    #[must_use]
    pub fn start(ledger: BatchTable) -> Self {
        let (entries, waiting) = mpsc::channel::<PendingBatch>();
        let thread = std::thread::spawn(move || {
            while let Ok(first) = waiting.recv() {
                let group: Vec<PendingBatch> = std::iter::once(first).chain(waiting.try_iter()).collect();
                ledger.insert_together(&group)?;
                for entry in group {
                    let _ = entry.done.send(());
                }
            }
            Ok(())
        });
        Self { entries: Some(entries), thread: Some(thread) }
    }

    async fn commit(&self, session: u64, seq: u64, bytes: Bytes) -> Result<()> {
        let (done, committed) = oneshot::channel();
        let entries = self.entries.as_ref().context("the committer is closed")?;
        entries.send(PendingBatch { session, seq, bytes, done }).ok().context("the committer is gone")?;
        committed.await.context("a commit failed")
    }
}

impl Drop for FloorCommitter {
    fn drop(&mut self) {
        drop(self.entries.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
