//! Many followers of one stream of server-sent events, each on a connection of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail, ensure};
use memchr::memmem;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use windlass_vocab::Timestamp;

/// Of how many followers one notes the delay of each event: reading the times costs more than passing the bytes on.
const NOTED: usize = 25;

/// The time now, in microseconds.
#[must_use]
pub fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or_default()
}

/// What is followed.
#[derive(Clone, Debug)]
pub struct FollowTarget {
    /// Host and port.
    pub host: String,
    /// Path and query.
    pub path: String,
    /// A header line with its end, or nothing.
    pub header: String,
    /// The bytes with which the last event is known.
    pub last: &'static str,
    /// Where an event says when it was sent.
    pub times: SentTimes,
}

/// Where an event says when it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentTimes {
    /// In the record: when it was made.
    Records,
    /// In a comment of the bare server, whose records are older.
    Comments,
}

/// Followers that are connected.
#[derive(Debug)]
pub struct Followers {
    tasks: JoinSet<Result<Vec<Duration>>>,
    connected: mpsc::UnboundedReceiver<()>,
    leaving: watch::Sender<bool>,
    count: usize,
}

impl Followers {
    /// Connects so many followers, and returns when each has the head of its answer.
    pub async fn connect(target: &FollowTarget, count: usize) -> Result<Self> {
        let (sender, connected) = mpsc::unbounded_channel();
        let leaving = watch::Sender::new(false);
        let mut tasks = JoinSet::new();
        for number in 0..count {
            let (target, sender, leave) = (target.clone(), sender.clone(), leaving.subscribe());
            let note = if number % NOTED == 0 { Noting::Delays } else { Noting::Nothing };
            tasks.spawn(async move { follow(&target, note, &sender, leave).await });
            // A queue of connections that is too long is refused by the system.
            if number % 100 == 99 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        let mut followers = Self { tasks, connected, leaving, count };
        for _ in 0..count {
            tokio::select! {
                connected = followers.connected.recv() => connected.context("no follower is left")?,
                // One that fails says why; the others would be waited for without end.
                Some(ended) = followers.tasks.join_next() => {
                    ended?.context("a follower could not connect")?;
                    bail!("a follower had the last event before all were connected");
                }
            }
        }
        Ok(followers)
    }

    /// Waits until each has the last event; returns the delays that were noted, in order.
    pub async fn all_have_the_last(mut self) -> Result<Vec<Duration>> {
        let mut delays = Vec::new();
        while let Some(followed) = self.tasks.join_next().await {
            delays.extend(followed??);
        }
        ensure!(!delays.is_empty() || self.count == 0, "no event had a time");
        delays.sort_unstable();
        Ok(delays)
    }

    /// Ends all connections.
    pub async fn leave(mut self) -> Result<()> {
        self.leaving.send_replace(true);
        while let Some(left) = self.tasks.join_next().await {
            left??;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Noting {
    Delays,
    Nothing,
}

async fn follow(
    target: &FollowTarget,
    noting: Noting,
    connected: &mpsc::UnboundedSender<()>,
    mut leave: watch::Receiver<bool>,
) -> Result<Vec<Duration>> {
    let mut stream = TcpStream::connect(&target.host).await?;
    let head = format!("GET {} HTTP/1.1\r\nhost: {}\r\n{}\r\n", target.path, target.host, target.header);
    stream.write_all(head.as_bytes()).await?;
    let (mut delays, mut buffer, mut seen) = (Vec::new(), vec![0; 16 * 1024], Vec::new());
    let mut is_connected = false;
    loop {
        let read = tokio::select! {
            read = stream.read(&mut buffer) => read?,
            _ = leave.changed() => return Ok(delays),
        };
        ensure!(read > 0, "the stream ended early: {}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&buffer[..read]);
        if !is_connected && memmem::find(&seen, b"\r\n\r\n").is_some() {
            ensure!(seen.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&seen));
            is_connected = true;
            connected.send(()).ok();
        }
        let is_last = memmem::find(&seen, target.last.as_bytes()).is_some();
        let whole = memmem::rfind(&seen, b"\n\n").map_or(0, |end| end + 2);
        if noting == Noting::Delays {
            let now = now_us();
            let times = seen[..whole].split(|byte| *byte == b'\n').filter_map(|line| sent_at(line, target.times));
            delays.extend(times.map(|sent| Duration::from_micros(now.saturating_sub(sent))));
        }
        if is_last {
            return Ok(delays);
        }
        // The mark of the last event may be cut in two.
        let kept = whole.min(seen.len().saturating_sub(target.last.len()));
        seen.drain(..kept);
    }
}

/// Returns when the event of this line was sent, if it says so.
fn sent_at(line: &[u8], times: SentTimes) -> Option<u64> {
    if times == SentTimes::Comments {
        return std::str::from_utf8(line.strip_prefix(b": ")?).ok()?.trim().parse().ok();
    }
    let data = line.strip_prefix(b"data: ")?;
    let start = memmem::find(data, b"\"at\":\"")? + 6;
    let end = start + memchr::memchr(b'"', &data[start..])?;
    let at: Timestamp = serde_json::from_slice(&data[start - 1..=end]).ok()?;
    u64::try_from(at.0).ok()?.checked_mul(1_000)
}

/// The floor: a bare server of these events.
#[derive(Debug)]
pub struct BareFanout {
    child: Child,
    /// Host and port.
    pub host: String,
}

impl BareFanout {
    /// Starts `program`; it sends the events once so many follow.
    pub fn start(program: &std::path::Path, events: &std::path::Path, followers: usize) -> Result<Self> {
        let mut child = Command::new(program)
            .arg(events)
            .arg(followers.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} can't be started", program.display()))?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("it has no output")?).read_line(&mut line)?;
        Ok(Self { child, host: line.trim().to_owned() })
    }
}

impl Drop for BareFanout {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Follows alone to the end, and returns the data of each event with the time of its arrival.
pub async fn recorded(
    target: &FollowTarget,
    start: impl Future<Output = Result<()>>,
) -> Result<Vec<(String, Instant)>> {
    let mut stream = TcpStream::connect(&target.host).await?;
    let head = format!("GET {} HTTP/1.1\r\nhost: {}\r\n{}\r\n", target.path, target.host, target.header);
    stream.write_all(head.as_bytes()).await?;
    start.await?;
    let (mut seen, mut buffer, mut events) = (Vec::new(), vec![0; 16 * 1024], Vec::new());
    while memmem::find(&seen, target.last.as_bytes()).is_none() {
        let read = stream.read(&mut buffer).await?;
        ensure!(read > 0, "the stream ended early");
        seen.extend_from_slice(&buffer[..read]);
        let now = Instant::now();
        while let Some(end) = memmem::find(&seen, b"\n\n") {
            let event: Vec<u8> = seen.drain(..end + 2).collect();
            let data = event.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"data: "));
            events.extend(data.map(|data| (String::from_utf8_lossy(data).into_owned(), now)));
            if data.is_some_and(|data| memmem::find(data, target.last.as_bytes()).is_some()) {
                return Ok(events);
            }
        }
    }
    Ok(events)
}
