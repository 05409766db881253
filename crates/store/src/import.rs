//! Imports an exported journal: reads all of it and verifies its hash chain before anything is stored, then stores it
//! in one transaction. An invalid journal is refused, and the error names the line.
//!
//! The chain proves that nothing was lost in transit, not who wrote it: anyone can write a file with a valid chain.
//! So the importer ends what is open in the journal before it is stored (X6).
//!
//! The protocol: [`Import::read`] reads and verifies → `add` ends what is open there (the store does not know
//! how) → `finish` stores everything in one transaction.

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::sync::Arc;

use data_encoding::BASE64;
use windlass_vocab::{Envelope, Hash, NewerRecord, Record, RunId, SessionId};

use crate::export::{BLOB_LINE_START, BlobLine, EXPORT_VERSION, ExportHeader};
use crate::line::{self, BlobMap, hash_of};
use crate::settle::{at_once, restore_for_certain};
use crate::verify::Chain;
use crate::{Batch, SealedBatch, Store, StoreError, Writer};

/// The longest accepted line, in bytes.
const LINE_LIMIT: u64 = 512 * 1024 * 1024;

/// The highest epoch and the highest number of a run that are taken in: those that follow must fit into the store and the
/// types of today.
const MOST_EPOCH: u64 = 1 << 53;
const MOST_RUN: u32 = 1 << 31;

/// Why a journal was not imported. Nothing of it was stored.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A line is invalid.
    #[error("line {line}: {what}; export the session again and import that")]
    Line {
        /// The line number, from 1.
        line: u64,
        /// What is wrong with the line.
        what: String,
    },
    /// The journal was written by a newer version.
    #[error(
        "the session was written by a newer version of Windlass (it holds a `{kind}` record), so what is open in it \
         can't be ended here, and without that nothing is brought in; import it with that version"
    )]
    Newer {
        /// The first unknown kind of record.
        kind: String,
    },
    /// The input could not be read.
    #[error("the journal could not be read: {0}")]
    Read(#[from] std::io::Error),
    /// The store refused it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A journal that is being imported.
#[derive(Debug)]
pub struct Import {
    session: SessionId,
    writer: Writer,
    sealed: Vec<SealedBatch>,
}

impl Import {
    /// Reads and verifies a journal that `export` wrote; stores nothing yet. `nonce` is as for [`Writer::new`].
    pub fn read(input: &mut (dyn BufRead + Send), nonce: u64) -> Result<Self, ImportError> {
        let (session, sealed) = read_journal(input)?;
        let head = sealed.last().map(|batch| batch.head).unwrap_or_default();
        Ok(Self { session, writer: Writer::new(session, head, nonce), sealed })
    }

    /// The session of the journal.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The records of all batches so far, imported and added.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.sealed.iter().flat_map(|sealed| &sealed.envelopes).map(|envelope| &envelope.record)
    }

    /// Adds a batch after the imported ones. Refused if any record was written by a newer version.
    pub fn add(&mut self, batch: Batch) -> Result<(), ImportError> {
        if let Some(newer) = NewerRecord::first(self.sealed.iter().flat_map(|batch| &batch.envelopes).map(Arc::as_ref))
        {
            return Err(ImportError::Newer { kind: newer.kind });
        }
        self.sealed.push(self.writer.seal(batch)?);
        Ok(())
    }

    /// Stores the journal in one transaction. Refused if the session exists here or its key is taken.
    pub async fn finish(self, store: &dyn Store) -> Result<SessionId, ImportError> {
        restore_for_certain(store, self.sealed, at_once).await?;
        Ok(self.session)
    }
}

/// Reads and verifies a whole journal, and returns its session and batches.
fn read_journal(input: &mut (dyn BufRead + Send)) -> Result<(SessionId, Vec<SealedBatch>), ImportError> {
    let mut lines = InputLines { input, number: 0, line: Vec::new() };
    if !lines.advance()? {
        return Err(lines.wrong("the file is empty"));
    }
    let header = header(&lines)?;
    let mut reading = ImportReader::new(header.session);
    while lines.advance()? {
        let result = if lines.line.starts_with(BLOB_LINE_START) {
            reading.blob(&lines.line)
        } else {
            reading.record(&lines.line)
        };
        result.map_err(|what| lines.wrong(what))?;
    }
    let head = reading.chain.head();
    if (head.seq, head.hash) != (header.seq, header.hash) || !reading.records.is_empty() {
        let what = if head.seq == header.seq {
            "its contents are not those that were exported: a record was changed".to_owned()
        } else {
            format!("the journal should end at record {} and ends after {}, cut short?", header.seq, head.seq)
        };
        return Err(lines.wrong(what));
    }
    Ok((header.session, reading.batches))
}

fn header(lines: &InputLines<'_>) -> Result<ExportHeader, ImportError> {
    let header = serde_json::from_slice::<ExportHeader>(&lines.line)
        .map_err(|error| lines.wrong(format!("not the header of an exported journal ({error})")))?;
    if header.windlass != "journal" {
        return Err(lines.wrong("not the header of an exported journal"));
    }
    if header.v > EXPORT_VERSION {
        return Err(StoreError::Newer { found: header.v }.into());
    }
    Ok(header)
}

/// Returns the run that a record is about.
fn run_of(envelope: &Envelope) -> Option<RunId> {
    match &envelope.record {
        Record::RunStarted(started) => Some(started.run),
        _ => envelope.run,
    }
}

/// The input, line by line.
struct InputLines<'a> {
    input: &'a mut (dyn BufRead + Send),
    number: u64,
    line: Vec<u8>,
}

impl InputLines<'_> {
    /// Reads the next line; false at the end of the input.
    fn advance(&mut self) -> Result<bool, ImportError> {
        self.line.clear();
        self.number += 1;
        (&mut *self.input).take(LINE_LIMIT).read_until(b'\n', &mut self.line)?;
        if self.line.is_empty() {
            return Ok(false);
        }
        if self.line.pop() != Some(b'\n') {
            return Err(self.wrong("the line does not end, or is too long"));
        }
        Ok(true)
    }

    fn wrong(&self, what: impl Into<String>) -> ImportError {
        ImportError::Line { line: self.number, what: what.into() }
    }
}

/// The batches read so far, and the batch being read.
struct ImportReader {
    session: SessionId,
    chain: Chain,
    seen: BlobMap,
    batches: Vec<SealedBatch>,
    blobs: Vec<(Hash, Arc<[u8]>)>,
    bytes: Vec<u8>,
    records: Vec<Envelope>,
}

impl ImportReader {
    fn new(session: SessionId) -> Self {
        Self {
            session,
            chain: Chain::new(session),
            seen: HashMap::new(),
            batches: Vec::new(),
            blobs: Vec::new(),
            bytes: Vec::new(),
            records: Vec::new(),
        }
    }

    fn blob(&mut self, line: &[u8]) -> Result<(), String> {
        if !self.records.is_empty() {
            return Err("a content stands in the middle of a batch".into());
        }
        let BlobLine { blob, text, base64 } =
            serde_json::from_slice(line).map_err(|error| format!("not a content ({error})"))?;
        let content: Arc<[u8]> = match (text, base64) {
            (Some(text), None) => text.into_bytes().into(),
            (None, Some(code)) => {
                BASE64.decode(code.as_bytes()).map_err(|error| format!("not base64 ({error})"))?.into()
            }
            (None, None) => self.seen.get(&blob).cloned().ok_or("a content is named before it stood")?,
            (Some(_), Some(_)) => return Err("a content stands twice".into()),
        };
        if hash_of(&content) != blob {
            return Err(format!("this content does not have the hash {blob}"));
        }
        self.seen.insert(blob, Arc::clone(&content));
        self.blobs.push((blob, content));
        Ok(())
    }

    fn record(&mut self, line: &[u8]) -> Result<(), String> {
        let envelope = line::read(line, &self.seen).map_err(|fault| fault.to_string())?;
        if envelope.epoch > MOST_EPOCH || run_of(&envelope).is_some_and(|RunId(run)| run > MOST_RUN) {
            return Err("its epoch or its run has a number that no journal reaches".into());
        }
        let opens = matches!(envelope.record, Record::SessionOpened(_));
        if opens != (self.batches.is_empty() && self.records.is_empty()) {
            return Err("the first record, and no other, opens the session".into());
        }
        let place = envelope.batch;
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
        self.records.push(envelope);
        if place.0.checked_add(1) == Some(place.1) { self.close_batch() } else { Ok(()) }
    }

    fn close_batch(&mut self) -> Result<(), String> {
        let expected = self.chain.head();
        let bytes = std::mem::take(&mut self.bytes);
        let records = std::mem::take(&mut self.records);
        self.chain.follow(&bytes, &records).map_err(|broken| broken.to_string())?;
        self.batches.push(SealedBatch {
            session: self.session,
            expected,
            head: self.chain.head(),
            envelopes: records.into_iter().map(Arc::new).collect(),
            bytes,
            blobs: std::mem::take(&mut self.blobs),
            takes: Vec::new(),
        });
        Ok(())
    }
}
