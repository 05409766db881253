//! Decodes a line of a journal. A fast path splits lines in the exact form that [`Envelope::encode_into`] writes and
//! uses the JSON parser only for the body: the part before the body is most of a short line, and opening a long session
//! reads all of its lines. Any other line is parsed as JSON and gives the same envelope or an error.

use std::str::FromStr;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::envelope::{BatchPosition, ENVELOPE_VERSION, Envelope};
use crate::{Hash, Record, RecordId, RunId, SessionId, Timestamp, TurnId, Unknown};

/// Why a line could not be decoded as an envelope.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The line is not the expected JSON.
    #[error("not a journal record: {0}")]
    Json(#[from] serde_json::Error),
    /// A newer version wrote the line in a form that this version can't read.
    #[error("the record has envelope version {0}; this version of Windlass reads up to {ENVELOPE_VERSION}")]
    Version(u32),
}

impl Envelope {
    /// Decodes a line. Keeps unknown kinds and ignores unknown fields. A record with a newer envelope version becomes
    /// [`Record::Unknown`] even if its kind is known here, because the newer version may have changed its meaning.
    pub fn decode(line: &str) -> Result<Self, DecodeError> {
        as_written(line).map_or_else(|| as_json(line), Ok)
    }
}

/// Decodes a line that is exactly in the form this crate writes; `None` for any other line.
fn as_written(line: &str) -> Option<Envelope> {
    let mut head = LineScanner(line.strip_prefix(r#"{"v":1"#)?);
    let id = head.text(r#","id":""#)?;
    let session = head.text(r#","session":""#)?.parse().ok()?;
    let seq = head.number(r#","seq":"#)?;
    let batch = BatchPosition(head.number(r#","batch":["#)?, head.number(",")?);
    let prev = head.text(r#"],"prev":""#)?.parse().ok()?;
    let epoch = head.number(r#","epoch":"#)?;
    let run = head.number(r#","run":"#).map(RunId);
    let turn = head.number(r#","turn":"#).map(TurnId);
    let at = head.text(r#","at":""#)?.parse().ok()?;
    let kind = head.text(r#","kind":""#)?;
    let body = head.0.strip_prefix(r#","body":"#)?.strip_suffix('}')?;
    let record = Record::from_parts(kind, body).ok()?;
    Some(Envelope { v: 1, id: id.into(), session, seq, batch, prev, epoch, run, turn, at, record })
}

/// The unread rest of a line.
struct LineScanner<'a>(&'a str);

impl<'a> LineScanner<'a> {
    /// Returns the string that follows `before`, if it has no escapes.
    fn text(&mut self, before: &str) -> Option<&'a str> {
        let (text, rest) = self.0.strip_prefix(before)?.split_once('"')?;
        self.0 = rest;
        text.bytes().all(|byte| byte >= b' ' && byte != b'\\').then_some(text)
    }

    /// Returns the number that follows `before`; consumes nothing if there is none that fits.
    fn number<N: FromStr>(&mut self, before: &str) -> Option<N> {
        let rest = self.0.strip_prefix(before)?;
        let (digits, rest) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
        let number = digits.parse().ok().filter(|_| digits == "0" || !digits.starts_with('0'))?;
        self.0 = rest;
        Some(number)
    }
}

/// Decodes a line that is any JSON with the fields of an envelope.
fn as_json(line: &str) -> Result<Envelope, DecodeError> {
    let line: EnvelopeFields<'_> = serde_json::from_str(line)
        .map_err(|error| newer_version(line).map_or(DecodeError::Json(error), DecodeError::Version))?;
    let record = if line.v > ENVELOPE_VERSION {
        Record::Unknown(Unknown { kind: line.kind, body: serde_json::from_str(line.body.get())? })
    } else {
        Record::from_parts(&line.kind, line.body.get())?
    };
    Ok(Envelope {
        v: line.v,
        id: line.id,
        session: line.session,
        seq: line.seq,
        batch: line.batch,
        prev: line.prev,
        epoch: line.epoch,
        run: line.run,
        turn: line.turn,
        at: line.at,
        record,
    })
}

/// The JSON fields of a line.
#[derive(Deserialize)]
struct EnvelopeFields<'a> {
    v: u32,
    id: RecordId,
    session: SessionId,
    seq: u64,
    batch: BatchPosition,
    prev: Hash,
    epoch: u64,
    #[serde(default)]
    run: Option<RunId>,
    #[serde(default)]
    turn: Option<TurnId>,
    at: Timestamp,
    kind: String,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// Returns the version of a line that can't be decoded, if it is newer than ours.
fn newer_version(line: &str) -> Option<u32> {
    #[derive(Deserialize)]
    struct VersionField {
        v: u32,
    }
    let VersionField { v } = serde_json::from_str(line).ok()?;
    (v > ENVELOPE_VERSION).then_some(v)
}

#[cfg(test)]
mod tests {
    use super::{DecodeError, as_json, as_written};
    use crate::{Envelope, Record};

    const LINE: &str = concat!(
        r#"{"v":1,"id":"00-1","session":"0198f3a0-0000-7000-8000-000000000001","seq":1,"batch":[0,1],"#,
        r#""prev":"0000000000000000000000000000000000000000000000000000000000000000","epoch":1,"#,
        r#""at":"2026-11-15T02:59:59.999Z","kind":"LeaseTaken","body":{"epoch":1,"holder":"ada"}}"#
    );

    fn moved(field: &str) -> String {
        let rest = LINE.replacen(field, "", 1).replacen(",,", ",", 1).replacen("{,", "{", 1);
        format!("{},{field}}}", rest.strip_suffix('}').unwrap())
    }

    #[test]
    fn a_line_as_we_write_it_is_read_as_the_json_it_is() {
        // proves J7
        for line in [
            LINE.to_owned(),
            LINE.replace(r#""at""#, r#""run":3,"turn":0,"at""#),
            LINE.replace(r#""at""#, r#""run":4294967295,"at""#),
            LINE.replace("LeaseTaken", "Hoisted"),
        ] {
            let read = as_written(&line).unwrap();
            assert_eq!(read, as_json(&line).unwrap());
            let mut written = Vec::new();
            read.encode_into(&mut written).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), line);
        }
    }

    #[test]
    fn a_line_of_any_other_form_is_left_to_json() {
        for (from, to) in [
            (r#""seq":1"#, r#""seq":01"#),
            (r#""seq":1"#, r#""seq":1.0"#),
            (r#""seq":1"#, r#""seq":18446744073709551616"#),
            (r#""epoch":1,"at""#, r#""epoch":1,"run":4294967296,"at""#),
            ("00-1", "00\\u002d1"),
            ("00-1", "00\t1"),
            (r#""v":1"#, r#""v":2"#),
            (r#""v":1"#, r#""v":11"#),
            (r#""ada"}}"#, r#""ada"},"more":1}"#),
            (r#""ada"}}"#, r#""ada"}} "#),
            (r#""ada"}}"#, r#""ada"}"#),
            (r#""ada""#, "1"),
        ] {
            assert_eq!(as_written(&LINE.replacen(from, to, 1)), None, "{to}");
        }
    }

    #[test]
    fn fields_may_stand_in_any_order_and_be_written_with_escapes() {
        let whole = Envelope::decode(LINE).unwrap();
        assert!(matches!(whole.record, Record::LeaseTaken(_)));
        for other in [
            moved(r#""v":1"#),
            moved(r#""kind":"LeaseTaken""#),
            moved(r#""prev":"0000000000000000000000000000000000000000000000000000000000000000""#),
            LINE.replace("LeaseTaken", "Lease\\u0054aken"),
            LINE.replace("2026-11", "2026-\\u00311"),
            LINE.replace(r#""seq":1"#, r#""run":null,"colour":{"a":[1]},"seq":1"#),
        ] {
            assert_eq!(Envelope::decode(&other).unwrap(), whole, "{other}");
        }
    }

    #[test]
    fn a_field_that_is_missing_twice_there_or_of_another_type_is_named() {
        for (from, to, said) in [
            (r#""seq":1,"#, "", "missing field `seq`"),
            (r#""seq":1,"#, r#""seq":1,"seq":1,"#, "duplicate field `seq`"),
            (r#""seq":1,"#, r#""seq":"1","#, r#"invalid type: string "1", expected u64"#),
            (r#""epoch":1,"holder""#, r#""holder""#, "missing field `epoch`"),
            ("2026-11", "2026-13", "not a timestamp"),
            (r#""prev":"0"#, r#""prev":"g"#, "a hash is 64 hex digits"),
        ] {
            let error = Envelope::decode(&LINE.replacen(from, to, 1)).unwrap_err();
            assert!(matches!(&error, DecodeError::Json(error) if error.to_string().contains(said)), "{error}");
        }
    }

    #[test]
    fn a_record_of_a_newer_version_is_of_no_known_kind_wherever_its_version_stands() {
        // proves J7
        for newer in [LINE.replacen(r#""v":1"#, r#""v":2"#, 1), moved(r#""v":1"#).replacen(r#""v":1"#, r#""v":2"#, 1)] {
            let record = Envelope::decode(&newer).unwrap().record;
            let Record::Unknown(unknown) = record else { panic!("{record:?}") };
            assert_eq!((unknown.kind.as_str(), unknown.body.as_str()), ("LeaseTaken", r#"{"epoch":1,"holder":"ada"}"#));
            let other_form = newer.replacen(r#""seq":1"#, r#""seq":"one""#, 1);
            assert!(matches!(Envelope::decode(&other_form), Err(DecodeError::Version(2))));
        }
    }
}
