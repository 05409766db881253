//! Instructions of the pure parts, counted by callgrind. Each is measured early and late in a run, to show which costs
//! do not grow with the run.

// The bench macros expand to fully qualified names.
#![allow(clippy::expect_used, unused_qualifications)]

use std::hint::black_box;
use std::sync::Arc;

use gungraun::{library_benchmark, library_benchmark_group, main};
use windlass_bench::conversation::{asked, called, records, reply, result};
use windlass_bench::sending::{Sending, wires};
use windlass_machine::{Fact, State, apply};
use windlass_provider::chat::ChatStream;
use windlass_provider::{AnswerLimits, Endpoint, RequestBody};
use windlass_vocab::{Message, Record, Reply};

fn reply_after(turns: usize) -> (State, Fact) {
    let state = asked(turns).expect("a run");
    let fact = reply(&state).expect("a reply");
    (state, fact)
}

fn result_after(turns: usize) -> (State, Fact) {
    let state = called(turns).expect("a run");
    let fact = result(&state).expect("a result");
    (state, fact)
}

fn records_after(turns: usize) -> (State, Vec<Record>) {
    let (state, fact) = result_after(turns);
    let records = records(&state, fact);
    (state, records)
}

#[library_benchmark]
#[benches::turns(args = [10, 200], setup = reply_after)]
fn decide_reply((state, fact): (State, Fact)) -> (State, Vec<Record>) {
    let records = records(black_box(&state), black_box(fact));
    (state, records)
}

#[library_benchmark]
#[benches::turns(args = [10, 200], setup = result_after)]
fn decide_result((state, fact): (State, Fact)) -> (State, Vec<Record>) {
    let records = records(black_box(&state), black_box(fact));
    (state, records)
}

#[library_benchmark]
#[benches::turns(args = [10, 200], setup = records_after)]
fn apply_result((mut state, records): (State, Vec<Record>)) -> (State, Vec<Record>) {
    for record in black_box(&records) {
        apply(&mut state, record);
    }
    (state, records)
}

/// The history after some turns, and a model that was sent all of it except the last turn.
fn last_turn_unsent(turns: usize) -> (Sending, Vec<Message>) {
    let history = asked(turns).expect("a run").transcript.history;
    let [chat, ..] = wires();
    let mut sending = Sending::over(chat);
    drop(sending.encode(&history[..history.len() - 2], 1).expect("a request"));
    (sending, history)
}

#[library_benchmark]
#[benches::turns(args = [10, 200], setup = last_turn_unsent)]
fn encode_request((mut sending, history): (Sending, Vec<Message>)) -> (RequestBody, Sending) {
    let body = black_box(&mut sending).encode(&history, 1).expect("a request");
    (body, sending)
}

/// A stream of this many words, one event each.
fn stream_of(words: usize) -> (ChatStream, Vec<u8>) {
    let endpoint = Endpoint { base_url: "http://localhost:8080/v1".into(), model: "scripted".into(), key: None };
    let event = |delta: String, finish: &str| {
        let head = r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"scripted""#;
        format!("data: {head},\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n")
    };
    let mut bytes: String = (0..words).map(|n| event(format!(r#"{{"content":"word {n} "}}"#), "null")).collect();
    bytes += &event("{}".to_owned(), r#""stop""#);
    bytes += "data: [DONE]\n\n";
    (ChatStream::new(Arc::new(endpoint), AnswerLimits::default()), bytes.into_bytes())
}

#[library_benchmark]
#[benches::words(args = [10, 200], setup = stream_of)]
fn decode_stream((mut stream, bytes): (ChatStream, Vec<u8>)) -> (Reply, Vec<u8>) {
    stream.push(black_box(&bytes), &mut |_| {}).expect("a stream");
    let reply = stream.finish(&mut |_| {}).expect("a reply");
    (reply, bytes)
}

library_benchmark_group!(name = machine, benchmarks = [decide_reply, decide_result, apply_result]);
library_benchmark_group!(name = codec, benchmarks = [encode_request, decode_stream]);
main!(library_benchmark_groups = [machine, codec]);
