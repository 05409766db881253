//! Renders a step as a server of any wire would: whole, or as the events of a stream. A wire is a file beside this one.

mod chat;
mod messages;
mod responses;
pub(crate) mod step_text;

use serde_json::Value;
use windlass_provider::WireKind;

use crate::script::ReplyPace;
use crate::stage::Cue;

/// The wire of a request to this path; `None` if it is no model call.
pub(crate) fn wire_of(method: &str, path: &str) -> Option<WireKind> {
    let of_path =
        [("/chat/completions", WireKind::Chat), ("/messages", WireKind::Messages), ("/responses", WireKind::Responses)];
    let path = path.split('?').next().unwrap_or_default();
    of_path.into_iter().find(|(end, _)| method == "POST" && path.ends_with(end)).map(|(_, wire)| wire)
}

/// The reply in one body.
pub(crate) fn whole(wire: WireKind, cue: &Cue<'_>) -> Vec<u8> {
    match wire {
        WireKind::Chat => chat::whole(cue),
        WireKind::Messages => messages::whole(cue),
        WireKind::Responses => responses::whole(cue),
    }
}

/// The reply as events, each with its blank line.
pub(crate) fn events(wire: WireKind, cue: &Cue<'_>, pace: &ReplyPace) -> Vec<Vec<u8>> {
    match wire {
        WireKind::Chat => chat::events(cue, pace),
        WireKind::Messages => messages::events(cue, pace),
        WireKind::Responses => responses::events(cue, pace),
    }
}

/// The event of an error in mid-stream.
pub(crate) fn error_event(wire: WireKind, message: &str) -> Vec<u8> {
    match wire {
        WireKind::Chat => chat::error_event(message),
        WireKind::Messages => messages::error_event(message),
        WireKind::Responses => responses::error_event(message),
    }
}

/// An error object; `status` is that of the answer.
pub(crate) fn error(wire: WireKind, status: u16, message: &str) -> Value {
    match wire {
        WireKind::Chat | WireKind::Responses => {
            let kind = if status == 400 { "invalid_request_error" } else { "server_error" };
            chat::error(message, kind)
        }
        WireKind::Messages => messages::error(message, messages::error_kind(status)),
    }
}

/// Whether an event is the last of a stream.
pub(crate) fn is_end(wire: WireKind, event: &[u8]) -> bool {
    match wire {
        WireKind::Chat => chat::is_end(event),
        WireKind::Messages => event.starts_with(b"event: message_stop\n"),
        WireKind::Responses => responses::is_end(event),
    }
}

/// Whether an event has a piece of the reply: text, reasoning, or a part of a call.
pub(crate) fn has_piece(wire: WireKind, event: &[u8]) -> bool {
    match wire {
        WireKind::Chat => chat::has_piece(event),
        WireKind::Messages => event.starts_with(b"event: content_block_delta\n"),
        WireKind::Responses => responses::has_piece(event),
    }
}

/// The stop sequences of a request; Responses has none.
pub(crate) fn stop_sequences(wire: WireKind, body: &Value) -> Vec<&str> {
    let sequences = match wire {
        WireKind::Chat => &body["stop"],
        WireKind::Messages => &body["stop_sequences"],
        WireKind::Responses => &Value::Null,
    };
    sequences.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use windlass_provider::WireKind;

    use super::step_text::fragments;
    use super::wire_of;
    use crate::script::ReplyPace;

    #[test]
    fn the_path_says_which_wire_is_spoken() {
        for (method, path, wire) in [
            ("POST", "/v1/chat/completions", Some(WireKind::Chat)),
            ("POST", "/v1/messages?beta=true", Some(WireKind::Messages)),
            ("POST", "/v1/responses", Some(WireKind::Responses)),
            ("POST", "/v1/messages/count_tokens", None),
            ("GET", "/v1/responses", None),
        ] {
            assert_eq!(wire_of(method, path), wire, "{method} {path}");
        }
    }

    #[test]
    fn fragments_end_between_characters() {
        let pace = ReplyPace { delta_chars: 2, ..ReplyPace::default() };
        assert_eq!(fragments("añ–🦀x", &pace).collect::<Vec<_>>(), ["añ", "–🦀", "x"]);
        assert_eq!(fragments("", &pace).count(), 0);
    }
}
