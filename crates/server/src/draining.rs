//! The end of a server (J3): nothing new starts, runs finish what they have under way, and those who follow get the rest.
//!
//! The protocol: the first [`StopWish::Drain`] makes `/api/ready` answer 503 and refuses messages, while everything else is
//! still answered. Sessions are drained for at most the drain wait; then they are closed, followers get the records that
//! they have not got yet and their streams end, and the listener is closed. [`StopWish::AtOnce`] cuts all of that short.
//! Runs stay open in the store and go on when the server starts again.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::cleaning::keep_clean;
use crate::connections::serve_connections;
use crate::resuming::keep_resuming;
use crate::state::{HttpServer, ServingPhase};

/// How long clients may take to read what they were sent before their connections are closed.
const LINGER: Duration = Duration::from_secs(5);

/// What the operator wants of a running server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopWish {
    /// It goes on.
    GoOn,
    /// It ends once what is under way is finished.
    Drain,
    /// It ends at once.
    AtOnce,
}

/// Serves until the operator wants it to end and the sessions have been drained, for at most `drain_wait`; meanwhile resumes runs of dead processes and cleans up.
pub async fn serve(
    listener: TcpListener,
    state: Arc<HttpServer>,
    stops: watch::Receiver<StopWish>,
    drain_wait: Duration,
) -> io::Result<()> {
    let drained = drained(Arc::clone(&state), stops.clone(), drain_wait);
    let served = serve_connections(listener, Arc::clone(&state), drained);
    tokio::select! {
        served = served => served,
        () = lingered(&state, stops) => Ok(()),
        never = keep_resuming(&state) => match never {},
        never = keep_clean(&state) => match never {},
    }
}

/// Waits for the wish to end, and drains the sessions.
async fn drained(state: Arc<HttpServer>, mut stops: watch::Receiver<StopWish>, drain_wait: Duration) {
    wished(&mut stops, StopWish::Drain).await;
    state.enter(ServingPhase::Draining);
    let out_of_time = async {
        tokio::select! {
            () = tokio::time::sleep(drain_wait) => {}
            () = wished(&mut stops, StopWish::AtOnce) => {}
        }
    };
    state.live().drain(state.store(), out_of_time).await;
    state.enter(ServingPhase::Ended);
}

/// Waits until clients had time to read what was left for them.
async fn lingered(state: &HttpServer, mut stops: watch::Receiver<StopWish>) {
    state.ended().await;
    tokio::select! {
        () = tokio::time::sleep(LINGER) => {}
        () = wished(&mut stops, StopWish::AtOnce) => {}
    }
}

async fn wished(stops: &mut watch::Receiver<StopWish>, wanted: StopWish) {
    if stops.wait_for(|wish| *wish >= wanted).await.is_err() {
        // Nobody can wish any more.
        std::future::pending::<()>().await;
    }
}
