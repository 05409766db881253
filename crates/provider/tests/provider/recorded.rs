//! Recorded real answers. The recordings are outside the repository; without them these tests print a notice and
//! prove nothing.
//!
//! "Cut at every byte" is proved without the quadratic work: the decoder is deterministic and its state can be
//! compared. So for a cut inside an event it is enough that, from the state before the event, both halves lead to the
//! state after it and emit the same pieces; everything after that is then equal.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::Value;
use windlass_provider::chat::ChatDraft;
use windlass_provider::messages::MessagesDraft;
use windlass_provider::responses::ResponseDraft;
use windlass_provider::{
    AnswerLimits, AnswerStream, Endpoint, Rejection, RetryHeaders, WireDraft, classify, decode_whole,
};
use windlass_vocab::{
    CallId, CallInHistory, EffectClass, Failure, FailureClass, Json, Message, ModelName, Reply, ReplyCall, RunId,
    StopReason, ToolSpec, TurnId,
};

use super::{Shown, decode, decode_as, endpoint};

/// Where a wire's recordings are, and how they are read.
struct RecordedWire {
    folders: &'static [&'static str],
    path_end: &'static str,
    check: fn(&Recording) -> usize,
    whole: fn(&Endpoint, &[u8]) -> Result<Reply, Failure>,
}

const CHAT: RecordedWire = RecordedWire {
    folders: &["openai", "deepseek"],
    path_end: "chat/completions",
    check: check::<ChatDraft>,
    whole: decode_whole::<ChatDraft>,
};

const MESSAGES: RecordedWire = RecordedWire {
    folders: &["anthropic"],
    path_end: "/messages",
    check: check::<MessagesDraft>,
    whole: decode_whole::<MessagesDraft>,
};

const RESPONSES: RecordedWire = RecordedWire {
    folders: &["openai"],
    path_end: "/responses",
    check: check::<ResponseDraft>,
    whole: decode_whole::<ResponseDraft>,
};

const WIRES: [RecordedWire; 3] = [CHAT, MESSAGES, RESPONSES];

#[derive(Deserialize)]
struct Exchange {
    when: When,
    then: Then,
}

#[derive(Deserialize)]
struct When {
    path: String,
    #[serde(default)]
    body: Option<String>,
}

#[derive(Deserialize)]
struct Then {
    status: u16,
    #[serde(default)]
    header: Vec<Header>,
    #[serde(default)]
    body: String,
}

#[derive(Deserialize)]
struct Header {
    name: String,
    value: String,
}

pub(crate) struct Recording {
    pub(crate) file: PathBuf,
    /// The request's body.
    pub(crate) request: String,
    pub(crate) status: u16,
    is_stream: bool,
    body: String,
}

impl Recording {
    /// Returns the recorded answer, decoded, as the history keeps it.
    pub(crate) fn replied<D: WireDraft>(&self, model: &ModelName) -> Message {
        let body = self.body.as_bytes();
        let reply = if self.is_stream { decode_as::<D>(&[body]).0 } else { decode_whole::<D>(&endpoint(), body) };
        let Reply { parts, calls, .. } = reply.unwrap_or_else(|failure| panic!("{}: {failure}", self.file.display()));
        let call = |(index, call): (u32, ReplyCall)| CallInHistory {
            call: CallId { run: RunId(1), turn: TurnId(1), index },
            provider_id: call.provider_id,
            name: call.name,
            arguments: Json::parse(&call.arguments).unwrap_or_else(|_| Json::empty_object()),
        };
        Message::Assistant { parts, calls: (0..).zip(calls).map(call).collect(), model: model.clone() }
    }
}

/// The tool that a recorded request defines; `None` if its definition lacks a part.
pub(crate) fn recorded_tool(definition: &Value, schema: &str) -> Option<ToolSpec> {
    Some(ToolSpec {
        name: "local.tool".into(),
        wire_name: definition["name"].as_str()?.into(),
        description: definition["description"].as_str()?.into(),
        schema: Json::from(&definition[schema]),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    })
}

/// Numbers the calls of a history by their places, and makes each result that of the call with its provider's id.
pub(crate) fn join_results_to_calls(history: &mut [Message]) {
    let mut calls = std::collections::HashMap::new();
    for (turn, message) in (1..).zip(history) {
        match message {
            Message::Assistant { calls: made, .. } => {
                made.iter_mut().for_each(|call| call.call.turn = TurnId(turn));
                calls.extend(made.iter().map(|call| (call.provider_id.clone(), call.call)));
            }
            Message::Tool { call, provider_id, .. } => *call = calls.get(provider_id).copied().unwrap_or(*call),
            Message::User { .. } => {}
        }
    }
}

/// Returns each exchange with the one after it in the same file, where both were answered.
pub(crate) fn consecutive(recordings: &[Recording]) -> impl Iterator<Item = (&Recording, &Recording)> {
    let pairs = recordings.windows(2).map(|pair| (&pair[0], &pair[1]));
    pairs.filter(|(one, next)| one.file == next.file && one.status == 200 && next.status == 200)
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            yaml_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
}

/// Returns all recorded exchanges of the Chat Completions wire; none, with a notice, if the recordings are absent.
pub(crate) fn chat_recordings() -> Vec<Recording> {
    recordings(&CHAT)
}

/// Returns all recorded exchanges of the Messages wire; none, with a notice, if the recordings are absent.
pub(crate) fn messages_recordings() -> Vec<Recording> {
    recordings(&MESSAGES)
}

/// Returns all recorded exchanges of the Responses wire; none, with a notice, if the recordings are absent.
pub(crate) fn responses_recordings() -> Vec<Recording> {
    recordings(&RESPONSES)
}

/// Returns all recorded exchanges of a wire; none, with a notice, if the recordings are absent.
fn recordings(wire: &RecordedWire) -> Vec<Recording> {
    let streams = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/streams");
    let mut files = Vec::new();
    for folder in wire.folders {
        yaml_files(&streams.join(folder), &mut files);
    }
    files.sort();
    if files.is_empty() {
        assert!(!streams.exists(), "the recorded streams of {:?} are gone", wire.folders);
        println!("skipped: no recorded streams beside the project");
    }
    files.iter().flat_map(|file| read(wire, file)).collect()
}

fn read(wire: &RecordedWire, file: &PathBuf) -> Vec<Recording> {
    let text = std::fs::read_to_string(file).unwrap();
    if !text.contains(wire.path_end) {
        return Vec::new();
    }
    let exchanges =
        serde_norway::Deserializer::from_str(&text).map(|document| Exchange::deserialize(document).unwrap());
    exchanges
        .filter(|exchange| exchange.when.path.ends_with(wire.path_end))
        .map(|Exchange { when, then }| {
            let is_stream = then.header.iter().any(|header| {
                header.name.eq_ignore_ascii_case("content-type") && header.value.starts_with("text/event-stream")
            });
            let request = when.body.unwrap_or_default();
            Recording { file: file.clone(), request, status: then.status, is_stream, body: then.body }
        })
        .collect()
}

/// Pushes `pushes` into `stream`; returns what it emits.
fn push<D: WireDraft>(stream: &mut AnswerStream<D>, pushes: &[&[u8]]) -> Shown {
    let mut shown = Shown::default();
    for bytes in pushes {
        stream.push(bytes, &mut |piece| shown.add(piece)).unwrap();
    }
    shown
}

/// An event longer than this is compared before its last byte, with which it is parsed: to parse it at every cut would
/// take minutes.
const LONG_EVENT: usize = 2048;

/// Cuts `body` at every byte of every event; returns the number of cuts.
fn cut_everywhere<D: WireDraft + Clone + PartialEq>(body: &[u8]) -> usize {
    let mut before = AnswerStream::<D>::new(Arc::new(endpoint()), AnswerLimits::default());
    let mut cuts = 0;
    for event in events(body) {
        let (event, last) = event.split_at(event.len() - usize::from(event.len() > LONG_EVENT));
        let mut after = before.clone();
        let shown = push(&mut after, &[event]);
        for cut in 1..=event.len() {
            let mut halves = before.clone();
            let shown_by_halves = push(&mut halves, &[&event[..cut], &event[cut..]]);
            let same = halves == after && shown_by_halves == shown;
            assert!(same, "cut at {cut} of {}", String::from_utf8_lossy(event));
        }
        push(&mut after, &[last]);
        cuts += event.len() + last.len();
        before = after;
    }
    cuts
}

/// Splits the body into parts that end with a blank line.
fn events(body: &[u8]) -> Vec<&[u8]> {
    let mut rest = body;
    let mut events = Vec::new();
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\n\n") {
        let (event, after) = rest.split_at(end + 2);
        events.push(event);
        rest = after;
    }
    if !rest.is_empty() {
        events.push(rest);
    }
    events
}

/// Decodes a stream whole, by bytes, by events and cut everywhere; returns the number of cuts.
fn check<D: WireDraft + Clone + PartialEq>(recording: &Recording) -> usize {
    let (file, body) = (recording.file.display(), recording.body.as_bytes());
    let (reply, shown) = decode_as::<D>(&[body]);
    let whole = reply.unwrap_or_else(|failure| panic!("{file}: {failure}"));
    shown.assert_covers(&whole);
    let single: Vec<&[u8]> = body.chunks(1).collect();
    assert_eq!(decode_as::<D>(&single), (Ok(whole.clone()), shown.clone()), "{file}");
    assert_eq!(decode_as::<D>(&events(body)), (Ok(whole), shown), "{file}");
    cut_everywhere::<D>(body)
}

// proves M1, M4
#[test]
fn recorded_streams_decode_the_same_wherever_they_are_cut() {
    WIRES.iter().for_each(check_streams);
}

fn check_streams(wire: &RecordedWire) {
    let mut streams = recordings(wire);
    streams.retain(|recording| recording.is_stream && recording.status == 200);
    let bytes: usize = streams.iter().map(|recording| recording.body.len()).sum();
    // The longest first, so that the threads finish at the same time.
    streams.sort_by_key(|recording| std::cmp::Reverse(recording.body.len()));
    let next = AtomicUsize::new(0);
    let work = || {
        let mine = std::iter::from_fn(|| streams.get(next.fetch_add(1, Ordering::Relaxed)));
        mine.map(wire.check).sum::<usize>()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let cuts: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    println!("{}: {} recorded streams, {bytes} bytes, cut at each of {cuts} places", wire.path_end, streams.len());
    assert_eq!(cuts, bytes);
}

#[test]
fn recorded_whole_answers_decode() {
    for wire in &WIRES {
        let mut answers = 0;
        for recording in recordings(wire).iter().filter(|recording| !recording.is_stream && recording.status == 200) {
            let reply = (wire.whole)(&endpoint(), recording.body.as_bytes())
                .unwrap_or_else(|failure| panic!("{}: {failure}", recording.file.display()));
            assert!(reply.usage.is_some() && reply.model.is_some(), "{}", recording.file.display());
            answers += 1;
        }
        println!("{}: {answers} recorded whole answers", wire.path_end);
    }
}

// proves M3, M9
#[test]
fn recorded_refusals_and_rejections_are_told_apart_from_answers() {
    for recording in WIRES.iter().flat_map(recordings) {
        let said = recording.body.as_bytes();
        if recording.status != 200 {
            let rejection =
                Rejection { status: recording.status, retry: RetryHeaders::default(), location: None, body: said };
            let expected = if recording.status == 401 { FailureClass::Auth } else { FailureClass::BadRequest };
            assert_eq!(classify(&endpoint(), &rejection).class, expected, "{}", recording.file.display());
        } else if recording.file.ends_with("refusal_matrix/responses_streaming_refusal_delta_surfaces.yaml") {
            let reply = decode_as::<ResponseDraft>(&[said]).0.unwrap();
            assert_eq!(reply.stop, StopReason::Refused);
            assert!(reply.text().starts_with("I'm"), "{}", reply.text());
        } else if recording.file.ends_with("refusal_matrix/chat_streaming_raw_model_surfaces_refusal.yaml") {
            let reply = decode(&[said]).0.unwrap();
            assert_eq!(reply.stop, StopReason::Refused);
            assert!(reply.text().starts_with("I'm"), "{}", reply.text());
        }
    }
}
