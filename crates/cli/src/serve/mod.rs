//! Windlass as an MCP server over standard input and output (P5).
//!
//! The protocol: [`wire`] carries messages and notices that the client is gone; [`server`] answers what
//! MCP asks of a server and hands tool calls on by name ([`offered`]). A call that runs the agent becomes
//! an [`errand`]: a session opened here and a run whose end is awaited ([`pursuit`]). On the way the
//! client is told of progress ([`progress`]) and asked what only a person can answer ([`questions`]).
//! [`live`] keeps the sessions this process has open, so that they can be stopped, and closed at the end.
//!
//! Revisions before 2026-07-28 let a server ask in mid-call. From 2026-07-28 on a call that needs an
//! answer is given up with `input_required` and made again with the answers; its session stays open in
//! between, and if this process dies the request state finds the run in the journal.
//!
//! Standard output carries only the protocol. A client that is gone stops nothing: its runs stay open and
//! can be resumed. A call that is cancelled stops its run, as a person's stop.

mod arguments;
mod client;
mod ending;
mod errand;
mod lines;
mod live;
mod offered;
mod premises;
mod progress;
mod pursuit;
mod questions;
mod resources;
mod server;
mod sessions;
mod state;
mod stop;
mod transcript;
mod wire;

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;

use self::live::Live;
pub(crate) use self::premises::Premises;
use self::server::Server;
use self::wire::Wire;
use crate::error::{CommandError, Done};
use crate::exit::Exit;

/// Serves one client until it is gone.
pub(crate) async fn serve(premises: Premises) -> Done {
    let (premises, live) = (Arc::new(premises), Arc::new(Live::default()));
    let (wire, hold) = Wire::of_process();
    let server = Server::new(Arc::clone(&premises), Arc::clone(&live), hold.gone());
    let done = match server.serve(wire).await {
        Ok(running) => {
            hold.begin();
            // Whatever ended it, the client is gone.
            let _ = running.waiting().await;
            Ok(Exit::Done)
        }
        // Nobody ever spoke to us, or no longer.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(Exit::Done),
        Err(error) => Err(CommandError::new(Exit::Failed, format!("the client can't be served: {error}"))),
    };
    live.close().await;
    premises.close().await;
    done
}
