//! The requests that a server received, kept in memory or as lines of a file.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

/// A request that the server received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordedRequest {
    /// Its number, from 1, in order of arrival.
    pub n: usize,
    /// The method.
    pub method: String,
    /// The path.
    pub path: String,
    /// The headers, names in lower case.
    #[serde(skip)]
    pub headers: Vec<(String, String)>,
    /// The scene that answered it, from 0.
    pub scene: Option<usize>,
    /// The number of the reply in that scene, from 0.
    pub step: Option<usize>,
    /// Whether a fault affected it.
    pub faulty: bool,
    /// Why it was refused: what is illegal about it, or why the script has no reply.
    pub refused: Option<String>,
    /// How many messages it carries, or items.
    pub messages: usize,
    /// The body; a string if it is not JSON.
    pub body: Value,
    /// The body as it was sent.
    #[serde(skip)]
    pub raw: Vec<u8>,
}

/// What a server received so far.
#[derive(Debug, Default)]
pub(crate) struct ServerLog {
    pub(crate) count: usize,
    pub(crate) kept: Vec<RecordedRequest>,
    pub(crate) refused: Vec<String>,
    /// Requests that are no model calls.
    pub(crate) questions: Vec<RecordedRequest>,
    log: Option<File>,
}

impl ServerLog {
    /// A log that appends to this file, or keeps requests in memory.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        let log = path.map(|path| File::options().create(true).append(true).open(path)).transpose()?;
        Ok(Self { log, ..Self::default() })
    }

    /// Adds a request and numbers it.
    pub(crate) fn keep(&mut self, mut record: RecordedRequest) {
        self.count += 1;
        record.n = self.count;
        self.refused.extend(record.refused.clone());
        match &mut self.log {
            Some(log) => {
                if let Ok(mut line) = serde_json::to_vec(&record) {
                    line.push(b'\n');
                    let _ = log.write_all(&line);
                }
            }
            None => self.kept.push(record),
        }
    }
}
