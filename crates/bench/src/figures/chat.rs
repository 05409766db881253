//! The processor time of the whole chat while a fast model answers: from the bytes on the wire to those on the
//! terminal, one event per token, faster than anyone can read.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::render::{LIMIT, TOKENS_PER_SECOND, answer, tokens};
use super::setup::Setup;
use super::start::{PROMPT, chat};
use crate::pace::median;
use crate::table::Measurement;
use crate::terminal::TerminalSeat;

/// Tokens of an answer: five seconds' worth.
const TOKENS: usize = 10_000;
/// The end of the answer.
const LAST: &str = "Belayed.";
/// How often the server writes. The timer of a busy machine is no finer than this.
const BEAT: Duration = Duration::from_millis(1);

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let mut shares = Vec::new();
    let mut seconds = 0.0;
    for _ in 0..setup.rounds(5) {
        let (took, lasted) = one_answer(setup)?;
        seconds = lasted.as_secs_f64();
        // As processor time per second, a duration, so that `median` can be used.
        shares.push(took.div_f64(seconds));
    }
    let share = 100.0 * median(&mut shares).as_secs_f64();
    let figure = format!("the whole chat at a terminal, 2,000 tokens/s ({seconds:.1} s)");
    Ok(vec![Measurement::at_most(&figure, LIMIT, share, "% of a core")])
}

/// The processor time that the chat used for one answer, and how long the answer took.
fn one_answer(setup: &Setup) -> Result<(Duration, Duration)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let base_url = format!("http://{}/v1", listener.local_addr()?);
    let dir = tempfile::tempdir_in(&setup.programs.folder)?;
    let mut seat = TerminalSeat::take(chat(setup, dir.path(), &base_url))?;
    seat.wait_for(PROMPT)?;
    let server = thread::spawn(move || serve(&listener));
    let (begun, before) = (Instant::now(), seat.processor_time()?);
    seat.press("Haul.\r")?;
    seat.wait_for(LAST)?;
    let (lasted, took) = (begun.elapsed(), seat.processor_time()?.saturating_sub(before));
    seat.wait_for(PROMPT)?;
    seat.leave()?;
    server.join().ok().context("the server died")??;
    let due = Duration::from_secs(TOKENS as u64 / TOKENS_PER_SECOND);
    ensure!(lasted < due.mul_f64(1.5), "the chat does not keep up: {lasted:?} for a stream of {due:?}");
    Ok((took, lasted))
}

/// Answers one request at the pace of the figure.
fn serve(listener: &TcpListener) -> Result<()> {
    let (connection, _) = listener.accept()?;
    connection.set_nodelay(true)?;
    let mut connection = read_request(connection)?;
    write!(connection, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    let text = answer();
    let tokens: Vec<&str> = tokens(&text).take(TOKENS).chain(["\n\n```\n\n", LAST]).collect();
    let begun = Instant::now();
    let mut sent = 0;
    while sent < tokens.len() {
        thread::sleep(BEAT);
        let due = usize::try_from(begun.elapsed().as_millis() * u128::from(TOKENS_PER_SECOND) / 1_000)?;
        let due = due.min(tokens.len());
        connection.write_all(events(&tokens[sent..due])?.as_bytes())?;
        sent = due;
    }
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    write!(connection, "data: {end}\n\ndata: [DONE]\n\n")?;
    Ok(())
}

fn events(tokens: &[&str]) -> Result<String> {
    let mut events = String::new();
    for token in tokens {
        let event = json!({"choices": [{"index": 0, "delta": {"content": token}, "finish_reason": null}]});
        write!(events, "data: {event}\n\n")?;
    }
    Ok(events)
}

/// Reads a request to its end.
fn read_request(connection: TcpStream) -> Result<TcpStream> {
    let mut reader = BufReader::new(connection);
    let (mut length, mut line) = (0, String::new());
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        line.clear();
    }
    reader.read_exact(&mut vec![0; length])?;
    Ok(reader.into_inner())
}
