//! Splits bytes into lines with a size limit: of a line that is too long only its id is kept. Both sides of the
//! protocol use this.

use super::scan::{IdScan, MessagePurpose};

/// A line of the protocol.
#[derive(Debug, PartialEq, Eq)]
pub enum ProtocolLine {
    /// A complete line, without its newline.
    Whole(Vec<u8>),
    /// A line longer than the limit: its purpose, and its beginning.
    TooLong {
        /// The kind of message, with its id.
        purpose: MessagePurpose,
        /// The beginning of the line.
        sample: Vec<u8>,
    },
}

/// How much of an over-long line is kept for display.
const SAMPLE: usize = 80;

/// Splits bytes into lines.
#[derive(Debug)]
pub struct LineSplitter {
    limit: usize,
    open: Vec<u8>,
    skipping: Option<(IdScan, Vec<u8>)>,
}

impl LineSplitter {
    /// Returns a splitter for lines of at most `limit` bytes.
    #[must_use]
    pub fn up_to(limit: usize) -> Self {
        Self { limit, open: Vec::new(), skipping: None }
    }

    /// Adds bytes and calls `take` with each completed line.
    pub fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(ProtocolLine)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.extend(&bytes[..end]);
            take(self.complete());
            bytes = &bytes[end + 1..];
        }
        self.extend(bytes);
    }

    /// Returns an incomplete last line at the end of the input.
    pub fn finish(&mut self) -> Option<ProtocolLine> {
        (self.skipping.is_some() || !self.open.is_empty()).then(|| self.complete())
    }

    fn extend(&mut self, bytes: &[u8]) {
        if let Some((scan, _)) = &mut self.skipping {
            scan.push(bytes);
        } else if self.open.len() + bytes.len() > self.limit {
            let mut scan = IdScan::of(&self.open);
            scan.push(bytes);
            let sample = self.open.iter().chain(bytes).take(SAMPLE).copied().collect();
            self.open = Vec::new();
            self.skipping = Some((scan, sample));
        } else {
            self.open.extend_from_slice(bytes);
        }
    }

    fn complete(&mut self) -> ProtocolLine {
        match self.skipping.take() {
            Some((scan, sample)) => ProtocolLine::TooLong { purpose: scan.purpose(), sample },
            None => ProtocolLine::Whole(std::mem::take(&mut self.open)),
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    fn lines(limit: usize, pieces: &[&[u8]]) -> Vec<ProtocolLine> {
        let (mut lines, mut all) = (LineSplitter::up_to(limit), Vec::new());
        pieces.iter().for_each(|piece| lines.push(piece, |line| all.push(line)));
        all.extend(lines.finish());
        all
    }

    fn whole(text: &str) -> ProtocolLine {
        ProtocolLine::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_are_whole_wherever_the_bytes_are_cut() {
        let text = b"one\n\ntwo\nthree";
        for cut in 0..text.len() {
            let got = lines(100, &[&text[..cut], &text[cut..]]);
            assert_eq!(got, [whole("one"), whole(""), whole("two"), whole("three")], "{cut}");
        }
    }

    // proves P4
    #[test]
    fn of_a_line_that_is_too_long_only_its_id_is_kept() {
        let text = br#"{"id":3,"result":"xxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#;
        let mut input = text.to_vec();
        input.extend_from_slice(b"\nnext\n");
        for cut in 0..input.len() {
            let got = lines(16, &[&input[..cut], &input[cut..]]);
            assert!(
                matches!(
                    &got[0],
                    ProtocolLine::TooLong { purpose: MessagePurpose::Answer(NumberOrString::Number(3)), .. }
                ) && got[1] == whole("next"),
                "{cut}: {got:?}"
            );
        }
    }
}
