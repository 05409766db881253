//! Every division of an answer into writes, and every fault, byte by byte.

use windlass_provider::WireKind;

use super::{AnswerDelivery, Plan, PlanEnd};
use crate::fault::{BodyPoint, FaultKind};
use crate::script::{ReplyPace, ScriptStep, WriteSplit};
use crate::stage::Cue;

fn plan(fault: Option<&FaultKind>, writes: WriteSplit, asked: AnswerDelivery) -> Plan {
    let step = ScriptStep::say("hello there");
    let pace = ReplyPace { writes, delta_chars: 4, ..ReplyPace::default() };
    Plan::of(WireKind::Chat, &Cue { scene: 0, number: 0, step: &step, fault }, &pace, asked)
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
        let cut =
            plan(Some(&FaultKind::Cut { after: BodyPoint::Bytes(at) }), WriteSplit::Whole, AnswerDelivery::Streamed);
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

#[test]
fn a_point_in_pieces_is_the_same_for_the_client_on_every_wire() {
    let step = ScriptStep::say("hello there");
    let pace = ReplyPace { delta_chars: 4, ..ReplyPace::default() };
    for wire in [WireKind::Chat, WireKind::Messages, WireKind::Responses] {
        let at = |after| {
            let fault = FaultKind::Cut { after };
            let cue = Cue { scene: 0, number: 0, step: &step, fault: Some(&fault) };
            String::from_utf8(body(&Plan::of(wire, &cue, &pace, AnswerDelivery::Streamed))).unwrap()
        };
        assert_eq!(at(BodyPoint::Pieces(0)), "", "{wire:?}");
        let one = at(BodyPoint::Pieces(1));
        assert!(one.contains("hell") && !one.contains("o th") && one.ends_with("\n\n"), "{wire:?}: {one}");
        let half = at(BodyPoint::HalfPiece(1));
        assert!(half.starts_with(&one) && !half.ends_with('\n'), "{wire:?}: {half}");
        assert!(at(BodyPoint::Pieces(9)).contains("ere"), "{wire:?}");
    }
}

#[test]
fn a_content_type_is_as_the_script_says() {
    let fault = FaultKind::ContentType { value: "text/plain".into() };
    let bytes = plan(Some(&fault), WriteSplit::Whole, AnswerDelivery::Streamed).writes.concat();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("\r\ncontent-type: text/plain\r\n") && text.contains("[DONE]"), "{text}");
}
