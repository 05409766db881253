//! Splits keyboard input into pieces before it is decoded: separates pastes from keys.
//!
//! A terminal marks a paste (`ESC [200~ … ESC [201~`). A paste is one piece, however long: its bytes are never read as
//! keys, and a long paste is not redrawn at every keystroke.
//!
//! An escape sequence of a key (`ESC [ D`) is passed on whole. If nothing follows its first bytes for a moment, it was
//! the Escape key, which has no function here and must not swallow the next key.

const BEGIN: &[u8] = b"\x1b[200~";
const END: &[u8] = b"\x1b[201~";
const ESCAPE: u8 = 0x1b;
/// Ctrl-Z.
const SUSPEND: u8 = 0x1a;

/// A piece of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InputPiece {
    /// Keys, as bytes.
    Keys(Vec<u8>),
    /// A paste, with line breaks normalised to `\n`.
    Paste(String),
    /// Ctrl-Z.
    Suspend,
}

/// Splits a byte stream, read in chunks of any size, into pieces.
#[derive(Debug, Default)]
pub(crate) struct InputSplitter {
    /// The bytes of an unfinished paste.
    paste: Option<Vec<u8>>,
    /// The beginning of a paste mark or of a key's escape sequence.
    pending: Vec<u8>,
}

impl InputSplitter {
    /// Returns the pieces completed by these bytes. A possible beginning of a sequence waits for more bytes.
    pub(crate) fn pieces(&mut self, bytes: &[u8]) -> Vec<InputPiece> {
        let mut input = std::mem::take(&mut self.pending);
        input.extend_from_slice(bytes);
        let (mut pieces, mut rest) = (Vec::new(), input.as_slice());
        while !rest.is_empty() {
            rest = match &mut self.paste {
                Some(paste) => match find(rest, END) {
                    Some(at) => {
                        paste.extend_from_slice(&rest[..at]);
                        pieces.push(InputPiece::Paste(text(&self.paste.take().unwrap_or_default())));
                        &rest[at + END.len()..]
                    }
                    None => {
                        let kept = rest.len() - partial_mark_length(rest, END);
                        paste.extend_from_slice(&rest[..kept]);
                        self.pending = rest[kept..].to_vec();
                        &[]
                    }
                },
                None => self.keys(rest, &mut pieces),
            };
        }
        pieces
    }

    /// Whether an incomplete sequence is pending, which may also be the Escape key.
    pub(crate) fn may_be_escape(&self) -> bool {
        self.paste.is_none() && !self.pending.is_empty()
    }

    /// Drops a pending sequence after its timeout: it was the Escape key.
    pub(crate) fn drop_escape(&mut self) {
        if self.paste.is_none() {
            self.pending.clear();
        }
    }

    /// Pushes the keys before the next paste mark. Returns the bytes after that mark.
    fn keys<'a>(&mut self, rest: &'a [u8], pieces: &mut Vec<InputPiece>) -> &'a [u8] {
        let (keys, after) = match find(rest, BEGIN) {
            Some(at) => {
                self.paste = Some(Vec::new());
                (&rest[..at], &rest[at + BEGIN.len()..])
            }
            None => {
                let (whole, pending) = rest.split_at(rest.len() - unfinished(rest));
                self.pending = pending.to_vec();
                (whole, &rest[rest.len()..])
            }
        };
        for (number, keys) in keys.split(|byte| *byte == SUSPEND).enumerate() {
            if number > 0 {
                pieces.push(InputPiece::Suspend);
            }
            if !keys.is_empty() {
                pieces.push(InputPiece::Keys(keys.to_vec()));
            }
        }
        after
    }
}

fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    // Marks begin with ESC, which is rare in pasted text.
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == mark[0]) {
        if bytes[from + at..].starts_with(mark) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// Returns how many bytes at the end of `bytes` may be the beginning of `mark`.
fn partial_mark_length(bytes: &[u8], mark: &[u8]) -> usize {
    (1..mark.len()).rev().find(|length| bytes.ends_with(&mark[..*length])).unwrap_or(0)
}

/// Returns how many bytes at the end of `bytes` are an incomplete escape sequence of a key.
fn unfinished(bytes: &[u8]) -> usize {
    let Some(last) = bytes.iter().rposition(|byte| *byte == ESCAPE) else { return 0 };
    let is_unfinished = match &bytes[last + 1..] {
        [] | [b'O'] => true,
        [b'[', parameters @ ..] => parameters.iter().all(|byte| (0x20..0x40).contains(byte)),
        [..] => false,
    };
    let escapes = bytes[..last].iter().rev().take_while(|byte| **byte == ESCAPE).count();
    if is_unfinished { bytes.len() - last + escapes } else { 0 }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests {
    use super::{InputPiece, InputSplitter};

    fn keys(text: &str) -> InputPiece {
        InputPiece::Keys(text.as_bytes().to_vec())
    }

    #[test]
    fn a_paste_is_one_piece_wherever_reads_cut_it() {
        let input = "ab\x1b[200~one\r\ntwo\x1b[A\r\x1b[201~c\r".as_bytes();
        for cut in 0..=input.len() {
            let mut input_splitter = InputSplitter::default();
            let mut pieces = input_splitter.pieces(&input[..cut]);
            pieces.extend(input_splitter.pieces(&input[cut..]));
            let mut whole: Vec<InputPiece> = Vec::new();
            for piece in pieces {
                match (whole.last_mut(), piece) {
                    (Some(InputPiece::Keys(before)), InputPiece::Keys(more)) => before.extend(more),
                    (_, piece) => whole.push(piece),
                }
            }
            let paste = InputPiece::Paste("one\ntwo\x1b[A\n".into());
            assert_eq!(whole, [keys("ab"), paste, keys("c\r")], "cut at {cut}");
        }
    }

    #[test]
    fn what_only_began_like_a_mark_is_keys() {
        let mut input_splitter = InputSplitter::default();
        assert_eq!(input_splitter.pieces(b"\x1b[2"), []);
        assert_eq!(input_splitter.pieces(b"~x"), [keys("\x1b[2~x")]);
    }

    // proves T8: an answer is not lost because Escape was pressed before it
    #[test]
    fn an_escape_that_nothing_follows_takes_no_key_with_it() {
        for begun in ["\x1b", "\x1b\x1b", "\x1bO", "\x1b[", "\x1b[1;5"] {
            let mut input_splitter = InputSplitter::default();
            assert_eq!(input_splitter.pieces(format!("a{begun}").as_bytes()), [keys("a")], "{begun:?}");
            assert!(input_splitter.may_be_escape(), "{begun:?}");
            input_splitter.drop_escape();
            assert!(!input_splitter.may_be_escape(), "{begun:?}");
            assert_eq!(input_splitter.pieces(b"n\x03"), [keys("n\x03")], "{begun:?}");
        }
        let mut input_splitter = InputSplitter::default();
        assert_eq!(input_splitter.pieces(b"\x1b[200~x\x1b[20"), []);
        assert!(!input_splitter.may_be_escape(), "a paste may take its time");
        input_splitter.drop_escape();
        assert_eq!(input_splitter.pieces(b"1~"), [InputPiece::Paste("x".into())]);
    }

    #[test]
    fn the_sequence_of_a_key_leaves_whole_wherever_reads_cut_it() {
        for input in ["\x1b[1;5D", "\x1bOH", "\x1b\r", "\x1b\x1b[D"] {
            for cut in 1..input.len() {
                let mut input_splitter = InputSplitter::default();
                assert_eq!(input_splitter.pieces(&input.as_bytes()[..cut]), [], "{input:?}, {cut}");
                assert_eq!(input_splitter.pieces(&input.as_bytes()[cut..]), [keys(input)], "{input:?}, {cut}");
            }
        }
    }

    #[test]
    fn ctrl_z_stands_alone() {
        assert_eq!(InputSplitter::default().pieces(b"a\x1ab"), [keys("a"), InputPiece::Suspend, keys("b")]);
    }
}
