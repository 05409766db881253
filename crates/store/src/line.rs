//! One record per line. A body over [`BODY_LIMIT`] is stored as a blob: the line then ends in
//! `"blob":"<hash>"}` instead of `"body":…}`, and the body is kept under its hash. Reading puts it back.
//!
//! No other line can end like that: an object or array as body ends the line in `}}` or `]}`, and inside a
//! string a quote is escaped.

use std::collections::HashMap;
use std::sync::Arc;

use windlass_vocab::{DecodeError, Envelope, Hash};

/// The longest body, in bytes, that is kept in its line.
pub const BODY_LIMIT: usize = 32 * 1024;

const BODY: &str = r#""body":"#;
const BLOB: &str = r#""blob":""#;
const END: &str = r#""}"#;
const HASH_DIGITS: usize = 64;

/// Loaded blobs, by hash.
pub(crate) type BlobMap = HashMap<Hash, Arc<[u8]>>;

/// The BLAKE3 hash of `bytes`: the key of a blob, and the link between batches.
#[must_use]
pub fn hash_of(bytes: &[u8]) -> Hash {
    Hash(*blake3::hash(bytes).as_bytes())
}

/// A blob and its hash.
pub(crate) type Blob = (Hash, Arc<[u8]>);

/// Appends the line of a record to `bytes`; returns the body as a blob if it is too long for the line.
pub(crate) fn write(envelope: &Envelope, bytes: &mut Vec<u8>) -> Result<Option<Blob>, serde_json::Error> {
    let start = bytes.len();
    envelope.encode_into(bytes)?;
    let line = &bytes[start..];
    if memchr::memchr(b'\n', line).is_some() {
        // A line break would make the rest of the journal unreadable.
        return Err(serde::ser::Error::custom("it has a line break in it"));
    }
    // The first match is the real one: only numbers, ids and the kind precede the body, and none contains a quote.
    let is_body = |bytes: &[u8]| bytes == BODY.as_bytes();
    let place = if line.len() > BODY_LIMIT { line.windows(BODY.len()).position(is_body) } else { None };
    let body = place.map(|place| &line[place + BODY.len()..line.len() - 1]).filter(|body| body.len() > BODY_LIMIT);
    let blob = body.map(|body| (hash_of(body), Arc::from(body)));
    if let (Some(place), Some((hash, _))) = (place, &blob) {
        bytes.truncate(start + place);
        bytes.extend_from_slice(format!("{BLOB}{hash}{END}").as_bytes());
    }
    bytes.push(b'\n');
    Ok(blob)
}

/// Why a line can't be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineFault {
    #[error("it is not UTF-8")]
    NotText,
    #[error("{0}")]
    NotARecord(String),
    #[error("its envelope has version {0}, which this version of Windlass can't read")]
    Newer(u32),
    #[error("its body, blob {0}, is missing")]
    NoBlob(Hash),
    #[error("its body, blob {0}, is not what was stored")]
    WrongBlob(Hash),
}

/// The lines of a batch, without their line breaks.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let last = (!bytes.is_empty()).then_some(whole.len());
    let mut begins = 0;
    memchr::memchr_iter(b'\n', whole).chain(last).map(move |end| {
        let line = &whole[begins..end];
        begins = end + 1;
        line
    })
}

/// Hashes of the bodies that a batch stores as blobs.
pub(crate) fn bodies_elsewhere(bytes: &[u8]) -> impl Iterator<Item = Hash> {
    lines(bytes).filter_map(|line| Some(split_blob(line)?.1))
}

/// Decodes a line; a body stored as a blob is taken from `blobs`.
pub(crate) fn read(line: &[u8], blobs: &BlobMap) -> Result<Envelope, LineFault> {
    let text = std::str::from_utf8(line).map_err(|_| LineFault::NotText)?;
    let Some((start, hash)) = split_blob(line) else {
        return decode(text);
    };
    let blob = blobs.get(&hash).ok_or(LineFault::NoBlob(hash))?;
    if hash_of(blob) != hash {
        return Err(LineFault::WrongBlob(hash));
    }
    let body = std::str::from_utf8(blob).map_err(|_| LineFault::WrongBlob(hash))?;
    decode(&[&text[..start], BODY, body, "}"].concat())
}

fn decode(line: &str) -> Result<Envelope, LineFault> {
    Envelope::decode(line).map_err(|error| match error {
        DecodeError::Json(error) => LineFault::NotARecord(error.to_string()),
        DecodeError::Version(found) => LineFault::Newer(found),
    })
}

/// Start of `"blob":…` at the end of a line, and the hash in it.
fn split_blob(line: &[u8]) -> Option<(usize, Hash)> {
    let start = line.len().checked_sub(BLOB.len() + HASH_DIGITS + END.len())?;
    let digits = line[start..].strip_prefix(BLOB.as_bytes())?.strip_suffix(END.as_bytes())?;
    let hash = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((start, hash))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, any, proptest};

    use super::{BlobMap, LineFault, bodies_elsewhere, hash_of, lines, read, split_blob};

    #[test]
    fn only_a_line_that_ends_in_a_blob_has_its_body_elsewhere() {
        let hash = hash_of(b"{}");
        assert_eq!(split_blob(format!(r#"{{"blob":"{hash}"}}"#).as_bytes()), Some((1, hash)));
        for other in [
            format!(r#"{{"body":{{"blob":"{hash}"}}}}"#),
            format!(r#"{{"body":"\"blob\":\"{hash}"}}"#),
            format!(r#"{{"body":["blob","{hash}"]}}"#),
            format!(r#"{{"blob":"{}"}}"#, "g".repeat(64)),
            hash.to_string(),
        ] {
            assert_eq!(split_blob(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_body_that_is_not_the_one_stored_is_refused() {
        let hash = hash_of(b"{}");
        let line = format!(r#"{{"v":1,"blob":"{hash}"}}"#);
        assert_eq!(read(line.as_bytes(), &BlobMap::new()), Err(LineFault::NoBlob(hash)));
        let wrong = BlobMap::from([(hash, b"[]"[..].into())]);
        assert_eq!(read(line.as_bytes(), &wrong), Err(LineFault::WrongBlob(hash)));
    }

    #[test]
    fn lines_are_split_at_line_breaks() {
        for (bytes, expected) in [
            (&b""[..], &[][..]),
            (b"\n", &[&b""[..]]),
            (b"a\n", &[b"a"]),
            (b"a\n\nb", &[b"a", b"", b"b"]),
            (b"a\n\n", &[b"a", b""]),
        ] {
            assert_eq!(lines(bytes).collect::<Vec<_>>(), expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_bytes_make_the_line_decoder_panic(bytes: Vec<u8>, tail in any::<[u8; 32]>()) {
            let with_blob = [&bytes[..], format!(r#""blob":"{}"}}"#, windlass_vocab::Hash(tail)).as_bytes()].concat();
            for bytes in [bytes, with_blob] {
                let bodies = bodies_elsewhere(&bytes).map(|hash| (hash, bytes.clone().into())).collect();
                assert!(lines(&bytes).all(|line| read(line, &bodies).is_err()));
            }
        }
    }
}
