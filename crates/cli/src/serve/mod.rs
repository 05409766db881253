//! Windlass as an MCP server over standard input and output (P5).
//!
//! The protocol: [`wire`] carries messages and notices when the client disconnects; [`server`] handles the MCP requests
//! and dispatches tool calls by name ([`served_tools`]). A call that runs the agent becomes an [`awaited_run`]: a
//! session opened here and a run whose end is awaited ([`follow_run`]). Meanwhile the client receives progress
//! ([`progress`]) and the questions that only a person can answer ([`questions`]). [`open_sessions`] holds the sessions
//! this process has open, so that they can be stopped, and closed at the end.
//!
//! Revisions before 2026-07-28 let a server ask during a call. From 2026-07-28 on a call that needs an answer returns
//! `input_required`, and the client repeats it with the answers. The session stays open in between; if this process
//! dies, the request state identifies the run in the journal.
//!
//! Standard output carries only the protocol. A disconnect stops nothing: the client's runs stay open and can be
//! resumed. A cancelled call stops its run, as if a person had stopped it.

mod arguments;
mod awaited_run;
mod client;
mod denied_calls;
mod ending;
mod follow_run;
mod lines;
mod open_sessions;
mod progress;
mod questions;
mod resources;
mod served_tools;
mod server;
mod server_context;
mod sessions;
mod state;
mod stop;
mod transcript;
mod wire;

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;

use self::open_sessions::OpenSessions;
use self::server::AgentServer;
pub(crate) use self::server_context::ServerContext;
use self::wire::{Wire, WireHandle};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;

/// Serves one client until it disconnects.
pub(crate) async fn serve(server_context: ServerContext) -> CommandResult {
    let (server_context, open_sessions) = (Arc::new(server_context), Arc::new(OpenSessions::default()));
    let (wire, handle) = Wire::of_process();
    let server = AgentServer::new(Arc::clone(&server_context), Arc::clone(&open_sessions), handle.gone());
    let done = tokio::select! {
        biased;
        done = serve_client(server, wire, &handle) => done,
        // The answers that nobody reads would hold up the end for ever.
        () = handle.wait_until_unread() => Ok(Exit::Done),
    };
    open_sessions.close().await;
    server_context.close().await;
    done
}

async fn serve_client(server: AgentServer, wire: Wire, handle: &WireHandle) -> CommandResult {
    match server.serve(wire).await {
        Ok(running) => {
            handle.begin();
            // However it ended, the client is gone.
            let _ = running.waiting().await;
            Ok(Exit::Done)
        }
        // The client never sent anything, or disconnected during the handshake.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(Exit::Done),
        Err(error) => Err(CommandError::new(Exit::Failed, format!("the client can't be served: {error}"))),
    }
}
