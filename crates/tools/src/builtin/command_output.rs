//! The output of a command, without secrets. Only the beginning and the end are kept; the rest is counted.
//!
//! Bytes are decoded, then secrets are replaced, and only then is text displayed or dropped: no secret is cut in two.

use std::collections::VecDeque;

use crate::cut::thousands;
use crate::{Secrets, StreamScrubber};

/// The output of a command so far.
pub(super) struct CommandOutput {
    decoder: Decoder,
    scrubber: StreamScrubber,
    ends: BothEnds,
    written: u64,
}

impl CommandOutput {
    /// Keeps up to `kept` bytes of output with secrets replaced.
    pub(super) fn keeping(kept: usize, secrets: &Secrets) -> Self {
        Self { decoder: Decoder::default(), scrubber: secrets.stream(), ends: BothEnds::keeping(kept), written: 0 }
    }

    /// Adds output. Returns the text that can be displayed by now.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.written += bytes.len() as u64;
        let text = self.scrubber.push(&self.decoder.push(bytes)).into_owned();
        self.ends.push(text.as_bytes());
        text
    }

    /// Returns the number of bytes the command has written.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Returns the kept output as text; bytes that are not UTF-8 are replaced.
    pub(super) fn into_text(mut self) -> String {
        let rest = self.scrubber.push(&self.decoder.finish()).into_owned() + &self.scrubber.finish();
        self.ends.push(rest.as_bytes());
        self.ends.into_text()
    }
}

/// The first and the last bytes of a text, and its total length.
struct BothEnds {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl BothEnds {
    fn keeping(kept: usize) -> Self {
        Self { half: kept / 2, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
    }

    fn into_text(mut self) -> String {
        let left_out = usize::try_from(self.total).unwrap_or(usize::MAX) - self.head.len() - self.tail.len();
        let tail = Vec::from(self.tail);
        if left_out == 0 {
            self.head.extend(tail);
            return String::from_utf8_lossy(&self.head).into_owned();
        }
        let whole_end = match std::str::from_utf8(&self.head) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => self.head.len(),
        };
        let whole_start = tail.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
        format!(
            "{}\n[{} bytes of output left out here]\n{}",
            String::from_utf8_lossy(&self.head[..whole_end]),
            thousands(left_out),
            String::from_utf8_lossy(&tail[whole_start..])
        )
    }
}

/// Decodes bytes that arrive in pieces; joins a character that is split between two pieces.
#[derive(Default)]
struct Decoder {
    open: Vec<u8>,
}

impl Decoder {
    fn push(&mut self, bytes: &[u8]) -> String {
        self.open.extend_from_slice(bytes);
        // An incomplete character at the end has at most three bytes, however broken the text before it is.
        let last = self.open.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
        let ending = &self.open[self.open.len() - last..];
        let is_open = std::str::from_utf8(ending).is_err_and(|error| error.error_len().is_none());
        let rest = self.open.split_off(if is_open { self.open.len() - last } else { self.open.len() });
        let text = String::from_utf8_lossy(&self.open).into_owned();
        self.open = rest;
        text
    }

    /// Decodes the incomplete rest at the end of the output.
    fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.open)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(pieces: &[&[u8]]) -> CommandOutput {
        let mut output = CommandOutput::keeping(8, &Secrets::default());
        pieces.iter().for_each(|piece| drop(output.push(piece)));
        output
    }

    // proves T7
    #[test]
    fn both_ends_of_a_flood_are_kept_and_all_of_it_is_counted() {
        assert_eq!(output(&[b"abcd", b"efgh"]).into_text(), "abcdefgh");
        assert_eq!(output(&[b"ab", b"cdefghijkl"]).into_text(), "abcd\n[4 bytes of output left out here]\nijkl");
        assert_eq!(output(&[b"abcdefghi"]).into_text(), "abcd\n[1 bytes of output left out here]\nfghi");
        assert_eq!(output(&["aéééééé".as_bytes()]).into_text(), "aé\n[5 bytes of output left out here]\néé");
        assert_eq!(output(&["ééééééa".as_bytes()]).into_text(), "éé\n[5 bytes of output left out here]\néa");
        assert_eq!(output(&[b"a\xffb"]).into_text(), "a\u{fffd}b");
        assert_eq!(output(&[&[b'x'; 1000], &[b'y'; 1000]]).written(), 2000);
    }

    #[test]
    fn a_character_split_between_pieces_is_put_together() {
        let mut decoder = Decoder::default();
        let text: String = "aé漢🦀".as_bytes().iter().map(|byte| decoder.push(&[*byte])).collect();
        assert_eq!(text, "aé漢🦀");
        assert_eq!(Decoder::default().push(b"a\xffb"), "a\u{fffd}b");
        let mut decoder = Decoder::default();
        let text: String = [&b"a\xff\xc3"[..], b"\xa9"].map(|bytes| decoder.push(bytes)).concat();
        assert_eq!(text, "a\u{fffd}é", "whatever is broken before it");
        assert_eq!(decoder.push(b"\xc3") + &decoder.finish(), "\u{fffd}");
    }

    // proves X1: a secret is not cut in two, neither where output is dropped nor where a piece ends
    #[test]
    fn no_part_of_a_secret_is_kept_or_shown_wherever_the_cut_falls() {
        const KEY: &str = "Qz7Xv9Kp3Wé5Yt2R";
        let secrets = Secrets::new([("KEY", KEY)]);
        for before in 0..40 {
            for piece in [1, 3, 7, 1000] {
                let mut output = CommandOutput::keeping(60, &secrets);
                let bytes = [&vec![b'.'; before], &b"\xff"[..], KEY.as_bytes(), &[b'.'; 60]].concat();
                let shown: String = bytes.chunks(piece).map(|bytes| output.push(bytes)).collect();
                for text in [shown, output.into_text()] {
                    let leaked =
                        (0..KEY.len() - 4).filter_map(|at| KEY.get(at..at + 4)).find(|part| text.contains(part));
                    assert_eq!(leaked, None, "{before} {piece}: {text}");
                }
            }
        }
    }
}
