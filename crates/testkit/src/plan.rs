//! An answer as bytes to write: in which writes, with which pauses, and how it ends. Pure, so that
//! faults can be tested byte by byte and an answer without faults is rendered only once.

use windlass_provider::WireKind;

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
    wire: WireKind,
    content_type: String,
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
    pub(crate) fn of(wire: WireKind, cue: &Cue<'_>, pace: &ReplyPace, asked: AnswerDelivery) -> Self {
        let (content_type, framing, events) = match asked {
            AnswerDelivery::Streamed => (STREAM, Framing::Chunked, wire::events(wire, cue, pace)),
            AnswerDelivery::Whole => (JSON, Framing::Length, vec![wire::whole(wire, cue)]),
        };
        let body = PlannedBody { wire, content_type: content_type.to_owned(), framing, events };
        let Some(fault) = cue.fault else {
            return body.plan(pace, pace.writes);
        };
        match fault {
            FaultKind::Status { code, body, retry_after } => {
                status(wire, *code, body.as_deref(), retry_after.as_deref())
            }
            FaultKind::Delay { ms } => Self { wait_ms: *ms, ..body.plan(pace, pace.writes) },
            FaultKind::Cut { after } => body.stopped(pace, *after, PlanEnd::Close),
            FaultKind::Idle { after } => body.stopped(pace, *after, PlanEnd::Hold),
            FaultKind::Garbage => body.replaced(GARBAGE.to_vec()).plan(pace, pace.writes),
            FaultKind::Html => Self::answer(200, "text/html", HTML.to_vec()),
            FaultKind::ContentType { value } => {
                PlannedBody { content_type: value.clone(), ..body }.plan(pace, pace.writes)
            }
            FaultKind::ErrorObject { after, message } => body.broken_off(*after, message).plan(pace, pace.writes),
            FaultKind::OtherShape { after, event } => {
                let event = format!("data: {event}\n\n").into_bytes();
                body.continued_by(*after, event).plan(pace, pace.writes)
            }
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
    pub(crate) fn error(wire: WireKind, code: u16, message: &str) -> Self {
        Self::answer(code, JSON, wire::error(wire, code, message).to_string().into_bytes())
    }

    fn with_headers(code: u16, content_type: &str, headers: &str, body: Vec<u8>) -> Self {
        let mut bytes = head(code, content_type, &format!("content-length: {}\r\n{headers}", body.len()));
        bytes.extend(body);
        Self { wait_ms: 0, pause_ms: 0, writes: vec![bytes], end: PlanEnd::KeepAlive }
    }
}

fn status(wire: WireKind, code: u16, body: Option<&str>, retry_after: Option<&str>) -> Plan {
    let default = || wire::error(wire, code, &format!("scripted status {code}")).to_string();
    let body = body.map_or_else(default, str::to_owned);
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
    fn broken_off(self, after: BodyPoint, message: &str) -> Self {
        let error = match self.framing {
            Framing::Length => wire::error(self.wire, 500, message).to_string().into_bytes(),
            Framing::Chunked => wire::error_event(self.wire, message),
        };
        self.continued_by(after, error)
    }

    /// The events up to a point, then this one as the last; a reply that is not streamed is replaced by it.
    fn continued_by(mut self, after: BodyPoint, event: Vec<u8>) -> Self {
        let mut kept = 0;
        let limit = match self.framing {
            Framing::Length => 0,
            Framing::Chunked => self.offset(after),
        };
        self.events.retain(|event| {
            kept += event.len();
            kept <= limit
        });
        self.events.push(event);
        self
    }

    fn without_done(mut self) -> Self {
        self.events.retain(|event| !wire::is_end(self.wire, event));
        self
    }

    fn offset(&self, point: BodyPoint) -> usize {
        match point {
            BodyPoint::Bytes(bytes) => bytes,
            BodyPoint::Events(events) => self.length(events),
            BodyPoint::Pieces(pieces) => self.length(self.events_with(pieces)),
            BodyPoint::HalfPiece(pieces) => {
                let next = self.events_with(pieces + 1).saturating_sub(1);
                self.length(next) + self.events.get(next).map_or(0, Vec::len) / 2
            }
        }
    }

    /// The bytes of the first events.
    fn length(&self, events: usize) -> usize {
        self.events.iter().take(events).map(Vec::len).sum()
    }

    /// How many events it takes until so many pieces are there. A reply that is not streamed is one piece.
    fn events_with(&self, pieces: usize) -> usize {
        let has_piece = |event: &Vec<u8>| match self.framing {
            Framing::Length => true,
            Framing::Chunked => wire::has_piece(self.wire, event),
        };
        let places = self.events.iter().enumerate().filter(|(_, event)| has_piece(event)).map(|(place, _)| place + 1);
        std::iter::once(0).chain(places).nth(pieces).unwrap_or(self.events.len())
    }

    /// Adds head and framing to the pieces. The head goes with the first piece, the end with the last.
    fn written(&self, pace: &ReplyPace, pieces: Vec<Vec<u8>>, end: PlanEnd) -> Plan {
        let framing = match self.framing {
            Framing::Length => format!("content-length: {}\r\n", self.events.iter().map(Vec::len).sum::<usize>()),
            Framing::Chunked => "transfer-encoding: chunked\r\n".to_owned(),
        };
        let mut writes = vec![head(200, &self.content_type, &framing)];
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
mod tests;
