//! Windlass as an MCP server over standard input and output (P5).
//!
//! The protocol: [`wire`] carries messages and notices that the client is gone; [`server`] answers what
//! MCP asks of a server and hands tool calls on by name ([`served_tools`]). A call that runs the agent becomes
//! an [`awaited_run`]: a session opened here and a run whose end is awaited ([`follow_run`]). On the way the
//! client is told of progress ([`progress`]) and asked what only a person can answer ([`questions`]).
//! [`open_sessions`] keeps the sessions this process has open, so that they can be stopped, and closed at the end.
//!
//! Revisions before 2026-07-28 let a server ask in mid-call. From 2026-07-28 on a call that needs an
//! answer is given up with `input_required` and made again with the answers; its session stays open in
//! between, and if this process dies the request state finds the run in the journal.
//!
//! Standard output carries only the protocol. A client that is gone stops nothing: its runs stay open and
//! can be resumed. A call that is cancelled stops its run, as a person's stop.

mod arguments;
mod awaited_run;
mod client;
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
use self::wire::Wire;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;

/// Serves one client until it is gone.
pub(crate) async fn serve(server_context: ServerContext) -> CommandResult {
    let (server_context, open_sessions) = (Arc::new(server_context), Arc::new(OpenSessions::default()));
    let (wire, handle) = Wire::of_process();
    let server = AgentServer::new(Arc::clone(&server_context), Arc::clone(&open_sessions), handle.gone());
    let done = match server.serve(wire).await {
        Ok(running) => {
            handle.begin();
            // Whatever ended it, the client is gone.
            let _ = running.waiting().await;
            Ok(Exit::Done)
        }
        // Nobody ever spoke to us, or no longer.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(Exit::Done),
        Err(error) => Err(CommandError::new(Exit::Failed, format!("the client can't be served: {error}"))),
    };
    open_sessions.close().await;
    server_context.close().await;
    done
}
