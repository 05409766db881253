//! The time from the start of the process to its first request: `windlass run` in a fresh data folder, compared with
//! a program that does nothing but make one request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::setup::Setup;
use crate::pace::{FloorComparison, median};
use crate::table::Measurement;

const LIMIT: f64 = 5.0;
const ANSWER: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"done\"},\
    \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let base_url = format!("http://{address}/v1");
    let (mut floors, mut ours) = (Vec::new(), Vec::new());
    for round in 0..=setup.rounds(40) {
        let floor = Command::new(&setup.programs.first_request).arg(&base_url).wait_for(&listener)?;
        let dir = tempfile::tempdir_in(&setup.programs.folder)?;
        let own = windlass_run(setup, &base_url, dir.path()).wait_for(&listener)?;
        if round > 0 {
            floors.push(floor);
            ours.push(own);
        }
    }
    let compared = FloorComparison { floor: median(&mut floors), ours: median(&mut ours) };
    Ok(vec![Measurement::compared("cold start of `windlass run` to its first request", LIMIT, &compared)])
}

/// The command `windlass run` in this folder, with a model at this address.
pub(super) fn windlass_run(setup: &Setup, base_url: &str, dir: &Path) -> Command {
    let mut command = Command::new(&setup.programs.windlass);
    command.args(["run", "Haul.", "--model", "scripted", "--base-url", base_url]);
    command.arg("--workspace").arg(dir).arg("--data-dir").arg(dir.join("data"));
    command
}

pub(super) trait FirstRequest {
    fn wait_for(&mut self, listener: &TcpListener) -> Result<Duration>;
}

impl FirstRequest for Command {
    /// Starts the program, and returns the time until its first request arrives.
    fn wait_for(&mut self, listener: &TcpListener) -> Result<Duration> {
        let address = listener.local_addr()?;
        self.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let begun = Instant::now();
        let child = self.spawn().with_context(|| format!("{self:?} can't be started"))?;
        // When the program exits, this connects as well, so that nobody waits for a program that died early.
        let end = thread::spawn(move || {
            let output = child.wait_with_output();
            let _ = TcpStream::connect::<SocketAddr>(address);
            output
        });
        let (connection, _) = listener.accept()?;
        let took = serve(connection, begun)?;
        if took.is_some() {
            listener.accept()?;
        }
        let output = end.join().ok().context("the watching thread died")??;
        ensure!(output.status.success(), "{self:?} failed: {}", String::from_utf8_lossy(&output.stderr));
        took.with_context(|| format!("{self:?} made no request"))
    }
}

/// Answers one request and returns when it arrived; `None` if the connection closed without one.
fn serve(connection: TcpStream, begun: Instant) -> Result<Option<Duration>> {
    let mut reader = BufReader::new(connection);
    let mut length = 0;
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let took = begun.elapsed();
    while !line.trim().is_empty() {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        line.clear();
        reader.read_line(&mut line)?;
    }
    reader.read_exact(&mut vec![0; length])?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    write!(reader.get_mut(), "{head}content-length: {}\r\n\r\n{ANSWER}", ANSWER.len())?;
    Ok(Some(took))
}
