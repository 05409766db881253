//! The floor of followers: a bare axum server that sends events it holds in memory to everybody who follows.
//!
//! `windlass-fanout EVENTS FOLLOWERS`: EVENTS is a file with a JSON list of pairs, a time in microseconds after the first event
//! and the text to send then. It prints its address, and sends the events once so many follow; before each stands a comment
//! with the time at which it was sent. It ends with its standard input.

use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::extract::State;
use axum::response::sse::{Event, Sse};
use axum::routing::get;
use futures_util::{Stream, stream};
use mimalloc::MiMalloc;
use tokio::sync::broadcast::{Receiver, Sender, channel};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use windlass_bench::followers::now_us;

/// The same allocator as in the `windlass` program.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// An event with the time at which it was sent.
type TimedText = (u64, Arc<str>);

#[derive(Clone)]
struct Shared {
    events: Sender<TimedText>,
    joined: UnboundedSender<()>,
    all: Arc<AtomicUsize>,
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, followers] = words.as_slice() else { anyhow::bail!("usage: windlass-fanout EVENTS FOLLOWERS") };
    let texts: Vec<(u64, Arc<str>)> = serde_json::from_slice(&std::fs::read(file)?)?;
    tokio::runtime::Runtime::new()?.block_on(serve(texts, followers.parse()?))
}

async fn serve(texts: Vec<(u64, Arc<str>)>, followers: usize) -> Result<()> {
    let (events, _) = channel(texts.len().max(1));
    let (joined, mut joining) = unbounded_channel();
    let shared = Shared { events: events.clone(), joined, all: Arc::new(AtomicUsize::new(texts.len())) };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", listener.local_addr()?)?;
    out.flush()?;
    let app = Router::new().route("/", get(follow)).with_state(shared);
    let serving = tokio::spawn(axum::serve(listener, app).into_future());
    for _ in 0..followers {
        joining.recv().await.context("nobody follows")?;
    }
    let begun = Instant::now();
    for (due_us, text) in texts {
        let due = begun + Duration::from_micros(due_us);
        if due > Instant::now() {
            tokio::time::sleep_until(due).await;
        }
        // An error means that everybody has left.
        let _ = events.send((now_us(), text));
    }
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    serving.abort();
    Ok(())
}

async fn follow(State(shared): State<Shared>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (events, left) = (shared.events.subscribe(), shared.all.load(Ordering::Relaxed));
    let _ = shared.joined.send(());
    Sse::new(stream::unfold((events, left), next))
}

async fn next(
    (mut events, left): (Receiver<TimedText>, usize),
) -> Option<(Result<Event, Infallible>, (Receiver<TimedText>, usize))> {
    let left = left.checked_sub(1)?;
    let (at, text) = events.recv().await.ok()?;
    Some((Ok(Event::default().comment(at.to_string()).data(&*text)), (events, left)))
}
