//! The server that runs for a data folder: whoever owns the folder is let in with the entry key that lies there.

use serde::{Deserialize, Serialize};
use windlass_server::RunningServer;
use windlass_server::access::EntryPurpose;
use windlass_setup::settings::PlaceSettings;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::remote_server::RemoteClient;

/// Returns the server that runs for the data folder, if one does.
pub(crate) fn find_server(place: &PlaceSettings) -> Result<Option<RunningServer>, CommandError> {
    RunningServer::find(&place.data_dir.value).map_err(|error| {
        let text = format!("whether a server runs can't be told: {error}; --data-dir names another data folder");
        CommandError::new(Exit::Failed, text)
    })
}

#[derive(Serialize)]
struct CodeRequest {
    purpose: &'static str,
}

/// A code that lets a browser in.
#[derive(Deserialize)]
pub(crate) struct BrowserCode {
    pub(crate) code: String,
    /// For how long it counts.
    pub(crate) seconds: u64,
}

/// Asks the server for a code that lets a browser in.
pub(crate) async fn browser_code(server: &RunningServer, purpose: EntryPurpose) -> Result<BrowserCode, CommandError> {
    let purpose = match purpose {
        EntryPurpose::Browser => "browser",
        EntryPurpose::Person => "person",
    };
    let asked = client(server)?.post("api/entry", &CodeRequest { purpose }).await;
    asked.map_err(|error| of_server(server, error.into()))
}

#[derive(Deserialize)]
struct TokenReply {
    token: String,
}

/// Asks the server for a token.
pub(crate) async fn terminal_token(server: &RunningServer) -> Result<String, CommandError> {
    let asked = client(server)?.post("api/entry/token", &()).await;
    let TokenReply { token } = asked.map_err(|error| of_server(server, error.into()))?;
    Ok(token)
}

fn client(server: &RunningServer) -> Result<RemoteClient, CommandError> {
    let base = server.page();
    let base = base.parse().map_err(|error| CommandError::new(Exit::Failed, format!("{base}: {error}")))?;
    Ok(RemoteClient::new(base, server.entry_key().to_owned())?)
}

fn of_server(server: &RunningServer, error: CommandError) -> CommandError {
    CommandError { message: format!("the server of process {}: {}", server.process, error.message), ..error }
}
