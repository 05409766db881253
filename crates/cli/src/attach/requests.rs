//! What is sent to the server and what comes back, as far as the chat needs it.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use windlass_vocab::{Envelope, RunId, SessionId, Undoable};

use crate::remote_server::{RemoteClient, RemoteError};

/// How many batches of records are asked for at once.
const BATCHES: u32 = 200;

/// `GET /api/me`
#[derive(Debug, Deserialize)]
pub(super) struct RemoteCaller {
    pub(super) user: String,
    pub(super) version: String,
    /// Absent where only the demo model would answer.
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) folders: Vec<String>,
}

/// A session as listed.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RemoteSummary {
    pub(super) id: SessionId,
    pub(super) key: String,
    pub(super) title: Option<String>,
    pub(super) status: String,
    pub(super) folder: Option<String>,
    pub(super) last_prompt: Option<String>,
    pub(super) runs: u32,
}

#[derive(Deserialize)]
struct RemoteSessionPage {
    sessions: Vec<Box<RawValue>>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct RemoteRecordPage {
    records: Vec<Box<RawValue>>,
    more: bool,
}

/// A message to a session.
#[derive(Serialize)]
pub(super) struct RemoteMessage<'a> {
    pub(super) text: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<RemoteFile>,
}

/// A file of a message.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RemoteFile {
    name: String,
    data: String,
}

impl RemoteFile {
    /// Reads a file to send it as it is: the server decides what it is.
    pub(super) fn read(path: &Path) -> std::io::Result<Self> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name, data: STANDARD.encode(std::fs::read(path)?) })
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct MessageReply {
    pub(super) run: Option<RunId>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RemoteStop {
    pub(super) runs: u32,
    pub(super) dropped: usize,
}

#[derive(Debug, Deserialize)]
pub(super) struct RemoteRun {
    pub(super) run: RunId,
}

#[derive(Serialize)]
pub(super) struct RemoteNewSession<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct RemoteForkPlace {
    pub(super) at: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct RemoteUndoWish {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<Undoable>,
    pub(super) force: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct RemoteUndo {
    pub(super) of: String,
    pub(super) undo: Option<String>,
    pub(super) restored: Vec<String>,
    #[serde(default)]
    pub(super) kept: Vec<RemoteKeptFile>,
    pub(super) unseen: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RemoteKeptFile {
    pub(super) path: String,
    pub(super) why: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct RemoteChain {
    pub(super) models: Vec<RemoteModel>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RemoteModel {
    pub(super) name: String,
    pub(super) server: String,
    pub(super) in_use: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct RemoteSettings {
    pub(super) model: String,
    pub(super) preset: String,
    pub(super) mode: String,
    pub(super) sandbox: String,
    pub(super) rules: RemoteRules,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct RemoteRules {
    pub(super) allow: Vec<String>,
    pub(super) ask: Vec<String>,
    pub(super) deny: Vec<String>,
}

/// The path of a session's requests.
pub(super) fn of_session(session: SessionId, rest: &str) -> String {
    format!("api/sessions/{session}{rest}")
}

/// Returns the caller's sessions, each also as it was sent; with `search`, those that have this text.
pub(super) async fn sessions(
    client: &RemoteClient,
    search: Option<&str>,
) -> Result<Vec<(RemoteSummary, Box<RawValue>)>, RemoteError> {
    let mut found = Vec::new();
    for archived in ["false", "true"] {
        // Archived sessions are found by those who look for one.
        if archived == "true" && search.is_none() {
            break;
        }
        let mut after: Option<String> = None;
        loop {
            let mut query = vec![("limit", "1000"), ("archived", archived)];
            query.extend(search.map(|text| ("search", text)));
            query.extend(after.as_deref().map(|after| ("after", after)));
            let page: RemoteSessionPage = client.get("api/sessions", &query).await?;
            for raw in page.sessions {
                let listed = serde_json::from_str(raw.get()).map_err(|_| client.not_windlass())?;
                found.push((listed, raw));
            }
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
    }
    Ok(found)
}

/// Returns the session with this key or id.
pub(crate) async fn session(client: &RemoteClient, name: &str) -> Result<Option<RemoteSummary>, RemoteError> {
    if let Ok(id) = name.parse::<SessionId>() {
        return match client.get(&of_session(id, ""), &[]).await {
            Ok(session) => Ok(Some(session)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        };
    }
    let found = sessions(client, Some(name)).await?;
    Ok(found.into_iter().map(|(session, _)| session).find(|session| session.key == name))
}

/// Returns the session's last records, in order: page by page backwards until one page satisfies `enough`, or all.
pub(super) async fn last_records(
    client: &RemoteClient,
    session: SessionId,
    enough: impl Fn(&Envelope) -> bool,
) -> Result<Vec<Envelope>, RemoteError> {
    let (mut records, mut before): (Vec<Envelope>, Option<String>) = (Vec::new(), None);
    loop {
        let batches = BATCHES.to_string();
        let mut query = vec![("batches", batches.as_str())];
        query.extend(before.as_deref().map(|before| ("before", before)));
        let page: RemoteRecordPage = client.get(&of_session(session, "/records"), &query).await?;
        let read = page.records.iter().map(|raw| Envelope::decode(raw.get())).collect::<Result<Vec<_>, _>>();
        let mut read = read.map_err(|_| client.not_windlass())?;
        let is_last = !page.more || read.is_empty() || read.iter().any(&enough);
        before = read.first().map(|first| first.seq.to_string());
        read.append(&mut records);
        records = read;
        if is_last {
            return Ok(records);
        }
    }
}
