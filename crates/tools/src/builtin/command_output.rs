//! What a command writes, kept from both ends: a flood is counted, not stored.

use std::collections::VecDeque;

use crate::cut::thousands;

/// The first and the last bytes of a stream, and how many there were.
pub(super) struct CommandOutput {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl CommandOutput {
    /// Keeps up to `kept` bytes.
    pub(super) fn keeping(kept: usize) -> Self {
        Self { half: kept / 2, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// As text; what is not UTF-8 is replaced.
    pub(super) fn into_text(mut self) -> String {
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

/// Text out of bytes that arrive in pieces: a character split between two of them is put together.
#[derive(Default)]
pub(super) struct Decoder {
    open: Vec<u8>,
}

impl Decoder {
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.open.extend_from_slice(bytes);
        let end = match std::str::from_utf8(&self.open) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            // Broken further in; what is open at the very end, if anything, is at most three bytes.
            Err(_) => self.open.len(),
        };
        let rest = self.open.split_off(end);
        let text = String::from_utf8_lossy(&self.open).into_owned();
        self.open = rest;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(pieces: &[&[u8]]) -> CommandOutput {
        let mut output = CommandOutput::keeping(8);
        pieces.iter().for_each(|piece| output.push(piece));
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
        assert_eq!(output(&[&[b'x'; 1000], &[b'y'; 1000]]).total(), 2000);
    }

    #[test]
    fn a_character_split_between_pieces_is_put_together() {
        let mut decoder = Decoder::default();
        let text: String = "aé漢🦀".as_bytes().iter().map(|byte| decoder.push(&[*byte])).collect();
        assert_eq!(text, "aé漢🦀");
        assert_eq!(Decoder::default().push(b"a\xffb"), "a\u{fffd}b");
    }
}
