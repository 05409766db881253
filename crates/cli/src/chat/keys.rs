//! Decodes bytes into keys, for the line that is typed while a run works.

/// A key with a function in that line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPress {
    Char(char),
    Enter,
    /// Alt-Enter or Ctrl-J: another line of the same message.
    Newline,
    Backspace,
    Delete,
    WordBack,
    KillToStart,
    KillToEnd,
    Left,
    Right,
    Home,
    End,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    EndOfInput,
}

/// Decodes a byte stream, read in chunks of any size, into keys.
#[derive(Debug, Default)]
pub(crate) struct KeyDecoder {
    pending: Vec<u8>,
}

enum KeyStep {
    Key(KeyPress, usize),
    Skip(usize),
    More,
}

impl KeyDecoder {
    /// Returns the keys completed by these bytes.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Vec<KeyPress> {
        self.pending.extend_from_slice(bytes);
        let (mut keys, mut at) = (Vec::new(), 0);
        while at < self.pending.len() {
            match step(&self.pending[at..]) {
                KeyStep::Key(key, length) => {
                    keys.push(key);
                    at += length;
                }
                KeyStep::Skip(length) => at += length,
                KeyStep::More => break,
            }
        }
        self.pending.drain(..at);
        keys
    }
}

fn step(bytes: &[u8]) -> KeyStep {
    let key = match bytes[0] {
        b'\r' => KeyPress::Enter,
        b'\n' => KeyPress::Newline,
        0x01 => KeyPress::Home,
        0x02 => KeyPress::Left,
        0x03 => KeyPress::Interrupt,
        0x04 => KeyPress::EndOfInput,
        0x05 => KeyPress::End,
        0x06 => KeyPress::Right,
        0x08 | 0x7f => KeyPress::Backspace,
        0x0b => KeyPress::KillToEnd,
        0x15 => KeyPress::KillToStart,
        0x17 => KeyPress::WordBack,
        b'\t' => KeyPress::Char(' '),
        0x1b => return escape(bytes),
        0x00..0x20 => return KeyStep::Skip(1),
        _ => return character(bytes),
    };
    KeyStep::Key(key, 1)
}

fn character(bytes: &[u8]) -> KeyStep {
    let length = match bytes[0] {
        0x20..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf8 => 4,
        _ => return KeyStep::Skip(1),
    };
    let Some(encoded) = bytes.get(..length) else { return KeyStep::More };
    match std::str::from_utf8(encoded).ok().and_then(|text| text.chars().next()) {
        // C1 control characters (U+0080 to U+009F) are not text.
        Some(c) if !c.is_control() => KeyStep::Key(KeyPress::Char(c), length),
        Some(_) | None => KeyStep::Skip(1),
    }
}

fn escape(bytes: &[u8]) -> KeyStep {
    match bytes.get(1) {
        None => KeyStep::More,
        Some(b'\r' | b'\n') => KeyStep::Key(KeyPress::Newline, 2),
        Some(0x7f | 0x08) => KeyStep::Key(KeyPress::WordBack, 2),
        Some(b'[' | b'O') => sequence(bytes),
        Some(0x1b) => KeyStep::Skip(1),
        Some(_) => KeyStep::Skip(2),
    }
}

/// `ESC [ … final`, or `ESC O final`.
fn sequence(bytes: &[u8]) -> KeyStep {
    let Some(end) = bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte)) else { return KeyStep::More };
    let length = 2 + end + 1;
    let key = match (&bytes[2..2 + end], bytes[2 + end]) {
        (_, b'D') => KeyPress::Left,
        (_, b'C') => KeyPress::Right,
        (_, b'H') | (b"1" | b"7", b'~') => KeyPress::Home,
        (_, b'F') | (b"4" | b"8", b'~') => KeyPress::End,
        (b"3", b'~') => KeyPress::Delete,
        // Shift-Enter and similar, if the terminal reports them separately.
        (b"13;2" | b"13;3" | b"13;5", b'u') => KeyPress::Newline,
        _ => return KeyStep::Skip(length),
    };
    KeyStep::Key(key, length)
}

#[cfg(test)]
mod tests {
    use super::{KeyDecoder, KeyPress};

    #[test]
    fn keys_are_read_wherever_bytes_are_cut() {
        let input = "aß€🦀\x1b[D\x1b[3~\x1bOH\x1b\r\x1b[1;5A\x03\r".as_bytes();
        let expected = [
            KeyPress::Char('a'),
            KeyPress::Char('ß'),
            KeyPress::Char('€'),
            KeyPress::Char('🦀'),
            KeyPress::Left,
            KeyPress::Delete,
            KeyPress::Home,
            KeyPress::Newline,
            KeyPress::Interrupt,
            KeyPress::Enter,
        ];
        for cut in 0..=input.len() {
            let mut keys = KeyDecoder::default();
            let mut read = keys.read(&input[..cut]);
            read.extend(keys.read(&input[cut..]));
            assert_eq!(read, expected, "cut at {cut}");
        }
    }

    #[test]
    fn what_is_no_text_is_no_key() {
        assert_eq!(KeyDecoder::default().read(b"\x00\x0e\xff\xc2\x9b\x80x"), [KeyPress::Char('x')]);
        assert_eq!(KeyDecoder::default().read(b"\x1b\x1b[D"), [KeyPress::Left]);
    }
}
