//! An answer as bytes to write: in which writes, with which pauses, and how it ends. Pure, so that
//! faults can be tested byte by byte and an answer without faults is rendered only once.

use crate::fault::{BodyPoint, FaultKind};
use crate::script::{ReplyPace, WriteSplit};
use crate::stage::Cue;
use crate::wire;

/// What to write to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Pause before the first write.
    pub(crate) wait_ms: u64,
    /// Pause between writes.
    pub(crate) pause_ms: u64,
    /// The bytes, including the head.
    pub(crate) writes: Vec<Vec<u8>>,
    /// What happens after the last write.
    pub(crate) end: PlanEnd,
}

/// What happens after the last write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanEnd {
    /// The server reads the next request.
    KeepAlive,
    /// The connection closes.
    Close,
    /// Nothing happens until the client closes the connection.
    Hold,
    /// This many bytes without a line break are sent at full speed, then the connection closes.
    Flood(u64),
}

/// Whether the client requested a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AnswerDelivery {
    Streamed,
    Whole,
}

/// How the end of a body is marked.
enum Framing {
    Length,
    Chunked,
}

/// A body divided for writing.
struct PlannedBody {
    content_type: &'static str,
    framing: Framing,
    /// The events of a stream; a reply that is not streamed is one event.
    events: Vec<Vec<u8>>,
}

const STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";
const HTML: &[u8] = b"<!doctype html><html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>";
const GARBAGE: &[u8] = b"data: \x00\xff\xfe{]]:: \xc3\x28 not json, not a stream\r\n\r\n\x80";

impl Plan {
    /// The answer for a cue, including its fault.
    pub(crate) fn of(cue: &Cue<'_>, pace: &ReplyPace, asked: AnswerDelivery) -> Self {
        let body = match asked {
            AnswerDelivery::Streamed => {
                PlannedBody { content_type: STREAM, framing: Framing::Chunked, events: wire::events(cue, pace) }
            }
            AnswerDelivery::Whole => {
                PlannedBody { content_type: JSON, framing: Framing::Length, events: vec![wire::whole(cue)] }
            }
        };
        let Some(fault) = cue.fault else {
            return body.plan(pace, pace.writes);
        };
        match fault {
            FaultKind::Status { code, body, retry_after } => status(*code, body.as_deref(), retry_after.as_deref()),
            FaultKind::Delay { ms } => Self { wait_ms: *ms, ..body.plan(pace, pace.writes) },
            FaultKind::Cut { after } => body.stopped(pace, *after, PlanEnd::Close),
            FaultKind::Idle { after } => body.stopped(pace, *after, PlanEnd::Hold),
            FaultKind::Garbage => body.replaced(GARBAGE.to_vec()).plan(pace, pace.writes),
            FaultKind::Html => Self::answer(200, "text/html", HTML.to_vec()),
            FaultKind::ErrorObject { after, message } => body.broken_off(*after, message).plan(pace, pace.writes),
            FaultKind::MissingDone => body.without_done().plan(pace, pace.writes),
            FaultKind::Split { at } => body.split(pace, at),
            FaultKind::EndlessLine { bytes } => {
                body.replaced(b"data: {\"id\":\"".to_vec()).stopped(pace, BodyPoint::Events(1), PlanEnd::Flood(*bytes))
            }
            FaultKind::Refuse => Self { wait_ms: 0, pause_ms: 0, writes: Vec::new(), end: PlanEnd::Close },
        }
    }

    /// An ordinary answer in one write.
    pub(crate) fn answer(code: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self::with_headers(code, content_type, "", body)
    }

    /// An error object in one write.
    pub(crate) fn error(code: u16, message: &str) -> Self {
        Self::answer(code, JSON, wire::error(message, "invalid_request_error").to_string().into_bytes())
    }

    fn with_headers(code: u16, content_type: &str, headers: &str, body: Vec<u8>) -> Self {
        let mut bytes = head(code, content_type, &format!("content-length: {}\r\n{headers}", body.len()));
        bytes.extend(body);
        Self { wait_ms: 0, pause_ms: 0, writes: vec![bytes], end: PlanEnd::KeepAlive }
    }
}

fn status(code: u16, body: Option<&str>, retry_after: Option<&str>) -> Plan {
    let body =
        body.map_or_else(|| wire::error(&format!("scripted status {code}"), "scripted").to_string(), str::to_owned);
    let header = retry_after.map(|value| format!("retry-after: {value}\r\n")).unwrap_or_default();
    Plan::with_headers(code, JSON, &header, body.into_bytes())
}

fn head(code: u16, content_type: &str, headers: &str) -> Vec<u8> {
    let word = if code < 400 { "OK" } else { "Error" };
    format!("HTTP/1.1 {code} {word}\r\ncontent-type: {content_type}\r\n{headers}\r\n").into_bytes()
}

impl PlannedBody {
    fn plan(self, pace: &ReplyPace, writes: WriteSplit) -> Plan {
        let pieces = match writes {
            WriteSplit::Whole => vec![self.events.concat()],
            WriteSplit::Events => self.events.clone(),
            WriteSplit::Bytes(size) => self.events.concat().chunks(size.max(1)).map(<[u8]>::to_vec).collect(),
        };
        self.written(pace, pieces, PlanEnd::KeepAlive)
    }

    /// The body up to a point, and nothing after it.
    fn stopped(self, pace: &ReplyPace, after: BodyPoint, end: PlanEnd) -> Plan {
        let bytes = self.events.concat();
        let limit = self.offset(after).min(bytes.len());
        self.written(pace, vec![bytes[..limit].to_vec()], end)
    }

    fn split(self, pace: &ReplyPace, at: &[usize]) -> Plan {
        let bytes = self.events.concat();
        let mut pieces = Vec::new();
        let mut from = 0;
        for to in at.iter().map(|to| (*to).min(bytes.len())).chain([bytes.len()]) {
            if to > from {
                pieces.push(bytes[from..to].to_vec());
                from = to;
            }
        }
        self.written(pace, pieces, PlanEnd::KeepAlive)
    }

    fn replaced(self, bytes: Vec<u8>) -> Self {
        Self { events: vec![bytes], ..self }
    }

    /// The events up to a point, then an error object; a reply that is not streamed is replaced by it.
    fn broken_off(mut self, after: BodyPoint, message: &str) -> Self {
        match self.framing {
            Framing::Length => self.replaced(wire::error(message, "server_error").to_string().into_bytes()),
            Framing::Chunked => {
                let mut kept = 0;
                let limit = self.offset(after);
                self.events.retain(|event| {
                    kept += event.len();
                    kept <= limit
                });
                self.events.push(wire::error_event(message));
                self
            }
        }
    }

    fn without_done(mut self) -> Self {
        self.events.retain(|event| event != wire::DONE);
        self
    }

    fn offset(&self, point: BodyPoint) -> usize {
        match point {
            BodyPoint::Bytes(bytes) => bytes,
            BodyPoint::Events(events) => self.events.iter().take(events).map(Vec::len).sum(),
        }
    }

    /// Adds head and framing to the pieces. The head goes with the first piece, the end with the last.
    fn written(&self, pace: &ReplyPace, pieces: Vec<Vec<u8>>, end: PlanEnd) -> Plan {
        let framing = match self.framing {
            Framing::Length => format!("content-length: {}\r\n", self.events.iter().map(Vec::len).sum::<usize>()),
            Framing::Chunked => "transfer-encoding: chunked\r\n".to_owned(),
        };
        let mut writes = vec![head(200, self.content_type, &framing)];
        for (at, piece) in pieces.into_iter().filter(|piece| !piece.is_empty()).enumerate() {
            let write = match self.framing {
                Framing::Length => piece,
                Framing::Chunked => chunk(&piece),
            };
            match writes.last_mut() {
                Some(first) if at == 0 => first.extend(write),
                _ => writes.push(write),
            }
        }
        if let (Framing::Chunked, PlanEnd::KeepAlive, Some(last)) = (&self.framing, end, writes.last_mut()) {
            last.extend(b"0\r\n\r\n");
        }
        Plan { wait_ms: pace.latency_ms, pause_ms: pace.pause_ms, writes, end }
    }
}

/// One chunk of a chunked body.
pub(crate) fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend(bytes);
    chunk.extend(b"\r\n");
    chunk
}

#[cfg(test)]
mod tests {
    use super::{AnswerDelivery, Plan, PlanEnd};
    use crate::fault::{BodyPoint, FaultKind};
    use crate::script::{ReplyPace, ScriptStep, WriteSplit};
    use crate::stage::Cue;

    fn plan(fault: Option<&FaultKind>, writes: WriteSplit, asked: AnswerDelivery) -> Plan {
        let step = ScriptStep::say("hello there");
        let pace = ReplyPace { writes, delta_chars: 4, ..ReplyPace::default() };
        Plan::of(&Cue { scene: 0, number: 0, step: &step, fault }, &pace, asked)
    }

    /// The body without head and framing.
    fn body(plan: &Plan) -> Vec<u8> {
        let bytes = plan.writes.concat();
        let at = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        if !bytes[..at].windows(7).any(|word| word == b"chunked") {
            return bytes[at..].to_vec();
        }
        let (mut rest, mut body) = (&bytes[at..], Vec::new());
        while let Some(line) = rest.windows(2).position(|two| two == b"\r\n") {
            let size = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).unwrap();
            body.extend(&rest[line + 2..line + 2 + size]);
            rest = &rest[line + 4 + size..];
        }
        body
    }

    #[test]
    fn every_division_into_writes_carries_the_same_body() {
        let whole = plan(None, WriteSplit::Whole, AnswerDelivery::Streamed);
        assert_eq!(whole.writes.len(), 1);
        assert!(body(&whole).ends_with(b"data: [DONE]\n\n"));
        for writes in [WriteSplit::Events, WriteSplit::Bytes(1), WriteSplit::Bytes(7), WriteSplit::Bytes(0)] {
            let divided = plan(None, writes, AnswerDelivery::Streamed);
            assert!(divided.writes.len() > 3);
            assert_eq!(body(&divided), body(&whole));
        }
    }

    #[test]
    fn a_cut_at_each_byte_leaves_exactly_that_much() {
        let whole = body(&plan(None, WriteSplit::Whole, AnswerDelivery::Streamed));
        for at in 0..=whole.len() {
            let cut = plan(
                Some(&FaultKind::Cut { after: BodyPoint::Bytes(at) }),
                WriteSplit::Whole,
                AnswerDelivery::Streamed,
            );
            assert_eq!((body(&cut).as_slice(), cut.end), (&whole[..at], PlanEnd::Close));
        }
    }

    #[test]
    fn a_split_at_each_byte_changes_nothing_but_the_writes() {
        let whole = body(&plan(None, WriteSplit::Whole, AnswerDelivery::Streamed));
        for at in 1..whole.len() {
            let split = plan(Some(&FaultKind::Split { at: vec![at] }), WriteSplit::Whole, AnswerDelivery::Streamed);
            assert_eq!((split.writes.len(), body(&split)), (2, whole.clone()));
        }
    }

    #[test]
    fn an_idle_stream_keeps_its_events_and_is_held() {
        let idle =
            plan(Some(&FaultKind::Idle { after: BodyPoint::Events(2) }), WriteSplit::Whole, AnswerDelivery::Streamed);
        assert_eq!(idle.end, PlanEnd::Hold);
        assert_eq!(String::from_utf8(body(&idle)).unwrap().matches("data: ").count(), 2);
    }

    #[test]
    fn an_error_object_follows_the_events_before_it() {
        let fault = FaultKind::ErrorObject { after: BodyPoint::Events(1), message: "overloaded".into() };
        let text = String::from_utf8(body(&plan(Some(&fault), WriteSplit::Whole, AnswerDelivery::Streamed))).unwrap();
        assert_eq!(text.matches("data: ").count(), 2);
        assert!(text.contains("overloaded") && !text.contains("[DONE]"));
    }

    #[test]
    fn the_other_faults_are_what_they_say() {
        let of = |fault: &FaultKind| plan(Some(fault), WriteSplit::Whole, AnswerDelivery::Streamed);
        assert!(!body(&of(&FaultKind::MissingDone)).ends_with(b"[DONE]\n\n"));
        assert!(body(&of(&FaultKind::Html)).starts_with(b"<!doctype"));
        assert!(std::str::from_utf8(&body(&of(&FaultKind::Garbage))).is_err());
        assert_eq!(of(&FaultKind::EndlessLine { bytes: 9 }).end, PlanEnd::Flood(9));
        assert_eq!(of(&FaultKind::Refuse).writes, Vec::<Vec<u8>>::new());
        assert_eq!(of(&FaultKind::Delay { ms: 9 }).wait_ms, 9);
        let busy = FaultKind::Status { code: 429, body: None, retry_after: Some("7".into()) };
        let bytes = String::from_utf8(of(&busy).writes.concat()).unwrap();
        assert!(bytes.starts_with("HTTP/1.1 429 ") && bytes.contains("\r\nretry-after: 7\r\n"), "{bytes}");
    }
}
